//! The arena of an envelope, whether its pages have frames from the start or get them at their first touch.

use core::ptr::NonNull;

use abi::info::area::DEMAND;
use info::{Area, Envelope};
use memory::heap::Error;

#[cfg(feature = "demand")]
use crate::demand::DemandArena;
use crate::{Arena, Records};

/// An arena for one envelope, or for the area `heap`.
pub struct EnvelopeArena {
    fixed: Arena,
    #[cfg(feature = "demand")]
    demand: DemandArena,
}

/// The same expression over whichever arena has memory.
macro_rules! over {
    ($all:ident, $arena:ident => $operation:expr) => {{
        #[cfg(feature = "demand")]
        if $all.demand.is_open() {
            let $arena = &$all.demand;
            return $operation;
        }
        let $arena = &$all.fixed;
        $operation
    }};
}

impl EnvelopeArena {
    /// An arena without memory: every request fails.
    pub const fn new() -> EnvelopeArena {
        EnvelopeArena {
            fixed: Arena::new(),
            #[cfg(feature = "demand")]
            demand: DemandArena::new(),
        }
    }

    /// Gives the arena the memory of an envelope.
    ///
    /// # Errors
    /// As [`Arena::open`]; [`Error::Piece`], too, for a demand area on a processor whose kernel has none.
    ///
    /// # Safety
    /// As [`Arena::open`].
    pub unsafe fn open(&self, envelope: &Envelope) -> Result<(), Error> {
        let Envelope { arena, count, .. } = *envelope;
        if arena.access & DEMAND == 0 {
            // SAFETY: as the caller promises.
            return unsafe { self.open_area(&arena, Records::For(count)) };
        }
        #[cfg(feature = "demand")]
        // SAFETY: as the caller promises.
        let opened =
            unsafe { self.demand.open((arena.base, arena.bytes), envelope.live, envelope.largest, envelope.count) };
        #[cfg(not(feature = "demand"))]
        let opened = Err(Error::Piece);
        opened
    }

    /// Gives the arena the memory of an area that has all its frames.
    ///
    /// # Errors
    /// As [`Arena::open`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn open_area(&self, area: &Area, records: Records) -> Result<(), Error> {
        // SAFETY: as the caller promises.
        unsafe { self.fixed.open(area.base, area.bytes, area.pieces, area.stride, records) }
    }

    /// A block of at least `bytes` bytes at a multiple of `align`, and of eight.
    ///
    /// # Errors
    /// As [`Arena::alloc_aligned`].
    ///
    /// # Time complexity
    /// Constant.
    #[inline]
    pub fn alloc_aligned(&self, bytes: u32, align: u32) -> Result<NonNull<u8>, Error> {
        over!(self, arena => arena.alloc_aligned(bytes, align))
    }

    /// Takes a block back.
    ///
    /// # Errors
    /// As [`Arena::free`].
    ///
    /// # Safety
    /// The block is no longer in use.
    ///
    /// # Time complexity
    /// Constant.
    #[inline]
    pub unsafe fn free(&self, block: NonNull<u8>) -> Result<(), Error> {
        // SAFETY: as the caller promises.
        over!(self, arena => unsafe { arena.free(block) })
    }

    /// Changes a block's size; the block may move, with its contents.
    ///
    /// # Errors
    /// As [`Arena::realloc`].
    ///
    /// # Safety
    /// The old block is not used after success.
    #[inline]
    pub unsafe fn realloc(&self, block: NonNull<u8>, bytes: u32) -> Result<NonNull<u8>, Error> {
        // SAFETY: as the caller promises.
        over!(self, arena => unsafe { arena.realloc(block, bytes) })
    }

    /// How many bytes a block holds.
    ///
    /// # Errors
    /// As [`Arena::size`].
    #[inline]
    pub fn size(&self, block: NonNull<u8>) -> Result<u32, Error> {
        over!(self, arena => arena.size(block))
    }

    /// Returns true if an address lies between the beginning of the arena's first piece and the end
    /// of its last one.
    #[inline]
    pub fn spans(&self, address: u32) -> bool {
        over!(self, arena => arena.spans(address))
    }

    /// Pages of blocks that are in use, and the most that were: none of an arena that has all its frames.
    #[cfg(feature = "demand")]
    pub fn pages(&self) -> (u32, u32) {
        self.demand.pages()
    }
}

impl Default for EnvelopeArena {
    fn default() -> Self {
        EnvelopeArena::new()
    }
}
