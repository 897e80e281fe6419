//! Turns of a domain's threads.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering, compiler_fence};

unsafe extern "C" {
    /// Lets less important threads run for a moment.
    safe fn cof_heap_wait();
}

/// Something that one thread of the domain uses at a time.
pub(crate) struct Turn<T> {
    taken: AtomicBool,
    inner: UnsafeCell<T>,
}

// SAFETY: `inner` is only reached through `with`, which one thread at a time enters.
unsafe impl<T> Sync for Turn<T> {}

impl<T> Turn<T> {
    pub const fn new(inner: T) -> Turn<T> {
        Turn { taken: AtomicBool::new(false), inner: UnsafeCell::new(inner) }
    }

    /// Threads of one domain run on one processor: an exchange that no interrupt divides keeps them apart, and only the compiler
    /// could reorder what stands between the fences.
    #[inline(always)]
    pub fn with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> R {
        if self.taken.swap(true, Ordering::Relaxed) {
            self.wait();
        }
        compiler_fence(Ordering::Acquire);
        // SAFETY: `taken` was false, so no other reference exists until it is false again.
        let result = use_it(unsafe { &mut *self.inner.get() });
        compiler_fence(Ordering::Release);
        self.taken.store(false, Ordering::Relaxed);
        result
    }

    /// Apart, so that what an operation executes lies in sequence.
    #[cold]
    #[inline(never)]
    fn wait(&self) {
        loop {
            cof_heap_wait();
            if !self.taken.swap(true, Ordering::Relaxed) {
                return;
            }
        }
    }
}
