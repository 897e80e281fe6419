//! Heaps in the demand area: pages have frames only while blocks lie in them.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};

use abi::region::{FIRST_ALONE, LAST_ALONE};
use memory::demand::{Counts, Deferred, DemandHeap, Layout, Made, PAGE, Refused, Regions};
use memory::heap::{Error, Spans, Usage};

use crate::arena::{pack, unpack};
pub use crate::raw::Raw;
use crate::turn::Turn;

unsafe extern "C" {
    /// `REGION_MAP`: the status. Provided by the run-time.
    safe fn cof_heap_map(place: u32, pages: u32, cuts: u32) -> u32;
    /// `REGION_UNMAP`, likewise.
    safe fn cof_heap_unmap(place: u32, regions: u32) -> u32;
}

/// The kernel, for the piece that begins at an address.
#[derive(Debug)]
pub struct Kernel(u32);

impl Kernel {
    /// The kernel, for the piece of the demand area that begins at this address.
    pub const fn new(piece: u32) -> Self {
        Kernel(piece)
    }
}

impl Regions for Kernel {
    fn map(&mut self, made: Made) -> Result<(), Refused> {
        let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        let cuts = bit(made.first_alone, FIRST_ALONE) | bit(made.last_alone, LAST_ALONE);
        told(cof_heap_map(self.0 + made.first * PAGE, made.pages, cuts))
    }

    fn unmap(&mut self, first: u32, count: u32) -> Result<(), Refused> {
        told(cof_heap_unmap(self.0 + first * PAGE, count))
    }
}

fn told(status: u32) -> Result<(), Refused> {
    if status == 0 { Ok(()) } else { Err(Refused) }
}

/// Counts of pages, from an address on.
#[derive(Debug)]
pub struct Table {
    base: u32,
    pages: u32,
}

impl Table {
    fn at(&self, page: u32) -> *mut u16 {
        assert!(page < self.pages);
        (self.base + 2 * page) as *mut u16
    }
}

impl Counts for Table {
    fn get(&self, page: u32) -> u16 {
        // SAFETY: memory of the arena that holds counts alone, and the page has one.
        unsafe { self.at(page).read() }
    }

    fn set(&mut self, page: u32, count: u16) {
        // SAFETY: as for `get`.
        unsafe { self.at(page).write(count) }
    }
}

/// Everything that a heap in the demand area is made of.
pub struct Parts {
    /// Its pages.
    pub layout: Layout,
    /// Their memory.
    pub memory: Raw,
    /// Counts of the piece's pages, all 0.
    pub counts: Table,
    /// The first address of the piece.
    pub piece: u32,
}

impl Parts {
    /// The parts of a heap from `base` on. The pages of its records and counts are a region then.
    ///
    /// # Errors
    /// [`Error::Piece`] when there are no such addresses, or the kernel refuses.
    ///
    /// # Safety
    /// The layout's addresses are the domain's demand area, and from now on only used through these parts.
    pub unsafe fn new(base: u32, layout: Layout) -> Result<Parts, Error> {
        let piece = base + layout.fixed * PAGE;
        let spans = Spans::new(piece, layout.piece * PAGE, 1, 0).ok_or(Error::Piece)?;
        if cof_heap_map(base, layout.fixed, 0) != 0 {
            return Err(Error::Piece);
        }
        // Otherwise an allocation would be the first to touch pages of records.
        for page in 0..layout.fixed {
            // SAFETY: a page of the region that was just made.
            unsafe { ((base + page * PAGE) as *mut u32).write_volatile(0) };
        }
        let mut counts = Table { base: base + layout.records, pages: layout.piece };
        (0..layout.piece).for_each(|page| counts.set(page, 0));
        // SAFETY: as the caller promises.
        let memory = unsafe { Raw::new(spans, base, layout.records) };
        Ok(Parts { layout, memory, counts, piece })
    }
}

/// An arena in the demand area. Operations take constant time, a call of the kernel at most included; the first touch of each page takes some more.
pub struct DemandArena {
    heap: Turn<DemandHeap<Raw, Table, Kernel>>,
    /// The piece, once there is a heap, so that a look at an address takes no turn: on the processors that have demand areas the kernel performs its exchange.
    begin: AtomicU32,
    end: AtomicU32,
}

impl DemandArena {
    /// An arena without memory: every request fails.
    pub const fn new() -> DemandArena {
        let memory = Deferred::new(Raw::NONE, Table { base: 0, pages: 0 }, 0, 0);
        let heap = Turn::new(DemandHeap::closed(memory, Kernel(0)));
        DemandArena { heap, begin: AtomicU32::new(0), end: AtomicU32::new(0) }
    }

