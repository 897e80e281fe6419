//! A global allocator over the domain's default arena, and what the heap asks of a run-time.

use heap::Error;

use crate::{now, sys};

#[cfg(feature = "heap")]
mod global {
    use core::alloc::{GlobalAlloc, Layout};
    use core::ptr::{NonNull, null_mut};

    /// The allocator: blocks of the default arena, in constant time. Its threads take turns, as [`heap::Arena`] says.
    #[derive(Debug)]
    pub struct Heap;

    #[global_allocator]
    static HEAP: Heap = Heap;

    // SAFETY: the blocks come from the arena, which returns disjoint blocks of the size and alignment asked for.
    unsafe impl GlobalAlloc for Heap {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            heap::alloc(layout.size(), if layout.align() <= heap::GRANULE as usize { 1 } else { layout.align() })
        }

        unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
            let Some(block) = NonNull::new(block) else { return };
            // SAFETY: the caller passes a block that `alloc` returned and that is no longer in use.
            unsafe { heap::free(block) }
        }

        unsafe fn realloc(&self, block: *mut u8, old: Layout, bytes: usize) -> *mut u8 {
            let Some(known) = NonNull::new(block) else { return null_mut() };
            if old.align() <= heap::GRANULE as usize {
                // SAFETY: the caller passes a block that `alloc` returned, and does not use it after success.
                return unsafe { heap::realloc(known, bytes) };
            }
            let moved = heap::alloc(bytes, old.align());
            if !moved.is_null() {
                // SAFETY: both blocks have the lesser of both sizes; the old one is not used afterwards.
                unsafe {
                    core::ptr::copy_nonoverlapping(block, moved, old.size().min(bytes));
                    heap::free(known);
                }
            }
            moved
        }
    }
}

#[cfg(feature = "heap")]
pub use global::Heap;

/// How often the domain has been restarted, so that the memory manager tells its lives apart; `u32::MAX` before a thread has started.
#[cfg(feature = "memory")]
#[unsafe(no_mangle)]
extern "C" fn cof_grants_life() -> u32 {
    crate::RESTARTS.load(core::sync::atomic::Ordering::Relaxed)
}

/// How the memory manager is called.
#[cfg(feature = "memory")]
#[unsafe(no_mangle)]
extern "C" fn cof_grants_call(gate: u32, message: *mut u32) -> i32 {
    sys::gate_call(gate, message as u32, 0, 0).map_or_else(|error| error as i32, |_| 0)
}

/// One over the time after which a thread looks again whether another has left the heap: 50 us.
const WAITS_PER_SECOND: u32 = 20_000;

/// Called by the heap when another thread of the domain is in it; false in a gate, where nothing may wait.
#[unsafe(no_mangle)]
extern "C" fn cof_heap_wait() -> bool {
    // A sleep of one tick would be over before the kernel has read the clock, and a more important
    // thread would spin until its budget is empty.
    let ticks = crate::info().map_or(0, |info| info.ticks_per_second() / WAITS_PER_SECOND);
    sys::sleep_until(now() + u64::from(ticks) + 1).is_ok()
}

/// Makes pages of the demand area regions, for its heap.
#[unsafe(no_mangle)]
extern "C" fn cof_heap_map(place: u32, pages: u32, cuts: u32) -> u32 {
    sys::region_map(place, pages, cuts).map_or_else(|error| error.status(), |()| 0)
}

/// Frees regions of the demand area, for its heap.
#[unsafe(no_mangle)]
extern "C" fn cof_heap_unmap(place: u32, regions: u32) -> u32 {
    crate::demand::unmap(place, regions).map_or_else(|error| error.status(), |()| 0)
}

/// Called by the heap when the program has misused it.
#[unsafe(no_mangle)]
extern "C" fn cof_heap_fault(error: u32, address: u32) -> ! {
    const DOUBLE: u32 = Error::DoubleFree as u32;
    const FOREIGN: u32 = Error::NotABlock as u32;
    let what = match error {
        DOUBLE => "freed twice",
        FOREIGN => "freed, but no block",
        _ => "next to overwritten memory",
    };
    panic!("heap: {address:#010x} was {what}")
}
