//! The heap that RTMMU is compared with (`docs/references.md`, key RTMMU, section V.A): the same allocator, which keeps its pages. Only when the end of
//! what it uses becomes free, pages there are given back, by a call for so many regions as it has grown by.

use super::layout::{Layout, PAGE};
use super::pages::{Counts, Made};
use super::storage::Deferred;
use super::{Refused, Regions};
use crate::heap::{Error, HEADER, Heap, PIECE_OVERHEAD, Storage, Usage};

/// Most regions that a call frees.
const AT_ONCE: u32 = 3;

/// Pages below a limit are in use.
#[derive(Debug, Default)]
pub struct Below(u32);

impl Counts for Below {
    fn get(&self, page: u32) -> u16 {
        u16::from(page < self.0)
    }

    /// Nothing: the limit says it.
    fn set(&mut self, _: u32, _: u16) {}
}

/// A heap over one piece of pages. Those up to a limit are in use.
pub struct KeptHeap<'a, S: Storage, R: Regions> {
    heap: Heap<Deferred<S, Below>>,
    /// Record of the end of the piece.
    end: S::Place,
    regions: R,
    /// The first page of each region, in ascending order.
    grown: &'a mut [u32],
    count: usize,
}

impl<'a, S: Storage, R: Regions> KeptHeap<'a, S, R> {
    /// As [`super::DemandHeap::new`], with room for the first pages of regions: so many times the heap can grow before it shrinks.
    ///
    /// # Errors
    /// As there.
    pub fn new(
        memory: Deferred<S, Below>,
        layout: &Layout,
        records: u32,
        regions: R,
        grown: &'a mut [u32],
    ) -> Result<Self, Error> {
        let (base, bytes) = memory.piece();
        let mut heap = Heap::new(memory);
        heap.add_records(records, layout.records)?;
        let end = heap.add_piece(base, bytes)?;
        heap.memory_mut().open();
        Ok(KeptHeap { heap, end, regions, grown, count: 0 })
    }

    /// A block of at least `bytes` bytes, as [`Heap::alloc`].
    ///
    /// # Errors
    /// As there; [`Error::Full`], too, when the heap cannot grow.
    pub fn alloc(&mut self, bytes: u32) -> Result<u32, Error> {
        let at = self.heap.alloc(bytes)?;
        let end = self.heap.size(at).map(|size| self.heap.memory().page(at + size - 1));
        let grown = end.and_then(|last| self.grow(last.ok_or(Error::Corrupt)? + 1));
        match grown {
            Ok(()) => {
                self.heap.memory_mut().flush();
                Ok(at)
            }
            Err(error) => {
                let freed = self.heap.free(at);
                self.heap.memory_mut().forget();
                Err(freed.err().unwrap_or(error))
            }
        }
    }

    /// Takes a block back, and all pages behind the last block.
    ///
    /// # Errors
    /// As [`Heap::free`].
    ///
    /// # Time complexity
    /// Linear in the regions that go, and in their pages.
    pub fn free(&mut self, at: u32) -> Result<(), Error> {
        self.heap.free(at)?;
        // The last block says which pages are free behind all others.
        let Some(top) = self.heap.free_before(self.end)? else { return Ok(()) };
        let (base, _) = self.heap.memory().piece();
        // The first block has nothing before it.
        let behind = if top == base + PIECE_OVERHEAD { 0 } else { top - HEADER - base };
        self.shrink(behind.div_ceil(PAGE)).map_err(|Refused| Error::Corrupt)
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

    /// Pages that are in use.
    pub const fn pages(&self) -> u32 {
        self.heap.memory().counts.0
    }

    /// Uses pages up to one.
    fn grow(&mut self, end: u32) -> Result<(), Error> {
        let first = self.pages();
        if end <= first {
            return Ok(());
        }
        *self.grown.get_mut(self.count).ok_or(Error::Full)? = first;
        let made = Made { first, pages: end - first, first_alone: false, last_alone: false };
        self.regions.map(made).map_err(|Refused| Error::Full)?;
        self.count += 1;
        self.heap.memory_mut().counts.0 = end;
        Ok(())
    }

    /// Gives back the regions from a page on. Of a region that begins before it nothing can be given back.
    fn shrink(&mut self, from: u32) -> Result<(), Refused> {
        let kept = self.grown[..self.count].iter().rposition(|first| *first < from).map_or(0, |last| last + 1);
        while self.count > kept {
            let gone = (self.count - kept).min(AT_ONCE as usize);
            let first = self.grown[self.count - gone];
            self.heap.memory_mut().counts.0 = first;
            self.count -= gone;
            self.regions.unmap(first, gone as u32)?;
        }
        Ok(())
    }
}
