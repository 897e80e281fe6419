//! What programs ask of a heap.

use super::blocks::{Block, FREE};
use super::lists::{Heap, Listed};
use super::{Error, GRANULE, HEADER, MAX_REQUEST, MIN_BLOCK, Storage, Word, block_for};

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
        let found = self.fitting(size)?;
        let rest = self.rest(found.block, size)?;
        self.unlink(found);
        Ok(self.cut(found.block, rest))
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
        let found = self.fitting(size + align + HEADER)?;
        let lead = lead_to(found.block.at() + HEADER, align);
        if lead == 0 {
            let rest = self.rest(found.block, size)?;
            self.unlink(found);
            return Ok(self.cut(found.block, rest));
        }
        let place = self.place(found.block.at() + lead)?;
        let block = Block { place, size: found.block.size - lead, end: found.block.end };
        let rest = self.rest(block, size)?;
        self.unlink(found);
        self.put(Block { size: lead, end: place, ..found.block });
        Ok(self.cut(block, rest))
    }

    /// Takes a block back and joins it with free neighbours.
    ///
    /// # Errors
    /// [`Error::NotABlock`], [`Error::DoubleFree`], [`Error::Corrupt`].
    #[inline(always)]
    pub fn free(&mut self, address: u32) -> Result<(), Error> {
        let block = self.live(address)?;
        let mut whole = block;
        let before = match self.free_before(block)? {
            Some(free) => Some(self.listed(free)?),
            None => None,
        };
        if let Some(listed) = before {
            self.unlink(listed);
            whole = Block { place: listed.block.place, size: whole.size + listed.block.size, ..whole };
        }
        match self.listed_after(block) {
            Ok(Some(listed)) => {
                self.unlink(listed);
                whole = Block { size: whole.size + listed.block.size, end: listed.block.end, ..whole };
            }
            Ok(None) => {}
            Err(error) => return Err(self.relist(before, error)),
        }
        // Kept as a mark for a second `free` of the same address, also when the block is joined with the one before.
        self.store(block.place, Word::Size, block.size | FREE);
        self.forget(block);
        self.put(whole);
        Ok(())
    }

    /// Puts a block that was to be joined back into its list, after an error.
    #[cold]
    fn relist(&mut self, unlinked: Option<Listed<S>>, error: Error) -> Error {
        if let Some(listed) = unlinked {
            self.put(listed.block);
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
        let whole = after.map_or(block, |listed| Block {
            size: block.size + listed.block.size,
            end: listed.block.end,
            ..block
        });
        let size = block_for(bytes);
        if size > whole.size {
            return Err(Error::Full);
        }
        let rest = self.rest(whole, size)?;
        if let Some(listed) = after {
            self.unlink(listed);
        }
        self.forget(block);
        self.cut(whole, rest);
        Ok(())
    }

    /// How many bytes the block at `address` holds: at least what was asked for.
    ///
    /// # Errors
    /// [`Error::NotABlock`], [`Error::DoubleFree`], [`Error::Corrupt`].
    pub fn size(&self, address: u32) -> Result<u32, Error> {
        Ok(self.live(address)?.size - HEADER)
    }

    #[inline(always)]
    fn listed_after(&self, block: Block<S>) -> Result<Option<Listed<S>>, Error> {
        match self.free_after(block)? {
            Some(free) => Ok(Some(self.listed(free)?)),
            None => Ok(None),
        }
    }

    /// What a block leaves when `size` bytes of it are taken, if that is enough for a block.
    #[inline(always)]
    fn rest(&self, block: Block<S>, size: u32) -> Result<Option<Block<S>>, Error> {
        let rest = block.size - size;
        if rest < MIN_BLOCK {
            return Ok(None);
        }
        Ok(Some(Block { place: self.place(block.at() + size)?, size: rest, end: block.end }))
    }

    /// Makes an unlisted block live but for its `rest`, if any, which becomes free. Returns the address of its payload.
    #[inline(always)]
    fn cut(&mut self, block: Block<S>, rest: Option<Block<S>>) -> u32 {
        let (size, end) = rest.map_or((block.size, block.end), |rest| (block.size - rest.size, rest.place));
        self.store(block.place, Word::Size, size);
        self.store(end, Word::Before, size);
        self.usage.used = self.usage.used.wrapping_add(size);
        self.usage.blocks = self.usage.blocks.wrapping_add(1);
        self.usage.peak = self.usage.peak.max(self.usage.used);
        if let Some(rest) = rest {
            self.put(rest);
        }
        block.at() + HEADER
    }

    /// A block is no longer live.
    #[inline(always)]
    fn forget(&mut self, block: Block<S>) {
        self.usage.used = self.usage.used.wrapping_sub(block.size);
        self.usage.blocks = self.usage.blocks.wrapping_sub(1);
    }
}

/// Bytes to leave free before `address` so that what follows is aligned: none, or enough for a block.
#[inline(always)]
const fn lead_to(address: u32, align: u32) -> u32 {
    let lead = address.wrapping_neg() & (align - 1);
    if lead != 0 && lead < MIN_BLOCK { lead + align } else { lead }
}
