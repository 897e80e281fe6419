//! First fit in each memory, at addresses that region registers can express.

use protect::pmsav7::placement::{Placement, placement_for};

use crate::error::PlaceError;
use crate::request::Memory;

/// What a second-level table translates.
const MIB: u64 = 1 << 20;

/// What sizes are rounded to.
const REGION: &str = "what one region register can express";
const PAGES: &str = "whole pages";

/// A memory with what is taken of it.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    name: String,
    base: u64,
    end: u64,
    /// Domains have it at its addresses less this.
    offset: u32,
    /// Sorted, without overlap: base and end.
    taken: Vec<(u64, u64)>,
}

impl Space {
    pub(crate) fn new(memory: &Memory) -> Space {
        let (base, offset) = (u64::from(memory.base), memory.offset);
        let end = base + u64::from(memory.bytes);
        let mut space = Space { name: memory.name.clone(), base, end, offset, taken: Vec::new() };
        if memory.reserved > 0 {
            space.take(base, base + u64::from(memory.reserved));
        }
        space
    }

    fn take(&mut self, base: u64, end: u64) {
        let at = self.taken.partition_point(|range| range.0 < base);
        self.taken.insert(at, (base, end));
    }

    fn is_free(&self, base: u64, end: u64) -> bool {
        base >= self.base && end <= self.end && self.taken.iter().all(|range| end <= range.0 || base >= range.1)
    }

    /// First address.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// The address at which domains have one of this memory.
    pub(crate) fn shown(&self, address: u32) -> u32 {
        address - self.offset
    }

    /// Whether one second-level table translates all of it.
    pub(crate) fn is_within_mib(&self) -> bool {
        self.base / MIB == self.end.saturating_sub(1) / MIB
    }

