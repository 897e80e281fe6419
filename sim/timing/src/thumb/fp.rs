//! Floating-point encodings (DDI 0403 A6, FPv5-D16; DDI 0553 C2.3) and other coprocessor instructions.

use crate::insn::{BaseOffset, Class, Flags, InsnInfo, RegSet};

const fn new(class: Class) -> InsnInfo {
    InsnInfo::new(class, 4).flag(Flags::FP)
}

/// A floating-point operand: four bits, one bit that extends them, and whether it names a double register.
const fn operand(number: u32, extension: u32, double: bool) -> RegSet {
    let (number, extension) = (number & 15, extension & 1);
    if double { RegSet::singles((extension << 4 | number) * 2, 2) } else { RegSet::singles(number << 1 | extension, 1) }
}

pub(super) fn classify(hw1: u32, hw2: u32) -> InsnInfo {
    let coprocessor = (hw2 >> 8) & 15;
    if !matches!(coprocessor, 10 | 11) {
        return InsnInfo::new(Class::System, 4).flag(Flags::SINGLE);
    }
    let double = coprocessor == 11;
    match (hw1 >> 8, hw2 & 0x10 != 0) {
        (0xEC | 0xED, _) => load_store(hw1, hw2, double),
        (0xEE, false) => arithmetic(hw1, hw2, double),
        (0xEE, true) => transfer(hw1, hw2, double),
        (0xFE, false) => {
            // VSEL, VMAXNM, VMINNM, VRINT and VCVT with a rounding mode.
            let class = if double { Class::FpAlu64 } else { Class::FpAlu32 };
            let d = operand(hw2 >> 12, hw1 >> 6, double);
            let n = operand(hw1, hw2 >> 7, double);
            let m = operand(hw2, hw2 >> 5, double);
            new(class).reads(n.union(m).union(RegSet::FLAGS)).writes(d)
        }
        _ => InsnInfo::new(Class::Undefined, 4),
    }
}

fn load_store(hw1: u32, hw2: u32, double: bool) -> InsnInfo {
    let (p, u, w) = (hw1 & 1 << 8 != 0, hw1 & 1 << 7 != 0, hw1 & 1 << 5 != 0);
    let load = hw1 & 1 << 4 != 0;
    if !p && !u && !w {
        return two_core_registers(hw1, hw2, double, load);
    }
    let base = RegSet::core(hw1);
    if !p && !u {
        // VLSTM and VLLDM of Armv8-M: room for all registers, which are moved later, if at all.
        return new(Class::System).early(base).flag(Flags::SINGLE);
    }
    let words = if p && !w { 1 + u32::from(double) } else { hw2 & 0xFF };
    let number = (hw2 >> 12) & 15;
    let extension = (hw1 >> 6) & 1;
    let first = if double { (extension << 4 | number) * 2 } else { number << 1 | extension };
    let set = RegSet::singles(first, words);
    let single = p && !w && !double;
    let insn = match (load, single) {
        (true, true) => new(Class::FpLoad).writes(set).flag(Flags::LOAD),
        (true, false) => new(Class::FpLoadMultiple).writes(set).flag(Flags::LOAD.with(Flags::SINGLE)),
        (false, true) => new(Class::FpStore).sums(set).flag(Flags::STORE),
        (false, false) => new(Class::FpStoreMultiple).reads(set).flag(Flags::STORE.with(Flags::SINGLE)),
    };
    let offset = ((hw2 & 0xFF) << 2) as i32;
    let based = BaseOffset::at(hw1 & 15, if u { offset } else { -offset });
    let insn = if single { insn.based(based) } else { insn.count(words) };
    let insn = insn.early(base);
    if w { insn.base_update(base) } else { insn }
}

