//! What programs ask of a heap.

use super::blocks::{Block, FREE};
use super::class::class_of;
use super::lists::{Heap, Listed};
use super::{Error, GRANULE, HEADER, MAX_REQUEST, MIN_BLOCK, Memory, block_for};

impl<M: Memory> Heap<M> {
    /// A block of at least `bytes` bytes, aligned to [`GRANULE`]; its address is never 0. A request of 0 bytes gets a block too.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::TooLarge`], [`Error::Corrupt`].
    #[inline]
    pub fn alloc(&mut self, bytes: u32) -> Result<u32, Error> {
        if bytes > MAX_REQUEST {
            return Err(Error::TooLarge);
        }
        let size = block_for(bytes);
        let found = self.fitting(size)?;
        let rest = self.rest(found.block.size, size)?;
        self.unlink(found)?;
        self.cut(found.block, rest)?;
        Ok(found.block.at + HEADER)
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
        let lead = lead_to(found.block.at + HEADER, align);
        let rest = self.rest(found.block.size - lead, size)?;
        if lead != 0 {
            self.push_allowed(class_of(lead))?;
        }
        self.unlink(found)?;
        let block = Block { at: found.block.at + lead, size: found.block.size - lead, ..found.block };
        if lead != 0 {
            self.put(found.block.at, lead)?;
        }
        self.cut(block, rest)?;
        Ok(block.at + HEADER)
    }

    /// Takes a block back and joins it with free neighbours.
    ///
    /// # Errors
    /// [`Error::NotABlock`], [`Error::DoubleFree`], [`Error::Corrupt`].
    #[inline]
    pub fn free(&mut self, address: u32) -> Result<(), Error> {
        let block = self.live(address)?;
        let before = self.neighbour_before(block)?;
        let after = self.neighbour_after(block)?;
        let at = before.map_or(block.at, |listed| listed.block.at);
        let end = after.map_or(block.end(), |listed| listed.block.end());
        self.push_allowed(class_of(end - at))?;
        // Kept as a mark for a second `free` of the same address, also when the block is joined with the one before.
        self.store(block.at, block.size | FREE)?;
        if let Some(listed) = before {
            self.unlink(listed)?;
        }
        if let Some(listed) = after {
            self.unlink(before.map_or(listed, |gone| listed.without(gone)))?;
        }
        self.usage.used = self.usage.used.saturating_sub(block.size);
        self.usage.blocks = self.usage.blocks.saturating_sub(1);
        self.put(at, end - at)
    }

    /// Changes the size of a block, in place when the bytes after it are free or no longer needed, else by moving it. When it
    /// fails, the block is as it was.
    ///
    /// # Errors
    /// As [`Heap::alloc`] and [`Heap::free`].
    pub fn realloc(&mut self, address: u32, bytes: u32) -> Result<u32, Error> {
        if bytes > MAX_REQUEST {
            return Err(Error::TooLarge);
        }
        let block = self.live(address)?;
        let size = block_for(bytes);
        let after = self.neighbour_after(block)?;
        let whole = block.size + after.map_or(0, |listed| listed.block.size);
        if size <= whole {
            self.resize(block, size, after)?;
            return Ok(address);
        }
        let moved = self.alloc(bytes)?;
        self.memory.copy(address, moved, block.size - HEADER).ok_or(Error::Corrupt)?;
        self.free(address)?;
        Ok(moved)
    }

    /// How many bytes the block at `address` holds: at least what was asked for.
    ///
    /// # Errors
    /// [`Error::NotABlock`], [`Error::DoubleFree`], [`Error::Corrupt`].
    pub fn size(&self, address: u32) -> Result<u32, Error> {
        Ok(self.live(address)?.size - HEADER)
    }

    /// Makes a live block `size` bytes long; the bytes for that are in it and in the free block `after` it.
    fn resize(&mut self, block: Block, size: u32, after: Option<Listed>) -> Result<(), Error> {
        let (whole, next) =
            after.map_or((block.size, block.after), |listed| (block.size + listed.block.size, listed.block.after));
        let rest = self.rest(whole, size)?;
        if let Some(listed) = after {
            self.unlink(listed)?;
        }
        self.usage.used = self.usage.used.saturating_sub(block.size);
        self.usage.blocks = self.usage.blocks.saturating_sub(1);
        self.cut(Block { at: block.at, size: whole, after: next }, rest)
    }

    #[inline(always)]
    fn neighbour_before(&self, block: Block) -> Result<Option<Listed>, Error> {
        match self.free_before(block)? {
            0 => Ok(None),
            size => self.listed(Block { at: block.at - size, size, after: block.size }).map(Some),
        }
    }

    #[inline(always)]
    fn neighbour_after(&self, block: Block) -> Result<Option<Listed>, Error> {
        match self.free_after(block)? {
            None => Ok(None),
            Some(free) => self.listed(free).map(Some),
        }
    }

    /// What is left of `whole` bytes for a free block when `size` are taken, and whether its list can take it; 0 when too little.
    #[inline(always)]
    fn rest(&self, whole: u32, size: u32) -> Result<u32, Error> {
        let rest = whole - size;
        if rest < MIN_BLOCK {
            return Ok(0);
        }
        self.push_allowed(class_of(rest))?;
        Ok(rest)
    }

    /// Makes an unlisted block live but for its last `rest` bytes, if any, which become a free block.
    #[inline(always)]
    fn cut(&mut self, block: Block, rest: u32) -> Result<(), Error> {
        let live = block.size - rest;
        self.store(block.at, live)?;
        self.store(block.at + live + 4, live)?;
        self.usage.used += live;
        self.usage.blocks += 1;
        self.usage.peak = self.usage.peak.max(self.usage.used);
        if rest != 0 { self.put(block.at + live, rest) } else { Ok(()) }
    }
}

/// Bytes to leave free before `address` so that what follows is aligned: none, or enough for a block.
#[inline(always)]
const fn lead_to(address: u32, align: u32) -> u32 {
    let lead = address.wrapping_neg() & (align - 1);
    if lead != 0 && lead < MIN_BLOCK { lead + align } else { lead }
}
