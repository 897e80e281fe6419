//! A heap that several threads of one domain may use.

use core::ptr::NonNull;

use memory::heap::{Error, Heap, Spans, Usage, record_bytes};

use crate::raw::Raw;
use crate::turn::Turn;

/// The place of the records of an arena's blocks, which decides whether an operation's time depends
/// on a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    /// In memory of their own: `bytes` bytes from `base`, a multiple of eight. With [`record_bytes`] of them they suffice.
    Beside {
        /// First address.
        base: u32,
        /// Bytes.
        bytes: u32,
    },
    /// At the beginning of the first piece, enough for so many live blocks.
    For(u32),
    /// Taken from the pieces, 32 at a time, as blocks become more. Each time one `alloc` takes about twice as long.
    AsNeeded,
}

/// A heap over memory of one temporal specification. Threads take turns: what a thread does in it
/// takes constant time, and a thread that finds it taken lets less important ones run until the
/// holder is done, which hands the turn on to it.
///
/// There is no priority inheritance, so a thread with a deadline should have an arena of its own,
/// or allocate before its first release. In a gate nothing may wait: a call that finds the arena
/// taken gets no block, and what it frees is free after the next request that finds no memory.
pub struct Arena {
    heap: Turn<Heap<Raw>>,
}

impl Arena {
    /// An arena without memory: every request fails.
    pub const fn new() -> Arena {
        Arena { heap: Turn::new(Heap::new(Raw::NONE)) }
    }

    /// Gives the arena its memory: `pieces` pieces of `bytes` bytes, one each `stride` bytes from `base`.
    ///
    /// # Errors
    /// [`Error::Piece`] when the pieces or the records are too small or too large for the heap, or the arena has its memory already.
    ///
    /// # Safety
    /// The memory, with that of the records, is this domain's, readable and writable, and from now on only used through this arena.
    pub unsafe fn open(&self, base: u32, bytes: u32, pieces: u32, stride: u32, records: Records) -> Result<(), Error> {
        let spans = Spans::new(base, bytes, pieces, stride).ok_or(Error::Piece)?;
        let (at, own, taken) = match records {
            Records::Beside { base, bytes } => (base, bytes, 0),
            Records::For(blocks) => {
                let own = u32::try_from(record_bytes(blocks, pieces)).ok().filter(|own| *own < bytes);
                let own = own.ok_or(Error::Piece)?;
                (base, own, own)
            }
            Records::AsNeeded => (0, 0, 0),
        };
        // SAFETY: as the caller promises.
        let raw = unsafe { Raw::new(spans, at, own) };
        self.with(|heap| {
            if heap.usage().capacity != 0 {
                return Err(Error::Piece);
            }
            *heap.memory_mut() = raw;
            if own != 0 {
                heap.add_records(at, own)?;
            }
            heap.add(base + taken, bytes - taken)?;
            (1..pieces).try_for_each(|piece| heap.add(base + piece * stride, bytes))
        })
    }

    /// A block of at least `bytes` bytes at a multiple of eight.
    ///
    /// # Errors
    /// As `memory::heap::Heap::alloc`; [`Error::Busy`] in a gate.
    ///
    /// # Time complexity
    /// Constant.
    #[inline]
    pub fn alloc(&self, bytes: u32) -> Result<NonNull<u8>, Error> {
        self.alloc_aligned(bytes, 1)
    }

    /// A block of at least `bytes` bytes at a multiple of `align`, and of eight.
    ///
    /// # Errors
    /// As `memory::heap::Heap::alloc_aligned`; [`Error::Busy`] in a gate.
    ///
    /// # Time complexity
    /// Constant; a request that finds no memory first takes back each block that was freed while another thread was in the heap.
    #[inline]
    pub fn alloc_aligned(&self, bytes: u32, align: u32) -> Result<NonNull<u8>, Error> {
        match unpack(if align == 1 { self.take(bytes) } else { self.take_aligned(bytes, align) }) {
            Err(Error::Full) => self.take_again(bytes, align),
            outcome => outcome,
        }
    }

