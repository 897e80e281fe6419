//! The allocators, each behind the same four labelled functions.

use core::alloc::Layout;
use core::arch::asm;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr::{NonNull, null_mut};

use cofferdam::heap::{Arena, Records, record_bytes};

/// Most live blocks of a history.
pub const SLOTS: usize = 512;

/// An allocator. It is used by one thread.
pub trait Contestant {
    /// Sizes range from 32 bytes over so many powers of two.
    const POWERS: u32 = 15;
    /// Most live bytes, as requested.
    const MOST_LIVE: u32 = 5 << 19;
    /// Bytes beside that memory that grow with the number of blocks.
    const BESIDE: u32 = 0;
    /// Gives it so much memory, as if it had had none before.
    fn begin(base: u32, bytes: u32);
    /// A block, or a null pointer.
    fn alloc(bytes: u32) -> *mut u8;
    /// Takes a block back.
    fn free(block: *mut u8, bytes: u32);
    /// `alloc` and `free` between labels: in the rounds by size, and in the long history.
    fn size_alloc(bytes: u32) -> *mut u8;
    /// See `size_alloc`.
    fn size_free(block: *mut u8, bytes: u32);
    /// See `size_alloc`.
    fn history_alloc(bytes: u32) -> *mut u8;
    /// See `size_alloc`.
    fn history_free(block: *mut u8, bytes: u32);
}

macro_rules! probe {
    ($($label:expr),+) => {
        // SAFETY: a label, no instruction. The empty ones behind it cost nothing; the compiler copies shorter ends of a function to each way that
        // leads there, and a label must not be there twice.
        unsafe {
            asm!(concat!(".global ", $($label),+), concat!($($label,)+ ":"), options(nostack));
            asm!("/* not short */", options(nostack));
            asm!("/* not short */", options(nostack));
        }
    };
}

/// The four labelled functions of a contestant; labels are `probe_heap_NAME_PART_start` and `_end`.
macro_rules! labelled {
    ($name:literal) => {
        #[inline(never)]
        fn size_alloc(bytes: u32) -> *mut u8 {
            probe!("probe_heap_", $name, "_size_alloc_start");
            let block = Self::alloc(bytes);
            probe!("probe_heap_", $name, "_size_alloc_end");
            block
        }

        #[inline(never)]
        fn size_free(block: *mut u8, bytes: u32) {
            probe!("probe_heap_", $name, "_size_free_start");
            Self::free(block, bytes);
            probe!("probe_heap_", $name, "_size_free_end");
        }

        #[inline(never)]
        fn history_alloc(bytes: u32) -> *mut u8 {
            probe!("probe_heap_", $name, "_history_alloc_start");
            let block = Self::alloc(bytes);
            probe!("probe_heap_", $name, "_history_alloc_end");
            block
        }

        #[inline(never)]
        fn history_free(block: *mut u8, bytes: u32) {
            probe!("probe_heap_", $name, "_history_free_start");
            Self::free(block, bytes);
            probe!("probe_heap_", $name, "_history_free_end");
        }
    };
}

/// Something that only this domain's one thread uses.
struct Only<T>(UnsafeCell<T>);

// SAFETY: the domain has one thread.
unsafe impl<T> Sync for Only<T> {}

impl<T> Only<T> {
    const fn new(value: T) -> Self {
        Only(UnsafeCell::new(value))
    }

    #[allow(clippy::mut_from_ref)] // one thread, and no caller keeps the reference
    fn get(&self) -> &mut T {
        // SAFETY: one thread, and every reference is dropped before the next is made.
        unsafe { &mut *self.0.get() }
    }
}

fn layout(bytes: u32) -> Layout {
    // SAFETY: eight is a power of two, and sizes are at most 1 MiB.
    unsafe { Layout::from_size_align_unchecked(bytes as usize, 8) }
}

/// Most live blocks, for heaps that are told.
const BLOCKS: u32 = SLOTS as u32 + 2;
const RECORD_BYTES: u32 = record_bytes(BLOCKS, 1) as u32;

