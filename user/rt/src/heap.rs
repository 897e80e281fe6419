//! A global allocator over the domain's heap area: TLSF, whose operations are bounded.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, Ordering};

use rlsf::Tlsf;

use crate::{Info, now, sys};

/// First-level lists: blocks of 16 bytes up to 32 MiB.
const FIRST: usize = 21;
/// Second-level lists per first-level list.
const SECOND: usize = 8;

/// The allocator. Threads of one domain take turns; a thread that has to wait lets less important ones run.
pub struct Heap {
    taken: AtomicBool,
    tlsf: UnsafeCell<Tlsf<'static, u32, u8, FIRST, SECOND>>,
}

// SAFETY: `tlsf` is only reached through `with`, which one thread at a time enters.
unsafe impl Sync for Heap {}

#[global_allocator]
static HEAP: Heap = Heap { taken: AtomicBool::new(false), tlsf: UnsafeCell::new(Tlsf::new()) };

/// Gives the heap area to the allocator; without one every allocation fails.
pub(crate) fn open(info: Info) {
    let pieces = info.area("heap").into_iter().flat_map(crate::Area::each_piece);
    for (base, bytes) in pieces {
        let Some(start) = NonNull::new(base as *mut u8) else { return };
        let piece = NonNull::slice_from_raw_parts(start, bytes as usize);
        // SAFETY: the piece belongs to this domain, nobody else uses it, and it is handed over once (before `main`).
        HEAP.with(|tlsf| unsafe { tlsf.insert_free_block_ptr(piece) });
    }
}

impl Heap {
    fn with<R>(&self, use_it: impl FnOnce(&mut Tlsf<'static, u32, u8, FIRST, SECOND>) -> R) -> R {
        while self.taken.swap(true, Ordering::Acquire) {
            let _ = sys::sleep_until(now() + 1);
        }
        // SAFETY: `taken` was false, so no other reference exists until it is false again.
        let result = use_it(unsafe { &mut *self.tlsf.get() });
        self.taken.store(false, Ordering::Release);
        result
    }
}

// SAFETY: the blocks come from TLSF, which returns disjoint blocks of the layout asked for.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.with(|tlsf| tlsf.allocate(layout)).map_or(core::ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(block) = NonNull::new(block) else { return };
        // SAFETY: the caller passes a block that `alloc` returned for this layout.
        self.with(|tlsf| unsafe { tlsf.deallocate(block, layout.align()) });
    }

    unsafe fn realloc(&self, block: *mut u8, old: Layout, bytes: usize) -> *mut u8 {
        let Some(block) = NonNull::new(block) else { return core::ptr::null_mut() };
        let Ok(layout) = Layout::from_size_align(bytes, old.align()) else { return core::ptr::null_mut() };
        // SAFETY: the caller passes a block that `alloc` returned with this alignment.
        self.with(|tlsf| unsafe { tlsf.reallocate(block, layout) }).map_or(core::ptr::null_mut(), NonNull::as_ptr)
    }
}
