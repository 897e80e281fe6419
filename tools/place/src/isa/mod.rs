//! Instruction sets, as far as their programs are built, read and moved: one table for each, and nothing about them elsewhere.

mod arm;
mod attributes;
pub(crate) mod flow;
mod table;

pub use table::Isa;
pub(crate) use table::{Encoding, Mark, Moves, Veneer};

const ISAS: &[&Isa] = &[&arm::ISA];

impl Isa {
    /// That of an ELF file.
    pub(crate) fn of_machine(machine: u16) -> Option<&'static Self> {
        ISAS.iter().find(|isa| isa.machine == machine).copied()
    }

    /// Those that there are, in words.
    pub(crate) fn all() -> &'static str {
        ISAS[0].described
    }

    /// That of a compiler's target triple.
    pub fn of_target(triple: &str) -> Option<&'static Self> {
        ISAS.iter().find(|isa| isa.triples.iter().any(|begins| triple.starts_with(begins))).copied()
    }
}
