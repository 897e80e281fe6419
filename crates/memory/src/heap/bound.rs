//! How much memory a heap needs so that it cannot refuse.

use super::class::{found_from, width};
use super::{GRANULE, MAX_REQUEST, MIN_BLOCK, PIECE_OVERHEAD, RECORD, block_for};

/// Bytes that a heap of `pieces` disjoint pieces must have, together, so that no request can fail while the program stays
/// within its envelope: at most `live` bytes in at most `count` blocks at any time, the new one included, none of them larger
/// than `largest` bytes. It needs [`record_bytes`] for records as well, which are no part of its pieces.
///
/// `None` when no such heap exists: `largest` exceeds [`MAX_REQUEST`], or one of `count` and `pieces` is zero.
///
/// Two kinds of requests count for more than they say: one that is aligned to more than eight bytes counts as its size plus its
/// alignment plus [`MIN_BLOCK`], and a `realloc` that cannot stay in place as a second block until the first is freed.
///
/// The proof is in `docs/memory.md`, "Why the envelope cannot be refused".
#[must_use]
pub const fn worst_case_bytes(live: u32, largest: u32, count: u32, pieces: u32) -> Option<u64> {
    if largest > MAX_REQUEST || count == 0 || pieces == 0 {
        return None;
    }
    let block = block_for(largest);
    let occupied = occupied_bytes(live, largest, count);
    // A refusal leaves free blocks too small to be found: one after each other live block, and one in each piece.
    let gap = (found_from(block) - GRANULE) as u64;
    let gaps = (count as u64 - 1) + (pieces as u64 - 1);
    let Some(lost) = gap.checked_mul(gaps) else { return None };
    let rounding = (width(block) - GRANULE) as u64;
    Some(pieces as u64 * PIECE_OVERHEAD as u64 + occupied + lost + rounding)
}

/// Bytes that the blocks of an envelope, whose `largest` is at most [`MAX_REQUEST`], occupy at most: the bytes asked for, rounded up, with a header, and
/// with a rest too small for a block of its own.
#[must_use]
pub const fn occupied_bytes(live: u32, largest: u32, count: u32) -> u64 {
    let asked = live as u64 + count as u64 * (MIN_BLOCK + GRANULE) as u64;
    let all_largest = count as u64 * (block_for(largest) + GRANULE) as u64;
    if asked < all_largest { asked } else { all_largest }
}

/// Bytes of records with which a heap of `pieces` pieces never lacks any while at most `count` blocks are live: one for each live
/// block, each free one, of which there are at most as many as live blocks and pieces together, the end of each piece, and none.
#[must_use]
pub const fn record_bytes(count: u32, pieces: u32) -> u64 {
    (2 * (count as u64 + pieces as u64) + 1) * RECORD as u64
}
