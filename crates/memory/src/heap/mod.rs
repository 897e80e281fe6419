//! A heap whose operations take constant time: two-level segregated fit over one or several disjoint pieces of memory.
//!
//! | operation | bound | method |
//! | --- | --- | --- |
//! | [`Heap::alloc`], [`Heap::alloc_aligned`] | no loop; one store to the pieces, 8 loads and 13 stores of records, with an alignment up to 9 and 21; once in 31 times about twice that, where records come from the pieces | construction |
//! | [`Heap::free`] | no loop; a load and a store of the pieces, 31 loads and 24 stores of records | construction |
//! | [`Heap::realloc`] | the same, when the block stays in place; else one `alloc`, one `free` and the copy | construction |
//! | no refusal while the program stays within its envelope | [`worst_case_bytes`] | proof in `docs/memory.md` |
//!
//! ```text
//!   piece:   4 bytes | header, block | header, block | ... | 4 bytes      a block's address is a multiple of eight
//!
//!   header:  the address of the block's record, 1 once it has been freed
//!
//!   record:  word 0  address of the block; bit 0 set: free, bit 1 set: the end of a piece, or memory that became records
//!            word 1  size of the block with its header
//!            word 2  record of the block before it; of the first of its piece, the record that stands for no block
//!            word 3  record of the block after it
//!            word 4  of a free block: record of the next block of its class, or the one that stands for no block
//!            word 5  of a free block: record of the previous block of its class, likewise
//! ```
//!
//! An operation touches one word of the pieces, the block's header; all else that it reads and writes is records. They lie beside
//! the pieces, in fast memory if there is some ([`Heap::add_records`]), so that what an operation takes does not depend on which lines
//! of the pieces are in a cache. A heap that was given none takes them from its pieces, 32 at a time.
//!
//! Neither `alloc` nor `free` branches on what it finds, except on errors: processors predict such branches wrongly. A
//! step that a call does not need is done to the record that stands for no block.
//!
//! Invariants, which every operation checks for the blocks that it meets before it changes anything: the record after a block's
//! leads back to it; two free blocks are never neighbours; a free block is in the list of its class, and its list neighbours point
//! back. Only the address of a live block is taken back, whatever the program has written: the header must lead to a record, and the
//! record to the block. Writing beyond a block, or into a freed one, damages the header of the next block at most, and that is
//! reported when that block is freed. No word outside the pieces and the records is ever accessed: [`Storage`] sees to that.

mod blocks;
mod bound;
mod class;
mod lists;
mod operations;
mod records;
mod spans;
mod state;
mod words;

#[cfg(test)]
mod tests;

use core::num::NonZeroU32;

pub use bound::{occupied_bytes, record_bytes, worst_case_bytes};
pub use spans::Spans;
pub use state::Heap;
pub use words::Words;

/// Blocks are multiples of this many bytes, and every block that is handed out is aligned to it.
pub const GRANULE: u32 = 8;
/// Bytes before each block that the heap keeps for itself.
pub const HEADER: u32 = 4;
/// Bytes of a record; each block, and the end of each piece, has one.
pub const RECORD: u32 = 24;
/// The smallest block, with its header.
pub const MIN_BLOCK: u32 = 16;
/// Base-two logarithm of the size that every block stays below.
pub const MAX_BLOCK_LOG2: u32 = 26;
/// The largest request in bytes.
pub const MAX_REQUEST: u32 = (1 << MAX_BLOCK_LOG2) - (1 << (MAX_BLOCK_LOG2 - 5)) - HEADER;
/// Bytes that each piece loses when its bounds are multiples of [`GRANULE`].
pub const PIECE_OVERHEAD: u32 = 8;

/// The words of a record; the links are those of free blocks only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Address of its block, and whether it is free.
    At = 0,
    /// Size of its block.
    Size = 1,
    /// Record of the block before it.
    Before = 2,
    /// Record of the block after it.
    After = 3,
    /// The next record of its list.
    Next = 4,
    /// The previous record of its list.
    Previous = 5,
}

/// The memory that a heap manages: its pieces, and what it was given for records. The address of a record is checked once, when it
/// becomes a [`Storage::Place`]; what is done at a place needs no check.
pub trait Storage {
    /// Proof that the [`RECORD`] bytes from an address on, a multiple of eight that is not 0, lie in one piece of this storage.
    type Place: Copy;