    /// Gives the arena its addresses: `bytes` bytes from `base`, for an envelope of `live` bytes in `count` blocks of at most `largest` bytes.
    ///
    /// # Errors
    /// [`Error::Piece`] when they are not those of such an envelope, the kernel refuses, or the arena has its memory already.
    ///
    /// # Safety
    /// The addresses are the domain's demand area, and from now on only used through this arena.
    pub unsafe fn open(&self, (base, bytes): (u32, u32), live: u32, largest: u32, count: u32) -> Result<(), Error> {
        let layout = Layout::new(live, largest, count).filter(|layout| layout.bytes() == bytes).ok_or(Error::Piece)?;
        self.with(|heap| {
            if self.is_open() {
                return Err(Error::Piece);
            }
            // SAFETY: as the caller promises.
            let Parts { layout, memory, counts, piece } = unsafe { Parts::new(base, layout) }?;
            let memory = Deferred::new(memory, counts, piece, layout.piece);
            heap.open((memory, Kernel(piece)), &layout, base, count)?;
            self.begin.store(piece, Ordering::Relaxed);
            self.end.store(piece + layout.piece * PAGE, Ordering::Release);
            Ok(())
        })
    }

    /// Returns true if the arena has memory.
    pub fn is_open(&self) -> bool {
        self.end.load(Ordering::Acquire) != 0
    }

    /// A block of at least `bytes` bytes at a multiple of `align`, and of eight.
    ///
    /// # Errors
    /// As `memory::demand::DemandHeap::alloc_aligned`; [`Error::Busy`] in a gate that finds the heap taken.
    pub fn alloc_aligned(&self, bytes: u32, align: u32) -> Result<NonNull<u8>, Error> {
        let take = |heap: &mut DemandHeap<_, _, _>| {
            if align == 1 { heap.alloc(bytes) } else { heap.alloc_aligned(bytes, align) }
        };
        match unpack(pack(self.with(take))) {
            Err(Error::Full) => self.take_again(take),
            outcome => outcome,
        }
    }

    /// Takes back what was freed while another thread had its turn, because that may be the memory
    /// that is missing, and tries again.
    #[cold]
    #[inline(never)]
    fn take_again(
        &self,
        take: impl Fn(&mut DemandHeap<Raw, Table, Kernel>) -> Result<u32, Error>,
    ) -> Result<NonNull<u8>, Error> {
        unpack(pack(self.with(|heap| {
            let mut kept = self.heap.kept().peekable();
            kept.peek().ok_or(Error::Full)?;
            kept.try_for_each(|block| heap.free(block))?;
            take(heap)
        })))
    }

    /// Takes a block back, and the frames of pages in which no block lies any more.
    ///
    /// # Errors
    /// As `memory::demand::DemandHeap::free`.
    ///
    /// # Safety
    /// The block is no longer in use.
    pub unsafe fn free(&self, block: NonNull<u8>) -> Result<(), Error> {
        match self.heap.with(|heap| heap.free(block.as_ptr() as u32)) {
            Some(freed) => freed,
            None => {
                // SAFETY: as the caller promises.
                unsafe { self.heap.keep(block) };
                Ok(())
            }
        }
    }

    /// Changes a block's size; the block may move, with its contents.
    ///
    /// # Errors
    /// As [`DemandArena::alloc_aligned`] and [`DemandArena::free`].
    ///
    /// # Safety
    /// The old block is not used after success.
    pub unsafe fn realloc(&self, block: NonNull<u8>, bytes: u32) -> Result<NonNull<u8>, Error> {
        let at = block.as_ptr() as u32;
        let (resized, held) = self.with(|heap| Ok((heap.resize(at, bytes), heap.size(at)?)))?;
        match resized {
            Err(Error::Full) => {}
            done => return done.map(|()| block),
        }
        let moved = self.alloc_aligned(bytes, 1)?;
        // SAFETY: both blocks have the lesser of both sizes, and lie apart.
        unsafe { core::ptr::copy_nonoverlapping(block.as_ptr(), moved.as_ptr(), held.min(bytes) as usize) };
        // SAFETY: as the caller promises.
        unsafe { self.free(block) }.map(|()| moved)
    }

    /// How many bytes a block holds.
    ///
    /// # Errors
    /// As `memory::demand::DemandHeap::size`.
    pub fn size(&self, block: NonNull<u8>) -> Result<u32, Error> {
        self.with(|heap| heap.size(block.as_ptr() as u32))
    }

    /// Returns true if an address lies in the arena's piece.
    pub fn spans(&self, address: u32) -> bool {
        let end = self.end.load(Ordering::Acquire);
        (self.begin.load(Ordering::Relaxed)..end).contains(&address)
    }

    /// The arena's occupancy.
    pub fn usage(&self) -> Usage {
        self.heap.with(|heap| heap.usage()).unwrap_or_default()
    }

    /// Pages of blocks that are in use, and the most that were.
    pub fn pages(&self) -> (u32, u32) {
        self.heap.with(|heap| heap.pages()).unwrap_or_default()
    }

    /// Once for the whole program.
    #[inline(never)]
    fn with<R>(
        &self,
        use_it: impl FnOnce(&mut DemandHeap<Raw, Table, Kernel>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.heap.with(use_it).unwrap_or(Err(Error::Busy))
    }
}

impl Default for DemandArena {
    fn default() -> Self {
        DemandArena::new()
    }
}
