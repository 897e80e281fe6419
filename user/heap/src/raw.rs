//! Memory at addresses.

use core::ptr::NonNull;

use memory::heap::{Storage, Word};

/// Bytes of a place.
const PLACE: u32 = 16;

/// Pieces of equal size at equal distances. A check takes constant time, without a loop or a division.
#[derive(Debug)]
pub(crate) struct Raw {
    base: u32,
    /// Offsets of places, in units of eight bytes, are below this; 0 when there are several pieces.
    single: u32,
    /// The same, whatever the number of pieces.
    places: u32,
    /// Bytes from one piece to the next, 0 for a single piece.
    stride: u32,
    /// Offset of the last place within a piece.
    last_within: u32,
    /// The stride is `(stride >> shift) << shift`, and `reciprocal` is 2^32 divided by `stride >> shift`, rounded up.
    shift: u32,
    reciprocal: u32,
}

/// Proof that 16 bytes from an address on lie in one piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(NonNull<u32>);

impl Raw {
    /// No memory: no place is in it.
    pub const NONE: Raw = Raw { base: 0, single: 0, places: 0, stride: 0, last_within: 0, shift: 0, reciprocal: 0 };

    /// Memory of `pieces` pieces of `piece` bytes, one each `stride` bytes from `base`. `None` unless all bounds are multiples of
    /// eight, the base is not 0, pieces do not overlap, and offsets can be divided by the stride exactly.
    ///
    /// # Safety
    /// Nobody else accesses these pieces as long as this value exists.
    pub unsafe fn new(base: u32, piece: u32, pieces: u32, stride: u32) -> Option<Raw> {
        let stride = if pieces > 1 { stride } else { 0 };
        let span = pieces.checked_sub(1)?.checked_mul(stride)?.checked_add(piece)?;
        base.checked_add(span)?;
        if (base | piece | stride) & 7 != 0 || base == 0 || piece < PLACE || (pieces > 1 && stride < piece) {
            return None;
        }
        let (shift, reciprocal) = reciprocal(stride, span)?;
        let places = (span - PLACE) / 8 + 1;
        let single = if stride == 0 { places } else { 0 };
        Some(Raw { base, single, places, stride, last_within: piece - PLACE, shift, reciprocal })
    }

    /// Where an address, a multiple of eight, lies in its piece, or in the gap behind it; `None` outside all of them.
    fn within(&self, at: u32) -> Option<u32> {
        let offset = at.wrapping_sub(self.base);
        // Turned right by three, an offset that is no multiple of eight is beyond every span.
        if offset.rotate_right(3) >= self.places {
            return None;
        }
        let piece = ((u64::from(offset >> (self.shift & 31)) * u64::from(self.reciprocal)) >> 32) as u32;
        Some(offset.wrapping_sub(piece * self.stride))
    }

    /// Whether a place begins at an address. Apart from the check of a single piece, because most heaps have one.
    #[cold]
    #[inline(never)]
    fn in_a_piece(&self, at: u32) -> bool {
        self.within(at).is_some_and(|within| within <= self.last_within)
    }

    /// Whether an address lies between the first piece's beginning and the last one's end.
    pub fn spans(&self, at: u32) -> bool {
        self.base != 0 && at.wrapping_sub(self.base) < (self.places - 1) * 8 + PLACE
    }
}

/// A shift and a reciprocal such that `((offset >> shift) * reciprocal) >> 32` is `offset / stride` for every offset below `span`.
/// Exact because the rounding, less than one per unit, is at most `(span >> shift) * (stride >> shift) < 2^32` in all.
fn reciprocal(stride: u32, span: u32) -> Option<(u32, u32)> {
    if stride == 0 {
        return Some((0, 0));
    }
    // One bit is left, so that the reciprocal of a power of two fits a word.
    let shift = stride.trailing_zeros() - 1;
    let odd = stride >> shift;
    u64::from(span >> shift).checked_mul(u64::from(odd)).filter(|product| *product < 1 << 32)?;
    Some((shift, (1u64 << 32).div_ceil(u64::from(odd)) as u32))
}

impl Storage for Raw {
    type Place = Place;

    #[inline(always)]
    fn place(&self, at: u32) -> Option<Place> {
        if at.wrapping_sub(self.base).rotate_right(3) >= self.single && !self.in_a_piece(at) {
            return None;
        }
        // SAFETY: the base is not 0, and nothing between it and the end of the last piece is, as that is below 2^32.
        Some(Place(unsafe { NonNull::new_unchecked(at as *mut u32) }))
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
        let most = (self.last_within + PLACE).checked_sub(bytes)?;
        if self.within(from)? > most || self.within(to)? > most {
            return None;
        }
        // SAFETY: both ranges lie within one piece each, and the heap copies between blocks, which do not overlap.
        unsafe { core::ptr::copy_nonoverlapping(from as *const u32, to as *mut u32, bytes as usize / 4) };
        Some(())
    }
}
