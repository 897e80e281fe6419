//! Sizes and bases that region registers can express exactly, for code that places memory.
//!
//! The host's planner asks here before it places anything, so that no area is ever widened afterwards: the waste is
//! decided, and visible, at planning time.

use crate::pmsav7::SUBREGION_MIN_LOG2;
use crate::regions::GRANULE_BYTES;

const SMALLEST_WITH_EIGHTHS: u64 = 1 << SUBREGION_MIN_LOG2;

/// A length that one region expresses, and where it may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The length asked, rounded up to what one region expresses.
    pub size_bytes: u64,
    /// Any base that is a multiple of this is legal; other bases may be: see [`Placement::next_base`].
    pub align_bytes: u64,
    /// Size of the block (the region proper); equal to `align_bytes`.
    pub block_bytes: u64,
    /// Sub-region disable bits when the area stands at the start of its block.
    pub srd: u8,
}

impl Placement {
    /// The lowest base at or above `from` at which the area is one region; `None` if there is none below 2^32. Often lower than the
    /// next multiple of `align_bytes`: an area may also stand on any eighth of its block, or of a larger one, that leaves it inside.
    ///
    /// # Time complexity
    /// At most 28 block sizes.
    pub const fn next_base(self, from: u64) -> Option<u64> {
        if from > u32::MAX as u64 {
            return None;
        }
        // A whole block stands on its own multiples; that is all there is below 256 bytes.
        let mut best =
            if self.size_bytes == self.block_bytes { from.next_multiple_of(self.block_bytes) } else { u64::MAX / 2 };
        let mut block = if self.block_bytes < SMALLEST_WITH_EIGHTHS { SMALLEST_WITH_EIGHTHS } else { self.block_bytes };
        while block <= 1 << 32 && self.size_bytes.is_multiple_of(block / 8) {
            let base = from.next_multiple_of(block / 8);
            let inside = base % block + self.size_bytes <= block;
            let base = if inside { base } else { base.next_multiple_of(block) };
            if base < best {
                best = base;
            }
            block *= 2;
        }
        if best + self.size_bytes <= 1 << 32 { Some(best) } else { None }
    }

    /// Returns true if the area may start at `base`.
    pub const fn fits_at(self, base: u64) -> bool {
        matches!(self.next_base(base), Some(next) if next == base)
    }
}

/// The smallest length of at least `len_bytes` that one region can express; `None` for 0 or above 2^32. The rounding is at most
/// a quarter of the length asked (to five eighths from just over a half) above 128 bytes.
///
/// # Time complexity
/// Constant.
pub const fn placement_for(len_bytes: u64) -> Option<Placement> {
    if len_bytes == 0 || len_bytes > 1 << 32 {
        return None;
    }
    let granule = GRANULE_BYTES as u64;
    let rounded = len_bytes.next_multiple_of(granule);
    if rounded.is_power_of_two() {
        return Some(Placement { size_bytes: rounded, align_bytes: rounded, block_bytes: rounded, srd: 0 });
    }
    let power = rounded.next_power_of_two();
    let block = if power < SMALLEST_WITH_EIGHTHS { SMALLEST_WITH_EIGHTHS } else { power };
    let eighths = rounded.div_ceil(block / 8);
    let srd = if eighths == 8 { 0 } else { 0xffu8 << eighths };
    Some(Placement { size_bytes: eighths * (block / 8), align_bytes: block, block_bytes: block, srd })
}

#[cfg(test)]
mod tests;
