//! The addresses that lie in a heap's memory, when its pieces have equal sizes and equal distances.

use super::GRANULE;

/// Bytes that begin at each place.
const PLACE: u32 = 16;

/// Pieces of equal size at equal distances. A check takes constant time, without a loop or a division.
#[derive(Clone, Copy, Debug)]
pub struct Spans {
    base: u32,
    /// Offsets of places, in granules, are below this; 0 when there are several pieces.
    single: u32,
    /// The same, whatever the number of pieces.
    places: u32,
    /// Offset of the last place within a piece.
    last_within: u32,
    /// Bytes from one piece to the next, 0 for a single piece.
    stride: u32,
    /// The stride is `(stride >> shift) << shift`, and `reciprocal` is 2^32 divided by `stride >> shift`, rounded up.
    shift: u32,
    reciprocal: u32,
}

impl Spans {
    /// No memory: no address is in it.
    pub const NONE: Spans = Spans { base: 0, single: 0, places: 0, last_within: 0, stride: 0, shift: 0, reciprocal: 0 };

    /// `pieces` pieces of `piece` bytes, one each `stride` bytes from `base`. `None` unless all bounds are multiples of
    /// [`GRANULE`], the base is not 0, pieces do not overlap and end below 2^32, and offsets can be divided by the stride exactly: the
    /// whole length times the stride, each in units of half the stride's greatest power of two, is below 2^32.
    pub fn new(base: u32, piece: u32, pieces: u32, stride: u32) -> Option<Spans> {
        let stride = if pieces > 1 { stride } else { 0 };
        let span = pieces.checked_sub(1)?.checked_mul(stride)?.checked_add(piece)?;
        base.checked_add(span)?;
        let overlap = pieces > 1 && stride < piece;
        if (base | piece | stride) & (GRANULE - 1) != 0 || base == 0 || piece < PLACE || overlap {
            return None;
        }
        let (shift, reciprocal) = reciprocal(stride, span)?;
        let places = (span - PLACE) / GRANULE + 1;
        let single = if stride == 0 { places } else { 0 };
        Some(Spans { base, single, places, last_within: piece - PLACE, stride, shift, reciprocal })
    }

    /// Returns true if 16 bytes from `at` on, a multiple of [`GRANULE`] and not 0, lie in one
    /// piece.
    #[inline(always)]
    pub fn has_place(&self, at: u32) -> bool {
        // Turned right by three, an offset that is no multiple of eight is beyond every length.
        at.wrapping_sub(self.base).rotate_right(3) < self.single || self.has_place_in_several(at)
    }

    /// Returns true if `bytes` bytes, at least 16, from `at` on lie in one piece.
    pub fn has(&self, at: u32, bytes: u32) -> bool {
        let most = (self.last_within + PLACE).checked_sub(bytes);
        self.within(at).is_some_and(|within| most.is_some_and(|most| within <= most))
    }

    /// Returns true if an address lies between the first piece's beginning and the last one's end.
    pub const fn surround(&self, at: u32) -> bool {
        self.places != 0 && at.wrapping_sub(self.base) < (self.places - 1) * GRANULE + PLACE
    }

    /// Apart from the check of a single piece, because most heaps have one.
    #[cold]
    #[inline(never)]
    fn has_place_in_several(&self, at: u32) -> bool {
        self.within(at).is_some_and(|within| within <= self.last_within)
    }

    /// The word index of an address, a multiple of eight, in its piece or in the gap behind it;
    /// `None` outside all of them.
    fn within(&self, at: u32) -> Option<u32> {
        let offset = at.wrapping_sub(self.base);
        if offset.rotate_right(3) >= self.places {
            return None;
        }
        let piece = (u64::from(offset >> (self.shift & 31)) * u64::from(self.reciprocal)) >> 32;
        Some(offset.wrapping_sub((piece as u32).wrapping_mul(self.stride)))
    }
}

/// A shift and a reciprocal such that `((offset >> shift) * reciprocal) >> 32` is `offset / stride` for every offset below `span`.
/// Exact, because rounding up adds less than `(span >> shift) / 2^32` pieces, and that is less than one unit of a piece's length.
fn reciprocal(stride: u32, span: u32) -> Option<(u32, u32)> {
    if stride == 0 {
        return Some((0, 0));
    }
    // One bit is left, so that the reciprocal of a power of two fits a word.
    let shift = stride.trailing_zeros() - 1;
    let units = stride >> shift;
    u64::from(span >> shift).checked_mul(u64::from(units)).filter(|product| *product < 1 << 32)?;
    Some((shift, (1u64 << 32).div_ceil(u64::from(units)) as u32))
}
