//! Which sizes and bases region registers can express exactly, for whoever decides where memory goes.
//!
//! The host's planner asks here before it places anything, so that no area is ever widened afterwards: the waste is
//! decided, and visible, at planning time.

use crate::pmsav7::{GRANULE_BYTES, SUBREGION_MIN_LOG2};

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
    /// The step between candidate bases: an eighth of the block, or the block where there are no eighths.
    pub const fn step_bytes(self) -> u64 {
        if self.size_bytes == self.block_bytes { self.block_bytes } else { self.block_bytes / 8 }
    }

    /// The lowest base at or above `from` at which the area is one region; `None` beyond 2^32.
    pub const fn next_base(self, from: u64) -> Option<u64> {
        if from >= 1 << 32 {
            return None;
        }
        let base = from.next_multiple_of(self.step_bytes());
        let offset = base % self.block_bytes;
        let base = if offset + self.size_bytes <= self.block_bytes { base } else { base - offset + self.block_bytes };
        if base + self.size_bytes <= 1 << 32 { Some(base) } else { None }
    }

    /// Whether the area may start at `base`.
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
    let smallest_with_eighths = 1 << SUBREGION_MIN_LOG2;
    let power = rounded.next_power_of_two();
    let block = if power < smallest_with_eighths { smallest_with_eighths } else { power };
    let eighths = rounded.div_ceil(block / 8);
    let srd = if eighths == 8 { 0 } else { 0xffu8 << eighths };
    Some(Placement { size_bytes: eighths * (block / 8), align_bytes: block, block_bytes: block, srd })
}

/// A length that at most a given number of regions express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitPlacement {
    /// The length asked, rounded up.
    pub size_bytes: u64,
    /// Any base that is a multiple of this is legal.
    pub align_bytes: u64,
    /// Regions that the exact cover then takes, 1..=`max_regions`.
    pub regions: u32,
}

/// The least rounding of `len_bytes` for an area that stands on a multiple of its block and may use up to `max_regions`
/// regions: whole eighths of the block first, then the rest in the next eighth, in the same manner. `None` for no regions,
/// and as for [`placement_for`].
///
/// # Time complexity
/// At most `max_regions` rounds, and no more than 10, as each divides the rest by at least eight.
pub const fn placements_within(len_bytes: u64, max_regions: u32) -> Option<SplitPlacement> {
    let Some(whole) = placement_for(len_bytes) else { return None };
    if max_regions == 0 {
        return None;
    }
    let (mut done, mut rest, mut regions) = (0, len_bytes, 0);
    while regions < max_regions && rest > 0 {
        let Some(piece) = placement_for(rest) else { return None };
        let eighth = piece.block_bytes / 8;
        let last = regions + 1 == max_regions;
        // Exact in one, or nothing finer left to divide.
        let taken = if last || piece.size_bytes - rest < GRANULE_BYTES as u64 || eighth <= GRANULE_BYTES as u64 {
            piece.size_bytes
        } else {
            rest / eighth * eighth
        };
        done += taken;
        rest = rest.saturating_sub(taken);
        regions += 1;
    }
    // Rounding the last piece up may have completed a whole eighth of the first block, and with it a single region.
    let single = done >= whole.size_bytes;
    Some(SplitPlacement {
        size_bytes: if single { whole.size_bytes } else { done },
        align_bytes: whole.align_bytes,
        regions: if single { 1 } else { regions },
    })
}

#[cfg(test)]
mod tests;
