//! The arena of plain `malloc` and of Rust's global allocator.

use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicBool, Ordering};

use info::Info;
use memory::heap::Error;

use crate::{EnvelopeArena, Records};

unsafe extern "C" {
    /// Reports a program error, [`fault`]'s number, at an address, and does not return.
    safe fn cof_heap_fault(error: u32, address: u32) -> !;
}

/// Name of the area that serves when no envelope is the default.
const HEAP: &str = "heap";

/// The arena.
pub static DEFAULT: EnvelopeArena = EnvelopeArena::new();

/// True if the arena has been given its memory.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Gives the default arena its memory: the arena of the envelope that is the default, else the area `heap`; without either every
/// request fails. A second call does nothing. The domain's first thread calls it when it starts; a thread or a gate that allocates before that
/// thread has run comes here by its first request.
///
/// # Safety
/// That memory is used by nothing else.
pub unsafe fn begin(info: Info) {
    let opened = match (info.envelopes().find(|envelope| envelope.default), info.area(HEAP)) {
        // SAFETY: as the caller promises.
        (Some(envelope), _) => unsafe { DEFAULT.open(&envelope) },
        // SAFETY: as the caller promises.
        (None, Some(area)) => unsafe { DEFAULT.open_area(&area, Records::AsNeeded) },
        (None, None) => Ok(()),
    };
    // Without memory every request fails, and says so. A gate that finds another thread here gets none, and the next request looks again.
    if opened != Err(Error::Busy) {
        BEGUN.store(true, Ordering::Relaxed);
    }
}

/// Ends the thread because of a program error.
#[cold]
pub fn fault(error: Error, address: u32) -> ! {
    cof_heap_fault(error as u32, address)
}

/// A block of the default arena, or a null pointer. An alignment of 1 is the quickest, and every block lies at a multiple of [`GRANULE`].
///
/// [`GRANULE`]: memory::heap::GRANULE
#[inline]
pub fn alloc(bytes: usize, align: usize) -> *mut u8 {
    settle(aligned(bytes, align), 0)
}

/// A block of the default arena at a multiple of `align`.
///
/// # Errors
/// As [`EnvelopeArena::alloc_aligned`].
#[inline]
pub fn aligned(bytes: usize, align: usize) -> Result<NonNull<u8>, Error> {
    match DEFAULT.alloc_aligned(bytes as u32, align as u32) {
        Err(Error::Full) if !BEGUN.load(Ordering::Relaxed) => first(bytes as u32, align as u32),
        outcome => outcome,
    }
}

/// A request before the domain's first thread has started.
#[cold]
#[inline(never)]
fn first(bytes: u32, align: u32) -> Result<NonNull<u8>, Error> {
    // SAFETY: the block is the domain's, and only the heap uses the memory of its default arena.
    unsafe { begin(info::info().ok_or(Error::Full)?) };
    DEFAULT.alloc_aligned(bytes, align)
}

/// Gives a block of the default arena back; a program error ends the thread.
///
/// # Safety
/// As [`EnvelopeArena::free`].
#[inline]
pub unsafe fn free(block: NonNull<u8>) {
    // SAFETY: as the caller promises.
    if let Err(error) = unsafe { DEFAULT.free(block) } {
        fault(error, block.as_ptr() as u32);
    }
}

/// Changes the size of a block of the default arena; a null pointer when that fails, and then the block is as it was.
///
/// # Safety
/// As [`EnvelopeArena::realloc`].
#[inline]
pub unsafe fn realloc(block: NonNull<u8>, bytes: usize) -> *mut u8 {
    // SAFETY: as the caller promises.
    settle(unsafe { DEFAULT.realloc(block, bytes as u32) }, block.as_ptr() as u32)
}

/// How many bytes a block of the default arena holds.
///
/// # Errors
/// As [`EnvelopeArena::size`].
#[cfg(feature = "malloc")]
#[inline]
pub fn size(block: NonNull<u8>) -> Result<u32, Error> {
    DEFAULT.size(block)
}

#[inline]
fn settle(outcome: Result<NonNull<u8>, Error>, address: u32) -> *mut u8 {
    match outcome {
        Ok(block) => block.as_ptr(),
        Err(Error::Full | Error::TooLarge | Error::Alignment | Error::Piece | Error::Busy) => null_mut(),
        Err(error) => fault(error, address),
    }
}
