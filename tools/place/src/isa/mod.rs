//! Instruction sets, as far as their programs are built, read and moved: one table for each, and nothing about them elsewhere.

mod arm;

/// What is particular to an instruction set.
#[derive(Debug)]
pub struct Isa {
    /// Machine in the header of its ELF files.
    pub(crate) machine: u16,
    /// The machine in words.
    pub(crate) described: &'static str,
    /// Flags in the header of an image.
    pub(crate) image_flags: u32,
    /// Flags that no domain's program may have: its calling convention is another one.
    pub(crate) foreign_flags: u32,
    /// That convention and ours, in words.
    pub(crate) conventions: [&'static str; 2],
    /// What a relocation of this type asks of a program that moves; `None`: it is not known.
    pub(crate) moves: fn(u32) -> Option<Moves>,
    /// Half-words of veneers, in the order of the file, in front of the absolute address of the target. Those of position-independent code
    /// are right as they are while they and their targets move together.
    pub(crate) veneers: &'static [&'static [u16]],
    /// Beginnings of compilers' target triples for it.
    triples: &'static [&'static str],
    /// The beginning of the names of its C compiler and its binary utilities.
    pub tools: &'static str,
}

/// What becomes of a word when its place and its target move.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moves {
    /// It stays.
    Stays,
    /// It holds the target's address.
    Absolute,
    /// It holds the distance from its place to the target.
    Relative,
    /// It holds one half of the target's address.
    Half {
        /// Whether it is the lower half.
        lower: bool,
        /// How the instruction holds it.
        encoding: &'static Encoding,
    },
    /// It is right as it is while both move together, and cannot be moved otherwise.
    Together,
}

/// How an instruction of four bytes holds 16 bits of an address.
#[derive(Debug)]
pub(crate) struct Encoding {
    /// The type of relocation of the lower half.
    pub lower: u32,
    /// The bits, and the destination register, by which the two halves are found together.
    pub get: fn(u32) -> (u16, u8),
    /// The instruction with other bits.
    pub set: fn(u32, u16) -> u32,
}

const ISAS: &[&Isa] = &[&arm::ISA];

impl Isa {
    /// That of an ELF file; the texts of those that there are when it is none of them.
    pub(crate) fn of_machine(machine: u16) -> Result<&'static Self, &'static str> {
        let found = ISAS.iter().find(|isa| isa.machine == machine);
        found.copied().ok_or(ISAS[0].described)
    }

    /// That of a compiler's target triple.
    pub fn of_target(triple: &str) -> Option<&'static Self> {
        ISAS.iter().find(|isa| isa.triples.iter().any(|begins| triple.starts_with(begins))).copied()
    }
}
