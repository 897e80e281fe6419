//! First fit in whole pages, near areas apart from far ones.

use manifest::resolved::Item;
use system::vmsav7::{PAGE, is_unit};

use crate::allocate::Space;
use crate::error::PlaceError;

/// A second-level table translates so much.
const MIB: u64 = 1 << 20;
/// Sizes are rounded to these.
const PAGES: &str = "whole pages";

impl Space {
    /// Whether one second-level table translates all of it.
    pub(crate) fn is_within_mib(&self) -> bool {
        self.base() / MIB == self.end.saturating_sub(1) / MIB
    }

    /// Takes whole pages that the domain's near areas may share a MiB with: the first gap in the lower half of the memory (of a memory within one MiB,
    /// in all of it), within one aligned MiB if it is not larger.
    pub(crate) fn near(&mut self, what: &Item, bytes: u64, align: u64) -> Result<u32, PlaceError> {
        let within = |base: u64| {
            let end = base.next_multiple_of(MIB).max(base + 1);
            if base + bytes > end && bytes <= MIB && !base.is_multiple_of(MIB) {
                end.next_multiple_of(align)
            } else {
                base
            }
        };
        self.first(what, bytes, (self.base(), self.middle().1), |from| within(from.next_multiple_of(align)))
    }

    /// Takes whole pages for what nothing near shares a MiB with: the first gap in the upper half of the memory (of a memory within one MiB, in all
    /// of it: there the tables agree afterwards).
    pub(crate) fn far(&mut self, what: &Item, bytes: u64, align: u64) -> Result<u32, PlaceError> {
        self.first(what, bytes, (self.middle().0, self.end), |from| from.next_multiple_of(align))
    }

    /// Takes whole pages at an address as domains have it; where that is.
    pub(crate) fn at(&mut self, what: &Item, bytes: u64, address: u32) -> Result<u32, PlaceError> {
        let base = u64::from(address) + u64::from(self.offset);
        let align = u64::from(if u32::try_from(bytes).is_ok_and(is_unit) { bytes as u32 } else { PAGE });
        let fail = |reason: String| PlaceError::At { what: what.clone(), address, reason };
        if !base.is_multiple_of(align) {
            return Err(fail(format!("it has to start at a multiple of {align} bytes")));
        }
        if !self.is_free(base, base + bytes) {
            let (from, to) = (self.base() - u64::from(self.offset), self.end - u64::from(self.offset));
            let space = format!("`{}` from {from:#010x} to {to:#010x}", self.name);
            return Err(fail(format!("{bytes} bytes there are not all free in {space}")));
        }
        self.take(base, base + bytes);
        Ok(base as u32)
    }

    /// The beginning of the upper half and the end of the lower: a multiple of 1 MiB in the middle. A memory within one MiB is not divided.
    fn middle(&self) -> (u64, u64) {
        if self.is_within_mib() {
            return (self.base(), self.end);
        }
        let middle = (self.base() + (self.end - self.base()) / 2).next_multiple_of(MIB).min(self.end);
        (middle, middle)
    }

    fn first(
        &mut self,
        what: &Item,
        bytes: u64,
        (from, to): (u64, u64),
        place: impl Fn(u64) -> u64,
    ) -> Result<u32, PlaceError> {
        let inside = |gap: (u64, u64)| (gap.0.max(from), gap.1.min(to));
        let gaps: Vec<(u64, u64)> = self.gaps().into_iter().map(inside).filter(|gap| gap.0 < gap.1).collect();
        let fits = |gap: &(u64, u64)| Some(place(gap.0)).filter(|base| base + bytes <= gap.1);
        let left = gaps.iter().map(|gap| gap.1 - gap.0).max().unwrap_or(0);
        let full =
            || PlaceError::Full { what: what.clone(), memory: self.name.clone(), asked: bytes, rounded: PAGES, left };
        let base = gaps.iter().find_map(fits).ok_or_else(full)?;
        if bytes > 0 {
            self.take(base, base + bytes);
        }
        Ok(base as u32)
    }
}