    /// The place at an address; `None` when there is none.
    fn place(&self, at: u32) -> Option<Self::Place>;

    /// The address of a place.
    fn address(place: Self::Place) -> u32;

    /// A word of a place.
    fn load(&self, place: Self::Place, word: Word) -> u32;

    /// Changes a word of a place.
    fn store(&mut self, place: Self::Place, word: Word, value: u32);

    /// The word before an address; `None` unless that is a multiple of eight, and the eight bytes before and behind it lie in one
    /// piece.
    fn header(&self, block: u32) -> Option<u32>;

    /// Changes the word before an address; nothing happens where [`Storage::header`] is `None`.
    fn set_header(&mut self, block: u32, value: u32);

    /// Copies `bytes` bytes, a multiple of four, between two addresses; `None`, and nothing happens, unless each range lies in one
    /// piece. They do not overlap.
    fn copy(&mut self, from: u32, to: u32, bytes: u32) -> Option<()>;
}

/// Memory as words at addresses that are multiples of four, each access checked: the simple way to be a [`Storage`].
pub trait Memory {
    /// The word at `at`; `None` when it lies in no piece of this memory.
    fn load(&self, at: u32) -> Option<u32>;

    /// Stores a word; `None`, and nothing happens, when it lies in no piece of this memory.
    #[must_use]
    fn store(&mut self, at: u32, value: u32) -> Option<()>;

    /// Copies whole words between blocks that do not overlap; `None`, and nothing happens, when they are not in this memory.
    #[must_use]
    fn copy(&mut self, from: u32, to: u32, bytes: u32) -> Option<()>;
}

impl<M: Memory> Storage for M {
    type Place = NonZeroU32;

    fn place(&self, at: u32) -> Option<NonZeroU32> {
        self.load(at.checked_add(RECORD - 4)?)?;
        self.load(at)?;
        if at.is_multiple_of(GRANULE) { NonZeroU32::new(at) } else { None }
    }

    fn address(place: NonZeroU32) -> u32 {
        place.get()
    }

    fn load(&self, place: NonZeroU32, word: Word) -> u32 {
        Memory::load(self, place.get() + 4 * word as u32).unwrap_or(0)
    }

    fn store(&mut self, place: NonZeroU32, word: Word, value: u32) {
        let _ = Memory::store(self, place.get() + 4 * word as u32, value);
    }

    fn header(&self, block: u32) -> Option<u32> {
        self.load(block.checked_sub(GRANULE)?)?;
        self.load(block.checked_add(GRANULE - 4)?)?;
        if block.is_multiple_of(GRANULE) { self.load(block - HEADER) } else { None }
    }

    fn set_header(&mut self, block: u32, value: u32) {
        if Storage::header(self, block).is_some() {
            let _ = Memory::store(self, block - HEADER, value);
        }
    }

    fn copy(&mut self, from: u32, to: u32, bytes: u32) -> Option<()> {
        Memory::copy(self, from, to, bytes)
    }
}

/// Why the heap did not do what was asked. Live blocks and free ones are as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// No free block is large enough, or there is neither a record left nor a free block to take records from.
    Full,
    /// The request, with its alignment, exceeds [`MAX_REQUEST`].
    TooLarge,
    /// The alignment is no power of two.
    Alignment,
    /// The address is none that the heap has handed out, or its header was overwritten: somebody wrote beyond the block before it.
    NotABlock,
    /// The block has been freed before, and nobody has got or written that memory since.
    DoubleFree,
    /// The records of blocks nearby do not fit together: somebody wrote into them.
    Corrupt,
    /// The piece is too small, too large, or not in the memory.
    Piece,
    /// Another thread is in the heap, and the caller may not wait. Only heaps that several threads
    /// share return this; no heap of this crate does.
    Busy,
}

/// The occupancy of a heap, in bytes with headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The bytes that all pieces together can hold.
    pub capacity: u32,
    /// The bytes that live blocks occupy.
    pub used: u32,
    /// The most that `used` has been.
    pub peak: u32,
    /// Number of live blocks.
    pub blocks: u32,
}

/// The block, with its header, that a request of `bytes` takes; `bytes` is at most [`MAX_REQUEST`].
pub(crate) const fn block_for(bytes: u32) -> u32 {
    let block = (bytes + HEADER + GRANULE - 1) & !(GRANULE - 1);
    if block < MIN_BLOCK { MIN_BLOCK } else { block }
}
