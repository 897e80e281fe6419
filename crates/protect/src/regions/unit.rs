//! A scheme with region registers, as the kernel, the tables and placement ask for it.

use super::Registers;
use crate::{Access, MemType, Span};

/// A scheme: its registers, its exact compiler, and the places that they can express.
pub trait Unit: Copy + core::fmt::Debug + 'static {
    /// A region's registers.
    type Regs: Registers;
    /// Places of an area that one region is.
    type Placement: Placement;

    /// Most keys of a region ([`Registers::keys`]).
    const MOST_KEYS: usize;

    /// True if a region may begin at any granule. Then code that needs a larger alignment has to
    /// ask for it.
    const BEGINS_ANYWHERE: bool;

    /// The one region that is exactly the range, if there is one.
    ///
    /// # Time complexity
    /// O(1).
    fn exact(asked: Span, access: Access, memory: MemType) -> Option<Self::Regs>;

    /// The fewest regions whose union is exactly the range, at the front of `out`, and how many; `None` if there are no such regions, or `out` is too short.
    ///
    /// # Time complexity
    /// O(log of the address space) for each region.
    fn cover(asked: Span, access: Access, memory: MemType, out: &mut [Self::Regs]) -> Option<usize>;

    /// How many regions [`Unit::cover`] takes.
    fn cover_count(asked: Span) -> Option<usize>;

    /// Leaves eighths out of a region (bit 0 is the lowest). Returns `None` if the scheme has no
    /// eighths and some are to be left out.
    fn without(region: Self::Regs, eighths: u32) -> Option<Self::Regs>;

    /// Returns true if regions have eighths that can be left out.
    fn has_eighths() -> bool {
        Self::without(Self::Regs::DISABLED, 1).is_some()
    }

    /// The smallest length of at least `bytes` that one region expresses, with its places, all of them multiples of `align`, a power of two; `None` for 0
    /// bytes, or more than the address space.
    fn placement(bytes: u64, align: u64) -> Option<Self::Placement>;
}

/// A length that one region expresses, and where it may stand.
pub trait Placement: Copy + core::fmt::Debug {
    /// The length in bytes.
    fn bytes(&self) -> u64;

    /// The lowest base at or above `from` at which the area is one region; `None` if there is none below 2^32.
    fn next_base(&self, from: u64) -> Option<u64>;

    /// Returns true if the area may start at `base`.
    fn fits_at(&self, base: u64) -> bool {
        self.next_base(base) == Some(base)
    }
}
