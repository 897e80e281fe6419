//! What programs ask of a heap.

use super::blocks::{Block, FREED};
use super::lists::{Heap, Listed};
use super::{Error, GRANULE, HEADER, MAX_REQUEST, MIN_BLOCK, Storage, block_for};

impl<S: Storage> Heap<S> {
    /// A block of at least `bytes` bytes, aligned to [`GRANULE`]; its address is never 0. A request of 0 bytes gets a block too.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::TooLarge`], [`Error::Corrupt`].
    #[inline(always)]
    pub fn alloc(&mut self, bytes: u32) -> Result<u32, Error> {
        if bytes > MAX_REQUEST {
            return Err(Error::TooLarge);
        }
        let size = block_for(bytes);
        match self.attempt(size) {
            Err(Error::Full) if self.exhausted() => self.retry(size),
            done => done,
        }
    }

    #[inline(always)]
    fn attempt(&mut self, size: u32) -> Result<u32, Error> {
        let found = self.fitting(size)?;
        let rest = self.rest(found.block.size - size)?;
        self.unlink(found);
        Ok(self.cut(found.block, size, rest))
    }

    #[cold]
    #[inline(never)]
    fn retry(&mut self, size: u32) -> Result<u32, Error> {
        self.grow()?;
        self.attempt(size)
    }

    /// A block of at least `bytes` bytes whose address is a multiple of `align`.
    ///
    /// # Errors
    /// As [`Heap::alloc`]; [`Error::Alignment`] when `align` is no power of two.
    pub fn alloc_aligned(&mut self, bytes: u32, align: u32) -> Result<u32, Error> {
        if !align.is_power_of_two() {
            return Err(Error::Alignment);
        }
        if align <= GRANULE {
            return self.alloc(bytes);
        }
        if align > MAX_REQUEST || bytes > MAX_REQUEST - align || bytes + align > MAX_REQUEST - MIN_BLOCK {
            return Err(Error::TooLarge);
        }
        let size = block_for(bytes);
        match self.attempt_aligned(size, align) {
            Err(Error::Full) if self.spares < 2 => {
                self.grow()?;
                self.attempt_aligned(size, align)
            }
            done => done,
        }
    }

    fn attempt_aligned(&mut self, size: u32, align: u32) -> Result<u32, Error> {
        let found = self.fitting(size + align + GRANULE)?;
        let lead = lead_to(found.block.at, align);
        let left = found.block.size - lead - size;
        if lead == 0 {
            let rest = self.rest(left)?;
            self.unlink(found);
            return Ok(self.cut(found.block, size, rest));
        }
        let place = self.take()?;
        let rest = match self.rest(left) {
            Ok(rest) => rest,
            Err(error) => {
                self.release(place);
                return Err(error);
            }
        };
        let block = Block { place, at: found.block.at + lead, size: found.block.size - lead, ..found.block };
        self.unlink(found);
        self.put(Block { size: lead, after: place, ..found.block });
        Ok(self.cut(block, size, rest))
    }

    /// Takes a block back and joins it with free neighbours.
    ///
    /// # Errors
    /// [`Error::NotABlock`], [`Error::DoubleFree`], [`Error::Corrupt`].
    #[inline(always)]
    pub fn free(&mut self, address: u32) -> Result<(), Error> {
        let block = self.live(address)?;
        let before = self.listed(self.free_before(block)?)?;
        self.unlink(before);
        let after = match self.listed_after(block) {
            Ok(after) => after,
            Err(error) => return Err(self.relist(before, error)),
        };
        self.unlink(after);
        let (before, after) = (before.block, after.block);
        let first = if before.is_none() { block } else { before };
        let end = if after.is_none() { block.after } else { after.after };
        if !before.is_none() {
            self.release(block.place);
        }
        if !after.is_none() {
            self.release(after.place);
        }
        self.storage.set_header(address, FREED);
        self.usage.used = self.usage.used.wrapping_sub(block.size);
        self.usage.blocks = self.usage.blocks.wrapping_sub(1);
        self.put(Block { size: before.size + block.size + after.size, after: end, ..first });
        Ok(())
    }

