//! Memory at addresses.

use core::ptr::NonNull;

use memory::heap::{GRANULE, HEADER, RECORD, Spans, Storage, Word};

/// The memory of an arena.
#[derive(Debug)]
pub struct Raw {
    spans: Spans,
    /// First address of the records.
    records: u32,
    /// Offsets of places among the records, in granules, are below this.
    places: u32,
}

/// Proof that a record's bytes from an address on lie in one piece, or among the records.
#[derive(Clone, Copy, Debug)]
pub struct Place(NonNull<u32>);

impl Raw {
    /// No memory: no place is in it.
    pub const NONE: Raw = Raw { spans: Spans::NONE, records: 0, places: 0 };

    /// The memory of some pieces, and `bytes` bytes for records from `records` on, a multiple of eight.
    ///
    /// # Safety
    /// Nothing else accesses these pieces and the records as long as this value exists.
    pub const unsafe fn new(spans: Spans, records: u32, bytes: u32) -> Raw {
        let places = if bytes < RECORD { 0 } else { (bytes - RECORD) / GRANULE + 1 };
        Raw { spans, records, places }
    }

    /// Returns true if an address lies between the first piece's beginning and the last one's end.
    pub const fn spans(&self, at: u32) -> bool {
        self.spans.surround(at)
    }

    /// Records of a heap that took them from its pieces.
    #[cold]
    #[inline(never)]
    fn in_pieces(&self, at: u32) -> bool {
        self.spans.has(at, RECORD)
    }
}

impl Storage for Raw {
    type Place = Place;

    #[inline(always)]
    fn place(&self, at: u32) -> Option<Place> {
        // Turned right by three, an offset that is no multiple of eight is beyond every length.
        let inside = at.wrapping_sub(self.records).rotate_right(3) < self.places || self.in_pieces(at);
        // SAFETY: neither pieces nor records begin at address 0.
        inside.then(|| Place(unsafe { NonNull::new_unchecked(at as *mut u32) }))
    }

    #[inline(always)]
    fn address(place: Place) -> u32 {
        place.0.as_ptr() as u32
    }

    #[inline(always)]
    fn load(&self, place: Place, word: Word) -> u32 {
        // SAFETY: only `place` makes places: six words of this value's memory.
        unsafe { place.0.add(word as usize).read() }
    }

    #[inline(always)]
    fn store(&mut self, place: Place, word: Word, value: u32) {
        // SAFETY: as for `load`.
        unsafe { place.0.add(word as usize).write(value) }
    }

    #[inline(always)]
    fn header(&self, block: u32) -> Option<u32> {
        // SAFETY: a word of a piece, which is this value's alone.
        self.spans.has_place(block.wrapping_sub(GRANULE)).then(|| unsafe { ((block - HEADER) as *const u32).read() })
    }

    #[inline(always)]
    fn set_header(&mut self, block: u32, value: u32) {
        if self.spans.has_place(block.wrapping_sub(GRANULE)) {
            // SAFETY: as for `header`.
            unsafe { ((block - HEADER) as *mut u32).write(value) }
        }
    }

    fn copy(&mut self, from: u32, to: u32, bytes: u32) -> Option<()> {
        // The block with its header, and what lies around it to the next multiples of eight.
        let around = bytes.checked_add(GRANULE + HEADER)?;
        let has = |at: u32| self.spans.has(at.wrapping_sub(GRANULE), around);
        if !has(from) || !has(to) {
            return None;
        }
        // SAFETY: both ranges lie within one piece each, and the heap copies between blocks, which do not overlap.
        unsafe { core::ptr::copy_nonoverlapping(from as *const u32, to as *mut u32, bytes as usize / 4) };
        Some(())
    }
}
