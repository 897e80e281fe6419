//! A set-associative cache: which lines it holds, which are dirty, which one has to go.
//!
//! It knows nothing of time; the machine asks it and charges. Lines are named by their number: address divided by the
//! line size. Look-up, fill and eviction take time proportional to the number of ways, maintenance of the whole cache
//! to the number of lines. Nothing is allocated after construction.

mod policy;

use alloc::vec;
use alloc::vec::Vec;

pub use policy::Replacement;
use policy::Victims;

/// Marks an empty place. No line has this number, as line numbers are addresses divided by at least two.
const EMPTY: u64 = u64::MAX;
/// Marks a line that [`Cache::spoil`] made: no address has this bit, so that nobody asks for it.
const FOREIGN: u64 = 1 << 63;

/// Whether a line number is of a line that [`Cache::spoil`] made: its address is not known, only that it is nobody's who runs.
pub const fn is_foreign(line: u64) -> bool {
    line & FOREIGN != 0 && line != EMPTY
}

/// A foreign line in the set of `line`.
pub const fn foreign(line: u64) -> u64 {
    line | FOREIGN
}

/// Shape of a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Geometry {
    /// Total size in bytes: sets x ways x line.
    pub size_bytes: u32,
    /// Ways, 1 to 32.
    pub ways: u32,
    /// Line size in bytes, a power of two from 2.
    pub line_bytes: u32,
}

/// Why a cache cannot have the shape asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GeometryError {
    /// The line size is not a power of two from 2.
    Line,
    /// The number of ways is not 1 to 32, or not a power of two where the tree needs one.
    Ways,
    /// Size divided by ways and line is not a power of two.
    Sets,
}

impl core::fmt::Display for GeometryError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Line => "the line size must be a power of two, 2 bytes or more",
            Self::Ways => "there must be 1 to 32 ways, a power of two with tree-PLRU",
            Self::Sets => "size / (ways x line) must be a whole power of two",
        })
    }
}

impl Geometry {
    /// Number of sets, or why there is none.
    ///
    /// # Errors
    /// [`GeometryError`] names the field that is wrong.
    pub fn sets(self, replacement: Replacement) -> Result<u32, GeometryError> {
        if self.line_bytes < 2 || !self.line_bytes.is_power_of_two() {
            return Err(GeometryError::Line);
        }
        let tree = matches!(replacement, Replacement::TreePlru);
        if !(1..=32).contains(&self.ways) || tree && !self.ways.is_power_of_two() {
            return Err(GeometryError::Ways);
        }
        let Some(way_bytes) = self.ways.checked_mul(self.line_bytes) else { return Err(GeometryError::Sets) };
        let sets = self.size_bytes / way_bytes;
        if !self.size_bytes.is_multiple_of(way_bytes) || !sets.is_power_of_two() {
            return Err(GeometryError::Sets);
        }
        Ok(sets)
    }
}

/// A line that a fill evicted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Evicted {
    /// Its line number.
    pub line: u64,
    /// Whether memory has to be written.
    pub dirty: bool,
}

/// Outcome of a fill.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fill {
    /// The line is now in `way`; what was there before, if anything, is gone.
    Placed {
        /// Its way.
        way: u32,
        /// The line that was there.
        evicted: Option<Evicted>,
    },
    /// Every way that could take it is locked: the access goes past the cache.
    Bypassed,
}

/// The state of one cache.
#[derive(Clone, Debug)]
pub struct Cache {
    tags: Vec<u64>,
    dirty: Vec<bool>,
    victims: Victims,
    set_mask: u64,
    ways: usize,
    last_line: u64,
    last_at: usize,
    /// Places that may hold lines, up to its capacity; beyond it `is_listed` is false, and any place may.
    filled: Vec<u32>,
    is_listed: bool,
    /// Ways that hold foreign lines, and whether changed ones, but for the places in the list.
    spoiled: Option<(u32, bool)>,
}

/// One place in so many is remembered as filled at most.
const FEW: usize = 4;

