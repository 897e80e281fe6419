//! Instructions that the observer decodes before they execute (ARM DDI 0406, chapters A5 and A6).

use timing::cp15::{Mcr, Operation, barrier};

use crate::block::RawInsn;

/// An instruction that changes the translation of the modelled core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// A write to the system control coprocessor.
    Write {
        /// The register.
        mcr: Mcr,
        /// The condition under which it executes.
        condition: u32,
    },
    /// A barrier.
    Barrier(Operation),
}

const ALWAYS: u32 = 14;

impl System {
    /// Decodes `insn`, if it is one. The condition of an IT block is not followed: a write in one counts as executed.
    pub fn decode(insn: &RawInsn) -> Option<Self> {
        if insn.size != 4 {
            return None;
        }
        let word = if insn.thumb { insn.code.rotate_left(16) } else { insn.code };
        if let Some(operation) = barrier(word) {
            return Some(Self::Barrier(operation));
        }
        let (mcr, condition) = match insn.thumb {
            true => (Mcr::decode_t32(word)?, ALWAYS),
            false => (Mcr::decode_a32(word)?, word >> 28),
        };
        Some(Self::Write { mcr, condition })
    }
}

/// Whether `insn` returns from an exception: RFE, a load of several registers with the saved status, or data processing that
/// writes the program counter and restores it.
pub const fn is_return(insn: &RawInsn) -> bool {
    let (first, second) = (insn.code & 0xffff, insn.code >> 16);
    if insn.thumb {
        let rfe = insn.size == 4 && (first & 0xffd0 == 0xe810 || first & 0xffd0 == 0xe990);
        return rfe || first == 0xf3de && second >> 8 == 0x8f;
    }
    let word = insn.code;
    if word >> 28 == 15 {
        return word & 0x0e50_0000 == 0x0810_0000;
    }
    let compares = matches!(word >> 21 & 15, 8..=11);
    let restores = word & 0x0c10_f000 == 0x0010_f000 && !compares && word & 0x0200_0090 != 0x0000_0090;
    restores || word & 0x0e50_8000 == 0x0850_8000
}

/// Whether an instruction under `condition` executes with the flags of `cpsr`.
pub const fn passes(condition: u32, cpsr: u32) -> bool {
    let (n, z, c, v) = (cpsr >> 31 & 1 != 0, cpsr >> 30 & 1 != 0, cpsr >> 29 & 1 != 0, cpsr >> 28 & 1 != 0);
    let holds = match condition >> 1 {
        0 => z,
        1 => c,
        2 => n,
        3 => v,
        4 => c && !z,
        5 => n == v,
        6 => n == v && !z,
        _ => return true,
    };
    holds != (condition & 1 != 0)
}

#[cfg(test)]
mod tests;
