//! 32-bit encodings (DDI 0403 A5.3; of Armv8-M, DDI 0553 C2.3).

use super::{fp, t16};
use crate::insn::{BaseOffset, Class, Flags, InsnInfo, RegSet, WordLoad, sign_extend};

const fn new(class: Class) -> InsnInfo {
    InsnInfo::new(class, 4)
}

/// The fields that most encodings share.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub hw1: u32,
    pub hw2: u32,
}

impl Words {
    const fn rn(self) -> u32 {
        self.hw1 & 15
    }
    const fn rt(self) -> u32 {
        self.hw2 >> 12
    }
    const fn rd(self) -> u32 {
        (self.hw2 >> 8) & 15
    }
    const fn rm(self) -> u32 {
        self.hw2 & 15
    }
    const fn sets_flags(self) -> bool {
        self.hw1 & 1 << 4 != 0
    }
}

pub(super) fn classify(hw1: u32, hw2: u32) -> InsnInfo {
    let w = Words { hw1, hw2 };
    let op2 = (hw1 >> 4) & 0x7F;
    match (hw1 >> 11) & 3 {
        1 if op2 & 0x64 == 0x00 => multiple(w),
        1 if op2 & 0x64 == 0x04 => dual_exclusive_table(w),
        1 if op2 & 0x60 == 0x20 => shifted_register(w),
        2 if hw2 & 0x8000 != 0 => branch_or_control(w, op2),
        2 if op2 & 0x20 == 0 => modified_immediate(w),
        2 => plain_immediate(w),
        3 if op2 & 0x71 == 0x00 => store_single(w),
        3 if op2 & 0x61 == 0x01 => load_single(w),
        3 if op2 & 0x70 == 0x20 => register(w),
        3 if op2 & 0x78 == 0x30 => multiply(w),
        3 if op2 & 0x78 == 0x38 => long_multiply_divide(w),
        1 | 3 if op2 & 0x40 != 0 => fp::classify(hw1, hw2),
        _ => new(Class::Undefined),
    }
}

fn multiple(w: Words) -> InsnInfo {
    let mode = (w.hw1 >> 7) & 3;
    if mode == 0 || mode == 3 {
        return new(Class::Undefined);
    }
    let (base, list) = (RegSet::core(w.rn()), RegSet::list(w.hw2));
    let insn = if w.hw1 & 1 << 4 == 0 {
        new(Class::StoreMultiple).reads(list).flag(Flags::STORE)
    } else {
        let load = new(Class::LoadMultiple).writes(list).flag(Flags::LOAD);
        if list.has(RegSet::PC) { load.flag(Flags::RETURN) } else { load }
    };
    let insn = insn.early(base).count(list.len()).flag(Flags::SINGLE);
    if w.hw1 & 1 << 5 != 0 { insn.base_update(base) } else { insn }
}

fn dual_exclusive_table(w: Words) -> InsnInfo {
    let base = RegSet::core(w.rn());
    let (op1, op2, op3) = ((w.hw1 >> 7) & 3, (w.hw1 >> 4) & 3, (w.hw2 >> 4) & 15);
    match (op1, op2) {
        // TT, TTT, TTA and TTAT of Armv8-M: exclusive stores that would have the PC as their source.
        (0, 0) if w.hw2 & 0xF03F == 0xF000 => {
            new(Class::System).reads(base).writes(RegSet::core(w.rd())).flag(Flags::SINGLE)
        }
        (0, 0) => exclusive_store(w, w.rd(), base),
        (0, 1) => exclusive_load(w, base),
        (1, 0) if op3 == 4 || op3 == 5 => exclusive_store(w, w.rm(), base),
        (1, 1) if op3 == 4 || op3 == 5 => exclusive_load(w, base),
        (1, 1) if op3 < 2 => {
            let table = base.union(RegSet::core(w.rm()));
            new(Class::Branch).early(table).flag(Flags::BRANCH.with(Flags::INDIRECT).with(Flags::LOAD))
        }
        (1, 0 | 1) => ordered(w, op3, base),
        // SG: a load of two registers that would write its base, the PC, back.
        (2, 3) if w.hw1 == SECURE_GATEWAY && w.hw2 == SECURE_GATEWAY => new(Class::System).flag(Flags::SINGLE),
        _ => {
            let pair = RegSet::core(w.rt()).union(RegSet::core(w.rd()));
            let insn = if w.hw1 & 1 << 4 == 0 {
                new(Class::StoreMultiple).reads(pair).flag(Flags::STORE)
            } else {
                new(Class::LoadMultiple).writes(pair).flag(Flags::LOAD)
            };
            let insn = insn.early(base).count(2).flag(Flags::SINGLE);
            if w.hw1 & 1 << 5 != 0 { insn.base_update(base) } else { insn }
        }
    }
}

