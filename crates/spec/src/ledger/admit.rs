//! Admission and release.

use super::plan::{Plan, refuse};
use super::quota::Missing;
use super::{Account, Charge, Frames, Grant, Ledger, Opening, Range, Request, Resource, Wanted};
use crate::platform::{Bound, TablePlace};
use crate::refusal::{Change, Refusal, Rule};

/// Place of a request's tables, and the bytes that they take.
struct Table {
    place: TablePlace,
    bytes: u32,
    /// Memory to be given to them first.
    growth: Option<Range>,
}

/// An account that cannot be opened is no request, for which a change could be looked for.
fn unopened(rule: Rule, asked: u32, left: u32) -> Refusal {
    Refusal { change: Change::None, ..refuse(rule, asked, left) }
}

impl<const D: usize, const P: usize> Ledger<D, P> {
    /// Opens the account of the next domain. Returns its number.
    ///
    /// # Errors
    /// [`Rule::Domain`] when there are `D`, [`Rule::TableMemory`] when a place has not so much left.
    pub fn open(&mut self, opening: &Opening) -> Result<u8, Refusal> {
        let Some(account) = self.accounts.get_mut(self.domains) else {
            return Err(unopened(Rule::Domain, self.domains as u32 + 1, D as u32));
        };
        let Opening { root, mut tables, paged_slots, misses } = *opening;
        *account = Account { root, paged_slots, ..Account::EMPTY };
        account.slots.total = self.platform.slots().count();
        account.misses.total = misses;
        for (quantity, bytes) in account.tables.iter_mut().zip(tables) {
            quantity.total = bytes;
        }
        tables[root as usize] = tables[root as usize].saturating_add(self.platform.root_bytes());
        if let Some((bytes, memory)) = tables.iter().zip(&self.tables).find(|(bytes, memory)| **bytes > memory.left()) {
            return Err(unopened(Rule::TableMemory, *bytes, memory.left()));
        }
        for (memory, bytes) in self.tables.iter_mut().zip(tables) {
            memory.used += bytes;
        }
        self.domains += 1;
        Ok((self.domains - 1) as u8)
    }

    /// Admits a request, or says why not and what would be admitted.
    ///
    /// # Errors
    /// [`Refusal`]; nothing has changed then.
    ///
    /// # Time complexity
    /// That of [`Ledger::admit_unexplained`], and of the whole search for a change where it is refused: some twenty times as much.
    pub fn admit(&mut self, request: &Request, frames: &mut impl Frames) -> Result<Grant, Refusal> {
        self.admit_unexplained(request, frames)
            .map_err(|refusal| Refusal { change: self.smallest_change(request, &refusal, frames), ..refusal })
    }

    /// Admits a request, or says why not, without a search for what would be admitted: the change of the refusal is
    /// [`Change::Unknown`], and [`Ledger::explain`] goes on from there.
    ///
    /// # Errors
    /// [`Refusal`]; nothing has changed then.
    ///
    /// # Time complexity
    /// One decision: at most two takes in each pool.
    pub fn admit_unexplained(&mut self, request: &Request, frames: &mut impl Frames) -> Result<Grant, Refusal> {
        let grant = self.decide(request, frames)?;
        self.enter(&grant);
        Ok(grant)
    }

    /// The decision. Frames are taken when it is a grant; the ledger itself is as before.
    #[inline(never)]
    pub(super) fn decide(&self, request: &Request, frames: &mut impl Frames) -> Result<Grant, Refusal> {
        let Request { domain, spec, code, misses, .. } = *request;
        let Some(account) = self.accounts().get(usize::from(domain)) else {
            return Err(refuse(Rule::Domain, u32::from(domain), self.domains as u32));
        };
        if request.frames.is_some_and(|wanted| wanted.bytes == 0) {
            return Err(refuse(Rule::Size, 0, 1));
        }
        let meaning = self.platform.meaning(spec).map_err(|reason| refuse(Rule::Spec(reason), spec.bits(), 0))?;
        let plan = self.plan(account, request, meaning)?;
        let left = account.misses.left();
        if misses > left {
            return Err(refuse(Rule::Misses, misses, left));
        }
        let table = self.table(account, request, &plan, frames)?;
        let found = plan.wanted.map(|wanted| self.find(request, &wanted, plan.piece, table.growth, frames)).transpose();
        let found = match found {
            Ok(found) => found,
            Err(refusal) => {
                table.growth.into_iter().for_each(|range| frames.give(range));
                return Err(refusal);
            }
        };
        let (slots, place) = (plan.slots, table.place);
        Ok(Grant {
            charge: Charge { domain, code, slots, place, table_bytes: table.bytes, misses, frames: found },
            spec,
            bound: self.promised(domain, plan.pinned, place),
            table: table.growth,
            independence: spec.independent.then(|| self.platform.independence(plan.pinned, place)),
            effort: self.platform.effort(plan.descriptors),
        })
    }

    /// The bound that is promised for memory of a domain that is pinned, or whose tables lie in a place: then the weaker of the domain's
    /// first-level table and the others decides. `None` when nothing is promised.
    pub fn promised(&self, domain: u8, pinned: bool, place: TablePlace) -> Option<Bound> {
        if pinned {
            return Some(self.platform.pinned());
        }
        let account = self.accounts().get(usize::from(domain))?;
        let (root, own) = (self.platform.bound_of(account.root)?, self.platform.bound_of(place)?);
        Some(if root.cycles > own.cycles { root } else { own })
    }