impl Cache {
    /// An empty cache, nothing locked.
    ///
    /// # Errors
    /// When the shape is impossible.
    pub fn new(geometry: Geometry, replacement: Replacement) -> Result<Self, GeometryError> {
        let sets = geometry.sets(replacement)? as usize;
        let ways = geometry.ways as usize;
        Ok(Self {
            tags: vec![EMPTY; sets * ways],
            dirty: vec![false; sets * ways],
            victims: Victims::new(replacement, sets, ways),
            set_mask: sets as u64 - 1,
            ways,
            last_line: EMPTY,
            last_at: 0,
            filled: Vec::with_capacity(sets * ways / FEW),
            is_listed: true,
            spoiled: None,
        })
    }

    #[inline]
    fn base(&self, line: u64) -> usize {
        (line & self.set_mask) as usize * self.ways
    }

    #[inline(always)]
    fn find(&self, line: u64) -> Option<usize> {
        let base = self.base(line);
        let set = &self.tags[base..base + self.ways];
        let way = match <&[u64; 4]>::try_from(set) {
            // The host cannot predict the way: no branch for each.
            Ok(four) => {
                let found = (0..4).fold(0u32, |found, way| found | u32::from(four[way] == line) << way);
                (found != 0).then_some(found.trailing_zeros() as usize)
            }
            Err(_) => set.iter().position(|&tag| tag == line),
        };
        way.map(|way| base + way)
    }

    /// Looks `line` up and, on a hit, notes its use; `dirty` marks it as changed. Says whether it was a hit.
    ///
    /// The line hit last is answered without a search: it is already its set's most recent one. Called for every access: always in its caller.
    #[inline(always)]
    pub fn access(&mut self, line: u64, dirty: bool) -> bool {
        if line == self.last_line {
            self.note_change(self.last_at, dirty);
            return true;
        }
        self.search(line, dirty)
    }

    #[inline(always)]
    fn search(&mut self, line: u64, dirty: bool) -> bool {
        let Some(at) = self.find(line) else { return false };
        self.note_change(at, dirty);
        self.victims.touch(at, self.ways);
        self.last_line = line;
        self.last_at = at;
        true
    }

    /// The host need not have the mark at hand for an access that changes nothing.
    #[inline]
    fn note_change(&mut self, at: usize, dirty: bool) {
        if dirty {
            self.dirty[at] = true;
        }
    }

    /// Brings `line` in, which must not be there: into an empty way, else over the policy's victim.
    pub fn fill(&mut self, line: u64, dirty: bool) -> Fill {
        self.fill_outside(line, dirty, 0)
    }

    /// As [`Self::fill`] for a master that is kept from the ways in `locked`.
    pub fn fill_outside(&mut self, line: u64, dirty: bool, locked: u32) -> Fill {
        debug_assert!(is_foreign(line) || self.find(line).is_none(), "a line is filled once");
        let base = self.base(line);
        let set = &self.tags[base..base + self.ways];
        let empty = (0..self.ways).find(|&way| set[way] == EMPTY && locked & 1 << way == 0);
        let Some(way) = empty.or_else(|| self.victims.choose(base, self.ways, locked)) else {
            return Fill::Bypassed;
        };
        let at = base + way;
        let evicted = match self.tags[at] {
            EMPTY => None,
            old => Some(Evicted { line: old, dirty: self.dirty[at] }),
        };
        self.tags[at] = line;
        self.dirty[at] = dirty;
        self.note_filled(at);
        self.victims.touch(at, self.ways);
        self.last_line = line;
        self.last_at = at;
        Fill::Placed { way: way as u32, evicted }
    }

    /// The way that holds `line`, without noting a use.
    pub fn probe(&self, line: u64) -> Option<u32> {
        self.find(line).map(|at| (at - self.base(line)) as u32)
    }

    /// Whether `line` is there and changed.
    pub fn is_dirty(&self, line: u64) -> bool {
        self.find(line).is_some_and(|at| self.dirty[at])
    }

    /// Writes `line` back if it is changed and keeps it. Says whether memory has to be written.
    pub fn clean_line(&mut self, line: u64) -> bool {
        self.find(line).is_some_and(|at| core::mem::take(&mut self.dirty[at]))
    }

    /// Drops `line` without writing it back. Says whether changes were lost.
    pub fn invalidate_line(&mut self, line: u64) -> bool {
        let Some(at) = self.find(line) else { return false };
        self.drop_at(at)
    }

