//! 16-bit encodings (DDI 0403 A5.2).

use crate::insn::{BaseOffset, Class, Flags, InsnInfo, RegSet, WordLoad, sign_extend};

const fn new(class: Class) -> InsnInfo {
    InsnInfo::new(class, 2)
}

/// Low register held in the three bits from `at`.
const fn low(hw: u32, at: u32) -> RegSet {
    RegSet::core((hw >> at) & 7)
}

pub(super) fn classify(hw: u32) -> InsnInfo {
    match hw >> 10 {
        0b00_0000..=0b00_1111 => shift_add_move(hw),
        0b01_0000 => data_processing(hw),
        0b01_0001 => high_registers(hw),
        0b01_0010 | 0b01_0011 => {
            new(Class::Load).early(RegSet::PC).writes(RegSet::core((hw >> 8) & 7)).flag(Flags::LOAD)
        }
        0b01_0100..=0b01_0111 => register_offset(hw),
        0b01_1000..=0b10_0011 => immediate_offset(hw),
        0b10_0100..=0b10_0111 => stack_relative(hw),
        0b10_1000 | 0b10_1001 => new(Class::Alu).reads(RegSet::PC).writes(low(hw, 8)),
        0b10_1010 | 0b10_1011 => new(Class::Alu).reads(RegSet::SP).writes(low(hw, 8)),
        0b10_1100..=0b10_1111 => miscellaneous(hw),
        0b11_0000..=0b11_0011 => multiple(hw),
        0b11_0100..=0b11_0111 => conditional_branch(hw),
        0b11_1000 | 0b11_1001 => new(Class::Branch).jump(sign_extend(hw << 1, 12) + 4),
        _ => new(Class::Undefined),
    }
}

fn shift_add_move(hw: u32) -> InsnInfo {
    let wide = RegSet::core((hw >> 8) & 7);
    match hw >> 11 {
        0b00..=0b10 => {
            let insn = new(Class::Alu).reads(low(hw, 3)).writes(low(hw, 0)).writes(RegSet::FLAGS);
            // LSL by 0 is MOV.
            if hw >> 6 == 0 { insn } else { insn.flag(Flags::SHIFT) }
        }
        0b11 => {
            let both = new(Class::Alu).reads(low(hw, 3)).writes(low(hw, 0)).writes(RegSet::FLAGS);
            if hw & 1 << 10 == 0 { both.reads(low(hw, 6)) } else { both }
        }
        0b100 => new(Class::Alu).writes(wide).writes(RegSet::FLAGS),
        0b101 => new(Class::AluLate).reads(wide).writes(RegSet::FLAGS),
        _ => new(Class::Alu).reads(wide).writes(wide).writes(RegSet::FLAGS),
    }
}

fn data_processing(hw: u32) -> InsnInfo {
    let (rdn, rm) = (low(hw, 0), low(hw, 3));
    let flags = RegSet::FLAGS;
    match (hw >> 6) & 15 {
        // Shifts by a register.
        2 | 3 | 4 | 7 => new(Class::Alu).reads(rdn.union(rm)).writes(rdn.union(flags)).flag(Flags::SHIFT),
        // Add and subtract with carry.
        5 | 6 => new(Class::AluLate).reads(rdn.union(rm).union(flags)).writes(rdn.union(flags)),
        // TST, CMP, CMN write no register.
        8 | 10 | 11 => new(Class::AluLate).reads(rdn.union(rm)).writes(flags),
        // RSB, MVN do not read their destination.
        9 => new(Class::Alu).reads(rm).writes(rdn.union(flags)),
        15 => new(Class::AluLate).reads(rm).writes(rdn.union(flags)),
        13 => new(Class::Multiply).reads(rdn.union(rm)).writes(rdn.union(flags)),
        _ => new(Class::AluLate).reads(rdn.union(rm)).writes(rdn.union(flags)),
    }
}

fn high_registers(hw: u32) -> InsnInfo {
    let rm_number = (hw >> 3) & 15;
    let rm = RegSet::core(rm_number);
    let rdn = RegSet::core(hw & 7 | (hw >> 4) & 8);
    let indirect = Flags::BRANCH.with(Flags::INDIRECT);
    match (hw >> 8) & 3 {
        0 => as_branch(new(Class::Alu).reads(rdn.union(rm)).writes(rdn)),
        1 => new(Class::AluLate).reads(rdn.union(rm)).writes(RegSet::FLAGS),
        2 => as_branch(new(Class::Alu).reads(rm).writes(rdn)),
        _ if hw & 0x80 != 0 => new(Class::Branch).reads(rm).writes(RegSet::LR).flag(indirect.with(Flags::LINK)),
        _ if rm_number == 14 => new(Class::Branch).reads(rm).flag(indirect.with(Flags::RETURN)),
        _ => new(Class::Branch).reads(rm).flag(indirect),
    }
}

/// An ALU instruction that writes the PC is a branch.
fn as_branch(mut insn: InsnInfo) -> InsnInfo {
    if insn.is_branch() {
        insn.class = Class::Branch;
    }
    insn
}

