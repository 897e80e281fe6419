//! Admission and release.

use super::ledger::{Account, Constant, Grant, Ledger, Range, Request};
use super::platform::{Meaning, TablePlace};
use crate::platform::Bound;
use crate::refusal::{Change, Refusal, Rule};
use crate::temporal::MemoryClass;

const fn refuse(rule: Rule, asked: u32, left: u32) -> Refusal {
    Refusal { rule, asked, left, change: Change::None }
}

/// How a grant is checked.
struct Checked {
    bound: Option<Bound>,
    locked: u8,
    place: TablePlace,
}

impl<const D: usize, const P: usize> Ledger<D, P> {
    /// Opens the account of the next domain, with its first-level table in this place. Returns its number.
    ///
    /// # Errors
    /// [`Rule::Domain`] when there are `D`, [`Rule::TableMemory`] when the place has no room.
    pub fn open(&mut self, root: TablePlace) -> Result<u8, Refusal> {
        let Some(account) = self.accounts.get_mut(self.domains) else {
            return Err(refuse(Rule::Domain, self.domains as u32 + 1, D as u32));
        };
        let memory = &mut self.tables[root as usize];
        if self.platform.root_bytes > memory.left() {
            return Err(refuse(Rule::TableMemory, self.platform.root_bytes, memory.left()));
        }
        memory.used += self.platform.root_bytes;
        account.root = root;
        self.domains += 1;
        Ok((self.domains - 1) as u8)
    }

    /// Admits a request, or says why not and what would be admitted.
    ///
    /// # Errors
    /// [`Refusal`]; nothing has changed then.
    ///
    /// # Time complexity
    /// O(P), at most ten times.
    pub fn admit(&mut self, request: &Request) -> Result<Grant, Refusal> {
        match self.decide(request) {
            Ok(grant) => {
                self.enter(&grant);
                Ok(grant)
            }
            Err(refusal) => Err(Refusal { change: self.smallest_change(request, &refusal), ..refusal }),
        }
    }

    /// Whether a request would be admitted now. Nothing changes.
    pub fn admits(&self, request: &Request) -> bool {
        self.decide(request).is_ok()
    }

    fn decide(&self, request: &Request) -> Result<Grant, Refusal> {
        let Request { domain, spec, entries, descriptors, frames, .. } = *request;
        let Some(account) = self.accounts().get(usize::from(domain)) else {
            return Err(refuse(Rule::Domain, u32::from(domain), self.domains as u32));
        };
        if entries == 0 || frames == Some(0) {
            return Err(refuse(Rule::Size, 0, 1));
        }
        let meaning = self.platform.meaning(spec).map_err(|reason| refuse(Rule::Spec(reason), spec.bits(), 0))?;
        let most = self.platform.constant_descriptors;
        if spec.constant_time && descriptors > most {
            return Err(refuse(Rule::ConstantTime, descriptors, most));
        }
        let Checked { bound, locked, place } = self.checked(account, request, meaning)?;
        let found = frames.map(|bytes| self.find(spec.data, bytes)).transpose()?;
        let table_bytes = request.tables * self.platform.table_bytes;
        let cleared = frames.unwrap_or(0);
        Ok(Grant {
            domain,
            spec,
            bound,
            locked,
            place,
            table_bytes,
            new_ways: if place == TablePlace::LockedWays { self.new_ways(table_bytes) } else { 0 },
            independence: spec.independent.then(|| self.platform.independence(locked > 0, place)),
            constant: spec.constant_time.then_some(Constant { descriptors, cleared }),
            frames: found,
        })
    }

    /// Ways to lock in addition before so many bytes more of tables are in locked ways.
    fn new_ways(&self, bytes: u32) -> u8 {
        let used = self.table_memory(TablePlace::LockedWays).used;
        (self.platform.ways_for(used + bytes) - self.locked_ways()) as u8
    }

