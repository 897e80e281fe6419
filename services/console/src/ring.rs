//! A ring of bytes with one producer (the gate) and one consumer (the service's thread). No compare-and-swap is needed:
//! each index is stored by one side only.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};

/// Bytes that a ring holds; a power of two.
const SIZE: u32 = 1024;

/// The ring of one client.
pub struct Ring {
    /// Bytes ever pushed, modulo 2^32; stored by the gate only.
    pushed: AtomicU32,
    /// Bytes ever popped, modulo 2^32; stored by the thread only.
    popped: AtomicU32,
    /// Writes ever pushed, modulo 2^32; stored by the gate only, after their bytes.
    writes: AtomicU32,
    bytes: UnsafeCell<[u8; SIZE as usize]>,
}

// SAFETY: the producer touches only bytes between `pushed` and `popped + SIZE`, the consumer only those between
// `popped` and `pushed`; a gate serves one caller at a time and the service has one thread.
unsafe impl Sync for Ring {}

impl Ring {
    pub const fn new() -> Self {
        Ring {
            pushed: AtomicU32::new(0),
            popped: AtomicU32::new(0),
            writes: AtomicU32::new(0),
            bytes: UnsafeCell::new([0; SIZE as usize]),
        }
    }

    fn slot(&self, count: u32) -> *mut u8 {
        // SAFETY: the index is below SIZE.
        unsafe { self.bytes.get().cast::<u8>().add((count % SIZE) as usize) }
    }

    /// Producer: appends all of `text`, or nothing when it does not fit.
    pub fn push(&self, text: &[u8]) -> Option<()> {
        let pushed = self.pushed.load(Ordering::Relaxed);
        if text.len() as u32 > SIZE - self.used() {
            return None;
        }
        // In two pieces at most, up to the end of the ring and from its start: byte by byte would take longer than the rest of the gate.
        let (first, rest) = text.split_at(text.len().min((SIZE - pushed % SIZE) as usize));
        for (piece, from) in [(first, pushed), (rest, 0)] {
            // SAFETY: the slots lie in the producer's part, as checked above, and do not go beyond the ring's end.
            unsafe { self.slot(from).copy_from_nonoverlapping(piece.as_ptr(), piece.len()) };
        }
        self.pushed.store(pushed.wrapping_add(text.len() as u32), Ordering::Release);
        self.writes.store(self.writes.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        Some(())
    }

    /// Consumer: the oldest byte, which stays until [`Ring::pop`].
    pub fn first(&self) -> Option<u8> {
        let popped = self.popped.load(Ordering::Relaxed);
        if popped == self.pushed.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: the slot lies in the consumer's part.
        Some(unsafe { self.slot(popped).read() })
    }

    /// Consumer: removes the oldest byte, which has been sent. There is one.
    pub fn pop(&self) {
        self.popped.store(self.popped.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// Bytes that have not been sent.
    pub fn used(&self) -> u32 {
        self.pushed.load(Ordering::Relaxed).wrapping_sub(self.popped.load(Ordering::Acquire))
    }

    /// Consumer: number of writes, if all of them are sent. The number is read first: text that comes later is not counted.
    pub fn sent(&self) -> Option<u32> {
        let writes = self.writes.load(Ordering::Acquire);
        (self.used() == 0).then_some(writes)
    }

    /// Consumer: length of the oldest line with its end. Looks at `SIZE` bytes at most.
    pub fn line(&self) -> Option<u32> {
        let popped = self.popped.load(Ordering::Relaxed);
        let used = self.pushed.load(Ordering::Acquire).wrapping_sub(popped);
        // SAFETY: the slot lies in the consumer's part.
        let is_end = |index: &u32| unsafe { self.slot(popped.wrapping_add(*index)).read() } == b'\n';
        (0..used).find(is_end).map(|index| index + 1)
    }

    /// Consumer: bytes of a line without its end; asked when there is no whole line.
    pub fn rest(&self) -> Option<u32> {
        let used = self.pushed.load(Ordering::Acquire).wrapping_sub(self.popped.load(Ordering::Relaxed));
        (used > 0).then_some(used)
    }
}
