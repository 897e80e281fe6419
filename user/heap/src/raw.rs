//! Memory at addresses.

use core::ptr::NonNull;

use memory::heap::{Spans, Storage, Word};

/// The memory of an arena.
#[derive(Debug)]
pub(crate) struct Raw {
    spans: Spans,
}

/// Proof that 16 bytes from an address on lie in one piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(NonNull<u32>);

impl Raw {
    /// No memory: no place is in it.
    pub const NONE: Raw = Raw { spans: Spans::NONE };

    /// The memory of some pieces.
    ///
    /// # Safety
    /// Nobody else accesses these pieces as long as this value exists.
    pub const unsafe fn new(spans: Spans) -> Raw {
        Raw { spans }
    }

    /// Whether an address lies between the first piece's beginning and the last one's end.
    pub const fn spans(&self, at: u32) -> bool {
        self.spans.surround(at)
    }
}

impl Storage for Raw {
    type Place = Place;

    #[inline(always)]
    fn place(&self, at: u32) -> Option<Place> {
        // SAFETY: a place is not at address 0.
        self.spans.has_place(at).then(|| Place(unsafe { NonNull::new_unchecked(at as *mut u32) }))
    }

    #[inline(always)]
    fn address(place: Place) -> u32 {
        place.0.as_ptr() as u32
    }

    #[inline(always)]
    fn load(&self, place: Place, word: Word) -> u32 {
        // SAFETY: only `place` makes places: four words of a piece, which is this value's alone.
        unsafe { place.0.add(word as usize).read() }
    }

    #[inline(always)]
    fn store(&mut self, place: Place, word: Word, value: u32) {
        // SAFETY: as for `load`.
        unsafe { place.0.add(word as usize).write(value) }
    }

    fn copy(&mut self, from: u32, to: u32, bytes: u32) -> Option<()> {
        if bytes < 16 {
            // What is shorter than a place is copied word by word, in the smallest block.
            let (from, to) = (self.place(from.wrapping_sub(8))?, self.place(to.wrapping_sub(8))?);
            self.store(to, Word::Next, self.load(from, Word::Next));
            self.store(to, Word::Previous, self.load(from, Word::Previous));
            return Some(());
        }
        if !self.spans.has(from, bytes) || !self.spans.has(to, bytes) {
            return None;
        }
        // SAFETY: both ranges lie within one piece each, and the heap copies between blocks, which do not overlap.
        unsafe { core::ptr::copy_nonoverlapping(from as *const u32, to as *mut u32, bytes as usize / 4) };
        Some(())
    }
}
