//! TLBs: the micro-TLBs before the caches, and the main TLB with its lock entries and address-space identifiers.
//!
//! Like the caches they know no time. A look-up takes time proportional to the entries (micro) or to ways, lock entries
//! and page sizes (main).

use alloc::vec;
use alloc::vec::Vec;

use crate::cache::{Cache, Fill, Geometry, GeometryError, Replacement};
use crate::vmsa::Mapping;

/// A translation as a TLB holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The translation.
    pub mapping: Mapping,
    /// The address space in which it was made; a global mapping serves every other too.
    pub asid: u8,
    /// The first-level table that it was read from.
    pub root: u32,
}

impl Entry {
    /// Whether it translates `addr` for `asid`.
    pub const fn matches(&self, addr: u32, asid: u8) -> bool {
        self.mapping.covers(addr) && (self.mapping.global || self.asid == asid)
    }
}

/// Page sizes, as logarithms.
pub const SIZES_LOG2: [u32; 4] = [12, 16, 20, 24];

/// Pages for which [`MicroTlb`] remembers which entry translated them last.
const HINTS: usize = 64;

/// A fully associative TLB that is flushed as a whole; the entry to replace next goes round.
#[derive(Clone, Debug)]
pub struct MicroTlb {
    entries: Vec<Option<Entry>>,
    next: usize,
    /// The entry to try first for a page. Changes no answer, only what it costs on the host.
    hints: [u16; HINTS],
}

const fn hint_of(addr: u32) -> usize {
    (addr >> 12) as usize % HINTS
}

impl MicroTlb {
    /// An empty one.
    pub fn new(entries: u32) -> Self {
        Self { entries: vec![None; entries.max(1) as usize], next: 0, hints: [0; HINTS] }
    }

    /// The entry for `addr`, if there is one.
    #[inline]
    pub fn look_up(&mut self, addr: u32, asid: u8) -> Option<Entry> {
        let fits = |place: &Option<Entry>| place.as_ref().is_some_and(|entry| entry.matches(addr, asid));
        let hint = usize::from(self.hints[hint_of(addr)]);
        if fits(&self.entries[hint]) {
            return self.entries[hint];
        }
        let at = self.entries.iter().position(fits)?;
        self.hints[hint_of(addr)] = at as u16;
        self.entries[at]
    }

    /// The entry that translated the page of `addr` last, or another of the pages that share its hint, if it translates `addr`.
    #[inline]
    pub fn again(&self, addr: u32, asid: u8) -> Option<&Mapping> {
        let entry = self.entries[usize::from(self.hints[hint_of(addr)])].as_ref();
        entry.filter(|entry| entry.matches(addr, asid)).map(|entry| &entry.mapping)
    }

    /// Takes an entry.
    pub fn fill(&mut self, entry: Entry) {
        self.entries[self.next] = Some(entry);
        self.next = (self.next + 1) % self.entries.len();
    }

    /// Drops everything.
    pub fn flush(&mut self) {
        self.entries.fill(None);
    }
}

/// The part of the main TLB that holds an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The associative part.
    Associative,
    /// This lock entry.
    Locked(u32),
}

/// Sets of the associative part, or why there are none.
///
/// # Errors
/// When entries and ways do not give a power of two of sets.
pub fn sets(entries: u32, ways: u32, replacement: Replacement) -> Result<u32, GeometryError> {
    shape(entries, ways)?.sets(replacement)
}

/// The associative part as a cache of "lines" of two bytes, one per entry.
fn shape(entries: u32, ways: u32) -> Result<Geometry, GeometryError> {
    let size_bytes = entries.checked_mul(2).ok_or(GeometryError::Sets)?;
    Ok(Geometry { size_bytes, ways, line_bytes: 2 })
}