/// Both half-words of SG.
const SECURE_GATEWAY: u32 = 0xE97F;

/// Load-acquire and store-release of Armv8, with or without exclusive access.
fn ordered(w: Words, op3: u32, base: RegSet) -> InsnInfo {
    let load = w.hw1 & 1 << 4 != 0;
    let value = RegSet::core(w.rt());
    match (op3, load) {
        (12..=14, true) => exclusive_load(w, base).flag(Flags::SINGLE),
        (12..=14, false) => exclusive_store(w, w.rm(), base),
        (8..=10, true) => {
            let class = if op3 == 10 { Class::Load } else { Class::LoadNarrow };
            new(class).early(base).writes(value).flag(Flags::LOAD.with(Flags::SINGLE))
        }
        (8..=10, false) => new(Class::Store).sums(value).early(base).flag(Flags::STORE.with(Flags::SINGLE)),
        _ => new(Class::Undefined),
    }
}

fn exclusive_store(w: Words, status: u32, base: RegSet) -> InsnInfo {
    new(Class::StoreExclusive)
        .reads(RegSet::core(w.rt()))
        .early(base)
        .writes(RegSet::core(status))
        .flag(Flags::STORE.with(Flags::SINGLE))
}

fn exclusive_load(w: Words, base: RegSet) -> InsnInfo {
    new(Class::LoadExclusive).early(base).writes(RegSet::core(w.rt())).flag(Flags::LOAD)
}

/// Completes a data-processing instruction: operands, destination (15 with flags: a comparison), flags.
fn data_processing(insn: InsnInfo, w: Words, opcode: u32) -> InsnInfo {
    // Opcodes 2 (ORR) and 3 (ORN) without a first operand are MOV and MVN.
    let insn = if matches!(opcode, 2 | 3) {
        insn.reads(RegSet::core_or_none(w.rn()))
    } else {
        insn.reads(RegSet::core(w.rn()))
    };
    let insn = if matches!(opcode, 10 | 11) { insn.reads(RegSet::FLAGS) } else { insn };
    let insn = insn.writes(RegSet::core_or_none(w.rd()));
    if w.sets_flags() { insn.writes(RegSet::FLAGS) } else { insn }
}

/// Whether opcode and operands are an addition, a subtraction or a move, which either ALU can do.
fn either_alu(w: Words, opcode: u32) -> bool {
    let compares = w.rd() == 15 && w.sets_flags();
    !compares && (matches!(opcode, 8 | 13 | 14) || opcode == 2 && w.rn() == 15)
}

const fn is_data_opcode(opcode: u32) -> bool {
    matches!(opcode, 0..=4 | 8 | 10 | 11 | 13 | 14)
}

fn shifted_register(w: Words) -> InsnInfo {
    let opcode = (w.hw1 >> 5) & 15;
    let rm = RegSet::core(w.rm());
    if opcode == 6 {
        let pack = new(Class::Dsp).reads(RegSet::core(w.rn())).early(rm).writes(RegSet::core(w.rd()));
        return pack.flag(Flags::PARALLEL);
    }
    if !is_data_opcode(opcode) {
        return new(Class::Undefined);
    }
    let shifted = w.hw2 & 0x70F0 != 0;
    let plain_shift = opcode == 2 && w.rn() == 15;
    let insn = if shifted && !plain_shift {
        new(Class::AluShifted).early(rm)
    } else if either_alu(w, opcode) {
        let insn = new(Class::Alu).reads(rm);
        if shifted { insn.flag(Flags::SHIFT) } else { insn }
    } else {
        new(Class::AluLate).reads(rm)
    };
    data_processing(insn, w, opcode)
}

