//! The arena of plain `malloc` and of Rust's global allocator.

use core::ptr::{NonNull, null_mut};

use abi::info::{AREA_BYTES, ENVELOPE_BYTES, NAME_BYTES, area, block_bytes, envelope, word};
use memory::heap::Error;

use crate::{Arena, Records};

unsafe extern "C" {
    /// Reports a program error, [`fault`]'s number, at an address, and does not return.
    safe fn cof_heap_fault(error: u32, address: u32) -> !;
}

/// The arena.
pub static DEFAULT: Arena = Arena::new();

/// Name of the area that serves when no envelope is the default.
const HEAP: &[u8; 5] = b"heap\0";

/// Gives the default arena its memory: the arena of the envelope that is the default, else the area `heap`; without either every
/// request fails. A second call does nothing.
///
/// # Safety
/// `info` is the address of the domain's information block, and nobody else uses that memory.
pub unsafe fn begin(info: *const u32) {
    // SAFETY: as the caller promises.
    let Some((words, records)) = (unsafe { default_area(info) }) else { return };
    let [base, bytes, pieces, stride] =
        [area::BASE, area::BYTES, area::PIECES, area::STRIDE].map(|index| words.get(index).copied().unwrap_or(0));
    // SAFETY: as the caller promises.
    let _ = unsafe { DEFAULT.open(base, bytes, pieces, stride, records) };
}

/// The words behind the name of the default arena's area entry, and where its records are: an envelope says how many they may be.
///
/// # Safety
/// As [`begin`].
unsafe fn default_area(info: *const u32) -> Option<(&'static [u32], Records)> {
    // SAFETY: a block is as long as its header says, read-only and never moved.
    let header = |index: usize| unsafe { info.add(index).read() } as usize;
    let (caps, areas, envelopes) = (header(word::CAPS), header(word::AREAS), header(word::ENVELOPES));
    // SAFETY: as above.
    let block = unsafe { core::slice::from_raw_parts(info, block_bytes(caps, areas, envelopes) / 4) };
    let (entries, rest) = block.get(block_bytes(caps, 0, 0) / 4..)?.split_at_checked(areas * AREA_BYTES / 4)?;
    let mut entries = entries.chunks_exact(AREA_BYTES / 4);
    let default = rest.chunks_exact(ENVELOPE_BYTES / 4).find(|entry| entry.get(envelope::DEFAULT) == Some(&1));
    let (entry, records) = match default {
        Some(entry) => (entries.nth(*entry.get(envelope::AREA)? as usize), Records::For(*entry.get(envelope::COUNT)?)),
        None => (entries.find(|entry| is_heap(entry)), Records::AsNeeded),
    };
    Some((entry?.get(NAME_BYTES / 4..)?, records))
}

fn is_heap(entry: &[u32]) -> bool {
    let name = entry.iter().flat_map(|word| word.to_le_bytes());
    name.take(HEAP.len()).eq(HEAP.iter().copied())
}

/// Ends the thread because of a program error.
#[cold]
pub fn fault(error: Error, address: u32) -> ! {
    cof_heap_fault(error as u32, address)
}

/// A block of the default arena, or a null pointer.
#[inline]
pub fn alloc(bytes: usize, align: usize) -> *mut u8 {
    settle(DEFAULT.alloc_aligned(bytes as u32, align as u32), 0)
}

/// Gives a block of the default arena back; a program error ends the thread.
///
/// # Safety
/// As [`Arena::free`].
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
/// As [`Arena::realloc`].
#[inline]
pub unsafe fn realloc(block: NonNull<u8>, bytes: usize) -> *mut u8 {
    // SAFETY: as the caller promises.
    settle(unsafe { DEFAULT.realloc(block, bytes as u32) }, block.as_ptr() as u32)
}

#[inline]
fn settle(outcome: Result<NonNull<u8>, Error>, address: u32) -> *mut u8 {
    match outcome {
        Ok(block) => block.as_ptr(),
        Err(Error::Full | Error::TooLarge | Error::Alignment | Error::Piece) => null_mut(),
        Err(error) => fault(error, address),
    }
}
