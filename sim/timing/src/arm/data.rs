//! Data processing, multiplication, media and miscellaneous instructions (DDI 0406 A5.2, A5.4).

use super::memory;
use super::word::{Word, new};
use crate::insn::{Class, Flags, InsnInfo, RegSet};

/// Everything with bits 27 to 25 clear.
pub(super) fn register(w: Word) -> InsnInfo {
    if w.bit(7) && w.bit(4) {
        return match (w.field(5, 3), w.bit(24)) {
            (0, false) => multiply(w),
            (0, true) => memory::exclusive(w),
            _ => memory::extra(w),
        };
    }
    if w.field(23, 3) == 2 && !w.bit(20) {
        return if w.bit(7) { half_multiply(w) } else { miscellaneous(w) };
    }
    let rm = RegSet::core(w.rm());
    if w.bit(4) {
        return process(w, Class::AluShifted, RegSet::NONE).early(rm.union(RegSet::core(w.rs())));
    }
    // A shift by nothing is no shift; a move with a shift is the shift alone.
    let shifted = w.field(4, 0xFF) != 0;
    match (shifted, w.field(21, 15)) {
        (true, 13) => process(w, Class::Alu, RegSet::NONE).early(rm),
        (true, _) => process(w, Class::AluShifted, RegSet::NONE).early(rm),
        (false, opcode) => process(w, plain(opcode), rm),
    }
}

/// Everything with bits 27 to 25 = 001.
pub(super) fn immediate(w: Word) -> InsnInfo {
    match w.field(20, 0x1F) {
        // MOVW, and MOVT, which keeps the lower half.
        0x10 => new(Class::Alu).writes(RegSet::core(w.rd())),
        0x14 => new(Class::Alu).reads(RegSet::core(w.rd())).writes(RegSet::core(w.rd())),
        0x12 if w.rn() == 0 => match w.field(0, 0xFF) {
            2 | 3 => new(Class::Wait).flag(Flags::SINGLE),
            _ => new(Class::Nop),
        },
        0x12 | 0x16 => new(Class::System).flag(Flags::SINGLE),
        _ => process(w, plain(w.field(21, 15)), RegSet::NONE),
    }
}

/// Class of an opcode whose second operand is not shifted: either ALU adds and moves, the late one does logic and compares.
const fn plain(opcode: u32) -> Class {
    match opcode {
        2..=7 | 13 => Class::Alu,
        _ => Class::AluLate,
    }
}

/// Completes a data-processing instruction whose second operand reads `second`.
fn process(w: Word, class: Class, second: RegSet) -> InsnInfo {
    let opcode = w.field(21, 15);
    let compares = matches!(opcode, 8..=11);
    let insn = new(class).reads(second);
    let insn = if matches!(opcode, 13 | 15) { insn } else { insn.reads(RegSet::core(w.rn())) };
    let insn = if matches!(opcode, 5..=7) { insn.reads(RegSet::FLAGS) } else { insn };
    let insn = if compares || w.bit(20) { insn.writes(RegSet::FLAGS) } else { insn };
    if compares {
        return insn;
    }
    let insn = insn.writes(RegSet::core(w.rd()));
    // MOV PC, LR, and what returns from an exception: the S form with the PC.
    let returns = w.rd() == 15 && (w.bit(20) || opcode == 13 && w.rm() == 14 && !w.bit(25));
    if returns { insn.flag(Flags::RETURN) } else { insn }
}

fn multiply(w: Word) -> InsnInfo {
    let factors = RegSet::core(w.rs()).union(RegSet::core(w.rm()));
    let (high, low) = (RegSet::core(w.rn()), RegSet::core(w.rd()));
    let insn = new(Class::Multiply).reads(factors);
    let insn = match w.field(21, 7) {
        0 => insn.writes(high),
        1 | 3 => insn.reads(low).writes(high),
        // UMULL and SMULL.
        4 | 6 => insn.writes(high.union(low)),
        _ => insn.reads(high.union(low)).writes(high.union(low)),
    };
    if w.bit(20) { insn.writes(RegSet::FLAGS) } else { insn }
}

/// SMLAxy, SMLAWy, SMLALxy, SMULxy.
fn half_multiply(w: Word) -> InsnInfo {
    let insn = new(Class::Multiply).reads(RegSet::core(w.rs()).union(RegSet::core(w.rm())));
    let (high, low) = (RegSet::core(w.rn()), RegSet::core(w.rd()));
    match w.field(21, 3) {
        2 => insn.reads(high.union(low)).writes(high.union(low)),
        3 => insn.writes(high),
        _ => insn.reads(low).writes(high),
    }
}

fn miscellaneous(w: Word) -> InsnInfo {
    let (rd, rm) = (RegSet::core(w.rd()), RegSet::core(w.rm()));
    let system = new(Class::System).flag(Flags::SINGLE);
    match (w.field(4, 7), w.field(21, 3)) {
        (0, 0 | 2) => system.writes(rd).reads(RegSet::FLAGS),
        (0, _) => system.reads(rm).writes(RegSet::FLAGS),
        (1 | 2, 1) => {
            let insn = new(Class::Branch).early(rm).flag(Flags::BRANCH.with(Flags::INDIRECT));
            if w.rm() == 14 { insn.flag(Flags::RETURN) } else { insn }
        }
        (1, 3) => new(Class::Dsp).reads(rm).writes(rd),
        (3, 1) => {
            let flags = Flags::BRANCH.with(Flags::INDIRECT).with(Flags::LINK);
            new(Class::Branch).early(rm).writes(RegSet::LR).flag(flags)
        }
        (5, _) => new(Class::Dsp).reads(rm.union(RegSet::core(w.rn()))).writes(rd),
        (6, 3) => system.writes(RegSet::PC).flag(Flags::RETURN),
        (7, _) => new(Class::Exception).flag(Flags::SINGLE),
        _ => new(Class::Undefined),
    }
}

/// Parallel arithmetic, packing, extension, bit fields, products of halves.
pub(super) fn media(w: Word) -> InsnInfo {
    let (n, d, rm) = (RegSet::core_or_none(w.rn()), RegSet::core(w.rd()), RegSet::core(w.rm()));
    match w.field(20, 31) {
        // The destination is where the first operand mostly is; 15 as accumulator means none.
        0x11 | 0x13 if w.field(5, 7) == 0 => {
            new(Class::Divide).reads(rm.union(RegSet::core(w.rs()))).writes(n).flag(Flags::SINGLE)
        }
        0x10..=0x18 => {
            let accumulator = RegSet::core_or_none(w.rd());
            new(Class::Multiply).reads(rm.union(RegSet::core(w.rs())).union(accumulator)).writes(n)
        }
        // BFI keeps the rest of its destination.
        0x1C | 0x1D => new(Class::Dsp).reads(RegSet::core_or_none(w.rm()).union(d)).writes(d),
        0x1F if w.field(5, 7) == 7 => new(Class::Undefined),
        0x1A | 0x1B | 0x1E | 0x1F => new(Class::Dsp).reads(rm).writes(d),
        _ => new(Class::Dsp).reads(rm.union(n)).writes(d),
    }
}
