//! Histories of allocations, releases and accesses, as heaps are compared by them (docs/references.md, key RTMMU, section V). A program on the board replays
//! one and measures its operations; on the host the same history says which pages would be mapped (`footprint`).
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

#[cfg(feature = "host")]
pub mod footprint;
pub mod recorded;
pub mod synthetic;

use memory::demand::{Layout, PAGE};
use memory::heap::record_bytes;
pub use recorded::Recorded;
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

/// The pages of a heap for so many blocks in the memory that all histories run in: that of the synthetic one's envelope. Programs whose blocks differ much in
/// size fit there, but no bound says so: for the worst program with their envelopes there would not be enough addresses.
pub fn layout(count: u32) -> Option<Layout> {
    let Envelope { live, largest, count: blocks } = synthetic::ENVELOPE;
    let given = Layout::new(live, largest, blocks)?;
    let (all, records) = (given.fixed + given.piece, record_bytes(count, 1) as u32);
    // A count of two bytes for each page.
    let fixed = (records + 2 * all).div_ceil(PAGE);
    let piece = all.checked_sub(fixed).filter(|pages| *pages > 0)?;
    (fixed < given.frames).then_some(Layout { records, fixed, piece, frames: given.frames })
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
