//! Quantities that cannot be mixed up.
//!
//! Each is a transparent wrapper over `u64`; addresses and sizes are one over the [`Width`] of a processor, too, for code that runs on it.
//! Whoever encodes a value for hardware narrows it with a checked conversion ([`PhysAddr::to_u32`] and its kin).
//! Addition and subtraction exist only where they mean something. At 64 bits they are checked or saturating: an overflow is an answer
//! (`None`), never a wrapped number. At a processor's width they wrap as it does, and cost what it takes.
//! All functions take constant time.
#![no_std]
#![forbid(unsafe_code)]

mod range;
mod time;
mod width;

pub use range::{AddrRange, Address, PhysRange, VirtRange};
pub use time::{Cycles, Hz, Micros, Ticks};
pub use width::Width;

/// Implements what all quantities share: construction, plain value, checked and saturating arithmetic within the
/// same kind, and formatting.
macro_rules! quantity {
    ($(#[$meta:meta])* $name:ident, $suffix:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
        #[repr(transparent)]
        pub struct $name(pub u64);

        $crate::quantity! { of $name, $suffix }
    };
    (of $name:ident, $suffix:literal) => {
        impl $name {
            /// Nothing of it.
            pub const ZERO: Self = Self(0);
            /// The largest value that can be represented.
            pub const MAX: Self = Self(u64::MAX);

            /// Wraps a plain number.
            pub const fn new(value: u64) -> Self {
                Self(value)
            }

            /// The plain number.
            pub const fn get(self) -> u64 {
                self.0
            }

            /// Sum, or `None` when it cannot be represented.
            pub const fn checked_add(self, other: Self) -> Option<Self> {
                match self.0.checked_add(other.0) {
                    Some(sum) => Some(Self(sum)),
                    None => None,
                }
            }

            /// Difference, or `None` when `other` is larger.
            pub const fn checked_sub(self, other: Self) -> Option<Self> {
                match self.0.checked_sub(other.0) {
                    Some(difference) => Some(Self(difference)),
                    None => None,
                }
            }

            /// Sum, held at [`Self::MAX`].
            pub const fn saturating_add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }

            /// Difference, held at zero.
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }

            /// `count` times this, or `None` when it cannot be represented.
            pub const fn checked_mul(self, count: u64) -> Option<Self> {
                match self.0.checked_mul(count) {
                    Some(product) => Some(Self(product)),
                    None => None,
                }
            }

            /// The plain number as 32 bits, or `None` when it does not fit.
            pub const fn to_u32(self) -> Option<u32> {
                if self.0 <= u32::MAX as u64 { Some(self.0 as u32) } else { None }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, concat!("{} ", $suffix), self.0)
            }
        }
    };
}
pub(crate) use quantity;

/// A number of bytes: a size or an offset, never an address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[repr(transparent)]
pub struct Bytes<W = u64>(pub W);

quantity! { of Bytes, "bytes" }

impl Bytes {
    /// `n` KiB. Refused at compile time (or by a panic at run time) when it cannot be represented.
    ///
    /// # Panics
    /// When `n * 1024` overflows.
    pub const fn kib(n: u64) -> Self {
        match Self(n).checked_mul(1 << 10) {
            Some(bytes) => bytes,
            None => panic!("size in KiB overflows"),
        }
    }

    /// `n` MiB, as [`Bytes::kib`].
    ///
    /// # Panics
    /// When `n * 1024 * 1024` overflows.
    pub const fn mib(n: u64) -> Self {
        match Self(n).checked_mul(1 << 20) {
            Some(bytes) => bytes,
            None => panic!("size in MiB overflows"),
        }
    }

    /// Whether the size is a power of two (zero is not).
    pub const fn is_power_of_two(self) -> bool {
        self.0.is_power_of_two()
    }

    /// This size rounded up to a multiple of `unit`, or `None` when `unit` is zero or the result overflows.
    pub const fn round_up(self, unit: Self) -> Option<Self> {
        match self.0.checked_next_multiple_of(unit.0) {
            Some(rounded) => Some(Self(rounded)),
            None => None,
        }
    }
}

/// Implements an address kind.
macro_rules! address {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
        #[repr(transparent)]
        pub struct $name<W = u64>(pub W);

        impl $name {
            /// Wraps a plain number.
            pub const fn new(value: u64) -> Self {
                Self(value)
            }

            /// The plain number.
            pub const fn get(self) -> u64 {
                self.0
            }

            /// The address `offset` further, or `None` past the end of the address space.
            pub const fn checked_add(self, offset: Bytes) -> Option<Self> {
                match self.0.checked_add(offset.0) {
                    Some(sum) => Some(Self(sum)),
                    None => None,
                }
            }

            /// The address `offset` before, or `None` below zero.
            pub const fn checked_sub(self, offset: Bytes) -> Option<Self> {
                match self.0.checked_sub(offset.0) {
                    Some(difference) => Some(Self(difference)),
                    None => None,
                }
            }

            /// The distance from `base` up to this address, or `None` when `base` is above it.
            pub const fn offset_from(self, base: Self) -> Option<Bytes> {
                match self.0.checked_sub(base.0) {
                    Some(distance) => Some(Bytes(distance)),
                    None => None,
                }
            }

            /// Whether the address is a multiple of `alignment`. Nothing is a multiple of zero bytes.
            pub const fn is_aligned(self, alignment: Bytes) -> bool {
                alignment.0 != 0 && self.0 % alignment.0 == 0
            }

            /// The largest multiple of `alignment` not above this address, or `None` when `alignment` is zero.
            pub const fn align_down(self, alignment: Bytes) -> Option<Self> {
                if alignment.0 == 0 { None } else { Some(Self(self.0 - self.0 % alignment.0)) }
            }

            /// The smallest multiple of `alignment` not below this address, or `None` when `alignment` is zero or
            /// there is no such address.
            pub const fn align_up(self, alignment: Bytes) -> Option<Self> {
                match self.0.checked_next_multiple_of(alignment.0) {
                    Some(rounded) => Some(Self(rounded)),
                    None => None,
                }
            }

            /// The address as 32 bits, or `None` when it does not fit.
            pub const fn to_u32(self) -> Option<u32> {
                if self.0 <= u32::MAX as u64 { Some(self.0 as u32) } else { None }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "{:#010x}", self.0)
            }
        }

        impl core::fmt::LowerHex for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::LowerHex::fmt(&self.0, f)
            }
        }
    };
}

address! {
    /// An address as it leaves the core: after translation, where there is any.
    PhysAddr
}
address! {
    /// An address as software uses it: before translation, where there is any.
    VirtAddr
}

/// Number of a processor core of a chip, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[repr(transparent)]
pub struct CoreId(pub u8);

impl CoreId {
    /// The core that boots.
    pub const FIRST: Self = Self(0);

    /// Its place in a table with an entry for each core.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

#[cfg(test)]
mod tests;
