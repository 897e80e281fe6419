//! Rights of each domain, written from the descriptions of the calls (`user/c/include/cofferdam_abi.h`) and from
//! [`crate::restart`]'s page, without a look at how the kernel keeps them: a flat list of granules, capabilities by slot, and one
//! unread fault for each domain.

use std::collections::BTreeMap;
use std::vec::Vec;

use abi::rights;
use protect::AccessKind;
use system::{Area, area};

use super::super::rich::{DOMAINS, POOL_BASE, POOL_BYTES, SLOTS, domain as domain_slot, pool as pool_slot};

/// What frames are typed in.
pub const GRANULE: u32 = 32;

/// Rights among the bits of an access.
const RIGHTS: u32 = abi::access::READ | abi::access::WRITE | abi::access::EXECUTE;

/// State of a granule of the frames that all domains hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    Untyped,
    Shared,
    Kernel,
}

/// A granule as a domain finds it.
#[derive(Clone, Copy, Debug)]
struct Cell {
    physical: u32,
    access: u32,
    /// It was mapped while the domain was stopped, so a restart may have met it or not.
    late: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub target: usize,
    pub at: u32,
    pub bytes: u32,
    pub physical: u32,
    /// Rights, and guarantees about the check.
    pub access: u32,
    pub unmaps: bool,
}

impl Change {
    /// Physical address and rights of a byte.
    fn shows(&self, domain: usize, at: u32) -> Option<(u32, u32)> {
        let offset = at.wrapping_sub(self.at);
        (self.target == domain && offset < self.bytes)
            .then(|| (self.physical.wrapping_add(offset), self.access & RIGHTS))
    }

    /// Every granule: its address, its physical one, and its rights.
    pub fn cells(&self) -> impl Iterator<Item = (u32, u32, u32)> + use<> {
        let Change { at, physical, access, .. } = *self;
        self.granules().map(move |granule| (granule, physical + (granule - at), access & RIGHTS))
    }

    fn granules(&self) -> impl Iterator<Item = u32> + use<> {
        (self.at / GRANULE..self.at.saturating_add(self.bytes) / GRANULE).map(|index| index * GRANULE)
    }
}

/// A change that has begun and whose answer nobody has.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    pub change: Change,
    /// It may be done; if not, it will be refused, and nothing of it may be seen before that.
    pub admitted: bool,
    /// Its caller goes on with it; otherwise it was stopped, and nobody is told.
    pub owner: Option<u8>,
    /// The target was restarted meanwhile, which may have undone it.
    pub doubtful: bool,
}

/// A capability to a domain or to frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// True if it is to frames; the number of the domain or the frames.
    pub object: (bool, u32),
    pub rights: u8,
    pub valid: bool,
}

/// Answer that a look at memory must get.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// It is surely there.
    pub sure: Option<u32>,
    /// It may be there, at one of these.
    pub may: Vec<u32>,
}

pub struct Model {
    pub up: [bool; DOMAINS as usize],
    pub fault: [Option<(u8, u32)>; DOMAINS as usize],
    pub typed: Vec<Typed>,
    pub begun: Vec<Begun>,
    areas: Vec<Area>,
    cells: Vec<BTreeMap<u32, Cell>>,
    caps: Vec<BTreeMap<u32, Held>>,
    initial: BTreeMap<u32, Held>,
    revoked: Vec<(bool, u32)>,
}

const ALL: usize = DOMAINS as usize;

impl Model {
    /// The model of a system that begins, with these areas.
    pub fn new(areas: Vec<Area>) -> Model {
        let held = |object| Held { object, rights: rights::ALL, valid: true };
        let domains = (0..DOMAINS).map(|index| (domain_slot(index), held((false, index))));
        let initial: BTreeMap<u32, Held> =
            domains.chain((0..2).map(|index| (pool_slot(index), held((true, index))))).collect();
        Model {
            up: [true; ALL],
            fault: [None; ALL],
            typed: vec![Typed::Untyped; (POOL_BYTES / GRANULE) as usize],
            begun: Vec::new(),
            areas,
            cells: vec![BTreeMap::new(); ALL],
            caps: vec![initial.clone(); ALL],
            initial,
            revoked: Vec::new(),
        }
    }

