//! Half-open address ranges.

use crate::{Bytes, PhysAddr, VirtAddr, Width};

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::PhysAddr {}
    impl Sealed for crate::VirtAddr {}
}

/// One of the two address kinds; a range of the one never meets a range of the other.
pub trait Address: Copy + Ord + sealed::Sealed {
    /// The plain number.
    fn to_u64(self) -> u64;
}

impl Address for PhysAddr {
    fn to_u64(self) -> u64 {
        self.0
    }
}

impl Address for VirtAddr {
    fn to_u64(self) -> u64 {
        self.0
    }
}

/// The addresses from `base` up to, not including, `end`. `base <= end` holds for every value of this type, and the
/// last byte of the address space (`u64::MAX`) is in no range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AddrRange<A> {
    base: A,
    end: A,
}

/// A range of physical addresses.
pub type PhysRange = AddrRange<PhysAddr>;
/// A range of virtual addresses.
pub type VirtRange = AddrRange<VirtAddr>;

macro_rules! range {
    ($address:ident) => {
        impl AddrRange<$address> {
            /// The range of `size` bytes from `base`, or `None` when its end cannot be represented.
            pub const fn new(base: $address, size: Bytes) -> Option<Self> {
                match base.checked_add(size) {
                    Some(end) => Some(Self { base, end }),
                    None => None,
                }
            }

            /// The range of so many bytes from a processor's address on. It ends with the address space.
            #[inline(always)]
            pub fn at<W: Width>(base: $address<W>, bytes: Bytes<W>) -> Self {
                Self { base: base.wide(), end: $address(base.0.end(bytes.0)) }
            }

            /// The range from `base` up to, not including, `end`; `None` when `end` is below `base`.
            pub const fn from_bounds(base: $address, end: $address) -> Option<Self> {
                if base.0 <= end.0 { Some(Self { base, end }) } else { None }
            }

            /// First address.
            pub const fn base(self) -> $address {
                self.base
            }

            /// First address after the range.
            pub const fn end(self) -> $address {
                self.end
            }

            /// Number of bytes.
            pub const fn size(self) -> Bytes {
                Bytes(self.end.0 - self.base.0)
            }

            /// Whether the range has no byte.
            pub const fn is_empty(self) -> bool {
                self.base.0 == self.end.0
            }

            /// Whether `address` lies in the range.
            pub const fn contains(self, address: $address) -> bool {
                self.base.0 <= address.0 && address.0 < self.end.0
            }

            /// Whether every byte of `other` lies in the range. An empty `other` is contained where its base lies
            /// within the range or at its end.
            pub const fn contains_range(self, other: Self) -> bool {
                self.base.0 <= other.base.0 && other.end.0 <= self.end.0
            }

            /// Whether the two have a byte in common (an empty range has none).
            pub const fn overlaps(self, other: Self) -> bool {
                match self.intersection(other) {
                    Some(_) => true,
                    None => false,
                }
            }

            /// What the two have in common, `None` when that is nothing.
            pub const fn intersection(self, other: Self) -> Option<Self> {
                let base = if self.base.0 > other.base.0 { self.base } else { other.base };
                let end = if self.end.0 < other.end.0 { self.end } else { other.end };
                if base.0 < end.0 { Some(Self { base, end }) } else { None }
            }

            /// Whether both bounds are multiples of `alignment`.
            pub const fn is_aligned(self, alignment: Bytes) -> bool {
                self.base.is_aligned(alignment) && self.end.is_aligned(alignment)
            }
        }
    };
}
range!(PhysAddr);
range!(VirtAddr);

impl<A: Address> core::fmt::Display for AddrRange<A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:#010x}..{:#010x}", self.base.to_u64(), self.end.to_u64())
    }
}

/// What a range looks like in text; [`AddrRange`] itself is only made through the check.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRange<A> {
    base: A,
    end: A,
}

#[cfg(feature = "serde")]
impl<'de, A: Address + serde::Deserialize<'de>> serde::Deserialize<'de> for AddrRange<A> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawRange::<A>::deserialize(deserializer)?;
        if raw.base > raw.end {
            return Err(serde::de::Error::custom("the end of the range is below its base"));
        }
        Ok(Self { base: raw.base, end: raw.end })
    }
}
