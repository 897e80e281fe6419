//! Units that an instruction needs.

use crate::insn::{Class, Flags, InsnInfo};

/// Units of which there is one, but for loads from different banks; two instructions that need the same one do not issue together.
pub mod unit {
    pub const LOAD: u8 = 1;
    pub const STORE: u8 = 1 << 1;
    /// The shifter in front of the late ALU, also used by extensions and bit fields.
    pub const SHIFT: u8 = 1 << 2;
    pub const MULTIPLY: u8 = 1 << 3;
    pub const FP: u8 = 1 << 4;
    pub const BRANCH: u8 = 1 << 5;
}

/// Units that serve one instruction at a time where issue is out of order. There is one path for the addresses of loads and stores.
pub const KEPT: [u8; 4] = [unit::LOAD | unit::STORE, unit::MULTIPLY, unit::FP, unit::BRANCH];

/// Units that an instruction keeps busy.
pub fn units(insn: &InsnInfo) -> u8 {
    let memory = if insn.flags.has(Flags::LOAD) || insn.class == Class::Preload { unit::LOAD } else { 0 };
    let memory = if insn.flags.has(Flags::STORE) { memory | unit::STORE } else { memory };
    memory
        | match insn.class {
            Class::AluShifted | Class::Dsp => unit::SHIFT,
            // A multiply does not pair with a store either.
            Class::Multiply => unit::MULTIPLY | unit::STORE,
            Class::Branch => unit::BRANCH,
            Class::FpMove
            | Class::FpAlu32
            | Class::FpMultiply32
            | Class::FpAccumulate32
            | Class::FpDivide32
            | Class::FpAlu64
            | Class::FpMultiply64
            | Class::FpAccumulate64
            | Class::FpDivide64 => unit::FP,
            _ => 0,
        }
}