fn register_offset(hw: u32) -> InsnInfo {
    let (base, index) = (low(hw, 3), low(hw, 6));
    let class = match (hw >> 9) & 7 {
        0..=2 => return new(Class::Store).sums(low(hw, 0)).early(base).index(index).flag(Flags::STORE),
        4 => Class::Load,
        _ => Class::LoadNarrow,
    };
    new(class).early(base).index(index).writes(low(hw, 0)).flag(Flags::LOAD)
}

fn immediate_offset(hw: u32) -> InsnInfo {
    // Words, bytes and half-words, by the size of the access.
    let (class, log2) = match hw >> 12 {
        0b0110 => (Class::Load, 2),
        0b0111 => (Class::LoadNarrow, 0),
        _ => (Class::LoadNarrow, 1),
    };
    let (base, offset) = ((hw >> 3) & 7, ((hw >> 6) & 31) << log2);
    let based = BaseOffset::at(base, offset as i32);
    if hw & 1 << 11 == 0 {
        return new(Class::Store).sums(low(hw, 0)).early(low(hw, 3)).flag(Flags::STORE).based(based);
    }
    let word = if log2 == 2 { WordLoad::at(base, offset) } else { None };
    new(class).early(low(hw, 3)).writes(low(hw, 0)).flag(Flags::LOAD).word(word).based(based)
}

fn stack_relative(hw: u32) -> InsnInfo {
    let offset = (hw & 0xFF) << 2;
    let based = BaseOffset::at(13, offset as i32);
    if hw & 1 << 11 == 0 {
        new(Class::Store).sums(low(hw, 8)).early(RegSet::SP).flag(Flags::STORE).based(based)
    } else {
        let word = WordLoad::at(13, offset);
        new(Class::Load).early(RegSet::SP).writes(low(hw, 8)).flag(Flags::LOAD).word(word).based(based)
    }
}

fn miscellaneous(hw: u32) -> InsnInfo {
    match (hw >> 8) & 15 {
        0x0 => new(Class::Alu).reads(RegSet::SP).writes(RegSet::SP),
        0x1 | 0x3 | 0x9 | 0xB => {
            let offset = ((hw >> 9) & 1) << 6 | ((hw >> 3) & 31) << 1;
            new(Class::Branch).reads(low(hw, 0)).flag(Flags::CONDITIONAL).jump(offset as i32 + 4)
        }
        // An extension needs its operand no earlier than an addition; a reversal does.
        0x2 => new(Class::Dsp).reads(low(hw, 3)).writes(low(hw, 0)),
        0x4 | 0x5 => {
            let list = hw & 0xFF | (hw & 0x100) << 6;
            transfer(new(Class::StoreMultiple).reads(RegSet::list(list)).flag(Flags::STORE), RegSet::SP, list, true)
        }
        0x6 if hw & 0xFFE0 == 0xB660 => new(Class::System).flag(Flags::SINGLE),
        0xA if (hw >> 6) & 3 != 2 => new(Class::Dsp).early(low(hw, 3)).writes(low(hw, 0)),
        0xC | 0xD => {
            let list = hw & 0xFF | (hw & 0x100) << 7;
            let insn = transfer(load_list(list), RegSet::SP, list, true);
            if list & 1 << 15 != 0 { insn.flag(Flags::RETURN) } else { insn }
        }
        0xE => new(Class::Exception).flag(Flags::SINGLE),
        0xF if hw & 15 != 0 => new(Class::IfThen).reads(RegSet::FLAGS),
        0xF => hint(2, (hw >> 4) & 15),
        _ => new(Class::Undefined),
    }
}

/// NOP-compatible hints, 16 or 32 bits wide.
pub(super) fn hint(size: u8, number: u32) -> InsnInfo {
    match number {
        2 | 3 => InsnInfo::new(Class::Wait, size).flag(Flags::SINGLE),
        _ => InsnInfo::new(Class::Nop, size),
    }
}

fn load_list(list: u32) -> InsnInfo {
    new(Class::LoadMultiple).writes(RegSet::list(list)).flag(Flags::LOAD)
}

/// Completes a multiple transfer: base, count, write-back.
fn transfer(insn: InsnInfo, base: RegSet, list: u32, write_back: bool) -> InsnInfo {
    let insn = insn.early(base).count(list.count_ones()).flag(Flags::SINGLE);
    if write_back { insn.base_update(base) } else { insn }
}

fn multiple(hw: u32) -> InsnInfo {
    let (base, list) = (RegSet::core((hw >> 8) & 7), hw & 0xFF);
    if hw & 1 << 11 == 0 {
        return transfer(new(Class::StoreMultiple).reads(RegSet::list(list)).flag(Flags::STORE), base, list, true);
    }
    let write_back = !RegSet::list(list).has(base);
    transfer(load_list(list), base, list, write_back)
}

fn conditional_branch(hw: u32) -> InsnInfo {
    match (hw >> 8) & 15 {
        14 | 15 => new(Class::Exception).flag(Flags::SINGLE),
        _ => new(Class::Branch).reads(RegSet::FLAGS).flag(Flags::CONDITIONAL).jump(sign_extend(hw << 1 & 0x1FF, 9) + 4),
    }
}
