//! Headers: read with everything that must hold about them, and written.

use super::lists::Heap;
use super::{Error, GRANULE, HEADER, MAX_BLOCK_LOG2, MIN_BLOCK, Memory};

/// Bit 0 of a header's first word: the block is free.
pub(super) const FREE: u32 = 1;
/// Bit 1: the end of a piece, a header without a block.
pub(super) const END: u32 = 2;
const FLAGS: u32 = GRANULE - 1;

/// A block whose own header and that of the block after it agree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Address of its header.
    pub at: u32,
    /// Its size with header.
    pub size: u32,
    /// First word of the header after it.
    pub after: u32,
}

impl Block {
    /// Address of the header after it.
    #[inline(always)]
    pub fn end(self) -> u32 {
        self.at + self.size
    }
}

#[inline(always)]
const fn is_size(size: u32) -> bool {
    size & FLAGS == 0 && size >= MIN_BLOCK && size < 1 << MAX_BLOCK_LOG2
}

impl<M: Memory> Heap<M> {
    #[inline(always)]
    pub(super) fn load(&self, at: u32) -> Result<u32, Error> {
        self.memory.load(at).ok_or(Error::Corrupt)
    }

    #[inline(always)]
    pub(super) fn store(&mut self, at: u32, value: u32) -> Result<(), Error> {
        self.memory.store(at, value).ok_or(Error::Corrupt)
    }

    /// The live block whose payload is at `address`.
    #[inline(always)]
    pub(super) fn live(&self, address: u32) -> Result<Block, Error> {
        let at = address.wrapping_sub(HEADER);
        if address & FLAGS != 0 {
            return Err(Error::NotABlock);
        }
        let size = self.memory.load(at).ok_or(Error::NotABlock)?;
        if is_size(size) {
            return self.checked(at, size);
        }
        Err(if is_size(size ^ FREE) { Error::DoubleFree } else { Error::NotABlock })
    }

    /// The free block with its header at `at`.
    #[inline(always)]
    pub(super) fn free_block(&self, at: u32) -> Result<Block, Error> {
        let size = self.load(at)? ^ FREE;
        if is_size(size) { self.checked(at, size) } else { Err(Error::Corrupt) }
    }

    /// A block of known size, if the header after it knows the same size.
    #[inline(always)]
    pub(super) fn checked(&self, at: u32, size: u32) -> Result<Block, Error> {
        let end = at.wrapping_add(size);
        let (after, before) = (self.load(end)?, self.load(end.wrapping_add(4))?);
        if before == size { Ok(Block { at, size, after }) } else { Err(Error::Corrupt) }
    }

    /// The size of the free block before `block`, 0 when there is none.
    #[inline(always)]
    pub(super) fn free_before(&self, block: Block) -> Result<u32, Error> {
        let before = self.load(block.at.wrapping_add(4))?;
        if before == 0 {
            return Ok(0);
        }
        let header = self.load(block.at.wrapping_sub(before))?;
        if header & !FREE != before || !is_size(before) {
            return Err(Error::Corrupt);
        }
        Ok(if header & FREE != 0 { before } else { 0 })
    }

    /// The free block after `block`, `None` when what follows is live or the end.
    #[inline(always)]
    pub(super) fn free_after(&self, block: Block) -> Result<Option<Block>, Error> {
        if block.after & FREE == 0 {
            return Ok(None);
        }
        let size = block.after ^ FREE;
        if is_size(size) { self.checked(block.end(), size).map(Some) } else { Err(Error::Corrupt) }
    }
}
