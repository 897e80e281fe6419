//! RV32. Source: RISC-V ELF psABI, version 1.0, "File Header". Programs are linked for the addresses at which they stay: no relocation of theirs is known
//! here, and one that would have to be moved is refused.

use object::elf;

use super::table::Isa;

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
    tools: "riscv64-unknown-elf-",
};
