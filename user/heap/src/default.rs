//! The arena of plain `malloc` and of Rust's global allocator.

use core::ptr::{NonNull, null_mut};

use info::Info;
use memory::heap::Error;

#[cfg(feature = "demand")]
use crate::demand::DEMAND;
use crate::{Arena, Records};

unsafe extern "C" {
    /// Reports a program error, [`fault`]'s number, at an address, and does not return.
    safe fn cof_heap_fault(error: u32, address: u32) -> !;
}

/// Name of the area that serves when no envelope is the default.
const HEAP: &str = "heap";

/// The arena.
pub static DEFAULT: Arena = Arena::new();

/// Gives the default arena its memory: the arena of the envelope that is the default, else the area `heap`; without either every
/// request fails. A second call does nothing.
///
/// # Safety
/// Nobody else uses that memory.
pub unsafe fn begin(info: Info) {
    let default = info.envelopes().find(|envelope| envelope.default);
    #[cfg(feature = "demand")]
    if let Some(envelope) = default.filter(|envelope| envelope.arena.access & abi::info::area::DEMAND != 0) {
        let info::Area { base, bytes, .. } = envelope.arena;
        // SAFETY: as the caller promises.
        let _ = unsafe { DEMAND.open((base, bytes), envelope.live, envelope.largest, envelope.count) };
        return;
    }
    // An envelope says how many records there may be.
    let (area, records) = match default {
        Some(envelope) => (Some(envelope.arena), Records::For(envelope.count)),
        None => (info.area(HEAP), Records::AsNeeded),
    };
    let Some(area) = area else { return };
    // SAFETY: as the caller promises.
    let _ = unsafe { DEFAULT.open(area.base, area.bytes, area.pieces, area.stride, records) };
}

/// Ends the thread because of a program error.
#[cold]
pub fn fault(error: Error, address: u32) -> ! {
    cof_heap_fault(error as u32, address)
}

/// A block of the default arena, or a null pointer.
#[inline]
pub fn alloc(bytes: usize, align: usize) -> *mut u8 {
    let (bytes, align) = (bytes as u32, align as u32);
    #[cfg(feature = "demand")]
    if DEMAND.is_open() {
        return settle(DEMAND.alloc_aligned(bytes, align), 0);
    }
    settle(DEFAULT.alloc_aligned(bytes, align), 0)
}

/// Gives a block of the default arena back; a program error ends the thread.
///
/// # Safety
/// As [`Arena::free`].
#[inline]
pub unsafe fn free(block: NonNull<u8>) {
    #[cfg(feature = "demand")]
    // SAFETY: as the caller promises.
    let freed = if DEMAND.is_open() { unsafe { DEMAND.free(block) } } else { unsafe { DEFAULT.free(block) } };
    #[cfg(not(feature = "demand"))]
    // SAFETY: as the caller promises.
    let freed = unsafe { DEFAULT.free(block) };
    if let Err(error) = freed {
        fault(error, block.as_ptr() as u32);
    }
}

/// Changes the size of a block of the default arena; a null pointer when that fails, and then the block is as it was.
///
/// # Safety
/// As [`Arena::realloc`].
#[inline]
pub unsafe fn realloc(block: NonNull<u8>, bytes: usize) -> *mut u8 {
    #[cfg(feature = "demand")]
    if DEMAND.is_open() {
        // SAFETY: as the caller promises.
        return settle(unsafe { DEMAND.realloc(block, bytes as u32) }, block.as_ptr() as u32);
    }
    // SAFETY: as the caller promises.
    settle(unsafe { DEFAULT.realloc(block, bytes as u32) }, block.as_ptr() as u32)
}

/// How many bytes a block of the default arena holds.
///
/// # Errors
/// As [`Arena::size`].
#[cfg(feature = "malloc")]
#[inline]
pub fn size(block: NonNull<u8>) -> Result<u32, Error> {
    #[cfg(feature = "demand")]
    if DEMAND.is_open() {
        return DEMAND.size(block);
    }
    DEFAULT.size(block)
}

#[inline]
fn settle(outcome: Result<NonNull<u8>, Error>, address: u32) -> *mut u8 {
    match outcome {
        Ok(block) => block.as_ptr(),
        Err(Error::Full | Error::TooLarge | Error::Alignment | Error::Piece) => null_mut(),
        Err(error) => fault(error, address),
    }
}
