//! Counts the pieces of a pool's memory that are in use, because a pool has a limited number of
//! marks in the kernel's frame table.
//!
//! A piece takes two marks at most. One is at its beginning, if the memory below has another type.
//! The other is at its end, or at the end of the part that has been cleared. Mappings need no
//! further marks, because they end where pieces end.
//!
//! As with bytes, a quota keeps enough pieces for its client to get all its memory, however small
//! the pieces are that others have left. Clients without a quota share the rest.

use memory::pieces::PAGE_LOG2;

use crate::sizes::{EACH, GRANULE_LOG2};

/// Marks of a piece: its beginning and its end.
const MARKS: u32 = 2;
/// Base-two logarithm of the bytes that a table is given at once, with region registers: each gift
/// is a piece of its own.
const GIFT_LOG2: u8 = 11;
/// Most times that a client's table is given memory then: each record takes eight nodes at most, and seven are given at once.
const GIFTS: u32 = (EACH as u32 * 8).div_ceil(7);

/// Returns the most pieces in which a quota of so many bytes can be used.
fn pieces(quota: u32, scatters: bool) -> u32 {
    if scatters {
        return quota >> PAGE_LOG2;
    }
    (quota >> GRANULE_LOG2).min(EACH as u32) + (quota >> GIFT_LOG2).min(GIFTS)
}

/// Returns the marks of the frame table that a pool needs at least, so that its quotas can be kept.
/// Each quota is a number of bytes.
pub fn marks_kept(quotas: impl Iterator<Item = u32>, scatters: bool) -> u32 {
    quotas.map(|quota| MARKS * pieces(quota, scatters)).sum()
}

/// Returns the most marks that can be inside a pool, however it is divided: one between its units,
/// and one in each page that is clean in part.
pub const fn marks_most(bytes: u32, scatters: bool) -> u32 {
    let units = if scatters { 2 * (bytes >> PAGE_LOG2) } else { bytes >> GRANULE_LOG2 };
    units.saturating_sub(1)
}

/// How many pieces of one pool each of `D` domains has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally<const D: usize> {
    kept: [u16; D],
    used: [u16; D],
    /// Pieces that are kept for no quota and not in use: clients beyond their quota, or without
    /// one, take from these.
    common: u16,
}

impl<const D: usize> Tally<D> {
    /// A pool that has no pieces.
    pub const NONE: Self = Tally { kept: [0; D], used: [0; D], common: 0 };

    /// Divides the marks of a pool of so many bytes by the quotas of its domains; `None` if the
    /// quotas cannot be kept.
    #[inline(never)]
    pub fn new(marks: u32, bytes: u32, scatters: bool, quotas: impl Iterator<Item = u32>) -> Option<Self> {
        let mut tally = Self::NONE;
        let mut common = if marks >= marks_most(bytes, scatters) { u32::from(u16::MAX) } else { marks / MARKS };
        for (kept, quota) in tally.kept.iter_mut().zip(quotas) {
            let pieces = pieces(quota, scatters);
            common = common.checked_sub(pieces)?;
            *kept = pieces as u16;
        }
        tally.common = common as u16;
        Some(tally)
    }

    /// Pieces of all domains.
    pub fn used(&self) -> u32 {
        self.used.iter().copied().map(u32::from).sum()
    }

    /// Counts so many pieces of a domain: first what its quota keeps, then what is common. Returns
    /// false, and counts nothing, if there are not so many.
    #[inline(never)]
    pub fn take(&mut self, domain: u8, pieces: u32) -> bool {
        let domain = usize::from(domain);
        let (Some(kept), Some(used)) = (self.kept.get(domain), self.used.get_mut(domain)) else { return false };
        let beyond = |used: u32| used.saturating_sub(u32::from(*kept));
        let now = u32::from(*used) + pieces;
        let common = beyond(now) - beyond(u32::from(*used));
        if common > u32::from(self.common) {
            return false;
        }
        self.common -= common as u16;
        *used = now as u16;
        true
    }

    /// Takes back so many pieces of a domain. The common ones are given back first, so that its
    /// quota stays whole.
    #[inline(never)]
    pub fn give(&mut self, domain: u8, pieces: u32) {
        let domain = usize::from(domain);
        let (Some(kept), Some(used)) = (self.kept.get(domain), self.used.get_mut(domain)) else { return };
        let beyond = |used: u16| used.saturating_sub(*kept);
        let now = used.saturating_sub(pieces as u16);
        self.common += beyond(*used) - beyond(now);
        *used = now;
    }
}
