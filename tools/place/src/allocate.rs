//! First fit in each memory. The schemes add what their hardware can express.

use crate::error::PlaceError;
use manifest::resolved::{Item, Memory};

/// Sizes are rounded to this.
const REGION: &str = "what one region register can express";
/// The same for what handlers use.
const BLOCKS: &str = "whole blocks of one memory protection controller";

/// A memory with what is taken of it.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    pub(crate) name: String,
    base: u64,
    pub(crate) end: u64,
    /// Domains have it at its addresses less this.
    pub(crate) offset: u32,
    /// Areas of code are whole pages of so many bytes.
    pub(crate) code_page: u32,
    /// Addresses at which another controller's range begins.
    gates: Vec<u32>,
    /// Sorted, without overlap: base and end. An empty range parts the gaps on its two sides.
    taken: Vec<(u64, u64)>,
}

impl Space {
    pub(crate) fn new(memory: &Memory) -> Space {
        let (base, offset) = (u64::from(memory.base), memory.offset);
        let end = base + u64::from(memory.bytes);
        let (name, code_page, gates) = (memory.name.clone(), memory.code_page, memory.gates.clone());
        let mut space = Space { name, base, end, offset, code_page, gates, taken: Vec::new() };
        if memory.reserved > 0 {
            space.take(base, base + u64::from(memory.reserved));
        }
        space
    }

    pub(crate) fn take(&mut self, base: u64, end: u64) {
        let at = self.taken.partition_point(|range| range.0 < base);
        self.taken.insert(at, (base, end));
    }

    /// Does something while whatever is taken lies within the range of one controller of the memory: the kernel opens no range of two.
    pub(crate) fn in_one_gate<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        for gate in self.gates.clone() {
            self.take(gate.into(), gate.into());
        }
        let told = act(self);
        self.taken.retain(|range| range.0 < range.1);
        told
    }

    /// Where a range crosses from one controller to another, while that matters ([`Space::in_one_gate`]).
    pub(crate) fn crossing(&self, base: u64, end: u64) -> Option<u64> {
        let crosses = |range: &&(u64, u64)| range.0 == range.1 && base < range.0 && range.0 < end;
        self.taken.iter().find(crosses).map(|range| range.0)
    }

    pub(crate) fn is_free(&self, base: u64, end: u64) -> bool {
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

    /// Takes bytes that no domain accesses, so that regions do not matter.
    pub(crate) fn plain(&mut self, what: &Item, bytes: u64, align: u64) -> Result<u32, PlaceError> {
        let bytes = bytes.next_multiple_of(align);
        let fits = |gap: &(u64, u64)| Some(gap.0.next_multiple_of(align)).filter(|base| base + bytes <= gap.1);
        let base = self.gaps().iter().find_map(fits).ok_or_else(|| self.full_of(what, bytes, align))?;
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

    pub(crate) fn full(&self, what: &Item, asked: u64) -> PlaceError {
        self.full_of(what, asked, 1)
    }

    /// The refusal for bytes that begin at a multiple of `align`: so much is left from one on.
    pub(crate) fn full_of(&self, what: &Item, asked: u64, align: u64) -> PlaceError {
        let from_one = |gap: &(u64, u64)| gap.1.saturating_sub(gap.0.next_multiple_of(align));
        let left = self.gaps().iter().map(from_one).max().unwrap_or(0);
        let rounded = if self.taken.iter().any(|range| range.0 == range.1) { BLOCKS } else { REGION };
        PlaceError::Full { what: what.clone(), memory: self.name.clone(), asked, rounded, left }
    }
}
