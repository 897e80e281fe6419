//! Headers, read with everything that must hold about them.

use super::lists::Heap;
use super::{Error, HEADER, MIN_BLOCK, Storage, Word};

/// Bit 0 of a header's first word: the block is free.
pub(super) const FREE: u32 = 1;
/// Bit 1: the end of a piece, a header without a block.
pub(super) const END: u32 = 2;

/// A block whose own header and that of the block after it agree.
pub(super) struct Block<S: Storage> {
    pub place: S::Place,
    /// Its size with header.
    pub size: u32,
    /// Where the block after it begins.
    pub end: S::Place,
}

impl<S: Storage> Clone for Block<S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Storage> Copy for Block<S> {}

impl<S: Storage> Block<S> {
    /// Address of its header.
    #[inline(always)]
    pub fn at(&self) -> u32 {
        S::address(self.place)
    }
}

/// Whether this can be a block's size; that it is a multiple of the granule, and not too large, shows when its end is looked up.
#[inline(always)]
const fn is_size(size: u32) -> bool {
    size >= MIN_BLOCK
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

    /// The live block whose payload is at `address`.
    #[inline(always)]
    pub(super) fn live(&self, address: u32) -> Result<Block<S>, Error> {
        let place = self.storage.place(address.wrapping_sub(HEADER)).ok_or(Error::NotABlock)?;
        let size = self.load(place, Word::Size);
        if size & FREE != 0 {
            return Err(if is_size(size ^ FREE) { Error::DoubleFree } else { Error::NotABlock });
        }
        if is_size(size) { self.checked(place, size) } else { Err(Error::NotABlock) }
    }

    /// A block of this size, if that is one and the header after it knows it.
    #[inline(always)]
    pub(super) fn checked(&self, place: S::Place, size: u32) -> Result<Block<S>, Error> {
        let end = self.place(S::address(place).wrapping_add(size))?;
        if self.load(end, Word::Before) == size && is_size(size) {
            Ok(Block { place, size, end })
        } else {
            Err(Error::Corrupt)
        }
    }

    /// The free block before `block`, if what stands there is free.
    #[inline(always)]
    pub(super) fn free_before(&self, block: Block<S>) -> Result<Option<Block<S>>, Error> {
        let size = self.load(block.place, Word::Before);
        if size == 0 {
            return Ok(None);
        }
        let place = self.place(block.at().wrapping_sub(size))?;
        match self.load(place, Word::Size) ^ size {
            FREE if is_size(size) => Ok(Some(Block { place, size, end: block.place })),
            0 => Ok(None),
            _ => Err(Error::Corrupt),
        }
    }

    /// The free block after `block`, if what stands there is free.
    #[inline(always)]
    pub(super) fn free_after(&self, block: Block<S>) -> Result<Option<Block<S>>, Error> {
        let header = self.load(block.end, Word::Size);
        if header & FREE == 0 { Ok(None) } else { self.checked(block.end, header ^ FREE).map(Some) }
    }
}
