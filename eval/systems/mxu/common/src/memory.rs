//! An allocator over the pieces of memory that the manifest gives a workload: the heap, which may lie in several pieces, and a
//! pinned area `fixed`. One thread of a domain allocates.

use core::alloc::Layout;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU32, Ordering};

use cofferdam::Info;
use rlsf::Tlsf;

/// First-level lists: blocks of 16 bytes up to 32 MiB.
const FIRST: usize = 21;
/// Second-level lists per first-level list.
const SECOND: usize = 8;
/// Bytes in front of a block that hold its size.
const HEADER: usize = 8;
const ALIGN: usize = 8;

struct OneThread(UnsafeCell<Tlsf<'static, u32, u8, FIRST, SECOND>>);
// SAFETY: only the thread that runs the workload allocates; `open` is called by it before anything else.
unsafe impl Sync for OneThread {}

static POOL: OneThread = OneThread(UnsafeCell::new(Tlsf::new()));
static FIXED: OneThread = OneThread(UnsafeCell::new(Tlsf::new()));
static FIXED_BASE: AtomicU32 = AtomicU32::new(0);
static FIXED_BYTES: AtomicU32 = AtomicU32::new(0);
static LARGEST_REFUSED: AtomicU32 = AtomicU32::new(0);

type Pool = Tlsf<'static, u32, u8, FIRST, SECOND>;

fn pool() -> &'static mut Pool {
    // SAFETY: one thread; nobody holds the reference while anything else takes it.
    unsafe { &mut *POOL.0.get() }
}

fn fixed() -> &'static mut Pool {
    // SAFETY: as above.
    unsafe { &mut *FIXED.0.get() }
}

/// The pool that a block is of.
fn pool_of(block: NonNull<u8>) -> &'static mut Pool {
    let offset = (block.as_ptr() as usize as u32).wrapping_sub(FIXED_BASE.load(Ordering::Relaxed));
    if offset < FIXED_BYTES.load(Ordering::Relaxed) { fixed() } else { pool() }
}

/// A block, of the pinned area if it has room.
fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    if FIXED_BYTES.load(Ordering::Relaxed) > 0
        && let Some(block) = fixed().allocate(layout)
    {
        return Some(block);
    }
    pool().allocate(layout)
}

/// Bytes of the largest request that could not be met; 0 when all were.
pub fn largest_refused() -> u32 {
    LARGEST_REFUSED.load(Ordering::Relaxed)
}

/// Hands all pieces to the allocator: the heap's last to first, then `fixed`, so that `fixed` and the lowest addresses are used
/// first. Call it once, before anything else.
pub fn open(info: Info) {
    let mut pieces = info.area("heap").map(cofferdam::Area::each_piece).into_iter().flatten();
    hand_over(&mut pieces, 0);
    if let Some(area) = info.area("fixed") {
        FIXED_BASE.store(area.base, Ordering::Relaxed);
        FIXED_BYTES.store(area.bytes, Ordering::Relaxed);
        insert(fixed(), area.base, area.bytes);
    }
}

/// Last to first. Each piece begins a little later than the one before: pieces of a power of two would otherwise put blocks of one
/// size into the same few sets of the data cache.
fn hand_over(pieces: &mut impl Iterator<Item = (u32, u32)>, index: u32) {
    const STAGGER: u32 = 288;
    const WAY: u32 = 4096;
    if let Some((base, bytes)) = pieces.next() {
        hand_over(pieces, index + 1);
        let skipped = index * STAGGER % WAY;
        insert(pool(), base + skipped, bytes - skipped);
    }
}

fn insert(into: &mut Pool, base: u32, bytes: u32) {
    let Some(start) = NonNull::new(base as *mut u8) else { return };
    // SAFETY: the piece belongs to this domain, nobody else uses it, and it is handed over once.
    unsafe { into.insert_free_block_ptr(NonNull::slice_from_raw_parts(start, bytes as usize)) };
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(HEADER)?, ALIGN).ok()
}

fn refused(bytes: usize) -> *mut c_void {
    LARGEST_REFUSED.fetch_max(bytes as u32, Ordering::Relaxed);
    ptr::null_mut()
}

/// A block for C: as `malloc`, but null for no bytes.
#[unsafe(no_mangle)]
pub extern "C" fn mxu_alloc(bytes: usize) -> *mut c_void {
    if bytes == 0 {
        return ptr::null_mut();
    }
    let Some(block) = layout(bytes).and_then(allocate) else { return refused(bytes) };
    // SAFETY: the block is aligned and has HEADER bytes more than asked for.
    unsafe {
        block.cast::<usize>().write(bytes);
        block.as_ptr().add(HEADER).cast()
    }
}

/// Bytes of a block.
///
/// # Safety
/// `block` is null or was returned by [`mxu_alloc`] or [`mxu_realloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mxu_size(block: *mut c_void) -> usize {
    if block.is_null() {
        return 0;
    }
    // SAFETY: the size stands in front of the block.
    unsafe { block.cast::<u8>().sub(HEADER).cast::<usize>().read() }
}

/// Gives a block back.
///
/// # Safety
/// As [`mxu_size`]; the block is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mxu_free(block: *mut c_void) {
    let Some(block) = NonNull::new(block.cast::<u8>()) else { return };
    // SAFETY: the block begins HEADER bytes before what was handed out.
    unsafe { pool_of(block).deallocate(block.sub(HEADER), ALIGN) };
}

/// Another size for a block, as `realloc`.
///
/// # Safety
/// As [`mxu_size`]; the block is used only if the result is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mxu_realloc(block: *mut c_void, bytes: usize) -> *mut c_void {
    let Some(old) = NonNull::new(block.cast::<u8>()) else { return mxu_alloc(bytes) };
    if bytes == 0 {
        // SAFETY: as the caller promises.
        unsafe { mxu_free(block) };
        return ptr::null_mut();
    }
    let Some(layout) = layout(bytes) else { return refused(bytes) };
    // SAFETY: as for `mxu_free`; the layout has the alignment that the block was allocated with.
    let Some(new) = (unsafe { pool_of(old).reallocate(old.sub(HEADER), layout) }) else {
        // SAFETY: as the caller promises.
        return unsafe { moved(block, bytes) };
    };
    // SAFETY: as in `mxu_alloc`.
    unsafe {
        new.cast::<usize>().write(bytes);
        new.as_ptr().add(HEADER).cast()
    }
}

/// A copy of a block in whichever pool has room.
///
/// # Safety
/// As [`mxu_size`]; the block is used only if the result is null.
unsafe fn moved(block: *mut c_void, bytes: usize) -> *mut c_void {
    let new = mxu_alloc(bytes);
    if !new.is_null() {
        // SAFETY: both blocks have so many bytes and do not overlap.
        unsafe {
            ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), mxu_size(block).min(bytes));
            mxu_free(block);
        }
    }
    new
}
