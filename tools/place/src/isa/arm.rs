//! A32 and T32. Source: ELF for the Arm Architecture (IHI 0044), section 4.6.

use object::elf;

use super::attributes;
use super::table::{Encoding, Isa, Mark, Moves, THROUGH_WORDS, Veneer};

/// The two of them: ELF files do not tell them apart.
pub(super) const ISA: Isa = Isa {
    machine: elf::EM_ARM,
    described: "32-bit Arm (ELF machine 40)",
    image_flags: elf::EF_ARM_EABI_VER5,
    generation_mask: elf::EF_ARM_EABIMASK,
    foreign_flags: &[
        (elf::EF_ARM_ABI_FLOAT_SOFT, elf::EF_ARM_ABI_FLOAT_SOFT, "the soft-float calling convention"),
        (elf::EF_ARM_BE8, elf::EF_ARM_BE8, "a big-endian machine (BE8)"),
    ],
    convention: "the hard-float calling convention, little-endian",
    processors: (elf::SHT_ARM_ATTRIBUTES, attributes::profile),
    moves,
    merged: Some(elf::SHT_ARM_EXIDX),
    bytes_of,
    veneers: VENEERS,
    marks: &[("$d", Mark::Data), ("$a", Mark::Code(4, &A32)), ("$t", Mark::Code(2, &T32))],
    triples: &["thumbv", "armv"],
    processor: "arm",
    through,
    thread_pointer: false,
    tools: "arm-none-eabi-",
};

/// `movw ip; movt ip; ldr pc, [pc]` and the function's address: the entry in ip, which the function expects there (arch/arm-user/begin.S), in
/// the entry's own state. Source: Armv7-A/R ARM (DDI 0406), A8.8.64 and A8.8.102.
fn through(entry: u32, function: u32) -> [u32; THROUGH_WORDS] {
    let (lower, upper) = (entry as u16, (entry >> 16) as u16);
    if entry & 1 == 1 {
        [(T32.set)(0x0c00_f240, lower), (T32.set)(0x0c00_f2c0, upper), 0xf000_f8df, function]
    } else {
        [(A32.set)(0xe300_c000, lower), (A32.set)(0xe340_c000, upper), 0xe51f_f004, function]
    }
}

/// Those of GNU ld 2.40 and LLD 19 that hold an address; instructions: Armv7-A/R ARM (DDI 0406), A8.8.
const VENEERS: &[Veneer] = &[
    // Arm: LDR pc, [pc, #-4]; also behind Thumb: BX pc; NOP.
    word(4, &[(0xf004, ALL), (0xe51f, ALL)]),
    // Arm: LDR ip, [pc]; BX ip; also behind Thumb: BX pc; NOP.
    word(4, &[(0xc000, ALL), (0xe59f, ALL), (0xff1c, ALL), (0xe12f, ALL)]),
    // Thumb-2: LDR.W pc, [pc, #0] or [pc, #-0].
    word(4, &[(0xf85f, 0xff7f), (0xf000, ALL)]),
    // Thumb: PUSH {r0}; LDR r0, [pc, #8]; MOV ip, r0; POP {r0}; BX ip; NOP.
    word(4, &[(0xb401, ALL), (0x4802, ALL), (0x4684, ALL), (0xbc01, ALL), (0x4760, ALL), (0xbf00, ALL)]),
    // Thumb: PUSH {r0, r1}; LDR r0, [pc, #4]; STR r0, [sp, #4]; POP {r0, pc}.
    word(4, &[(0xb403, ALL), (0x4801, ALL), (0x9001, ALL), (0xbd01, ALL)]),
    // Thumb-2: MOVW ip, #lower; MOVT ip, #upper; BX ip.
    halves(&T32, 2, &[(0xf240, MOV_T32), (0x0c00, 0x8f00), (0xf2c0, MOV_T32), (0x0c00, 0x8f00), (0x4760, ALL)]),
    // Arm: MOVW ip, #lower; MOVT ip, #upper; BX ip.
    halves(
        &A32,
        4,
        &[(0xc000, 0xf000), (0xe300, MOV_A32), (0xc000, 0xf000), (0xe340, MOV_A32), (0xff1c, ALL), (0xe12f, ALL)],
    ),
];
/// Every bit of a half-word.
const ALL: u16 = 0xffff;
/// The first half of MOVW and MOVT, and of A32 the second, without what they load.
const MOV_T32: u16 = 0xfbf0;
const MOV_A32: u16 = 0xfff0;

