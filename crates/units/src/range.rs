//! Half-open address ranges.

use crate::{Bytes, PhysAddr, Width};

/// Physical addresses from `base` up to, not including, `end`. `base <= end` holds for every value of this type, and the
/// last byte of the address space (`u64::MAX`) is in no range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PhysRange {
    base: PhysAddr,
    end: PhysAddr,
}

impl PhysRange {
    /// The range of so many bytes from a processor's address on. It ends with the address space.
    #[inline(always)]
    pub fn at<W: Width>(base: PhysAddr<W>, bytes: Bytes<W>) -> Self {
        Self { base: base.wide(), end: PhysAddr(base.0.end(bytes.0)) }
    }

    /// The range from `base` up to, not including, `end`; `None` when `end` is below `base`.
    pub const fn from_bounds(base: PhysAddr, end: PhysAddr) -> Option<Self> {
        if base.0 <= end.0 { Some(Self { base, end }) } else { None }
    }

    /// First address.
    pub const fn base(self) -> PhysAddr {
        self.base
    }

    /// First address after the range.
    pub const fn end(self) -> PhysAddr {
        self.end
    }

    /// Number of bytes.
    pub const fn size(self) -> Bytes {
        Bytes(self.end.0 - self.base.0)
    }

    /// Returns true if the range has no byte.
    pub const fn is_empty(self) -> bool {
        self.base.0 == self.end.0
    }

    /// Returns true if `address` lies in the range.
    pub const fn contains(self, address: PhysAddr) -> bool {
        self.base.0 <= address.0 && address.0 < self.end.0
    }

    /// The bytes that the two have in common, if there are any (an empty range has none).
    pub const fn common(self, other: Self) -> Option<Self> {
        let base = if self.base.0 > other.base.0 { self.base } else { other.base };
        let end = if self.end.0 < other.end.0 { self.end } else { other.end };
        if base.0 < end.0 { Some(Self { base, end }) } else { None }
    }

    /// Returns true if the two have a byte in common.
    pub const fn overlaps(self, other: Self) -> bool {
        self.common(other).is_some()
    }

    /// Returns true if both bounds are multiples of `alignment`.
    pub const fn is_aligned(self, alignment: Bytes) -> bool {
        self.base.is_aligned(alignment) && self.end.is_aligned(alignment)
    }
}

impl core::fmt::Display for PhysRange {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}..{}", self.base, self.end)
    }
}
