//! RV32. Source: RISC-V ELF psABI, version 1.0, "File Header". Programs are linked for the addresses at which they stay: no relocation of theirs is known
//! here, and one that would have to be moved is refused.

use object::elf;

use super::table::{Isa, THROUGH_WORDS};

/// Its base and its standard extensions: ELF files do not tell them apart, but for what the calling convention needs.
pub(super) const ISA: Isa = Isa {
    machine: elf::EM_RISCV,
    described: "32-bit RISC-V (ELF machine 243)",
    image_flags: elf::EF_RISCV_RVC,
    generation_mask: 0,
    foreign_flags: &[
        (elf::EF_RISCV_FLOAT_ABI, elf::EF_RISCV_FLOAT_ABI_SINGLE, "the single-float calling convention"),
        (elf::EF_RISCV_FLOAT_ABI, elf::EF_RISCV_FLOAT_ABI_DOUBLE, "the double-float calling convention"),
        (elf::EF_RISCV_FLOAT_ABI, elf::EF_RISCV_FLOAT_ABI_QUAD, "the quad-float calling convention"),
        (elf::EF_RISCV_RVE, elf::EF_RISCV_RVE, "a base with sixteen registers (RV32E)"),
    ],
    convention: "the integer calling convention (ilp32)",
    processors: (elf::SHT_RISCV_ATTRIBUTES, |_| None),
    moves: |_| None,
    merged: None,
    bytes_of: |_| 4,
    veneers: &[],
    marks: &[],
    triples: &["riscv32"],
    processor: "riscv32",
    through,
    thread_pointer: true,
    tools: "riscv64-unknown-elf-",
};

/// `lui t1; addi t1; lui t0; jr (t0)`: the entry in t1, which the function expects there (local.S and begin.S of arch/rv32-user). Source: Unprivileged ISA, RV32I,
/// "Integer Computational Instructions" and "Control Transfer Instructions".
fn through(entry: u32, function: u32) -> [u32; THROUGH_WORDS] {
    const T0: u32 = 5;
    const T1: u32 = 6;
    // The low part is added with its sign.
    let upper = |rd: u32, value: u32| value.wrapping_add(0x800) & 0xffff_f000 | rd << 7 | 0x37;
    let add = |rd: u32, value: u32| value << 20 | rd << 15 | rd << 7 | 0x13;
    let jump = |rs: u32, value: u32| value << 20 | rs << 15 | 0x67;
    [upper(T1, entry), add(T1, entry), upper(T0, function), jump(T0, function)]
}
