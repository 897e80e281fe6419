//! The table of an instruction set.

/// The processors that a section names; `None` where it does not say.
pub(crate) type ReadProcessors = fn(&[u8]) -> Option<&'static str>;

/// Words of code with which a thread begins that does not begin at its entry.
pub(crate) const THROUGH_WORDS: usize = 4;

/// That code, which leads to an entry through a function.
pub(crate) type Through = fn(u32, u32) -> [u32; THROUGH_WORDS];

/// Particulars of an instruction set.
#[derive(Debug)]
pub struct Isa {
    /// Machine in the header of its ELF files.
    pub(crate) machine: u16,
    /// The machine in words.
    pub(crate) described: &'static str,
    /// Flags in the header of an image.
    pub(crate) image_flags: u32,
    /// The flags of them that say the generation of the calling convention.
    pub(crate) generation_mask: u32,
    /// Flags that no domain's program may have: mask, value, and what it is then for.
    pub(crate) foreign_flags: &'static [(u32, u32, &'static str)],
    /// The convention of domains, in words.
    pub(crate) convention: &'static str,
    /// The type of the section that says for which of its processors a file is, and how to read it.
    pub(crate) processors: (u32, ReadProcessors),
    /// Change that a relocation of this type asks of a program that moves; `None`: it is not known.
    pub(crate) moves: fn(u32) -> Option<Moves>,
    /// The type of sections that linkers shorten after they have placed their relocations, which are then anywhere. Their words are relative, to
    /// code that moves with them.
    pub(crate) merged: Option<u32>,
    /// Bytes that a relocation of this type covers.
    pub(crate) bytes_of: fn(u32) -> u32,
    /// Veneers that hold the absolute address of their target. Position-independent ones are right as they are while they and their targets
    /// move together; a branch whose two ends move apart is refused by its own relocation.
    pub(crate) veneers: &'static [Veneer],
    /// Names of the symbols from which on a section of code holds data, or instructions of a state.
    pub(crate) marks: &'static [(&'static str, Mark)],
    /// Beginnings of compilers' target triples for it.
    pub(super) triples: &'static [&'static str],
    /// The processor as CMake calls it.
    pub processor: &'static str,
    /// Code before the entry of a thread, which leads through a function of the run-time.
    pub(crate) through: Through,
    /// A register holds the address of a thread's own variables.
    pub(crate) thread_pointer: bool,
    /// The beginning of the names of its C compiler and its binary utilities.
    pub tools: &'static str,
}

/// Change of a word when its place and its target move.
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

/// Code that a linker inserts, and that holds the address of its target.
#[derive(Debug)]
pub(crate) struct Veneer {
    /// It begins at a multiple of so many bytes.
    pub align: usize,
    /// Its half-words in the order of the file: the bits, and which of them count.
    pub code: &'static [(u16, u16)],
    /// The first two instructions hold the halves of the address; `None`: the word behind the code holds it.
    pub halves: Option<&'static Encoding>,
}

/// Contents of a section of code from a symbol on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    /// Words.
    Data,
    /// Instructions that begin at multiples of so many bytes, and how two of them hold an address.
    Code(usize, &'static Encoding),
}

/// How an instruction of four bytes holds 16 bits of an address.
#[derive(Debug)]
pub(crate) struct Encoding {
    /// The type of relocation of the lower half.
    pub lower: u32,
    /// Whether a word is the instruction for the lower half, or for the upper one.
    pub is: fn(u32, bool) -> bool,
    /// The bits, and the destination register, by which the two halves are found together.
    pub get: fn(u32) -> (u16, u8),
    /// The instruction with other bits.
    pub set: fn(u32, u16) -> u32,
}
