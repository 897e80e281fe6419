//! Ranges of frames.

use abi::{Error, GRANULE_BYTES};
use memory::frames::FrameError;
use units::{Bytes, PhysAddr, PhysRange, Width};

/// A range of frames that capabilities can name.
#[derive(Debug)]
pub struct FrameRange<W> {
    /// First address.
    pub base: PhysAddr<W>,
    /// Bytes.
    pub bytes: Bytes<W>,
    /// Generation of capabilities to it.
    pub generation: u16,
    /// Not of this range: number of the one that stands at its place when all are in the order of
    /// their addresses, so that memory's range is found by halving.
    pub(crate) ordered: u8,
    /// Its part of the frame table.
    pub marks: Marks,
}

/// Marks of the frame table inside one range. Each range has its own, so that the holder of one
/// range cannot use up those of the others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    /// So many at most.
    pub most: i32,
    /// So many are there now beyond those that areas had at boot. While a restart takes away a part
    /// of a mapping, it can be two more than `most`: these are kept back for it, because a restart
    /// must not fail for want of marks.
    pub used: i32,
}

impl<W: Width> FrameRange<W> {
    /// A part of it as a call names it; `beyond` when not all of it is there.
    pub(crate) fn part(&self, offset: u32, bytes: u32, beyond: Error) -> Result<PhysRange, Error> {
        if bytes == 0 || !(offset | bytes).is_multiple_of(GRANULE_BYTES) {
            return Err(Error::BadArgument);
        }
        let end = offset.checked_add(bytes).ok_or(beyond)?;
        if Bytes::from(end) > self.bytes {
            return Err(beyond);
        }
        Ok(PhysRange::at(self.base.plus(offset.into()), bytes.into()))
    }
}

/// Sets the order of ranges that have no byte in common. Quadratic in their number, once, at boot.
pub(crate) fn order<W: Width>(ranges: &mut [FrameRange<W>]) {
    for number in 0..ranges.len() {
        let base = ranges[number].base;
        let place = ranges.iter().filter(|other| other.base < base).count();
        ranges[place].ordered = number as u8;
    }
}

/// Number of the range that holds an address.
///
/// # Bound
/// The logarithm of the number of ranges: 9 looks at 256.
pub(crate) fn find<W: Width>(ranges: &[FrameRange<W>], at: PhysAddr<W>) -> Option<u16> {
    let placed = |place: usize| {
        let number = ranges.get(place)?.ordered;
        Some((number, ranges.get(usize::from(number))?))
    };
    let (mut low, mut high) = (0, ranges.len());
    while low < high {
        let middle = low.midpoint(high);
        if placed(middle)?.1.base <= at {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let (number, range) = placed(low.checked_sub(1)?)?;
    (at.minus(range.base) < range.bytes).then_some(u16::from(number))
}

pub(crate) fn refused(error: FrameError) -> Error {
    match error {
        FrameError::Full { .. } => Error::Full,
        _ => Error::BadState,
    }
}
