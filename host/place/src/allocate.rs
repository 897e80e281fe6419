//! First fit in each memory, at addresses that region registers can express.

use protect::placement::{Placement, placement_for};

use crate::error::PlaceError;
use crate::request::Memory;

/// A memory with what is taken of it.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    name: String,
    base: u64,
    end: u64,
    /// Sorted, without overlap: base and end.
    taken: Vec<(u64, u64)>,
}

impl Space {
    pub(crate) fn new(memory: &Memory) -> Space {
        let base = u64::from(memory.base);
        let mut space =
            Space { name: memory.name.clone(), base, end: base + u64::from(memory.bytes), taken: Vec::new() };
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
        let base = self.gaps().iter().find_map(fits).ok_or_else(|| self.full(what, bytes))?;
        if bytes > 0 {
            self.take(base, base + bytes);
        }
        Ok(base as u32)
    }

    /// Marks a range at the start as the kernel's.
    pub(crate) fn reserve_until(&mut self, end: u32) {
        self.take(self.base, u64::from(end));
    }

    fn full(&self, what: &str, asked: u64) -> PlaceError {
        let left = self.gaps().iter().map(|gap| gap.1 - gap.0).max().unwrap_or(0);
        PlaceError::Full { what: what.to_owned(), memory: self.name.clone(), asked, left }
    }
}
