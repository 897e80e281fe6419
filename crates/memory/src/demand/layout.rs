//! The contents of such a heap's memory, and the number of frames that it needs.

use crate::heap::{GRANULE, HEADER, MAX_BLOCK_LOG2, MAX_REQUEST, occupied_bytes, record_bytes, worst_case_bytes};

/// Bytes of a page.
pub const PAGE: u32 = 4096;
/// Bytes of the count of a page.
const COUNT: u64 = 2;

/// The pages of a heap for an envelope: first those that are always in use, with records and counts, then the piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes of records, at the beginning.
    pub records: u32,
    /// Pages of records and counts. Counts follow records.
    pub fixed: u32,
    /// Pages of the piece.
    pub piece: u32,
    /// Frames that all pages together can have at once while the program stays within the envelope.
    pub frames: u32,
}

impl Layout {
    /// The layout for at most `live` bytes in at most `count` blocks of at most `largest` bytes. `None` when no heap can hold them.
    ///
    /// Addresses are for the worst fragmentation ([`worst_case_bytes`]); frames are for the blocks alone, each of which meets at most one page more
    /// than its bytes fill, begun at the worst place.
    #[must_use]
    pub const fn new(live: u32, largest: u32, count: u32) -> Option<Layout> {
        if largest > MAX_REQUEST {
            return None;
        }
        let Some(bytes) = worst_case_bytes(live, largest, count, 1) else { return None };
        let piece = bytes.div_ceil(PAGE as u64);
        let records = record_bytes(count, 1);
        let fixed = (records + piece * COUNT).div_ceil(PAGE as u64);
        let occupied = occupied_bytes(live, largest, count);
        // A block of s bytes from offset o of a page on meets (o + s - 1) / PAGE + 1 pages; o is at most PAGE - HEADER, and s at least 16.
        let met = occupied / PAGE as u64 + 2 * count as u64;
        let needed = if met < piece { met } else { piece };
        // A piece is one free block at first.
        if piece * PAGE as u64 >= 1 << MAX_BLOCK_LOG2 {
            return None;
        }
        Some(Layout {
            records: records as u32,
            fixed: fixed as u32,
            piece: piece as u32,
            frames: (fixed + needed) as u32,
        })
    }

    /// Bytes of addresses, frames or not.
    pub const fn bytes(&self) -> u32 {
        (self.fixed + self.piece) * PAGE
    }

    /// Frames that the pages of the piece can have at once.
    pub const fn in_piece(&self) -> u32 {
        self.frames - self.fixed
    }
}

const _: () = assert!(GRANULE == 2 * HEADER, "a block begins at most HEADER bytes before the end of a page");
