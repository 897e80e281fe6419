//! The memory that histories run in.

use memory::demand::{Layout, PAGE};
use memory::heap::{MAX_BLOCK_LOG2, record_bytes};

use crate::action::Envelope;
use crate::synthetic::{COUNT, ENVELOPE};

/// The pages of a heap for so many blocks in the memory that all histories run in: that of the synthetic one's envelope. Programs whose blocks differ much in
/// size fit there, but no bound says so: for the worst program with their envelopes there would not be enough addresses.
pub fn layout(count: u32) -> Option<Layout> {
    let Envelope { live, largest, count: blocks } = ENVELOPE;
    let given = Layout::new(live, largest, blocks)?;
    let (all, records) = (given.fixed + given.piece, record_bytes(count, 1) as u32);
    let fixed = fixed(records, all);
    let piece = all.checked_sub(fixed).filter(|pages| *pages > 0)?;
    (fixed < given.frames).then_some(Layout { records, fixed, piece, frames: given.frames })
}

/// The memory of [`LARGE`](crate::synthetic::LARGE): the largest piece that a heap can have.
pub fn widest() -> Layout {
    let records = record_bytes(COUNT as u32, 1) as u32;
    let piece = (1 << MAX_BLOCK_LOG2) / PAGE - 1;
    let fixed = fixed(records, piece);
    Layout { records, fixed, piece, frames: fixed + piece }
}

/// Pages of records, and of a count of two bytes for each page.
const fn fixed(records: u32, pages: u32) -> u32 {
    (records + 2 * pages).div_ceil(PAGE)
}
