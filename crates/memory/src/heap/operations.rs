//! The operations that programs call: allocation, release, changes of size.

use super::blocks::{Block, FREE, FREED};
use super::state::Heap;
use super::{Error, GRANULE, HEADER, MAX_REQUEST, MIN_BLOCK, Storage, Word, block_for};

/// The rest of a block: a record and its bytes, or no bytes and the record that stands for no block.
struct Rest<S: Storage> {
    place: S::Place,
    size: u32,
}

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
        let none = self.none()?;
        let found = self.fitting(size, none)?;
        let rest = self.rest(found.block.size - size, none)?;
        // As early as possible: the line of a cache that this may fetch comes meanwhile.
        self.storage.set_header(found.block.at, S::address(found.block.place));
        self.unlink_first(found, none);
        Ok(self.cut(found.block, rest, none))
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
        let none = self.none()?;
        let found = self.fitting(size + align + GRANULE, none)?;
        let lead = lead_to(found.block.at, align);
        let left = found.block.size - lead - size;
        if lead == 0 {
            let rest = self.rest(left, none)?;
            self.storage.set_header(found.block.at, S::address(found.block.place));
            self.unlink_first(found, none);
            return Ok(self.cut(found.block, rest, none));
        }
        let place = self.take(true, 0)?;
        let rest = match self.rest(left, none) {
            Ok(rest) => rest,
            Err(error) => {
                self.release(place, false, none);
                return Err(error);
            }
        };
        let block = Block { place, at: found.block.at + lead, size: found.block.size - lead, ..found.block };
        self.unlink_first(found, none);
        self.put(Block { size: lead, after: place, ..found.block }, none);
        self.storage.set_header(block.at, S::address(place));
        Ok(self.cut(block, rest, none))
    }

    /// Takes a block back and joins it with free neighbours.
    ///
    /// # Errors
    /// [`Error::NotABlock`], [`Error::DoubleFree`], [`Error::Corrupt`].
    #[inline(always)]
    pub fn free(&mut self, address: u32) -> Result<(), Error> {
        let block = self.live(address)?;
        let none = self.none()?;
        let before = self.before(block.place, none)?;
        let after = self.free_or_none(block.after, none);
        let last = if S::address(after) == S::address(none) { block.place } else { after };
        let end = self.place(self.load(last, Word::After))?;
        self.take_out(before, none)?;
        if let Err(error) = self.take_out(after, none) {
            return Err(self.relist(before, none, error));
        }
        let (lead, tail) = (self.load(before, Word::Size), self.load(after, Word::Size));
        let at = self.load(before, Word::At) ^ FREE;
        let (place, at) = if lead == 0 { (block.place, address) } else { (before, at) };
        self.release(block.place, lead == 0, none);
        self.release(after, tail == 0, none);
        self.storage.set_header(address, FREED);
        self.usage.used = self.usage.used.wrapping_sub(block.size);
        self.usage.blocks = self.usage.blocks.wrapping_sub(1);
        self.put(Block { place, at, size: lead + block.size + tail, after: end }, none);
        Ok(())
    }

    /// Puts a block that was to be joined back into its list, after an error.
    #[cold]
    fn relist(&mut self, taken_out: S::Place, none: S::Place, error: Error) -> Error {
        match self.free_block(taken_out) {
            Ok(block) => self.put(block, none),
            Err(corrupt) => return corrupt,
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
        let none = self.none()?;
        let after = self.listed(self.free_or_none(block.after, none), none)?;
        let joined = after.block;
        let end = if joined.is_none() { block.after } else { joined.after };
        let (room, size) = (block.size + joined.size, block_for(bytes));
        let left = room.checked_sub(size).ok_or(Error::Full)?;
        let rest = if !joined.is_none() && left >= MIN_BLOCK {
            // The record of the block after it is that of the rest.
            Rest { place: joined.place, size: left }
        } else if !joined.is_none() || self.exhausted() {
            // Without a record the block stays as large as it is.
            Rest { place: none, size: 0 }
        } else {
            self.rest(left, none)?
        };
        self.unlink(after, none);
        self.release(joined.place, joined.is_none() || rest.size != 0, none);
        self.usage.used = self.usage.used.wrapping_sub(block.size);
        self.usage.blocks = self.usage.blocks.wrapping_sub(1);
        self.cut(Block { size: room, after: end, ..block }, rest, none);
        Ok(())
    }

    /// How many bytes the block at `address` holds: at least what was asked for.
    ///
    /// # Errors
    /// [`Error::NotABlock`], [`Error::DoubleFree`], [`Error::Corrupt`].
    pub fn size(&self, address: u32) -> Result<u32, Error> {
        self.live(address)?.size.checked_sub(HEADER).ok_or(Error::Corrupt)
    }

    /// The record before that of a live block if its block is free and ends there, else the one that stands for no block.
    #[inline(always)]
    fn before(&self, place: S::Place, none: S::Place) -> Result<S::Place, Error> {
        let before = self.place(self.load(place, Word::Before))?;
        let found = self.free_or_none(before, none);
        let after = if S::address(found) == S::address(none) { none } else { place };
        if self.load(found, Word::After) == S::address(after) { Ok(found) } else { Err(Error::Corrupt) }
    }

    /// A free block of the `left` bytes, with a record, if they suffice for one.
    #[inline(always)]
    fn rest(&mut self, left: u32, none: S::Place) -> Result<Rest<S>, Error> {
        let enough = left >= MIN_BLOCK;
        let place = self.take(enough, S::address(none))?;
        Ok(Rest { place, size: if enough { left } else { 0 } })
    }

    /// Makes an unlisted block, whose header is written, live but for the rest at its end, which becomes free. Returns the address.
    #[inline(always)]
    fn cut(&mut self, block: Block<S>, rest: Rest<S>, none: S::Place) -> u32 {
        let size = block.size - rest.size;
        let whole = rest.size == 0;
        // A block that stays whole is described the same way: the rest that stands for none is behind no other.
        let (after, end) = if whole { (block.after, rest.place) } else { (rest.place, block.after) };
        let at = if whole { 0 } else { block.at + size };
        self.describe(Block { size, after, ..block }, 0);
        self.usage.used = self.usage.used.wrapping_add(size);
        self.usage.blocks = self.usage.blocks.wrapping_add(1);
        self.usage.peak = self.usage.peak.max(self.usage.used);
        self.put(Block { place: rest.place, at, size: rest.size, after: end }, none);
        block.at
    }
}

/// Bytes to leave free before `address` so that what follows is aligned: none, or enough for a block.
#[inline(always)]
const fn lead_to(address: u32, align: u32) -> u32 {
    let lead = address.wrapping_neg() & (align - 1);
    if lead != 0 && lead < MIN_BLOCK { lead + align } else { lead }
}
