//! The heap over pieces of memory of the caller.

use core::ptr::NonNull;

use memory::heap::{self, Error, GRANULE, HEADER, RECORD, Storage, Usage, Word, record_bytes, worst_case_bytes};

use crate::pointer::{Object, Out, disjoint, range};
use crate::status::{Status, status_of};

/// `CFM_HEAP_PIECES`: pieces of one heap.
pub const HEAP_PIECES: usize = 8;
/// `CFM_HEAP_WORDS`: machine words of a heap, beside its pieces.
pub const HEAP_WORDS: usize = 384;

/// `cfm_heap`.
pub type CfmHeap = Object<heap::Heap<Pieces>, { u32::from_le_bytes(*b"cfmh") }>;

const _: () = assert!(size_of::<CfmHeap>() <= HEAP_WORDS * size_of::<usize>());
const _: () = assert!(align_of::<CfmHeap>() <= align_of::<usize>());

/// `cfm_heap_use`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CfmHeapUse {
    /// The bytes that all pieces together can hold.
    pub capacity: u32,
    /// The bytes that blocks occupy, with their headers.
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

    /// The caller's pointer to `bytes` bytes at an address, if they lie in it.
    #[inline(always)]
    fn locate(&self, at: u32, bytes: u32) -> Option<*mut u32> {
        let offset = at.wrapping_sub(self.at());
        let inside = offset < self.bytes && bytes <= self.bytes - offset;
        // SAFETY: inside of a piece, which the caller has given to this heap.
        inside.then(|| unsafe { self.start.add(offset as usize) }.cast())
    }
}

/// The pieces of a heap.
#[derive(Debug)]
pub struct Pieces {
    pieces: [Piece; HEAP_PIECES],
    count: usize,
    /// For records.
    records: Piece,
}

impl Pieces {
    const fn none() -> Self {
        let none = Piece { start: core::ptr::null_mut(), bytes: 0 };
        Self { pieces: [none; HEAP_PIECES], count: 0, records: none }
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
        self.all().iter().find_map(|piece| piece.locate(at, bytes))
    }

    /// The 16 bytes around the address of a block; its header is the second word.
    #[inline(always)]
    fn around(&self, block: u32) -> Option<*mut u32> {
        if block.is_multiple_of(GRANULE) { self.locate(block.checked_sub(2 * HEADER)?, 4 * HEADER) } else { None }
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
        if !at.is_multiple_of(GRANULE) {
            return None;
        }
        NonNull::new(self.records.locate(at, RECORD).or_else(|| self.locate(at, RECORD))?)
    }

    #[inline(always)]
    fn address(place: NonNull<u32>) -> u32 {
        place.addr().get() as u32
    }

    #[inline(always)]
    fn load(&self, place: NonNull<u32>, word: Word) -> u32 {
        // SAFETY: one of the six words of a place.
        unsafe { place.add(word as usize).read() }
    }

    #[inline(always)]
    fn store(&mut self, place: NonNull<u32>, word: Word, value: u32) {
        // SAFETY: one of the six words of a place.
        unsafe { place.add(word as usize).write(value) }
    }

    #[inline(always)]
    fn header(&self, block: u32) -> Option<u32> {
        // SAFETY: the second of four words of a piece.
        self.around(block).map(|word| unsafe { word.add(1).read() })
    }

    #[inline(always)]
    fn set_header(&mut self, block: u32, value: u32) {
        if let Some(word) = self.around(block) {
            // SAFETY: the second of four words of a piece.
            unsafe { word.add(1).write(value) }
        }
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
            // Only a heap that several threads share says that it is busy; a `CfmHeap` is its caller's alone.
            Error::Full | Error::Busy => Self::Full,
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
        // SAFETY: the caller's duty.
        let (own, given) = unsafe { given(heap, piece, bytes) }?;
        let count = own.memory().count;
        *own.memory_mut().pieces.get_mut(count).ok_or(Status::Argument)? = given;
        own.memory_mut().count = count + 1;
        let added = own.add(given.at(), given.bytes);
        if added.is_err() {
            own.memory_mut().count = count;
        }
        Ok(added?)
    };
    status_of(body())
}

/// `cfm_heap_add_records`.
///
/// # Safety
/// As in [the crate's](crate) documentation, with `bytes` bytes at `memory`, which are the heap's from now on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_heap_add_records(heap: *mut CfmHeap, memory: *mut u8, bytes: u32) -> Status {
    let body = || {
        // SAFETY: the caller's duty.
        let (own, given) = unsafe { given(heap, memory, bytes) }?;
        if own.memory().records.bytes != 0 {
            return Err(Status::Argument);
        }
        own.memory_mut().records = given;
        let added = own.add_records(given.at(), given.bytes);
        if added.is_err() {
            own.memory_mut().records.bytes = 0;
        }
        Ok(added?)
    };
    status_of(body())
}

/// A heap, and what of memory for it lies between multiples of eight: it overlaps neither the heap nor what that has.
///
/// # Safety
/// As [`cfm_heap_add`].
unsafe fn given<'a>(
    heap: *mut CfmHeap,
    memory: *mut u8,
    bytes: u32,
) -> Result<(&'a mut heap::Heap<Pieces>, Piece), Status> {
    Out::required(memory)?;
    // SAFETY: the caller's duty.
    let own = unsafe { CfmHeap::get_mut(heap) }?;
    disjoint(&[range(heap, 1), range(memory, bytes)])?;
    let overlaps = |other: &Piece| {
        let distance = (memory.addr() as u32).wrapping_sub(other.at());
        distance < other.bytes || other.bytes != 0 && distance.wrapping_neg() < bytes
    };
    if own.memory().all().iter().chain([&own.memory().records]).any(overlaps) {
        return Err(Status::Overlapping);
    }
    let skipped = memory.addr().wrapping_neg() as u32 & 7;
    let bytes = bytes.checked_sub(skipped).ok_or(Status::Piece)? & !7;
    // SAFETY: at most the memory's bytes from its start.
    Ok((own, Piece { start: unsafe { memory.add(skipped as usize) }, bytes }))
}

/// The caller's pointer to a block that the heap names `at`.
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

/// `cfm_heap_record_bytes`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_heap_record_bytes(count: u32, pieces: u32, out: *mut u64) -> Status {
    let body = || {
        let out = Out::required(out)?;
        // SAFETY: the caller's duty.
        unsafe { out.put(record_bytes(count, pieces)) };
        Ok(())
    };
    status_of(body())
}