/// The main TLB. The set of an entry is chosen by the low bits of its page number, whatever the page's size.
#[derive(Clone, Debug)]
pub struct MainTlb {
    index: Cache,
    entries: Vec<Option<Entry>>,
    locked: Vec<Option<Entry>>,
    sets_log2: u32,
}

impl MainTlb {
    /// An empty one.
    ///
    /// # Errors
    /// When entries and ways do not give a power of two of sets.
    pub fn new(entries: u32, ways: u32, lock: u32, replacement: Replacement) -> Result<Self, GeometryError> {
        let sets = sets(entries, ways, replacement)?;
        Ok(Self {
            index: Cache::new(shape(entries, ways)?, replacement)?,
            entries: vec![None; entries as usize],
            locked: vec![None; lock as usize],
            sets_log2: sets.trailing_zeros(),
        })
    }

    /// One key per page, size and space; the low bits of the page number choose the set.
    fn key(&self, addr: u32, size_log2: u32, space: Option<u8>) -> u64 {
        let page = u64::from(addr >> size_log2);
        let set = page & ((1 << self.sets_log2) - 1);
        let tag = page >> self.sets_log2;
        let space = space.map_or(0x100, u64::from);
        ((tag << 5 | u64::from(size_log2)) << 9 | space) << self.sets_log2 | set
    }

    fn key_of(&self, entry: &Entry) -> u64 {
        let space = if entry.mapping.global { None } else { Some(entry.asid) };
        self.key(entry.mapping.virt, entry.mapping.size_log2, space)
    }

    fn at(&self, key: u64) -> Option<usize> {
        let way = self.index.probe(key)?;
        let set = key & ((1 << self.sets_log2) - 1);
        Some(set as usize * self.index.ways() as usize + way as usize)
    }

    /// The entry for `addr` and where it is. A lock entry goes before others.
    pub fn look_up(&mut self, addr: u32, asid: u8) -> Option<(Entry, Part)> {
        let lock = self.locked.iter().position(|place| place.is_some_and(|entry| entry.matches(addr, asid)));
        if let Some(slot) = lock {
            return Some((self.locked[slot]?, Part::Locked(slot as u32)));
        }
        for size_log2 in SIZES_LOG2 {
            for space in [Some(asid), None] {
                let key = self.key(addr, size_log2, space);
                if self.index.access(key, false) {
                    return Some((self.entries[self.at(key)?]?, Part::Associative));
                }
            }
        }
        None
    }

    /// Takes an entry into the associative part after a walk that found none.
    pub fn fill(&mut self, entry: Entry) {
        let key = self.key_of(&entry);
        if self.index.probe(key).is_none() {
            let fill = self.index.fill(key, false);
            debug_assert!(matches!(fill, Fill::Placed { .. }), "no way of the associative part is ever locked");
        }
        if let Some(at) = self.at(key) {
            self.entries[at] = Some(entry);
        }
    }

    /// Takes an entry into lock entry `slot`: what it held before, or `Err` when there is no such lock entry.
    #[allow(clippy::result_unit_err, reason = "there is only one thing that can be wrong")]
    pub fn lock(&mut self, slot: u32, entry: Entry) -> Result<Option<Entry>, ()> {
        self.locked.get_mut(slot as usize).map(|place| place.replace(entry)).ok_or(())
    }

    /// The lock entries.
    pub fn locked(&self) -> &[Option<Entry>] {
        &self.locked
    }

    /// Drops the entries that `condemned` names; of the lock entries only when `and_locked`.
    pub fn invalidate(&mut self, and_locked: bool, condemned: impl Fn(&Entry) -> bool) {
        for at in 0..self.entries.len() {
            if let Some(entry) = self.entries[at].filter(&condemned) {
                let key = self.key_of(&entry);
                self.entries[at] = None;
                self.index.invalidate_line(key);
            }
        }
        if and_locked {
            for place in &mut self.locked {
                *place = place.filter(|entry| !condemned(entry));
            }
        }
    }
}

#[cfg(test)]
mod tests;
