//! A32 and T32. Source: ELF for the Arm Architecture (IHI 0044), section 4.6.

use object::elf;

use super::{Encoding, Isa, Moves};

/// The two of them: ELF files do not tell them apart.
pub(super) const ISA: Isa = Isa {
    machine: elf::EM_ARM,
    described: "32-bit Arm (ELF machine 40)",
    image_flags: elf::EF_ARM_EABI_VER5,
    foreign_flags: elf::EF_ARM_ABI_FLOAT_SOFT,
    conventions: ["the soft-float calling convention", "the hard-float calling convention"],
    moves,
    veneers: VENEERS,
    triples: &["thumbv", "armv"],
    tools: "arm-none-eabi-",
};

/// As GNU ld 2.40 was seen to write them; instructions: Armv7-A/R ARM (DDI 0406), A8.8.
const VENEERS: &[&[u16]] = &[
    // Arm: LDR pc, [pc, #-4].
    &[0xf004, 0xe51f],
    // Arm: LDR ip, [pc]; BX ip.
    &[0xc000, 0xe59f, 0xff1c, 0xe12f],
    // Thumb-2: LDR.W pc, [pc, #-0].
    &[0xf85f, 0xf000],
    // Thumb: PUSH {r0}; LDR r0, [pc, #8]; MOV ip, r0; POP {r0}; BX ip; NOP.
    &[0xb401, 0x4802, 0x4684, 0xbc01, 0x4760, 0xbf00],
];

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

/// MOVW and MOVT of T32 (Armv7-M ARM, A7.7.76, encoding T3): imm4:i:imm3:imm8.
static T32: Encoding = Encoding {
    lower: elf::R_ARM_THM_MOVW_ABS_NC,
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
    get: |word| ((word >> 4 & 0xf000 | word & 0xfff) as u16, (word >> 12 & 0xf) as u8),
    set: |word, value| word & 0xfff0_f000 | (value as u32 & 0xf000) << 4 | value as u32 & 0xfff,
};