fn modified_immediate(w: Words) -> InsnInfo {
    let opcode = (w.hw1 >> 5) & 15;
    if !is_data_opcode(opcode) {
        return new(Class::Undefined);
    }
    // A byte that is shifted into place goes through the shifter; one that is repeated does not.
    let shifted = w.hw1 & 1 << 10 != 0 || w.hw2 & 0x4000 != 0;
    let class = match either_alu(w, opcode) {
        _ if shifted => Class::AluShifted,
        true => Class::Alu,
        false => Class::AluLate,
    };
    data_processing(new(class), w, opcode)
}

fn plain_immediate(w: Words) -> InsnInfo {
    let (rn, rd) = (RegSet::core(w.rn()), RegSet::core(w.rd()));
    match (w.hw1 >> 4) & 31 {
        0 | 10 => new(Class::Alu).reads(rn).writes(rd),
        4 => new(Class::Alu).writes(rd),
        // MOVT keeps the lower half.
        12 => new(Class::Alu).reads(rd).writes(rd),
        16 | 18 | 20 | 24 | 26 | 28 => new(Class::Dsp).early(rn).writes(rd),
        22 => new(Class::Dsp).early(RegSet::core_or_none(w.rn())).reads(rd).writes(rd),
        _ => new(Class::Undefined),
    }
}

fn branch_or_control(w: Words, op: u32) -> InsnInfo {
    match (w.hw2 >> 12) & 5 {
        0 if op & 0x38 != 0x38 => {
            let offset = (w.hw1 >> 10 & 1) << 20
                | (w.hw2 >> 11 & 1) << 19
                | (w.hw2 >> 13 & 1) << 18
                | (w.hw1 & 0x3F) << 12
                | (w.hw2 & 0x7FF) << 1;
            let insn = new(Class::Branch).reads(RegSet::FLAGS).flag(Flags::CONDITIONAL);
            insn.jump(sign_extend(offset, 21) + 4)
        }
        0 => control(w, op),
        1 => new(Class::Branch).jump(long_offset(w)),
        5 => new(Class::Branch).writes(RegSet::LR).flag(Flags::LINK).jump(long_offset(w)),
        _ => new(Class::Undefined),
    }
}

/// Offset of B.W and BL (encoding T4 and T1).
const fn long_offset(w: Words) -> i32 {
    let s = w.hw1 >> 10 & 1;
    let i1 = !(w.hw2 >> 13 ^ s) & 1;
    let i2 = !(w.hw2 >> 11 ^ s) & 1;
    let offset = s << 24 | i1 << 23 | i2 << 22 | (w.hw1 & 0x3FF) << 12 | (w.hw2 & 0x7FF) << 1;
    sign_extend(offset, 25) + 4
}

fn control(w: Words, op: u32) -> InsnInfo {
    let system = new(Class::System).flag(Flags::SINGLE);
    match op {
        0x38 | 0x39 => system.reads(RegSet::core(w.rn())).writes(RegSet::FLAGS),
        0x3A => t16::hint(4, w.hw2 & 0xFF),
        0x3B => match (w.hw2 >> 4) & 15 {
            2 => system,
            4 => new(Class::DataSyncBarrier).flag(Flags::SINGLE),
            5 => new(Class::DataMemoryBarrier).flag(Flags::SINGLE),
            6 => new(Class::InstructionBarrier).flag(Flags::SINGLE),
            _ => new(Class::Undefined),
        },
        0x3E | 0x3F => system.writes(RegSet::core(w.rd())),
        0x7F => new(Class::Exception).flag(Flags::SINGLE),
        _ => new(Class::Undefined),
    }
}

