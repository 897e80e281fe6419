//! Turns of a domain's threads.

use core::cell::UnsafeCell;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering, compiler_fence};

unsafe extern "C" {
    /// Lets less important threads run for a moment; false where nothing may wait: in a gate.
    safe fn cof_heap_wait() -> bool;
}

/// Something that one thread of the domain uses at a time.
pub(crate) struct Turn<T> {
    taken: AtomicBool,
    /// Threads that wait for their turn.
    waiting: AtomicU32,
    /// The turn is a waiting thread's, whichever looks first: it stays `taken` until that has had it. Otherwise a less important thread that takes
    /// turn after turn would be preempted within one of them each time that the other looks, which is never its turn then.
    handed: AtomicBool,
    /// The block that was freed last while another thread had its turn; its first word is the
    /// address of the one before, or 0.
    later: AtomicU32,
    inner: UnsafeCell<T>,
}

// SAFETY: `inner` is only reached through `with`, which one thread at a time enters.
unsafe impl<T> Sync for Turn<T> {}

impl<T> Turn<T> {
    pub const fn new(inner: T) -> Turn<T> {
        let (taken, handed, waiting) = (AtomicBool::new(false), AtomicBool::new(false), AtomicU32::new(0));
        Turn { taken, waiting, handed, later: AtomicU32::new(0), inner: UnsafeCell::new(inner) }
    }

    /// Uses the value in the caller's turn. Returns `None` if another thread has its turn and the
    /// caller is in a gate: that thread cannot go on before the gate has ended, so waiting would
    /// never end.
    ///
    /// Threads of one domain run on one processor. An exchange that no interrupt divides keeps them
    /// apart, and only the compiler could reorder what stands between the fences.
    #[inline(always)]
    pub fn with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> Option<R> {
        if self.taken.swap(true, Ordering::Relaxed) && !self.wait() {
            return None;
        }
        compiler_fence(Ordering::Acquire);
        // SAFETY: `taken` was false, so no other reference exists until it is false again.
        let result = use_it(unsafe { &mut *self.inner.get() });
        compiler_fence(Ordering::Release);
        if self.waiting.load(Ordering::Relaxed) == 0 {
            self.taken.store(false, Ordering::Relaxed);
        } else {
            self.handed.store(true, Ordering::Relaxed);
        }
        Some(result)
    }

    /// A function of its own, so that the instructions of an operation that need not wait lie in
    /// sequence.
    #[cold]
    #[inline(never)]
    fn wait(&self) -> bool {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let mut own = false;
        while !own && cof_heap_wait() {
            own = self.is_handed() || !self.taken.swap(true, Ordering::Relaxed);
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        // Somebody may have handed the turn to a thread that gives up. Lost, it would stay taken for ever.
        own || self.is_handed()
    }

    /// Takes the turn if it is handed on.
    fn is_handed(&self) -> bool {
        self.handed.swap(false, Ordering::Relaxed)
    }

    /// Keeps a block for [`Turn::kept`], while another thread has its turn.
    ///
    /// # Safety
    /// The block has a word, and is no longer in use.
    ///
    /// # Time complexity
    /// Constant, and once more for each thread or gate of the domain that does the same in between.
    #[cold]
    pub unsafe fn keep(&self, block: NonNull<u8>) {
        let mut last = self.later.load(Ordering::Relaxed);
        loop {
            // SAFETY: as the caller promises.
            unsafe { block.cast::<u32>().write(last) };
            let address = block.as_ptr() as u32;
            match self.later.compare_exchange_weak(last, address, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(other) => last = other,
            }
        }
    }

    /// The blocks that were kept, which are the caller's from now on.
    #[cold]
    pub fn kept(&self) -> impl Iterator<Item = u32> + use<T> {
        let mut next = self.later.swap(0, Ordering::Acquire);
        core::iter::from_fn(move || {
            let block = NonNull::new(next as *mut u32)?;
            // SAFETY: `keep` wrote this word, and only this list has the block.
            next = unsafe { block.read() };
            Some(block.as_ptr() as u32)
        })
    }
}