static OURS: Only<Arena> = Only::new(Arena::new());
static RECORDS: Only<[u64; RECORD_BYTES as usize / 8]> = Only::new([0; RECORD_BYTES as usize / 8]);

fn open(base: u32, bytes: u32, records: Records) {
    *OURS.get() = Arena::new();
    // SAFETY: the memory is the domain's heap, and the records, which nobody else uses any more.
    let _ = unsafe { OURS.get().open(base, bytes, 1, 0, records) };
}

/// Cofferdam's, with its lock and its checks, as C's `malloc` uses it; records in the domain's data, which are tightly coupled.
pub struct Ours;

impl Contestant for Ours {
    labelled!("ours");
    const BESIDE: u32 = RECORD_BYTES;

    fn begin(base: u32, bytes: u32) {
        open(base, bytes, Records::Beside { base: RECORDS.get().as_ptr() as u32, bytes: RECORD_BYTES });
    }

    #[inline(always)]
    fn alloc(bytes: u32) -> *mut u8 {
        OURS.get().alloc(bytes).map_or(null_mut(), NonNull::as_ptr)
    }

    #[inline(always)]
    fn free(block: *mut u8, _: u32) {
        let Some(block) = NonNull::new(block) else { return };
        // SAFETY: the block is no longer used.
        if unsafe { OURS.get().free(block) }.is_err() {
            cofferdam::sys::exit(1);
        }
    }
}

/// Cofferdam's with its records in the heap, which is cached.
pub struct Within;

impl Contestant for Within {
    labelled!("within");

    fn begin(base: u32, bytes: u32) {
        open(base, bytes, Records::For(BLOCKS));
    }

    #[inline(always)]
    fn alloc(bytes: u32) -> *mut u8 {
        Ours::alloc(bytes)
    }

    #[inline(always)]
    fn free(block: *mut u8, bytes: u32) {
        Ours::free(block, bytes);
    }
}

/// Cofferdam's with all of its heap in tightly coupled memory.
pub struct InTcm;
static TCM: Only<[u64; 3 << 10]> = Only::new([0; 3 << 10]);

/// The memory of [`InTcm`], which is part of the domain's data.
pub fn tcm() -> (u32, u32) {
    let memory = TCM.get();
    (memory.as_ptr() as u32, size_of_val(memory) as u32)
}

impl Contestant for InTcm {
    labelled!("tcm");
    const POWERS: u32 = 5;
    const MOST_LIVE: u32 = 12 << 10;
    const BESIDE: u32 = RECORD_BYTES;

    fn begin(base: u32, bytes: u32) {
        Ours::begin(base, bytes);
    }

    #[inline(always)]
    fn alloc(bytes: u32) -> *mut u8 {
        Ours::alloc(bytes)
    }

    #[inline(always)]
    fn free(block: *mut u8, bytes: u32) {
        Ours::free(block, bytes);
    }
}

/// rlsf with 16 second-level lists, without lock.
pub struct Rlsf;
type Tlsf = rlsf::Tlsf<'static, u32, u16, 20, 16>;
static RLSF: Only<Tlsf> = Only::new(Tlsf::new());

impl Contestant for Rlsf {
    labelled!("rlsf");

    fn begin(base: u32, bytes: u32) {
        *RLSF.get() = Tlsf::new();
        let Some(start) = NonNull::new(base as *mut u8) else { return };
        // SAFETY: as for `Ours`.
        unsafe { RLSF.get().insert_free_block_ptr(NonNull::slice_from_raw_parts(start, bytes as usize)) };
    }

    #[inline(always)]
    fn alloc(bytes: u32) -> *mut u8 {
        RLSF.get().allocate(layout(bytes)).map_or(null_mut(), NonNull::as_ptr)
    }

    #[inline(always)]
    fn free(block: *mut u8, _: u32) {
        let Some(block) = NonNull::new(block) else { return };
        // SAFETY: the block is no longer used.
        unsafe { RLSF.get().deallocate(block, 8) };
    }
}

