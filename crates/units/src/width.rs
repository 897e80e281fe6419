//! Addresses and sizes as wide as a processor has them.

use core::fmt::Debug;
use core::hash::Hash;

use crate::{Bytes, PhysAddr, VirtAddr};

/// The unsigned integer that holds an address of a processor.
pub trait Width: Copy + Ord + Hash + Default + Debug + From<u32> + Into<u64> + 'static {
    /// The largest address.
    const MAX: Self;

    /// The number's low bits, as many as there are here.
    fn low(value: u64) -> Self;

    /// Sum, wrapped.
    fn plus(self, other: Self) -> Self;

    /// Difference, wrapped.
    fn minus(self, other: Self) -> Self;

    /// Sum at 64 bits, where it ends with the address space.
    fn end(self, other: Self) -> u64;
}

macro_rules! width {
    ($($integer:ident)*) => {$(
        impl Width for $integer {
            const MAX: Self = $integer::MAX;

            #[inline(always)]
            fn low(value: u64) -> Self {
                value as $integer
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn end(self, other: Self) -> u64 {
                if Self::BITS < u64::BITS { self as u64 + other as u64 } else { (self as u64).saturating_add(other as u64) }
            }
        }
    )*};
}
width!(u32 u64);

macro_rules! of_a_width {
    ($($name:ident)*) => {$(
        impl<W: Width> $name<W> {
            /// The same number at 64 bits.
            #[inline(always)]
            pub fn wide(self) -> $name {
                $name(self.0.into())
            }

            /// The number at this width, of one that is known to fit.
            #[inline(always)]
            pub fn narrow(wide: $name) -> Self {
                $name(W::low(wide.0))
            }

            /// So many bytes further; past the end of the address space it goes on at 0.
            #[inline(always)]
            pub fn plus(self, offset: Bytes<W>) -> Self {
                $name(self.0.plus(offset.0))
            }

            /// Bytes from the other up to this; of a larger one as many as lead there past the end of the address space.
            #[inline(always)]
            pub fn minus(self, other: Self) -> Bytes<W> {
                Bytes(self.0.minus(other.0))
            }
        }

        impl<W: Width> From<u32> for $name<W> {
            #[inline(always)]
            fn from(value: u32) -> Self {
                $name(value.into())
            }
        }
    )*};
}
of_a_width!(PhysAddr VirtAddr Bytes);

impl<W: Width> Bytes<W> {
    /// As many as there are addresses, but for one.
    pub const ALL: Self = Bytes(W::MAX);
}
