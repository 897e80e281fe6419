//! A32 instructions, classified as Thumb's are.
//!
//! Encodings: DDI 0406 chapter A5. Vector instructions are taken as single-precision arithmetic, and of their registers only
//! the lower half (D0 to D15) is followed. An instruction whose condition fails is classified like one that executes.

mod data;
mod memory;
mod word;

use crate::insn::{Class, Flags, InsnInfo, RegSet};
use crate::thumb::floating_point;
use word::{Word, new, written_back};

/// Classifies an instruction word. No instruction gives [`Class::Undefined`].
pub fn classify(word: u32) -> InsnInfo {
    let w = Word(word);
    let condition = word >> 28;
    if condition == 15 {
        return unconditional(w);
    }
    let insn = match w.field(25, 7) {
        0 => data::register(w),
        1 => data::immediate(w),
        2 => memory::single(w),
        3 if w.bit(4) => data::media(w),
        3 => memory::single(w),
        4 => memory::multiple(w),
        5 => branch(w, condition),
        _ => coprocessor(w),
    };
    if condition == 14 {
        return insn;
    }
    let insn = insn.reads(RegSet::FLAGS);
    if insn.is_branch() { insn.flag(Flags::CONDITIONAL) } else { insn }
}

/// B and BL: the offset counts from two instructions on.
fn branch(w: Word, condition: u32) -> InsnInfo {
    let insn = new(Class::Branch).jump(offset(w) + 8);
    let insn = if w.bit(24) { insn.writes(RegSet::LR).flag(Flags::LINK) } else { insn };
    if condition == 14 { insn } else { insn.flag(Flags::CONDITIONAL) }
}

const fn offset(w: Word) -> i32 {
    ((w.0 << 8) as i32) >> 6
}

fn coprocessor(w: Word) -> InsnInfo {
    if w.field(24, 15) == 15 {
        return new(Class::Exception).flag(Flags::SINGLE);
    }
    let (first, second) = w.halves();
    floating_point(first, second)
}

/// Instructions without a condition (DDI 0406 A5.7): barriers, preloads, vectors, returns from exceptions, BLX to T32.
fn unconditional(w: Word) -> InsnInfo {
    let single = |class| new(class).flag(Flags::SINGLE);
    match w.field(20, 0xFF) {
        0x10 => single(Class::System),
        0x57 => match w.field(4, 15) {
            1 => single(Class::System),
            4 => single(Class::DataSyncBarrier),
            5 => single(Class::DataMemoryBarrier),
            6 => single(Class::InstructionBarrier),
            _ => new(Class::Undefined),
        },
        0x20..=0x3F => vector(w),
        op @ 0x40..=0x4F if op & 1 == 0 => vector_memory(w),
        // PLI, PLD, PLDW: by immediate or by register.
        0x45 | 0x4D | 0x51 | 0x55 | 0x59 | 0x5D => preload(w, RegSet::NONE),
        0x65 | 0x6D | 0x71 | 0x75 | 0x79 | 0x7D if !w.bit(4) => preload(w, RegSet::core(w.rm())),
        op @ 0x80..=0x9F if op & 5 == 1 => {
            let from = RegSet::core(w.rn());
            let insn = new(Class::LoadMultiple).early(from).writes(RegSet::PC).count(2);
            written_back(insn.flag(Flags::LOAD.with(Flags::RETURN).with(Flags::SINGLE)), w)
        }
        op @ 0x80..=0x9F if op & 5 == 4 => {
            let insn = new(Class::StoreMultiple).reads(RegSet::LR).early(RegSet::SP).count(2);
            insn.flag(Flags::STORE.with(Flags::SINGLE))
        }
        0xA0..=0xBF => {
            let half = if w.bit(24) { 2 } else { 0 };
            new(Class::Branch).jump(offset(w) + half + 8).writes(RegSet::LR).flag(Flags::LINK)
        }
        0xC0..=0xEF => single(Class::System),
        _ => new(Class::Undefined),
    }
}

fn preload(w: Word, index: RegSet) -> InsnInfo {
    new(Class::Preload).early(RegSet::core_or_none(w.rn()).union(index))
}

/// The two single registers of a double one, or the four of a quadruple one.
fn vector_registers(number: u32, upper: bool, quadruple: bool) -> RegSet {
    let first = (u32::from(upper) << 4 | number) * 2;
    RegSet::singles(first, if quadruple { 4 } else { 2 })
}

fn vector(w: Word) -> InsnInfo {
    let quadruple = w.bit(6);
    let d = vector_registers(w.rd(), w.bit(22), quadruple);
    let n = vector_registers(w.rn(), w.bit(7), quadruple);
    let m = vector_registers(w.rm(), w.bit(5), quadruple);
    new(Class::FpAlu32).reads(n.union(m)).writes(d).flag(Flags::FP)
}

/// Loads and stores of elements and structures: one to four double registers, taken as four.
fn vector_memory(w: Word) -> InsnInfo {
    let registers = RegSet::singles((w.field(22, 1) << 4 | w.rd()) * 2, 8);
    let insn = if w.bit(21) {
        new(Class::FpLoadMultiple).writes(registers).flag(Flags::LOAD)
    } else {
        new(Class::FpStoreMultiple).reads(registers).flag(Flags::STORE)
    };
    let insn = insn.early(RegSet::core(w.rn())).count(8).flag(Flags::FP.with(Flags::SINGLE));
    if w.rm() == 15 { insn } else { insn.base_update(RegSet::core(w.rn())) }
}

#[cfg(test)]
mod tests;
