//! Sizes and bases that a region expresses: all multiples of a granule.

use crate::regions::{GRANULE_BYTES, Placement as Places};

/// A length that one region expresses, and where it may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The length asked, rounded up to whole granules.
    pub size_bytes: u64,
    /// Every multiple of it is a base.
    pub align_bytes: u64,
}

/// The smallest length of at least `bytes` that a region expresses, at multiples of `align`, a power of two; `None` for 0 or above 2^32.
///
/// # Time complexity
/// O(1).
pub const fn placement_for(bytes: u64, align: u64) -> Option<Placement> {
    if bytes == 0 || bytes > 1 << 32 {
        return None;
    }
    let granule = GRANULE_BYTES as u64;
    let align_bytes = if align > granule { align } else { granule };
    Some(Placement { size_bytes: bytes.next_multiple_of(granule), align_bytes })
}

impl Places for Placement {
    fn bytes(&self) -> u64 {
        self.size_bytes
    }

    fn next_base(&self, from: u64) -> Option<u64> {
        let base = from.checked_next_multiple_of(self.align_bytes)?;
        (base <= u32::MAX.into() && base + self.size_bytes <= 1 << 32).then_some(base)
    }
}
