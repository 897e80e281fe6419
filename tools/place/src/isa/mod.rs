//! Instruction sets, as far as their programs are built, read and moved: one table for each, and nothing about them elsewhere.

mod arm;
mod attributes;
pub(crate) mod flow;
mod riscv;
mod table;

pub use table::Isa;
pub(crate) use table::{Encoding, Mark, Moves, THROUGH_WORDS, Through, Veneer};

const ISAS: &[&Isa] = &[&arm::ISA, &riscv::ISA];

impl Isa {
    /// That of an ELF file.
    pub(crate) fn of_machine(machine: u16) -> Option<&'static Self> {
        ISAS.iter().find(|isa| isa.machine == machine).copied()
    }

    /// Those that there are, in words.
    pub(crate) const fn all() -> &'static str {
        "32-bit Arm (ELF machine 40) or 32-bit RISC-V (ELF machine 243)"
    }

    /// That of a compiler's target triple.
    pub fn of_target(triple: &str) -> Option<&'static Self> {
        ISAS.iter().find(|isa| isa.triples.iter().any(|begins| triple.starts_with(begins))).copied()
    }
}
