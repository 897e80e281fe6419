//! The heap over pieces of memory of the caller.

use core::ptr::NonNull;

use memory::heap::{self, Error, GRANULE, Storage, Usage, Word, worst_case_bytes};

use crate::pointer::{Object, Out, disjoint, range};
use crate::status::{Status, status_of};

/// `CFM_HEAP_PIECES`: pieces of one heap.
pub const HEAP_PIECES: usize = 8;
/// `CFM_HEAP_WORDS`: machine words of a heap, beside its pieces.
pub const HEAP_WORDS: usize = 384;
/// Bytes of a place.
const PLACE_BYTES: u32 = 16;

/// `cfm_heap`.
pub type CfmHeap = Object<heap::Heap<Pieces>, { u32::from_le_bytes(*b"cfmh") }>;

const _: () = assert!(size_of::<CfmHeap>() <= HEAP_WORDS * size_of::<usize>());
const _: () = assert!(align_of::<CfmHeap>() <= align_of::<usize>());

/// `cfm_heap_use`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CfmHeapUse {
    /// What all pieces together can hold.
    pub capacity: u32,
    /// What blocks occupy, with their headers.
    pub used: u32,
    /// The most that `used` has been.
    pub peak: u32,
    /// Blocks.
    pub blocks: u32,
}

/// Memory from the caller. The heap names its words by the low 32 bits of their address, which are all of it on the chips that this
/// is for; elsewhere pieces that differ in the others only are refused.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: *mut u8,
    bytes: u32,
}

impl Piece {
    fn at(&self) -> u32 {
        self.start.addr() as u32
    }
}

/// The pieces of a heap.
#[derive(Debug)]
pub struct Pieces {
    pieces: [Piece; HEAP_PIECES],
    count: usize,
}

impl Pieces {
    const fn none() -> Self {
        Self { pieces: [Piece { start: core::ptr::null_mut(), bytes: 0 }; HEAP_PIECES], count: 0 }
    }

    fn all(&self) -> &[Piece] {
        self.pieces.get(..self.count).unwrap_or(&[])
    }

    /// `bytes` bytes, at most those of a piece, from a word: where they are.
    #[inline(always)]
    fn locate(&self, at: u32, bytes: u32) -> Option<*mut u32> {
        if !at.is_multiple_of(4) {
            return None;
        }
        self.all().iter().find_map(|piece| {
            let offset = at.wrapping_sub(piece.at());
            let inside = offset < piece.bytes && bytes <= piece.bytes - offset;
            // SAFETY: inside of a piece, which the caller has given to this heap.
            inside.then(|| unsafe { piece.start.add(offset as usize) }.cast())
        })
    }

    /// The name of a pointer that the heap has handed out.
    fn name(&self, pointer: *const u8) -> Option<u32> {
        let inside = |piece: &&Piece| range(piece.start, piece.bytes).contains(&pointer.addr());
        self.all().iter().find(inside).map(|_| pointer.addr() as u32)
    }
}

impl Storage for Pieces {
    type Place = NonNull<u32>;

    #[inline(always)]
    fn place(&self, at: u32) -> Option<NonNull<u32>> {
        let place = self.locate(at, PLACE_BYTES)?;
        if at.is_multiple_of(GRANULE) { NonNull::new(place) } else { None }
    }

    #[inline(always)]
    fn address(place: NonNull<u32>) -> u32 {
        place.addr().get() as u32
    }

    #[inline(always)]
    fn load(&self, place: NonNull<u32>, word: Word) -> u32 {
        // SAFETY: one of the four words of a place.
        unsafe { place.add(word as usize).read() }
    }

    #[inline(always)]
    fn store(&mut self, place: NonNull<u32>, word: Word, value: u32) {
        // SAFETY: one of the four words of a place.
        unsafe { place.add(word as usize).write(value) }
    }

    fn copy(&mut self, from: u32, to: u32, bytes: u32) -> Option<()> {
        let (from, to) = (self.locate(from, bytes)?, self.locate(to, bytes)?);
        // SAFETY: so many bytes of a piece each.
        unsafe { from.cast::<u8>().copy_to(to.cast(), bytes as usize) };
        Some(())
    }
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        match error {
            Error::Full => Self::Full,
            Error::TooLarge => Self::TooLarge,
            Error::Alignment => Self::Argument,
            Error::NotABlock => Self::NotABlock,
            Error::DoubleFree => Self::DoubleFree,
            Error::Corrupt => Self::Corrupt,
            Error::Piece => Self::Piece,
        }
    }
}

/// `cfm_heap_init`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_heap_init(heap: *mut CfmHeap) -> Status {
    // SAFETY: the caller's duty.
    status_of(unsafe { CfmHeap::init_from(heap, const { &heap::Heap::new(Pieces::none()) }) })
}