const fn word(align: usize, code: &'static [(u16, u16)]) -> Veneer {
    Veneer { align, code, halves: None }
}

const fn halves(encoding: &'static Encoding, align: usize, code: &'static [(u16, u16)]) -> Veneer {
    Veneer { align, code, halves: Some(encoding) }
}

const fn moves(kind: u32) -> Option<Moves> {
    Some(match kind {
        elf::R_ARM_NONE | elf::R_ARM_V4BX => Moves::Stays,
        elf::R_ARM_ABS32 | elf::R_ARM_TARGET1 => Moves::Absolute,
        elf::R_ARM_REL32 | elf::R_ARM_TARGET2 => Moves::Relative,
        elf::R_ARM_THM_MOVW_ABS_NC => Moves::Half { lower: true, encoding: &T32 },
        elf::R_ARM_THM_MOVT_ABS => Moves::Half { lower: false, encoding: &T32 },
        elf::R_ARM_MOVW_ABS_NC => Moves::Half { lower: true, encoding: &A32 },
        elf::R_ARM_MOVT_ABS => Moves::Half { lower: false, encoding: &A32 },
        elf::R_ARM_CALL
        | elf::R_ARM_JUMP24
        | elf::R_ARM_PC24
        | elf::R_ARM_THM_PC22
        | elf::R_ARM_THM_JUMP24
        | elf::R_ARM_THM_JUMP19
        | elf::R_ARM_THM_PC11
        | elf::R_ARM_THM_PC9
        | elf::R_ARM_THM_ALU_PREL_11_0
        | elf::R_ARM_THM_PC12
        | elf::R_ARM_THM_PC8
        | elf::R_ARM_PREL31 => Moves::Together,
        _ => return None,
    })
}

/// Bytes that a relocation of a type covers.
const fn bytes_of(kind: u32) -> u32 {
    match kind {
        elf::R_ARM_NONE => 0,
        elf::R_ARM_THM_PC11 | elf::R_ARM_THM_PC9 | elf::R_ARM_THM_PC8 => 2,
        _ => 4,
    }
}

/// MOVW and MOVT of T32 (Armv7-M ARM, A7.7.76, encoding T3): imm4:i:imm3:imm8.
static T32: Encoding = Encoding {
    lower: elf::R_ARM_THM_MOVW_ABS_NC,
    is: |word, lower| word & 0x8000_fbf0 == if lower { 0xf240 } else { 0xf2c0 },
    get: |word| {
        let (first, second) = (word & 0xffff, word >> 16);
        let value = (first & 0xf) << 12 | (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 0xff;
        (value as u16, (second >> 8 & 0xf) as u8)
    },
    set: |word, value| {
        let value = value as u32;
        let first = word & 0xfbf0 | value >> 12 | (value >> 11 & 1) << 10;
        let second = word >> 16 & 0x8f00 | (value >> 8 & 7) << 12 | value & 0xff;
        first | second << 16
    },
};

/// MOVW and MOVT of A32 (Armv7-A ARM, A8.8.102, encoding A2): imm4 in bits 19 to 16, imm12 in 11 to 0.
static A32: Encoding = Encoding {
    lower: elf::R_ARM_MOVW_ABS_NC,
    is: |word, lower| word & 0x0ff0_0000 == if lower { 0x0300_0000 } else { 0x0340_0000 },
    get: |word| ((word >> 4 & 0xf000 | word & 0xfff) as u16, (word >> 12 & 0xf) as u8),
    set: |word, value| word & 0xfff0_f000 | (value as u32 & 0xf000) << 4 | value as u32 & 0xfff,
};
