//! The aligned power-of-two ranges that make up a region.

use crate::pmsav7::RegionRegs;

/// `2^size_log2` bytes from `base`, a multiple of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) base: u32,
    pub(super) size_log2: u32,
}

impl Key {
    pub(super) const fn last(self) -> u32 {
        self.base | ((1u64 << self.size_log2) - 1) as u32
    }
}

/// The keys of a well-formed region, ascending: at most four, one for each quarter. Adjacent keys that could be one are one.
pub(super) fn keys(regs: RegionRegs) -> impl Iterator<Item = Key> {
    let (n, srd) = (regs.size_log2(), regs.srd());
    let mut eighth = 0u32;
    core::iter::from_fn(move || {
        while eighth < 8 && srd >> eighth & 1 != 0 {
            eighth += 1;
        }
        if eighth >= 8 {
            return None;
        }
        // The largest aligned run from here: 8, 4, 2 or 1 eighths.
        let mut run_log2 = 3;
        while eighth & ((1 << run_log2) - 1) != 0 || srd >> eighth & ((1 << (1 << run_log2)) - 1) != 0 {
            run_log2 -= 1;
        }
        let size_log2 = n - 3 + run_log2;
        let base = regs.base() + (u64::from(eighth) << (n - 3)) as u32;
        eighth += 1 << run_log2;
        Some(Key { base, size_log2 })
    })
}

/// Whether a well-formed region has a byte in `first..=last`.
pub(super) fn intersects(regs: RegionRegs, first: u32, last: u32) -> bool {
    keys(regs).any(|key| key.base <= last && first <= key.last())
}