    /// Whether there is no memory at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.base == self.end
    }

    /// Bytes taken.
    pub(crate) fn used(&self) -> u64 {
        self.taken.iter().map(|range| range.1 - range.0).sum()
    }

    /// Free ranges in ascending order.
    pub(crate) fn gaps(&self) -> Vec<(u64, u64)> {
        let mut gaps = Vec::new();
        let mut from = self.base;
        for range in &self.taken {
            if range.0 > from {
                gaps.push((from, range.0));
            }
            from = from.max(range.1);
        }
        if from < self.end {
            gaps.push((from, self.end));
        }
        gaps
    }

    /// Takes an area of at least `bytes` that one region covers exactly; returns base and size.
    pub(crate) fn area(&mut self, what: &str, bytes: u64, at: Option<u32>) -> Result<(u32, u32), PlaceError> {
        let placement = placement_for(bytes.max(32)).ok_or_else(|| self.full(what, bytes))?;
        if let Some(address) = at {
            return self.fixed(what, placement, address);
        }
        let fits = |gap: &(u64, u64)| placement.next_base(gap.0).filter(|base| base + placement.size_bytes <= gap.1);
        let base = self.gaps().iter().find_map(fits).ok_or_else(|| self.full(what, placement.size_bytes))?;
        self.take(base, base + placement.size_bytes);
        Ok((base as u32, placement.size_bytes as u32))
    }

    fn fixed(&mut self, what: &str, placement: Placement, address: u32) -> Result<(u32, u32), PlaceError> {
        let base = u64::from(address);
        let fail = |reason: String| PlaceError::At { what: what.to_owned(), address, reason };
        if !placement.fits_at(base) {
            let next = placement.next_base(base).map_or("none".into(), |next| format!("{next:#010x}"));
            return Err(fail(format!(
                "a region of {} bytes cannot start there (the next address that works is {next})",
                placement.size_bytes
            )));
        }
        if !self.is_free(base, base + placement.size_bytes) {
            let space = format!("`{}` from {:#010x} to {:#010x}", self.name, self.base, self.end);
            return Err(fail(format!("{} bytes there are not all free in {space}", placement.size_bytes)));
        }
        self.take(base, base + placement.size_bytes);
        Ok((address, placement.size_bytes as u32))
    }

    /// Takes bytes that no domain accesses, so that regions do not matter.
    pub(crate) fn plain(&mut self, what: &str, bytes: u64, align: u64) -> Result<u32, PlaceError> {
        let bytes = bytes.next_multiple_of(align);
        let fits = |gap: &(u64, u64)| Some(gap.0.next_multiple_of(align)).filter(|base| base + bytes <= gap.1);
        let base = self.gaps().iter().find_map(fits).ok_or_else(|| self.full_of(what, bytes, align))?;
        if bytes > 0 {
            self.take(base, base + bytes);
        }
        Ok(base as u32)
    }

    /// Takes whole pages that the domain's near areas may share a MiB with: the first gap in the lower half of the memory (of a memory within one MiB,
    /// in all of it), within one aligned MiB if it is not larger.
    pub(crate) fn near(&mut self, what: &str, bytes: u64, align: u64) -> Result<u32, PlaceError> {
        let within = |base: u64| {
            let end = base.next_multiple_of(MIB).max(base + 1);
            if base + bytes > end && bytes <= MIB && !base.is_multiple_of(MIB) {
                end.next_multiple_of(align)
            } else {
                base
            }
        };
        self.first(what, bytes, (self.base, self.middle().1), |from| within(from.next_multiple_of(align)))
    }

    /// Takes whole pages for what nothing near shares a MiB with: the first gap in the upper half of the memory (of a memory within one MiB, in all
    /// of it: there the tables agree afterwards).
    pub(crate) fn far(&mut self, what: &str, bytes: u64, align: u64) -> Result<u32, PlaceError> {
        self.first(what, bytes, (self.middle().0, self.end), |from| from.next_multiple_of(align))
    }

    /// Takes whole pages at an address as domains have it; where that is.
    pub(crate) fn at(&mut self, what: &str, bytes: u64, address: u32) -> Result<u32, PlaceError> {
        let base = u64::from(address) + u64::from(self.offset);
        let align = u64::from(if u32::try_from(bytes).is_ok_and(system::vmsav7::is_unit) {
            bytes as u32
        } else {
            system::vmsav7::PAGE
        });
        let fail = |reason: String| PlaceError::At { what: what.to_owned(), address, reason };
        if !base.is_multiple_of(align) {
            return Err(fail(format!("it has to start at a multiple of {align} bytes")));
        }
        if !self.is_free(base, base + bytes) {
            let (from, to) = (self.base - u64::from(self.offset), self.end - u64::from(self.offset));
            let space = format!("`{}` from {from:#010x} to {to:#010x}", self.name);
            return Err(fail(format!("{bytes} bytes there are not all free in {space}")));
        }
        self.take(base, base + bytes);
        Ok(base as u32)
    }

    /// The beginning of the upper half and the end of the lower: a multiple of 1 MiB in the middle. A memory within one MiB is not divided.
    fn middle(&self) -> (u64, u64) {
        if self.is_within_mib() {
            return (self.base, self.end);
        }
        let middle = (self.base + (self.end - self.base) / 2).next_multiple_of(MIB).min(self.end);
        (middle, middle)
    }

    fn first(
        &mut self,
        what: &str,
        bytes: u64,
        (from, to): (u64, u64),
        place: impl Fn(u64) -> u64,
    ) -> Result<u32, PlaceError> {
        let inside = |gap: (u64, u64)| (gap.0.max(from), gap.1.min(to));
        let gaps: Vec<(u64, u64)> = self.gaps().into_iter().map(inside).filter(|gap| gap.0 < gap.1).collect();
        let fits = |gap: &(u64, u64)| Some(place(gap.0)).filter(|base| base + bytes <= gap.1);
        let left = gaps.iter().map(|gap| gap.1 - gap.0).max().unwrap_or(0);
        let full = || PlaceError::Full {
            what: what.to_owned(),
            memory: self.name.clone(),
            asked: bytes,
            rounded: PAGES,
            left,
        };
        let base = gaps.iter().find_map(fits).ok_or_else(full)?;
        if bytes > 0 {
            self.take(base, base + bytes);
        }
        Ok(base as u32)
    }

    /// Gives back the end of what was taken, from an address on.
    pub(crate) fn give_back(&mut self, from: u64) {
        if let Some(range) = self.taken.iter_mut().find(|range| range.0 <= from && from < range.1) {
            range.1 = from;
        }
        self.taken.retain(|range| range.0 < range.1);
    }

    /// Bytes from the start to the end of what is taken last.
    pub(crate) fn reach(&self) -> u64 {
        self.taken.last().map_or(0, |range| range.1 - self.base)
    }

    /// Marks a range at the start as the kernel's.
    pub(crate) fn reserve_until(&mut self, end: u32) {
        self.take(self.base, u64::from(end));
    }

    fn full(&self, what: &str, asked: u64) -> PlaceError {
        self.full_of(what, asked, 1)
    }

    /// The refusal for bytes that begin at a multiple of `align`: so much is left from one on.
    fn full_of(&self, what: &str, asked: u64, align: u64) -> PlaceError {
        let from_one = |gap: &(u64, u64)| gap.1.saturating_sub(gap.0.next_multiple_of(align));
        let left = self.gaps().iter().map(from_one).max().unwrap_or(0);
        PlaceError::Full { what: what.to_owned(), memory: self.name.clone(), asked, rounded: REGION, left }
    }
}
