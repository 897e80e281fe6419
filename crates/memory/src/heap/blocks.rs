//! Blocks as their records describe them, read with everything that must hold about them.

use super::state::Heap;
use super::{Error, Storage, Word};

/// Bit 0 of a record's address: the block is free.
pub(super) const FREE: u32 = 1;
/// Bit 1: neither free nor live: the end of a piece, or memory that became records.
pub(super) const WALL: u32 = 2;
/// Header of a block that has been freed; no record is at such an address.
pub(super) const FREED: u32 = 1;

/// A block that the record after it knows.
pub(super) struct Block<S: Storage> {
    /// Its record.
    pub place: S::Place,
    /// The address that a program gets, [`HEADER`](super::HEADER) bytes behind its beginning.
    pub at: u32,
    /// Its size with header.
    pub size: u32,
    /// Record of the block after it.
    pub after: S::Place,
}

impl<S: Storage> Clone for Block<S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Storage> Copy for Block<S> {}

impl<S: Storage> Block<S> {
    /// Returns true if this is the block that stands for none.
    #[inline(always)]
    pub fn is_none(&self) -> bool {
        self.size == 0
    }
}

impl<S: Storage> Heap<S> {
    #[inline(always)]
    pub(super) fn place(&self, at: u32) -> Result<S::Place, Error> {
        self.storage.place(at).ok_or(Error::Corrupt)
    }

    #[inline(always)]
    pub(super) fn load(&self, place: S::Place, word: Word) -> u32 {
        self.storage.load(place, word)
    }

    #[inline(always)]
    pub(super) fn store(&mut self, place: S::Place, word: Word, value: u32) {
        self.storage.store(place, word, value);
    }

    /// The live block at `address`: its header leads to a record, and the record back to it.
    #[inline(always)]
    pub(super) fn live(&self, address: u32) -> Result<Block<S>, Error> {
        let header = self.storage.header(address).ok_or(Error::NotABlock)?;
        let Some(place) = self.storage.place(header) else {
            return Err(if header == FREED { Error::DoubleFree } else { Error::NotABlock });
        };
        if self.load(place, Word::At) == address { self.block(place, address) } else { Err(Error::NotABlock) }
    }

    /// The block of a record, if the record after it leads back, and describes what begins where this block ends.
    #[inline(always)]
    pub(super) fn block(&self, place: S::Place, at: u32) -> Result<Block<S>, Error> {
        let after = self.place(self.load(place, Word::After))?;
        let (size, end) = (self.load(place, Word::Size), self.load(after, Word::At) & !(FREE | WALL));
        if self.load(after, Word::Before) == S::address(place) && at.wrapping_add(size) == end {
            Ok(Block { place, at, size, after })
        } else {
            Err(Error::Corrupt)
        }
    }

    /// `place` if its block is free, else the record that stands for no block.
    #[inline(always)]
    pub(super) fn free_or_none(&self, place: S::Place, none: S::Place) -> S::Place {
        if self.load(place, Word::At) & FREE != 0 { place } else { none }
    }

    /// The block of a record that should be free.
    #[inline(always)]
    pub(super) fn free_block(&self, place: S::Place) -> Result<Block<S>, Error> {
        self.block(place, self.load(place, Word::At) ^ FREE)
    }

    /// The record that stands for no block: free, without a byte, between itself and itself in every respect, alone in the list of
    /// class 0, and the end of every other list. Operations on it take as long as on another and change nothing, so that
    /// they need no branch for what they do not find.
    ///
    /// # Errors
    /// [`Error::Full`] before the first piece.
    #[inline(always)]
    pub(super) fn none(&self) -> Result<S::Place, Error> {
        self.none.ok_or(Error::Full)
    }

    /// Makes that record, before the first piece is added.
    pub(super) fn make_none(&mut self) -> Result<(), Error> {
        let place = self.take(true, 0)?;
        self.describe(Block { place, at: 0, size: 0, after: place }, FREE);
        self.unlinked(place);
        self.none = Some(place);
        Ok(())
    }

    /// Leads the links of the record that stands for none to itself, as they must be, after stores that may have met it.
    #[inline(always)]
    pub(super) fn unlinked(&mut self, none: S::Place) {
        self.store(none, Word::Next, S::address(none));
        self.store(none, Word::Previous, S::address(none));
    }

    /// Writes what is known about a block into its record, and the way back into the record after it. The record before it stays.
    #[inline(always)]
    pub(super) fn describe(&mut self, block: Block<S>, flag: u32) {
        self.store(block.place, Word::At, block.at | flag);
        self.store(block.place, Word::Size, block.size);
        self.store(block.place, Word::After, S::address(block.after));
        self.store(block.after, Word::Before, S::address(block.place));
    }
}