    /// Drops every line, locked ones too, without writing back. The number of lines whose changes were lost.
    pub fn invalidate_all(&mut self) -> u32 {
        self.empty_ways(u32::MAX)
    }

    /// Drops every line of the ways whose bits are set, without writing back. The number of lines whose changes were lost.
    ///
    /// It takes no longer than there are lines, if few places were filled since it was called last.
    pub fn empty_ways(&mut self, emptied: u32) -> u32 {
        let mut filled = core::mem::take(&mut self.filled);
        let was_spoiled = self.spoiled.take().is_some();
        let is_listed = core::mem::replace(&mut self.is_listed, true) && !was_spoiled;
        let places = filled.len();
        let mut kept = 0;
        let mut lost = 0;
        for index in 0..if is_listed { places } else { self.tags.len() } {
            let at = if is_listed { filled[index] as usize } else { index };
            let goes = emptied >> (at % self.ways) & 1 != 0;
            lost += u32::from(goes && self.drop_at(at));
            if self.tags[at] == EMPTY {
                continue;
            }
            // The list is never longer than what was looked at.
            match filled.get_mut(kept) {
                Some(place) => *place = at as u32,
                None => self.is_listed = false,
            }
            kept += 1;
        }
        filled.truncate(kept);
        self.filled = filled;
        lost
    }

    /// Fills the ways whose bits are set with foreign lines, changed ones if `dirty`; what they held is gone, as if written back.
    ///
    /// It takes time in proportion to the places filled since the last call, if they were few, and otherwise to the lines.
    pub fn spoil(&mut self, ways: u32, dirty: bool) {
        let mut filled = core::mem::take(&mut self.filled);
        if self.is_listed && self.spoiled == Some((ways, dirty)) {
            filled.retain(|at| !self.put_foreign(*at as usize, ways, dirty));
        } else {
            filled.clear();
            for at in 0..self.tags.len() {
                self.put_foreign(at, ways, dirty);
            }
            self.is_listed = true;
        }
        (self.filled, self.spoiled) = (filled, Some((ways, dirty)));
        self.last_line = EMPTY;
    }

    /// Remembers that there is a line at a place.
    #[inline]
    fn note_filled(&mut self, at: usize) {
        if self.filled.len() < self.tags.len() / FEW {
            self.filled.push(at as u32);
        } else {
            self.is_listed = false;
        }
    }

    /// Maintenance by set and way: the line number held there, and whether it was changed. `None` for a place that
    /// does not exist, is empty or holds a foreign line. `clean` and `invalidate` say what to do with it.
    pub fn by_set_way(&mut self, set: u32, way: u32, clean: bool, invalidate: bool) -> Option<Evicted> {
        if u64::from(set) > self.set_mask || way as usize >= self.ways {
            return None;
        }
        let at = set as usize * self.ways + way as usize;
        let line = self.tags[at];
        if line == EMPTY || is_foreign(line) {
            return None;
        }
        let dirty = self.dirty[at];
        if clean {
            self.dirty[at] = false;
        }
        if invalidate {
            self.drop_at(at);
        }
        Some(Evicted { line, dirty })
    }

    /// Line numbers held, with whether each is changed, in order of set and way.
    pub fn lines(&self) -> impl Iterator<Item = (u64, bool)> + '_ {
        self.tags.iter().zip(&self.dirty).filter(|(tag, _)| **tag != EMPTY).map(|(&tag, &dirty)| (tag, dirty))
    }

    /// Number of ways.
    pub fn ways(&self) -> u32 {
        self.ways as u32
    }

    /// Number of sets.
    pub fn sets(&self) -> u32 {
        self.set_mask as u32 + 1
    }

    /// Puts a foreign line at a place if its way is one of `ways`; whether it is.
    fn put_foreign(&mut self, at: usize, ways: u32, dirty: bool) -> bool {
        let goes = ways >> (at % self.ways) & 1 != 0;
        if goes {
            self.tags[at] = foreign((at / self.ways) as u64);
            self.dirty[at] = dirty;
        }
        goes
    }

    fn drop_at(&mut self, at: usize) -> bool {
        if self.tags[at] == self.last_line {
            self.last_line = EMPTY;
        }
        self.tags[at] = EMPTY;
        core::mem::take(&mut self.dirty[at])
    }
}

#[cfg(test)]
mod tests;
