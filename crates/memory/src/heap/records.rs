//! Allocates records: from memory that was given for them, and when that is used up from a block of
//! the heap.

use super::blocks::{Block, FREE, WALL};
use super::state::Heap;
use super::{Error, GRANULE, HEADER, MIN_BLOCK, RECORD, Storage, Word};

/// Bytes of records that a heap takes from a piece or a block of its own when it has none left.
pub const CHUNK: u32 = 32 * RECORD;
/// The block that holds them.
pub const CHUNK_BLOCK: u32 = (CHUNK + HEADER + GRANULE - 1) & !(GRANULE - 1);

impl<S: Storage> Heap<S> {
    /// Gives the heap `bytes` bytes of its memory from `base`, which belong to no piece, for records. With
    /// [`record_bytes`](super::record_bytes) of them the heap never takes any from its pieces.
    ///
    /// # Errors
    /// [`Error::Piece`] when not even one record fits, or it is not in the memory.
    pub fn add_records(&mut self, base: u32, bytes: u32) -> Result<(), Error> {
        let first = base.checked_add(GRANULE - 1).ok_or(Error::Piece)? & !(GRANULE - 1);
        let count = bytes.saturating_sub(first - base) / RECORD;
        let last = count.checked_sub(1).and_then(|rest| first.checked_add(rest * RECORD)).ok_or(Error::Piece)?;
        if self.storage.place(first).is_none() || self.storage.place(last).is_none() {
            return Err(Error::Piece);
        }
        self.fresh(first, count);
        Ok(())
    }

    /// Goes on with so many unused records; what was left of others before is not used any more.
    fn fresh(&mut self, first: u32, count: u32) {
        self.spares = self.spares - self.unused + count;
        (self.unused, self.next_unused) = (count, first);
    }

    /// A record if one is `wanted`, from those that were given back or else from those never used; if not, the one at `otherwise`.
    #[inline(always)]
    pub(super) fn take(&mut self, wanted: bool, otherwise: u32) -> Result<S::Place, Error> {
        let (again, fresh) = (wanted & (self.spare != 0), wanted & (self.spare == 0));
        let at = if self.spare != 0 { self.spare } else { self.next_unused };
        let place = self.place(if wanted { at } else { otherwise });
        let unused = self.unused.checked_sub(u32::from(fresh)).ok_or(Error::Full)?;
        let place = place?;
        let next = self.load(place, Word::Next);
        self.spare = if again { next } else { self.spare };
        self.next_unused += if fresh { RECORD } else { 0 };
        self.unused = unused;
        self.spares -= u32::from(wanted);
        Ok(place)
    }

    /// Gives a record back, to which no header leads any more, unless it is `kept`.
    #[inline(always)]
    pub(super) fn release(&mut self, place: S::Place, kept: bool, none: S::Place) {
        let place = if kept { none } else { place };
        self.store(place, Word::At, FREE & u32::from(kept));
        self.store(place, Word::Next, self.spare);
        self.spare = if kept { self.spare } else { S::address(place) };
        self.spares += u32::from(!kept);
        self.unlinked(none);
    }

    /// Returns true if there is no record left.
    #[inline(always)]
    pub(super) const fn exhausted(&self) -> bool {
        self.spares == 0
    }

    /// Turns the beginning of a free block into records, for good. The first of them describes that block, so none is needed.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::Corrupt`].
    #[cold]
    #[inline(never)]
    pub(super) fn grow(&mut self) -> Result<(), Error> {
        let none = self.none()?;
        let found = self.fitting(CHUNK_BLOCK + MIN_BLOCK, none)?;
        let block = found.block;
        let wall = self.place(block.at)?;
        self.place(block.at + CHUNK - RECORD)?;
        let before = self.place(self.load(block.place, Word::Before))?;
        self.unlink_first(found, none);
        self.store(wall, Word::Before, S::address(before));
        if S::address(before) != S::address(none) {
            self.store(before, Word::After, S::address(wall));
        }
        self.describe(Block { place: wall, size: CHUNK_BLOCK, after: block.place, ..block }, WALL);
        self.put(Block { at: block.at + CHUNK_BLOCK, size: block.size - CHUNK_BLOCK, ..block }, none);
        self.usage.capacity -= CHUNK_BLOCK;
        self.fresh(block.at + RECORD, CHUNK / RECORD - 1);
        Ok(())
    }
}