    /// What a byte of a domain must be.
    pub fn expected(&self, domain: usize, at: u32, kind: AccessKind) -> Expected {
        let right = match kind {
            AccessKind::Read => abi::access::READ,
            AccessKind::Write => abi::access::WRITE,
            AccessKind::Exec => abi::access::EXECUTE,
        };
        let mut found = Expected::default();
        let own = |area: &&Area| area.domain as usize == domain && at.wrapping_sub(area.base) < area.bytes;
        if let Some(area) = self.areas.iter().find(own) {
            let flag = [area::READ, area::WRITE, area::EXECUTE][kind as usize];
            let physical = (area.flags & flag != 0).then(|| area.physical + (at - area.base));
            // A domain has only those parts of a demand area that it has made regions of.
            match physical {
                Some(physical) if area.flags & area::DEMAND != 0 => found.may.push(physical),
                _ => found.sure = physical,
            }
            return found;
        }
        let base = at & !(GRANULE - 1);
        let cell = self.cells[domain].get(&base).filter(|cell| cell.access & right != 0);
        let changes = || {
            self.begun
                .iter()
                .filter(|begun| begun.admitted)
                .filter_map(|begun| Some((begun, begun.change.shows(domain, at)?)))
        };
        if let Some(cell) = cell {
            let physical = cell.physical + (at - base);
            let leaves = cell.late || changes().any(|(begun, _)| begun.change.unmaps);
            if leaves { found.may.push(physical) } else { found.sure = Some(physical) }
        }
        let comes = changes().filter(|(begun, (_, access))| !begun.change.unmaps && access & right != 0);
        found.may.extend(comes.map(|(_, (physical, _))| physical));
        found
    }

    /// Returns true if a physical byte is part of the frames, and is no memory that may be mapped.
    pub fn is_unmappable(&self, physical: u32) -> bool {
        let offset = physical.wrapping_sub(POOL_BASE);
        offset < POOL_BYTES && self.typed[(offset / GRANULE) as usize] != Typed::Shared
    }

    /// A capability that a handle of a domain gives, with at least these rights.
    pub fn held(&self, domain: usize, slot: u32, needed: u8) -> Option<Held> {
        let held = self.caps[domain].get(&slot)?;
        (held.valid && held.rights & needed == needed).then_some(*held)
    }

    /// The object of such a capability, if it is to a domain or, otherwise, to frames.
    pub fn object(&self, domain: usize, slot: u32, frames: bool, needed: u8) -> Option<u32> {
        self.held(domain, slot, needed).filter(|held| held.object.0 == frames).map(|held| held.object.1)
    }

    /// Returns true if a slot holds nothing that the model knows of, valid or not.
    pub fn is_empty(&self, domain: usize, slot: u32) -> bool {
        slot < SLOTS && !self.caps[domain].contains_key(&slot)
    }

    pub fn put(&mut self, domain: usize, slot: u32, held: Held) {
        self.caps[domain].insert(slot, held);
    }

    pub fn delete(&mut self, domain: usize, slot: u32) {
        self.caps[domain].remove(&slot);
    }

    pub fn revoke(&mut self, domain: usize, slot: u32, object: (bool, u32)) {
        self.revoked.push(object);
        for (holder, caps) in self.caps.iter_mut().enumerate() {
            let others = caps.iter_mut().filter(|(at, held)| held.object == object && (holder, **at) != (domain, slot));
            others.for_each(|(_, held)| held.valid = false);
        }
    }

    /// Part of the frames in a state, all of it.
    pub fn all_typed(&self, offset: u32, bytes: u32, state: Typed) -> bool {
        let end = u64::from(offset) + u64::from(bytes);
        let within = bytes > 0 && (offset | bytes).is_multiple_of(GRANULE) && end <= u64::from(POOL_BYTES);
        within
            && self.typed[(offset / GRANULE) as usize..(end / u64::from(GRANULE)) as usize]
                .iter()
                .all(|is| *is == state)
    }

    pub fn set_typed(&mut self, offset: u32, bytes: u32, state: Typed) {
        self.typed[(offset / GRANULE) as usize..((offset + bytes) / GRANULE) as usize].fill(state);
    }

