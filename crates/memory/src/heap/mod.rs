//! A heap whose operations take constant time: two-level segregated fit over one or several disjoint pieces of memory.
//!
//! | operation | bound | method |
//! | --- | --- | --- |
//! | [`Heap::alloc`], [`Heap::alloc_aligned`] | no loop; at most 4 loads and 13 stores of the heap's memory | construction |
//! | [`Heap::free`] | no loop; at most 14 loads and 10 stores | construction |
//! | [`Heap::realloc`] | the same, when the block stays in place; else one `alloc`, one `free` and the copy | construction |
//! | no refusal while the program stays within its envelope | [`worst_case_bytes`] | proof in `docs/memory.md` |
//!
//! ```text
//!   piece:  | header, payload | header, payload | ... | end |       a block's address is that of its payload
//!
//!   header: word 0  size of the block with its header; bit 0 set: free
//!           word 1  size of the block before it, 0 for the first of its piece
//!   a free block's payload begins with the addresses of the next and the previous free block of its class
//! ```
//!
//! Invariants, which every operation checks for the blocks that it meets before it changes anything: each size is found in two
//! headers; two free blocks are never neighbours; a free block is in the list of its class, and its list neighbours point back.
//! A program that frees twice, frees what is no block, or writes beyond a block gets a typed error, as far as the blocks that the
//! operation meets can tell; live blocks and free memory are then as before, while a list may have another order. No word outside the pieces is ever accessed: [`Storage`] sees to that.

mod blocks;
mod bound;
mod class;
mod lists;
mod operations;
mod spans;
mod words;

#[cfg(test)]
mod tests;

use core::num::NonZeroU32;

pub use bound::worst_case_bytes;
pub use lists::Heap;
pub use spans::Spans;
pub use words::Words;

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
pub const PIECE_OVERHEAD: u32 = 16;

/// The four words with which a block begins; the links are those of free blocks only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Its size, and whether it is free.
    Size = 0,
    /// The size of the block before it.
    Before = 1,
    /// The next block of its list.
    Next = 2,
    /// The previous block of its list.
    Previous = 3,
}

/// The memory that a heap manages. An address is checked once, when it becomes a [`Storage::Place`]; what is done at a place needs no
/// check.
pub trait Storage {
    /// Proof that the 16 bytes from an address on, a multiple of eight that is not 0, lie in one piece of this storage.
    type Place: Copy;

    /// The place at an address; `None` when there is none.
    fn place(&self, at: u32) -> Option<Self::Place>;

    /// The address of a place.
    fn address(place: Self::Place) -> u32;

    /// A word of a place.
    fn load(&self, place: Self::Place, word: Word) -> u32;

    /// Changes a word of a place.
    fn store(&mut self, place: Self::Place, word: Word, value: u32);

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
        self.load(at.checked_add(12)?)?;
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

    fn copy(&mut self, from: u32, to: u32, bytes: u32) -> Option<()> {
        Memory::copy(self, from, to, bytes)
    }
}

/// Why the heap did not do what was asked. What is live and what is free is as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// No free block is large enough.
    Full,
    /// The request, with its alignment, exceeds [`MAX_REQUEST`].
    TooLarge,
    /// The alignment is no power of two.
    Alignment,
    /// The address is none that the heap has handed out.
    NotABlock,
    /// The block has been freed before.
    DoubleFree,
    /// The header or the links of a block nearby do not fit together: somebody wrote beyond a block, or into a freed one.
    Corrupt,
    /// The piece is too small, too large, or not in the memory.
    Piece,
}

/// What a heap holds, in bytes with headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// What all pieces together can hold.
    pub capacity: u32,
    /// What live blocks occupy.
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