/// Completes a single load or store with its address: base, index, base register written back.
fn addressed(insn: InsnInfo, w: Words) -> InsnInfo {
    let base = RegSet::core(w.rn());
    let insn = insn.early(base).based(constant_offset(w).and_then(|offset| BaseOffset::at(w.rn(), offset)));
    if w.hw1 & 1 << 7 != 0 || w.rn() == 15 {
        return insn;
    }
    if w.hw2 & 1 << 11 == 0 {
        return insn.index(RegSet::core(w.rm()));
    }
    if w.hw2 & 1 << 8 != 0 { insn.base_update(base) } else { insn }
}

/// A constant offset without write-back.
fn constant_offset(w: Words) -> Option<i32> {
    if w.rn() == 15 {
        return None;
    }
    if w.hw1 & 1 << 7 != 0 {
        return Some((w.hw2 & 0xFFF) as i32);
    }
    (w.hw2 & 0xF00 == 0xC00).then_some(-((w.hw2 & 0xFF) as i32))
}

fn store_single(w: Words) -> InsnInfo {
    if (w.hw1 >> 5) & 3 == 3 || w.rn() == 15 {
        return new(Class::Undefined);
    }
    addressed(new(Class::Store).sums(RegSet::core(w.rt())).flag(Flags::STORE), w)
}

fn load_single(w: Words) -> InsnInfo {
    let class = match (w.hw1 >> 5) & 3 {
        3 => return new(Class::Undefined),
        2 => Class::Load,
        _ if w.rt() == 15 => return addressed(new(Class::Preload), w),
        _ => Class::LoadNarrow,
    };
    let offset = constant_offset(w).filter(|_| class == Class::Load);
    // Of a negative offset its lowest bits count, which are those of its size.
    let word = offset.and_then(|offset| WordLoad::at(w.rn(), offset.unsigned_abs()));
    addressed(new(class).writes(RegSet::core(w.rt())).flag(Flags::LOAD).word(word), w)
}

fn register(w: Words) -> InsnInfo {
    let op1 = (w.hw1 >> 4) & 15;
    if w.hw2 & 0xF000 != 0xF000 {
        return new(Class::Undefined);
    }
    let (rn, rm, rd) = (RegSet::core_or_none(w.rn()), RegSet::core(w.rm()), RegSet::core(w.rd()));
    if op1 & 8 == 0 && w.hw2 & 0x80 == 0 {
        let insn = new(Class::Alu).reads(rn.union(rm)).writes(rd).flag(Flags::SHIFT);
        return if w.sets_flags() { insn.writes(RegSet::FLAGS) } else { insn };
    }
    let insn = new(Class::Dsp).writes(rd);
    match op1 {
        // An extension that adds needs what it extends early; a plain one does not.
        0..=7 if w.rn() != 15 => insn.reads(rn).early(rm).flag(Flags::PARALLEL),
        // Reversals.
        9 if w.hw2 & 0x80 != 0 => insn.early(rm),
        // Parallel addition and subtraction; saturating addition.
        8..=15 if w.hw2 & 0x80 == 0 => insn.reads(rn.union(rm)).flag(Flags::PARALLEL),
        8 if w.hw2 & 0x80 != 0 => insn.reads(rn.union(rm)).flag(Flags::PARALLEL),
        _ => insn.reads(rn.union(rm)),
    }
}

fn multiply(w: Words) -> InsnInfo {
    new(Class::Multiply)
        .reads(RegSet::core(w.rn()).union(RegSet::core(w.rm())))
        .sums(RegSet::core_or_none(w.rt()))
        .writes(RegSet::core(w.rd()))
}

fn long_multiply_divide(w: Words) -> InsnInfo {
    let operands = RegSet::core(w.rn()).union(RegSet::core(w.rm()));
    let (low, high) = (RegSet::core(w.rt()), RegSet::core(w.rd()));
    match ((w.hw1 >> 4) & 7, (w.hw2 >> 4) & 15) {
        (1 | 3, 15) => new(Class::Divide).reads(operands).writes(high).flag(Flags::SINGLE),
        (0 | 2, 0) => new(Class::Multiply).reads(operands).writes(low.union(high)),
        (4..=6, _) => new(Class::Multiply).reads(operands).sums(low.union(high)).writes(low.union(high)),
        _ => new(Class::Undefined),
    }
}
