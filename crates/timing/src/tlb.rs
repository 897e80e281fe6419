//! A translation look-aside buffer with lock slots and address-space identifiers, for the ports that have an MMU.
//!
//! Like the cache it knows no time. A look-up takes time proportional to ways plus lock slots.

use alloc::vec;
use alloc::vec::Vec;

use crate::cache::{Cache, Fill, Geometry, GeometryError, Replacement};

/// Shape of a TLB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct TlbGeometry {
    /// Entries of the associative part.
    pub entries: u32,
    /// Its ways, 1 to 32.
    pub ways: u32,
    /// Further entries that only [`Tlb::lock`] fills.
    pub lock_slots: u32,
}

/// To whom a translation belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// Every address space.
    Global,
    /// The address space with this identifier.
    Asid(u8),
}

/// Pages are kept in the associative part as "lines": page number, space, all in one key.
const SPACE_BITS: u32 = 9;

/// State of one TLB. Page numbers are virtual addresses divided by the page size, below 2^54.
#[derive(Clone, Debug)]
pub struct Tlb {
    main: Cache,
    locked: Vec<Option<(u64, Space)>>,
    sets_log2: u32,
}

impl Tlb {
    /// An empty TLB.
    ///
    /// # Errors
    /// When entries and ways do not give a power of two of sets.
    pub fn new(geometry: TlbGeometry, replacement: Replacement) -> Result<Self, GeometryError> {
        let lines = geometry.entries.checked_mul(2).ok_or(GeometryError::Sets)?;
        let shape = Geometry { size_bytes: lines, ways: geometry.ways, line_bytes: 2 };
        let sets = shape.sets(replacement)?;
        Ok(Self {
            main: Cache::new(shape, replacement)?,
            locked: vec![None; geometry.lock_slots as usize],
            sets_log2: sets.trailing_zeros(),
        })
    }

    /// One key per (page, space): the low bits of the page choose the set, the space comes above them.
    fn key(&self, page: u64, space: Space) -> u64 {
        let space = match space {
            Space::Asid(asid) => u64::from(asid),
            Space::Global => 1 << (SPACE_BITS - 1),
        };
        let set = page & ((1 << self.sets_log2) - 1);
        (page >> self.sets_log2) << (SPACE_BITS + self.sets_log2) | space << self.sets_log2 | set
    }

    /// Whether `page` is translated for `asid`, by an entry of its own, a global or a locked one.
    pub fn access(&mut self, page: u64, asid: u8) -> bool {
        let applies = |space| space == Space::Global || space == Space::Asid(asid);
        let locked = self.locked.iter().flatten().any(|&(held, space)| held == page && applies(space));
        let (own, global) = (self.key(page, Space::Asid(asid)), self.key(page, Space::Global));
        locked || self.main.access(own, false) || self.main.access(global, false)
    }

    /// Brings a translation in after a walk; it must not be there.
    pub fn fill(&mut self, page: u64, space: Space) {
        let key = self.key(page, space);
        let outcome = self.main.fill(key, false);
        debug_assert!(matches!(outcome, Fill::Placed { .. }), "no way of the associative part is ever locked");
    }

    /// Holds a translation in lock slot `slot`, replacing what it held. `false` when there is no such slot.
    pub fn lock(&mut self, slot: u32, page: u64, space: Space) -> bool {
        match self.locked.get_mut(slot as usize) {
            Some(place) => {
                *place = Some((page, space));
                true
            }
            None => false,
        }
    }

    /// Empties lock slot `slot`. `false` when there is no such slot.
    pub fn unlock(&mut self, slot: u32) -> bool {
        match self.locked.get_mut(slot as usize) {
            Some(place) => {
                *place = None;
                true
            }
            None => false,
        }
    }

    /// Drops the translation of `page` for `space`, locked or not.
    pub fn invalidate_page(&mut self, page: u64, space: Space) {
        let key = self.key(page, space);
        self.main.invalidate_line(key);
        self.drop_locked(|held| held == (page, space));
    }

    /// Drops every translation that belongs to `asid`; global ones stay.
    pub fn invalidate_asid(&mut self, asid: u8) {
        let mask = (1u64 << SPACE_BITS) - 1;
        let shift = self.sets_log2;
        let keys: Vec<u64> =
            self.main.lines().map(|(key, _)| key).filter(|key| key >> shift & mask == u64::from(asid)).collect();
        for key in keys {
            self.main.invalidate_line(key);
        }
        self.drop_locked(|(_, space)| space == Space::Asid(asid));
    }

    /// Drops every translation, locked ones too.
    pub fn invalidate_all(&mut self) {
        self.main.invalidate_all();
        self.drop_locked(|_| true);
    }

    fn drop_locked(&mut self, condemned: impl Fn((u64, Space)) -> bool) {
        for place in &mut self.locked {
            if place.is_some_and(&condemned) {
                *place = None;
            }
        }
    }
}

#[cfg(test)]
mod tests;