    /// Puts a block that was to be joined back into its list, after an error.
    #[cold]
    fn relist(&mut self, unlinked: Listed<S>, error: Error) -> Error {
        if !unlinked.block.is_none() {
            self.put(unlinked.block);
        }
        error
    }

    /// Changes the size of a block, in place when the bytes after it are free or no longer needed, else by moving it. When it
    /// fails, the block is as it was.
    ///
    /// # Errors
    /// As [`Heap::alloc`] and [`Heap::free`].
    pub fn realloc(&mut self, address: u32, bytes: u32) -> Result<u32, Error> {
        match self.resize(address, bytes) {
            Err(Error::Full) => {}
            done => return done.map(|()| address),
        }
        let kept = self.size(address)?;
        let moved = self.alloc(bytes)?;
        self.storage.copy(address, moved, kept).ok_or(Error::Corrupt)?;
        self.free(address)?;
        Ok(moved)
    }

    /// Changes the size of a block in place.
    ///
    /// # Errors
    /// As [`Heap::free`]; [`Error::Full`] when the free bytes after the block do not suffice.
    pub fn resize(&mut self, address: u32, bytes: u32) -> Result<(), Error> {
        if bytes > MAX_REQUEST {
            return Err(Error::TooLarge);
        }
        let block = self.live(address)?;
        let after = self.listed_after(block)?;
        let joined = after.block;
        let end = if joined.is_none() { block.after } else { joined.after };
        let (room, size) = (block.size + joined.size, block_for(bytes));
        let left = room.checked_sub(size).ok_or(Error::Full)?;
        let rest = if !joined.is_none() {
            // The record of the block after it is that of the rest, if one remains.
            (left >= MIN_BLOCK).then_some(joined.place)
        } else if self.exhausted() {
            // Without a record the block stays as large as it is.
            None
        } else {
            self.rest(left)?
        };
        self.unlink(after);
        if !joined.is_none() && rest.is_none() {
            self.release(joined.place);
        }
        self.usage.used = self.usage.used.wrapping_sub(block.size);
        self.usage.blocks = self.usage.blocks.wrapping_sub(1);
        self.cut(Block { size: room, after: end, ..block }, size, rest);
        Ok(())
    }

    /// How many bytes the block at `address` holds: at least what was asked for.
    ///
    /// # Errors
    /// [`Error::NotABlock`], [`Error::DoubleFree`], [`Error::Corrupt`].
    pub fn size(&self, address: u32) -> Result<u32, Error> {
        self.live(address)?.size.checked_sub(HEADER).ok_or(Error::Corrupt)
    }

    #[inline(always)]
    fn listed_after(&self, block: Block<S>) -> Result<Listed<S>, Error> {
        self.listed(self.free_after(block)?)
    }

    /// A record for what a block leaves, if that is enough for a block.
    #[inline(always)]
    fn rest(&mut self, left: u32) -> Result<Option<S::Place>, Error> {
        if left < MIN_BLOCK { Ok(None) } else { self.take().map(Some) }
    }

    /// Makes `size` bytes of an unlisted block live, and what is left free, with the record `rest`. Returns the address.
    #[inline(always)]
    fn cut(&mut self, block: Block<S>, size: u32, rest: Option<S::Place>) -> u32 {
        self.storage.set_header(block.at, S::address(block.place));
        let size = if rest.is_some() { size } else { block.size };
        self.describe(Block { size, after: rest.unwrap_or(block.after), ..block }, 0);
        self.usage.used = self.usage.used.wrapping_add(size);
        self.usage.blocks = self.usage.blocks.wrapping_add(1);
        self.usage.peak = self.usage.peak.max(self.usage.used);
        if let Some(place) = rest {
            self.put(Block { place, at: block.at + size, size: block.size - size, after: block.after });
        }
        block.at
    }
}

/// Bytes to leave free before `address` so that what follows is aligned: none, or enough for a block.
#[inline(always)]
const fn lead_to(address: u32, align: u32) -> u32 {
    let lead = address.wrapping_neg() & (align - 1);
    if lead != 0 && lead < MIN_BLOCK { lead + align } else { lead }
}
