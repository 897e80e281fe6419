//! The parts of a history.

/// Something that a program does with its heap. Slots are numbers that it gives its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It takes a block.
    Alloc {
        /// The number that it gives the block. No live block has it.
        slot: u32,
        /// Bytes, at least 1.
        bytes: u32,
    },
    /// It gives a block back.
    Free {
        /// Its number.
        slot: u32,
    },
    /// It uses a byte of a block.
    Touch {
        /// Its number.
        slot: u32,
        /// The byte.
        offset: u32,
        /// It writes it.
        write: bool,
    },
}

/// The most that a history has allocated at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Bytes.
    pub live: u32,
    /// Bytes of one block.
    pub largest: u32,
    /// Blocks.
    pub count: u32,
}
