//! Each is a transparent wrapper over `u64`, but for [`Instant`], a low word; addresses and sizes are one over the [`Width`] of a
//! processor, too, for code that runs on it. Code that encodes a value for hardware narrows it with
//! a checked conversion ([`PhysAddr::to_u32`]). Addition and subtraction exist only where they mean
//! something. At 64 bits they are checked or end with the address space. At a processor's width
//! they wrap as it does, and cost what it takes. All functions take constant time.
#![no_std]
#![forbid(unsafe_code)]

mod instant;
mod range;
mod rate;
mod width;

pub use instant::Instant;
pub use range::PhysRange;
pub use rate::{NS_PER_SECOND, Rate, Unrounded};
pub use width::Width;

/// A number of bytes: a size or an offset, never an address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[repr(transparent)]
pub struct Bytes<W = u64>(pub W);

/// Implements an address kind.
macro_rules! address {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
        #[repr(transparent)]
        pub struct $name<W = u64>(pub W);

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "{:#010x}", self.0)
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

impl PhysAddr {
    /// The distance from `base` up to this address, or `None` when `base` is above it.
    pub const fn offset_from(self, base: Self) -> Option<Bytes> {
        match self.0.checked_sub(base.0) {
            Some(distance) => Some(Bytes(distance)),
            None => None,
        }
    }

    /// Returns true if the address is a multiple of `alignment`. Nothing is a multiple of zero
    /// bytes.
    pub const fn is_aligned(self, alignment: Bytes) -> bool {
        alignment.0 != 0 && self.0.is_multiple_of(alignment.0)
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