    /// Slots, or the first place that has room for all tables: never one that keeps less than was asked.
    fn checked(&self, account: &Account, request: &Request, meaning: Meaning) -> Result<Checked, Refusal> {
        match meaning {
            Meaning::LockedEntries(bound) => {
                let left = self.slots.left();
                if request.entries > left {
                    return Err(refuse(Rule::LockSlots, request.entries, left));
                }
                // A walk is made once, when the entries are locked: where the tables lie promises nothing.
                let place = self.room(&[TablePlace::OffChip], request)?;
                Ok(Checked { bound: Some(bound), locked: request.entries as u8, place })
            }
            Meaning::Tables(places) => {
                let (have, need) = (account.root.level(), places.first().map_or(account.root.level(), |of| of.level()));
                if have < need {
                    return Err(refuse(Rule::TableLevel, need as u32, have as u32));
                }
                let place = self.room(places, request)?;
                Ok(Checked { bound: self.promise(account.root, place), locked: 0, place })
            }
        }
    }

    /// A walk reads a descriptor of the first-level table and one of the second: the weaker of both decides.
    fn promise(&self, root: TablePlace, place: TablePlace) -> Option<Bound> {
        let (root, own) = (self.platform.bound_of(root)?, self.platform.bound_of(place)?);
        Some(if root.cycles > own.cycles { root } else { own })
    }

    fn room(&self, places: &[TablePlace], request: &Request) -> Result<TablePlace, Refusal> {
        let left = |place: &TablePlace| self.tables[*place as usize].left();
        let asked = u64::from(request.tables) * u64::from(self.platform.table_bytes);
        let found = places.iter().copied().find(|place| u64::from(left(place)) >= asked);
        let most = places.iter().map(left).max().unwrap_or(0);
        found.ok_or(refuse(Rule::TableMemory, u32::try_from(asked).unwrap_or(u32::MAX), most))
    }

    /// The first pool with so much clean memory; of any class, or of the one given.
    fn find(&self, class: Option<MemoryClass>, bytes: u32) -> Result<Range, Refusal> {
        let (mut most, mut after_cleaning) = (0, 0);
        for (number, pool) in (0u8..).zip(self.pools()) {
            if class.is_some_and(|class| class != pool.class) {
                continue;
            }
            if pool.clean.left() >= bytes {
                return Ok(Range { pool: number, bytes });
            }
            most = most.max(pool.clean.left());
            after_cleaning = after_cleaning.max(pool.clean.left() + pool.dirty);
        }
        Err(refuse(if after_cleaning >= bytes { Rule::FramesNotClean } else { Rule::Pages }, bytes, most))
    }

    fn enter(&mut self, grant: &Grant) {
        let account = &mut self.accounts[usize::from(grant.domain)];
        account.locked += grant.locked;
        account.tables[grant.place as usize] += grant.table_bytes;
        self.slots.used += u32::from(grant.locked);
        self.tables[grant.place as usize].used += grant.table_bytes;
        if let Some(range) = grant.frames {
            account.held += range.bytes;
            self.pools[usize::from(range.pool)].clean.used += range.bytes;
        }
    }

    /// Takes a grant back. Its frames are dirty, at the cost of the domain, until [`Ledger::cleaned`].
    ///
    /// # Panics
    /// When the grant was not made by this ledger, or is released a second time and the account shows it.
    pub fn release(&mut self, grant: &Grant) {
        let account = &mut self.accounts[usize::from(grant.domain)];
        account.locked -= grant.locked;
        account.tables[grant.place as usize] -= grant.table_bytes;
        self.slots.used -= u32::from(grant.locked);
        self.tables[grant.place as usize].used -= grant.table_bytes;
        if let Some(range) = grant.frames {
            account.held -= range.bytes;
            account.dirty += range.bytes;
            self.pools[usize::from(range.pool)].dirty += range.bytes;
        }
    }

    /// Memory that the domain had released is clean again and can be granted.
    ///
    /// # Panics
    /// When more is cleaned than was released.
    pub fn cleaned(&mut self, domain: u8, range: Range) {
        self.accounts[usize::from(domain)].dirty -= range.bytes;
        let pool = &mut self.pools[usize::from(range.pool)];
        pool.dirty -= range.bytes;
        pool.clean.used -= range.bytes;
    }
}