/// `cfm_heap_add`.
///
/// # Safety
/// As in [the crate's](crate) documentation, with `bytes` bytes at `piece`, which are the heap's from now on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_heap_add(heap: *mut CfmHeap, piece: *mut u8, bytes: u32) -> Status {
    let body = || {
        Out::required(piece)?;
        // SAFETY: the caller's duty.
        let own = unsafe { CfmHeap::get_mut(heap) }?;
        let pieces = own.memory();
        disjoint(&[range(heap, 1), range(piece, bytes)])?;
        let overlaps = |other: &Piece| {
            let distance = (piece.addr() as u32).wrapping_sub(other.at());
            distance < other.bytes || distance.wrapping_neg() < bytes
        };
        if pieces.all().iter().any(overlaps) {
            return Err(Status::Overlapping);
        }
        let (count, at) = (pieces.count, piece.addr() as u32);
        // Whole words from a word on; the heap leaves what is before and behind alone.
        let skipped = piece.addr().wrapping_neg() as u32 & 7;
        let usable = bytes.checked_sub(skipped).ok_or(Status::Piece)? & !7;
        // SAFETY: at most `bytes` from the start of the piece.
        let start = unsafe { piece.add(skipped as usize) };
        let place = own.memory_mut().pieces.get_mut(count).ok_or(Status::Argument)?;
        *place = Piece { start, bytes: usable };
        own.memory_mut().count = count + 1;
        let added = own.add(at.wrapping_add(skipped), usable);
        if added.is_err() {
            own.memory_mut().count = count;
        }
        Ok(added?)
    };
    status_of(body())
}

/// Where the caller finds a block that the heap names `at`.
fn pointer_of(heap: &heap::Heap<Pieces>, at: u32) -> Result<*mut u8, Status> {
    heap.memory().locate(at, 0).map(|word| word.cast()).ok_or(Status::Corrupt)
}

/// `cfm_heap_alloc`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_heap_alloc(heap: *mut CfmHeap, bytes: u32, align: u32, out: *mut *mut u8) -> Status {
    let body = || {
        let out = Out::required(out)?;
        // SAFETY: the caller's duty.
        let heap = unsafe { CfmHeap::get_mut(heap) }?;
        let at = heap.alloc_aligned(bytes, align)?;
        let block = pointer_of(heap, at)?;
        // SAFETY: the caller's duty.
        unsafe { out.put(block) };
        Ok(())
    };
    status_of(body())
}

/// `cfm_heap_free`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_heap_free(heap: *mut CfmHeap, block: *mut u8) -> Status {
    let body = || {
        Out::required(block)?;
        // SAFETY: the caller's duty.
        let heap = unsafe { CfmHeap::get_mut(heap) }?;
        let at = heap.memory().name(block).ok_or(Status::NotABlock)?;
        Ok(heap.free(at)?)
    };
    status_of(body())
}

/// `cfm_heap_resize`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_heap_resize(heap: *mut CfmHeap, block: *mut u8, bytes: u32, out: *mut *mut u8) -> Status {
    let body = || {
        Out::required(block)?;
        let out = Out::required(out)?;
        // SAFETY: the caller's duty.
        let heap = unsafe { CfmHeap::get_mut(heap) }?;
        let at = heap.memory().name(block).ok_or(Status::NotABlock)?;
        let at = heap.realloc(at, bytes)?;
        let block = pointer_of(heap, at)?;
        // SAFETY: the caller's duty.
        unsafe { out.put(block) };
        Ok(())
    };
    status_of(body())
}

/// `cfm_heap_size`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_heap_size(heap: *const CfmHeap, block: *const u8, out: *mut u32) -> Status {
    let body = || {
        Out::required(block.cast_mut())?;
        let out = Out::required(out)?;
        // SAFETY: the caller's duty.
        let heap = unsafe { CfmHeap::get(heap) }?;
        let at = heap.memory().name(block).ok_or(Status::NotABlock)?;
        let size = heap.size(at)?;
        // SAFETY: the caller's duty.
        unsafe { out.put(size) };
        Ok(())
    };
    status_of(body())
}

/// `cfm_heap_usage`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_heap_usage(heap: *const CfmHeap, out: *mut CfmHeapUse) -> Status {
    let body = || {
        let out = Out::required(out)?;
        // SAFETY: the caller's duty.
        let Usage { capacity, used, peak, blocks } = unsafe { CfmHeap::get(heap) }?.usage();
        // SAFETY: the caller's duty.
        unsafe { out.put(CfmHeapUse { capacity, used, peak, blocks }) };
        Ok(())
    };
    status_of(body())
}

/// `cfm_heap_worst_case`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_heap_worst_case(
    live: u32,
    largest: u32,
    count: u32,
    pieces: u32,
    out: *mut u64,
) -> Status {
    let body = || {
        let out = Out::required(out)?;
        let bytes = worst_case_bytes(live, largest, count, pieces).ok_or(Status::Argument)?;
        // SAFETY: the caller's duty.
        unsafe { out.put(bytes) };
        Ok(())
    };
    status_of(body())
}