/// VMOV between two core registers and two single registers or one double register.
fn two_core_registers(hw1: u32, hw2: u32, double: bool, to_core: bool) -> InsnInfo {
    if hw1 & 1 << 6 == 0 {
        return InsnInfo::new(Class::Undefined, 4);
    }
    let core = RegSet::core(hw2 >> 12).union(RegSet::core(hw1));
    let (number, extension) = (hw2 & 15, (hw2 >> 5) & 1);
    let first = if double { (extension << 4 | number) * 2 } else { number << 1 | extension };
    let float = RegSet::singles(first, 2);
    let insn = new(Class::FpMove).flag(Flags::SINGLE);
    if to_core { insn.reads(float).writes(core) } else { insn.reads(core).writes(float) }
}

/// Between one core register and one single register, half a double register, or a status register.
fn transfer(hw1: u32, hw2: u32, double: bool) -> InsnInfo {
    let to_core = hw1 & 1 << 4 != 0;
    let core = hw2 >> 12;
    if (hw1 >> 5) & 7 == 7 {
        let insn = new(Class::System).flag(Flags::SINGLE);
        return match (to_core, core) {
            (true, 15) => insn.writes(RegSet::FLAGS),
            (true, _) => insn.writes(RegSet::core(core)),
            (false, _) => insn.reads(RegSet::core(core)),
        };
    }
    let float = if double {
        // Half of a double register: which one is in bit 5 of the first half-word.
        RegSet::singles((hw2 >> 7 & 1) << 5 | (hw1 & 15) << 1 | (hw1 >> 5 & 1), 1)
    } else {
        operand(hw1, hw2 >> 7, false)
    };
    let insn = new(Class::FpMove);
    if to_core { insn.reads(float).writes(RegSet::core(core)) } else { insn.reads(RegSet::core(core)).writes(float) }
}

fn arithmetic(hw1: u32, hw2: u32, double: bool) -> InsnInfo {
    let d = operand(hw2 >> 12, hw1 >> 6, double);
    let n = operand(hw1, hw2 >> 7, double);
    let m = operand(hw2, hw2 >> 5, double);
    let pick = |single, wide| if double { wide } else { single };
    match (hw1 >> 4) & 0xB {
        0 | 1 | 9 | 10 => new(pick(Class::FpAccumulate32, Class::FpAccumulate64)).reads(n.union(m)).sums(d).writes(d),
        2 => new(pick(Class::FpMultiply32, Class::FpMultiply64)).reads(n.union(m)).writes(d),
        3 => new(pick(Class::FpAlu32, Class::FpAlu64)).reads(n.union(m)).writes(d),
        8 => new(pick(Class::FpDivide32, Class::FpDivide64)).reads(n.union(m)).writes(d),
        _ => one_operand(hw1, hw2, double, d, m),
    }
}

fn one_operand(hw1: u32, hw2: u32, double: bool, d: RegSet, m: RegSet) -> InsnInfo {
    let pick = |single, wide| if double { wide } else { single };
    let alu = pick(Class::FpAlu32, Class::FpAlu64);
    let opc3 = (hw2 >> 6) & 3;
    if opc3 & 1 == 0 {
        return new(Class::FpMove).writes(d);
    }
    match (hw1 & 15, opc3) {
        (0, 1) => new(Class::FpMove).reads(m).writes(d),
        (1, 3) => new(pick(Class::FpDivide32, Class::FpDivide64)).reads(m).writes(d),
        // Comparisons write FPSCR, which no register here stands for.
        (4 | 5, _) => new(alu).reads(d.union(m)),
        // Between the precisions: the destination has the other one.
        (7, 3) => new(Class::FpAlu64).reads(m).writes(operand(hw2 >> 12, hw1 >> 6, !double)),
        // From an integer, which sits in a single register.
        (8, _) => new(alu).reads(operand(hw2, hw2 >> 5, false)).writes(d),
        // To an integer.
        (12 | 13, _) => new(alu).reads(m).writes(operand(hw2 >> 12, hw1 >> 6, false)),
        // Fixed point works in place.
        (10 | 11 | 14 | 15, _) => new(alu).reads(d).writes(d),
        _ => new(alu).reads(m).writes(d),
    }
}
