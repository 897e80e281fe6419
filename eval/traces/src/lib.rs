//! Histories of allocations, releases and accesses, as heaps are compared by them (docs/references.md, key RTMMU, section V). A program on the board replays
//! one and measures its operations; on the host the same history says which pages would be mapped (`footprint`).
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

#[cfg(feature = "host")]
pub mod footprint;
pub mod synthetic;

pub use synthetic::Synthetic;

/// Something that a program does with its heap. Slots are numbers that it gives its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It takes a block.
    Alloc {
        /// Of this number, which no live block has.
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

/// What a history has allocated at once at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Bytes.
    pub live: u32,
    /// Bytes of one block.
    pub largest: u32,
    /// Blocks.
    pub count: u32,
}