    /// Takes back what was freed while another thread had its turn, because that may be the memory
    /// that is missing, and tries again.
    #[cold]
    #[inline(never)]
    fn take_again(&self, bytes: u32, align: u32) -> Result<NonNull<u8>, Error> {
        unpack(pack(self.with(|heap| {
            let mut kept = self.heap.kept().peekable();
            kept.peek().ok_or(Error::Full)?;
            kept.try_for_each(|block| heap.free(block))?;
            heap.alloc_aligned(bytes, align)
        })))
    }

    /// Takes a block back.
    ///
    /// # Errors
    /// As `memory::heap::Heap::free`.
    ///
    /// # Safety
    /// The block is no longer in use.
    ///
    /// # Time complexity
    /// Constant.
    #[inline(never)]
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
    /// As `memory::heap::Heap::realloc`.
    ///
    /// # Safety
    /// The old block is not used after success.
    ///
    /// # Time complexity
    /// Constant in place; else the copy of the old block.
    pub unsafe fn realloc(&self, block: NonNull<u8>, bytes: u32) -> Result<NonNull<u8>, Error> {
        match self.resize(block, bytes) {
            Err(Error::Full) => {}
            done => return done.map(|()| block),
        }
        let kept = self.size(block)?;
        let moved = self.alloc(bytes)?;
        // SAFETY: the old block has `kept` bytes, and the new one, which did not fit into its place, more.
        unsafe { core::ptr::copy_nonoverlapping(block.as_ptr(), moved.as_ptr(), kept as usize) };
        // SAFETY: as the caller promises.
        unsafe { self.free(block) }.map(|()| moved)
    }

    #[inline(never)]
    fn resize(&self, block: NonNull<u8>, bytes: u32) -> Result<(), Error> {
        self.with(|heap| heap.resize(block.as_ptr() as u32, bytes))
    }

    /// How many bytes a block holds.
    ///
    /// # Errors
    /// As `memory::heap::Heap::size`.
    pub fn size(&self, block: NonNull<u8>) -> Result<u32, Error> {
        self.with(|heap| heap.size(block.as_ptr() as u32))
    }

    /// Returns true if an address lies between the beginning of the arena's first piece and the end
    /// of its last one.
    pub fn spans(&self, address: u32) -> bool {
        self.heap.with(|heap| heap.memory().spans(address)).unwrap_or(false)
    }

    /// The arena's occupancy; nothing in a gate that finds it taken.
    pub fn usage(&self) -> Usage {
        self.heap.with(|heap| heap.usage()).unwrap_or_default()
    }

    /// The largest request that now succeeds for certain.
    pub fn largest_request(&self) -> u32 {
        self.heap.with(|heap| heap.largest_request()).flatten().unwrap_or(0)
    }

    /// Once for the whole program, so that its instructions stay close together.
    #[inline(never)]
    fn take(&self, bytes: u32) -> u32 {
        pack(self.with(|heap| heap.alloc(bytes)))
    }

    #[cold]
    #[inline(never)]
    fn take_aligned(&self, bytes: u32, align: u32) -> u32 {
        pack(self.with(|heap| heap.alloc_aligned(bytes, align)))
    }

    #[inline(always)]
    fn with<R>(&self, use_it: impl FnOnce(&mut Heap<Raw>) -> Result<R, Error>) -> Result<R, Error> {
        self.heap.with(use_it).unwrap_or(Err(Error::Busy))
    }
}

impl Default for Arena {
    fn default() -> Self {
        Arena::new()
    }
}

/// Errors below the lowest address of a block, so that an outcome is one register.
const ERRORS: [Error; 8] = [
    Error::Full,
    Error::TooLarge,
    Error::Alignment,
    Error::NotABlock,
    Error::DoubleFree,
    Error::Corrupt,
    Error::Piece,
    Error::Busy,
];

#[inline(always)]
pub(crate) fn pack(outcome: Result<u32, Error>) -> u32 {
    outcome.unwrap_or_else(|error| error as u32)
}

#[inline(always)]
pub(crate) fn unpack(word: u32) -> Result<NonNull<u8>, Error> {
    match ERRORS.get(word as usize) {
        Some(error) => Err(*error),
        None => NonNull::new(word as *mut u8).ok_or(Error::Corrupt),
    }
}
