//! Ranges that lie together.

use manifest::resolved::Item;
use protect::vmsav7::Unit;
use system::vmsav7::PAGE;

use crate::error::PlaceError;

/// The smallest unit that an entry of the TLB holds with so many bytes in it.
pub(super) fn unit(what: &Item, bytes: u64) -> Result<u64, PlaceError> {
    let found = Unit::ALL.into_iter().map(|unit| u64::from(unit.bytes())).find(|unit| bytes <= *unit);
    let most = u64::from(Unit::Section.bytes());
    found.ok_or_else(|| PlaceError::Unit { what: what.clone(), asked: bytes, most })
}

/// Ranges one after the other, from an address that is a multiple of the largest alignment among them.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunk {
    /// Offset and bytes of each.
    parts: Vec<(u64, u64)>,
    end: u64,
    align: u64,
}

impl Chunk {
    /// Adds a range behind the others. A page before it stays empty if `guarded`.
    pub fn add(&mut self, bytes: u64, align: u64, guarded: bool) -> usize {
        let from = self.end + if guarded { u64::from(PAGE) } else { 0 };
        let offset = from.next_multiple_of(align);
        self.parts.push((offset, bytes));
        self.end = offset + bytes;
        self.align = self.align.max(align);
        self.parts.len() - 1
    }

    /// Bytes and alignment of all.
    pub fn shape(&self) -> (u64, u64) {
        (self.end, self.align.max(u64::from(PAGE)))
    }

    /// Base and bytes of a range when the first byte of all lies at `base`.
    pub fn place(&self, part: usize, base: u32) -> (u32, u32) {
        let (offset, bytes) = self.parts[part];
        (base + offset as u32, bytes as u32)
    }
}
