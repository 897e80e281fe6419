//! A heap whose operations take constant time: two-level segregated fit over one or several disjoint pieces of memory.

mod bound;
mod class;

pub use bound::worst_case_bytes;

/// Blocks are multiples of this many bytes, and every block that is handed out is aligned to it.
pub const GRANULE: u32 = 8;
/// Bytes before each block that the heap keeps for itself.
pub const HEADER: u32 = 8;
/// The smallest block, with its header.
pub const MIN_BLOCK: u32 = 16;
/// Base-two logarithm of the size that every block stays below.
pub const MAX_BLOCK_LOG2: u32 = 26;
/// The largest request in bytes.
pub const MAX_REQUEST: u32 = (1 << MAX_BLOCK_LOG2) - (1 << (MAX_BLOCK_LOG2 - 5)) - HEADER;
/// Bytes that each piece loses when its bounds are multiples of [`GRANULE`].
pub const PIECE_OVERHEAD: u32 = 8;

/// The block, with its header, that a request of `bytes` takes; `bytes` is at most [`MAX_REQUEST`].
pub(crate) const fn block_for(bytes: u32) -> u32 {
    let block = (bytes + HEADER + GRANULE - 1) & !(GRANULE - 1);
    if block < MIN_BLOCK { MIN_BLOCK } else { block }
}