    /// The first place whose tables have room, or can be given some: never one that keeps less than was asked.
    fn table(
        &self,
        account: &Account,
        request: &Request,
        plan: &Plan,
        frames: &mut impl Frames,
    ) -> Result<Table, Refusal> {
        let mut refused = None;
        for place in plan.places.iter().copied() {
            let Some(bytes) = frames.table_bytes(request, place, plan.wanted.as_ref(), plan.piece) else { continue };
            match self.table_growth(request.domain, place, bytes, frames) {
                Ok(growth) => return Ok(Table { place, bytes, growth }),
                // The refusal says the most that is left in any place.
                Err(refusal) => {
                    let first = refused.get_or_insert(refusal);
                    first.left = first.left.max(refusal.left);
                }
            }
        }
        let none = Table { place: account.root, bytes: 0, growth: None };
        if plan.places.is_empty() { Ok(none) } else { Err(refused.unwrap_or(refuse(Rule::Addresses, 1, 0))) }
    }

    /// Memory that the domain's tables in a place have to be given before they hold `bytes` more.
    #[inline(never)]
    fn table_growth(
        &self,
        domain: u8,
        place: TablePlace,
        bytes: u32,
        frames: &mut impl Frames,
    ) -> Result<Option<Range>, Refusal> {
        let left = self.accounts()[usize::from(domain)].tables[place as usize].left();
        if bytes <= left {
            return Ok(None);
        }
        let refused = refuse(Rule::TableMemory, bytes, left);
        let growth = self.platform.growth(bytes - left).ok_or(refused)?;
        let wanted = Wanted { bytes: growth, align: 1, at: None };
        // The refusal of a quota stands only where nothing else is in the way.
        let (mut within, mut missing) = (None, false);
        for (number, _) in (0u8..).zip(self.pools()).filter(|(_, pool)| TablePlace::of(pool.class) == place) {
            match self.take(domain, number, &wanted, 0, None, frames) {
                Ok(range) => return Ok(Some(range)),
                Err(Missing::Quota(here)) => within = within.max(Some(here)),
                Err(Missing::Memory(_)) => missing = true,
            }
        }
        let over = within.filter(|_| !missing);
        Err(over.map_or(refused, |within| refuse(Rule::Quota, growth, within)))
    }

    /// Takes memory from the first pool that has it and in which the domain may have so much; of
    /// any class, or of the one given. `growth` is what the request takes for tables already.
    #[inline(never)]
    fn find(
        &self,
        request: &Request,
        wanted: &Wanted,
        piece: u32,
        growth: Option<Range>,
        frames: &mut impl Frames,
    ) -> Result<Range, Refusal> {
        let (mut largest, mut clean, mut dirty) = (0, 0u32, 0u32);
        let (mut within, mut over) = (0, false);
        for (number, pool) in (0u8..).zip(self.pools()) {
            if request.spec.data.is_some_and(|class| class != pool.class) {
                continue;
            }
            match self.take(request.domain, number, wanted, piece, growth, frames) {
                Ok(range) => return Ok(range),
                Err(Missing::Memory(there)) => largest = largest.max(there.largest),
                Err(Missing::Quota(here)) => {
                    (within, over) = (within.max(here), true);
                    continue;
                }
            }
            clean = clean.max(pool.clean.left());
            dirty = dirty.max(pool.dirty);
        }
        let none = if self.platform.scheme().scatters { Rule::Pages } else { Rule::Frames };
        let rule = if dirty > 0 && clean.saturating_add(dirty) >= wanted.bytes { Rule::FramesNotClean } else { none };
        // The refusal names the quota when nothing else is in the way.
        if over && largest <= within {
            return Err(refuse(Rule::Quota, wanted.bytes, within));
        }
        Err(refuse(rule, wanted.bytes, largest))
    }

    /// Carries a decision out.
    fn enter(&mut self, grant: &Grant) {
        let Charge { domain, place, frames, .. } = grant.charge;
        // Whole nodes or tables: what is left of the memory holds nothing.
        let unit = self.platform.table_unit();
        let given = grant.table.map_or(0, |range| range.bytes - range.bytes % unit);
        self.quantity(domain, Resource::Tables(place)).total += given;
        self.count(&grant.charge, false);
        self.accounts[usize::from(domain)].held += frames.map_or(0, |range| range.bytes);
        for range in frames.into_iter().chain(grant.table) {
            self.pools[usize::from(range.pool)].clean.used += range.bytes;
            self.charge(domain, range);
        }
    }

    /// Takes a grant back. Its frames are dirty, at the cost of the domain, until [`Ledger::cleaned`].
    ///
    /// # Panics
    /// When the grant was not made by this ledger, or is released a second time and the account shows it.
    pub fn release(&mut self, charge: &Charge) {
        self.count(charge, true);
        let account = &mut self.accounts[usize::from(charge.domain)];
        if let Some(range) = charge.frames {
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
        self.discharge(domain, range);
    }
}