mod c {
    use core::ffi::c_void;

    unsafe extern "C" {
        pub fn o1heapInit(base: *mut c_void, size: usize) -> *mut c_void;
        pub fn o1heapAllocate(heap: *mut c_void, amount: usize) -> *mut c_void;
        pub fn o1heapFree(heap: *mut c_void, pointer: *mut c_void);
        pub fn malloc(bytes: usize) -> *mut c_void;
        pub fn free(block: *mut c_void);
    }
}

/// o1heap without assertions.
pub struct O1Heap;
static O1HEAP: Only<*mut c_void> = Only::new(null_mut());

impl Contestant for O1Heap {
    labelled!("o1heap");

    fn begin(base: u32, bytes: u32) {
        // SAFETY: as for `Ours`.
        *O1HEAP.get() = unsafe { c::o1heapInit(base as *mut c_void, bytes as usize) };
    }

    #[inline(always)]
    fn alloc(bytes: u32) -> *mut u8 {
        // SAFETY: `begin` came before.
        unsafe { c::o1heapAllocate(*O1HEAP.get(), bytes as usize) }.cast()
    }

    #[inline(always)]
    fn free(block: *mut u8, _: u32) {
        // SAFETY: the block is no longer used.
        unsafe { c::o1heapFree(*O1HEAP.get(), block.cast()) }
    }
}

/// buddy_system_allocator with lists up to 8 MiB, without lock.
pub struct Buddy;
type Lists = buddy_system_allocator::Heap<24>;
static BUDDY: Only<Lists> = Only::new(Lists::new());

impl Contestant for Buddy {
    labelled!("buddy");

    fn begin(base: u32, bytes: u32) {
        *BUDDY.get() = Lists::new();
        // SAFETY: as for `Ours`.
        unsafe { BUDDY.get().init(base as usize, bytes as usize) };
    }

    #[inline(always)]
    fn alloc(bytes: u32) -> *mut u8 {
        BUDDY.get().alloc(layout(bytes)).map_or(null_mut(), NonNull::as_ptr)
    }

    #[inline(always)]
    fn free(block: *mut u8, bytes: u32) {
        let Some(block) = NonNull::new(block) else { return };
        // SAFETY: the block is no longer used.
        unsafe { BUDDY.get().dealloc(block, layout(bytes)) };
    }
}

/// newlib's `malloc`, which cannot be begun anew.
pub struct Newlib;

/// Base, size, and how far newlib has come.
static BREAK: Only<(u32, u32, u32)> = Only::new((0, 0, 0));
static MOST: Only<u32> = Only::new(0);

impl Newlib {
    /// The most that it has taken of its memory at a time.
    pub fn taken() -> u32 {
        *MOST.get()
    }
}

/// The function with which newlib's `malloc` gets memory.
///
/// # Safety
/// Only newlib calls it.
#[unsafe(no_mangle)]
unsafe extern "C" fn _sbrk(bytes: isize) -> *mut c_void {
    let (base, size, taken) = *BREAK.get();
    let Some(wanted) = taken.checked_add_signed(bytes as i32).filter(|wanted| *wanted <= size) else {
        return usize::MAX as *mut c_void;
    };
    BREAK.get().2 = wanted;
    let most = MOST.get();
    *most = (*most).max(wanted);
    (base + taken) as *mut c_void
}

impl Contestant for Newlib {
    labelled!("newlib");

    fn begin(base: u32, bytes: u32) {
        *BREAK.get() = (base, bytes, 0);
    }

    #[inline(always)]
    fn alloc(bytes: u32) -> *mut u8 {
        // SAFETY: C's function.
        unsafe { c::malloc(bytes as usize) }.cast()
    }

    #[inline(always)]
    fn free(block: *mut u8, _: u32) {
        // SAFETY: the block is no longer used.
        unsafe { c::free(block.cast()) }
    }
}