    /// How many domains surely find a part of the frames.
    pub fn members(&self, offset: u32, bytes: u32) -> usize {
        let within = |cell: &Cell| cell.physical.wrapping_sub(POOL_BASE.wrapping_add(offset)) < bytes;
        (0..ALL).filter(|domain| self.sure_cells(*domain).any(|(_, cell)| within(&cell))).count()
    }

    fn sure_cells(&self, domain: usize) -> impl Iterator<Item = (u32, Cell)> {
        let leaves = move |at: u32| {
            let unmaps = |begun: &Begun| begun.admitted && begun.change.unmaps;
            self.begun.iter().any(|begun| unmaps(begun) && begun.change.shows(domain, at).is_some())
        };
        let cells = self.cells[domain].iter().map(|(at, cell)| (*at, *cell));
        // What a stopped domain had, a restart may have taken away already.
        cells.filter(move |(at, cell)| self.up[domain] && !cell.late && !leaves(*at))
    }

    /// Where domains find frames, to look there.
    pub fn mapped(&self, domain: usize) -> impl Iterator<Item = u32> {
        self.cells[domain].keys().copied()
    }

    /// Returns true if a change may be done, as far as memory goes.
    pub fn admits(&self, change: &Change) -> bool {
        let offset = change.physical.wrapping_sub(POOL_BASE);
        let cells = &self.cells[change.target];
        if change.unmaps {
            let same = |at: u32| {
                let shown = cells.get(&at).map(|cell| (cell.physical, cell.access));
                let comes = || {
                    self.begun.iter().any(|begun| {
                        !begun.change.unmaps && begun.change.shows(change.target, at) == change.shows(change.target, at)
                    })
                };
                shown == change.shows(change.target, at) || comes()
            };
            return change.granules().all(same);
        }
        let exact =
            [abi::access::READ, abi::access::READ | abi::access::WRITE, abi::access::READ | abi::access::EXECUTE];
        let (first, end) = (change.at, change.at.saturating_add(change.bytes));
        let own = |area: &Area| {
            area.domain as usize == change.target && area.base < end && first < area.base.saturating_add(area.bytes)
        };
        exact.contains(&(change.access & RIGHTS))
            && (self.all_typed(offset, change.bytes, Typed::Shared) || self.is_own(change))
            && !self.areas.iter().any(own)
            && !self.sure_cells(change.target).any(|(at, _)| at < end && first - at.min(first) < GRANULE)
    }

    /// Returns true if memory is all of an area of the domain for which it is to be mapped: no
    /// other domain may have such memory.
    fn is_own(&self, change: &Change) -> bool {
        let within = |area: &&Area| {
            let offset = change.physical.wrapping_sub(area.physical);
            area.domain as usize == change.target && offset < area.bytes && change.bytes <= area.bytes - offset
        };
        self.areas.iter().any(|area| within(&area))
    }

    /// A change was done; `there` says of what is in doubt whether it is, by its address, its physical one, and its rights.
    pub fn done(&mut self, change: Change, doubtful: bool, there: impl Fn(u32, u32, u32) -> bool) {
        let late = !self.up[change.target];
        for at in change.granules() {
            let (physical, access) = (change.physical + (at - change.at), change.access & RIGHTS);
            if change.unmaps {
                self.cells[change.target].remove(&at);
            } else if !doubtful || there(at, physical, access) {
                self.cells[change.target].insert(at, Cell { physical, access, late });
            }
        }
    }

    /// A domain runs again: nothing of its former life is left.
    pub fn restarted(&mut self, domain: usize, there: impl Fn(u32, u32, u32) -> bool) {
        self.up[domain] = true;
        self.cells[domain].retain(|at, cell| core::mem::take(&mut cell.late) && there(*at, cell.physical, cell.access));
        self.begun.iter_mut().filter(|begun| begun.change.target == domain).for_each(|begun| begun.doubtful = true);
        let mut caps = BTreeMap::new();
        for (slot, initial) in &self.initial {
            let newer = self.caps[domain].get(slot).filter(|held| held.valid && held.object == initial.object);
            if !self.revoked.contains(&initial.object) {
                caps.insert(*slot, *initial);
            } else if let Some(newer) = newer {
                caps.insert(*slot, *newer);
            }
        }
        self.caps[domain] = caps;
    }
}
