//! The operations.

use super::Regions;
use super::layout::{Layout, PAGE};
use super::pages::{Counts, Ends};
use super::storage::Deferred;
use crate::heap::{Error, GRANULE, HEADER, Heap, Storage, Usage, block_for};

/// A heap over one piece of pages.
pub struct DemandHeap<S: Storage, C: Counts, R: Regions> {
    heap: Heap<Deferred<S, C>>,
    regions: R,
    /// Pages of the piece that can be in use at once.
    frames: u32,
    /// Blocks for which there are records.
    blocks: u32,
    used: u32,
    peak: u32,
}

impl<S: Storage, C: Counts, R: Regions> DemandHeap<S, C, R> {
    /// A heap over the piece of `memory`, for at most `blocks` blocks. Its records lie at `records`, where its [`Layout`] says.
    ///
    /// # Errors
    /// As [`Heap::add_records`] and [`Heap::add`].
    pub fn new(memory: Deferred<S, C>, layout: &Layout, records: u32, blocks: u32, regions: R) -> Result<Self, Error> {
        let mut heap = DemandHeap::closed(memory, regions);
        heap.begin(layout, records, blocks)?;
        Ok(heap)
    }

    /// A heap that has no memory yet: every request fails.
    pub const fn closed(memory: Deferred<S, C>, regions: R) -> Self {
        DemandHeap { heap: Heap::new(memory), regions, frames: 0, blocks: 0, used: 0, peak: 0 }
    }

    /// Gives a heap without memory what [`DemandHeap::new`] takes, in its place: on a small stack there is no room for a heap that moves.
    ///
    /// # Errors
    /// As [`DemandHeap::new`]; [`Error::Piece`] when it has memory already.
    pub fn open(
        &mut self,
        (memory, regions): (Deferred<S, C>, R),
        layout: &Layout,
        records: u32,
        blocks: u32,
    ) -> Result<(), Error> {
        if self.heap.usage().capacity != 0 {
            return Err(Error::Piece);
        }
        *self.heap.memory_mut() = memory;
        self.regions = regions;
        self.begin(layout, records, blocks)
    }

    fn begin(&mut self, layout: &Layout, records: u32, blocks: u32) -> Result<(), Error> {
        let (base, bytes) = self.heap.memory().piece();
        self.heap.add_records(records, layout.records)?;
        self.heap.add(base, bytes)?;
        self.heap.memory_mut().open();
        (self.frames, self.blocks) = (layout.in_piece(), blocks);
        Ok(())
    }

    /// A block of at least `bytes` bytes, as [`Heap::alloc`].
    ///
    /// # Errors
    /// As there; [`Error::Full`], too, when so many blocks, or pages, cannot be in use at once.
    pub fn alloc(&mut self, bytes: u32) -> Result<u32, Error> {
        self.has_record()?;
        let at = self.heap.alloc(bytes)?;
        self.use_pages(at)
    }

    /// A block whose address is a multiple of `align`, as [`Heap::alloc_aligned`].
    ///
    /// # Errors
    /// As for [`DemandHeap::alloc`].
    pub fn alloc_aligned(&mut self, bytes: u32, align: u32) -> Result<u32, Error> {
        self.has_record()?;
        let at = self.heap.alloc_aligned(bytes, align)?;
        self.use_pages(at)
    }

    /// Takes a block back, and every page that no block meets any more.
    ///
    /// # Errors
    /// As [`Heap::free`].
    pub fn free(&mut self, at: u32) -> Result<(), Error> {
        let ends = self.ends(at, self.heap.size(at)?)?;
        self.heap.free(at)?;
        self.leave(ends)
    }

    /// Changes the size of a block where that is possible in place and needs neither a page more nor one less.
    ///
    /// # Errors
    /// As [`Heap::resize`].
    pub fn resize(&mut self, at: u32, bytes: u32) -> Result<(), Error> {
        let held = self.heap.size(at)?;
        if held >= bytes && held - bytes < GRANULE {
            return Ok(());
        }
        let now = self.ends(at, held)?;
        let least = block_for(bytes.min(crate::heap::MAX_REQUEST)) - HEADER;
        // A rest that is too small for a block of its own stays with it.
        if [least, least + GRANULE].iter().any(|size| self.ends(at, *size) != Ok(now)) {
            return Err(Error::Full);
        }
        self.heap.resize(at, bytes)
    }

    /// How many bytes a block holds.
    ///
    /// # Errors
    /// As [`Heap::size`].
    pub fn size(&self, at: u32) -> Result<u32, Error> {
        self.heap.size(at)
    }

    /// The heap's occupancy.
    pub const fn usage(&self) -> Usage {
        self.heap.usage()
    }

    /// Pages of the piece that are in use, and the most that were.
    pub const fn pages(&self) -> (u32, u32) {
        (self.used, self.peak)
    }

    /// The memory.
    pub const fn memory(&self) -> &Deferred<S, C> {
        self.heap.memory()
    }

    /// The largest request that now succeeds for certain, as far as addresses go.
    pub fn largest_request(&self) -> Option<u32> {
        self.heap.largest_request()
    }

    /// A heap without records would take memory of its piece for them.
    fn has_record(&self) -> Result<(), Error> {
        if self.heap.usage().blocks < self.blocks { Ok(()) } else { Err(Error::Full) }
    }

    /// The pages of the ends of a block that holds so many bytes.
    fn ends(&self, at: u32, holds: u32) -> Result<Ends, Error> {
        let memory = self.heap.memory();
        let page = |at: u32| memory.page(at).ok_or(Error::Corrupt);
        Ok(Ends { first: page(at - HEADER)?, last: page(at.checked_add(holds).ok_or(Error::Corrupt)? - 1)? })
    }

    /// Makes the pages of a new block regions, where they are not yet, and puts its header there.
    fn use_pages(&mut self, at: u32) -> Result<u32, Error> {
        let ends = self.ends(at, self.heap.size(at)?)?;
        if ends.new_pages(&self.heap.memory().counts) > self.frames - self.used {
            return Err(self.give_up(at));
        }
        if let Some(made) = ends.enter(&mut self.heap.memory_mut().counts) {
            if self.regions.map(made).is_err() {
                ends.leave(&mut self.heap.memory_mut().counts);
                return Err(self.give_up(at));
            }
            self.used += made.pages;
            self.peak = self.peak.max(self.used);
        }
        self.heap.memory_mut().flush();
        Ok(at)
    }

    /// Takes a block back whose pages cannot be used.
    #[cold]
    fn give_up(&mut self, at: u32) -> Error {
        let freed = self.heap.free(at);
        self.heap.memory_mut().forget();
        freed.err().unwrap_or(Error::Full)
    }

    /// Frees the regions that a block was the last to use.
    fn leave(&mut self, ends: Ends) -> Result<(), Error> {
        let (first, count) = ends.leave(&mut self.heap.memory_mut().counts);
        if count == 0 {
            return Ok(());
        }
        let counts = &self.heap.memory().counts;
        let left = |page: u32| u32::from(counts.get(page) > 0);
        let all = ends.last - ends.first + 1;
        let kept = if ends.first == ends.last { left(ends.first) } else { left(ends.first) + left(ends.last) };
        self.used = self.used.saturating_sub(all - kept);
        self.regions.unmap(first, count).map_err(|_| Error::Corrupt)
    }
}

const _: () = assert!(PAGE.is_multiple_of(GRANULE));
