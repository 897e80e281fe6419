//! Admission and release.

use super::{Account, Frames, Grant, Ledger, NotThere, Range, Request, Wanted};
use crate::platform::{Bound, Meaning};
use crate::refusal::{Change, Refusal, Rule};
use crate::temporal::{AccessLevel, MemoryClass};

/// Nodes by which a table grows at least: with nodes of 288 bytes, an extent of 2 KiB.
const GROWTH_NODES: u32 = 7;

const fn refuse(rule: Rule, asked: u32, left: u32) -> Refusal {
    Refusal { rule, asked, left, change: Change::None }
}

impl<const D: usize, const P: usize> Ledger<D, P> {
    /// Opens the account of the next domain: its table of `table_bytes` (0 if nothing is paged) in `class`, the slots that paging
    /// keeps at least (0: what an instruction needs), and its miss budget (`u32::MAX`: none). Returns its number.
    ///
    /// # Errors
    /// [`Rule::Domain`] when there are `D`, [`Rule::TableMemory`] when the class has not so much left.
    pub fn open(&mut self, class: MemoryClass, table_bytes: u32, paged_slots: u8, misses: u32) -> Result<u8, Refusal> {
        let Some(account) = self.accounts.get_mut(self.domains) else {
            return Err(refuse(Rule::Domain, self.domains as u32 + 1, D as u32));
        };
        let memory = &mut self.tables[usize::from(class != MemoryClass::Tcm)];
        if table_bytes > memory.left() {
            return Err(refuse(Rule::TableMemory, table_bytes, memory.left()));
        }
        memory.used += table_bytes;
        *account = Account { table_class: class, paged_slots, ..Account::EMPTY };
        account.table.total = table_bytes;
        account.misses.total = misses;
        self.domains += 1;
        Ok((self.domains - 1) as u8)
    }

    /// Admits a request, or says why not and what would be admitted.
    ///
    /// # Errors
    /// [`Refusal`]; nothing has changed then.
    ///
    /// # Time complexity
    /// A constant number of takes in each pool: one for the request, and at most eight for the search of a change.
    pub fn admit(&mut self, request: &Request, frames: &mut impl Frames) -> Result<Grant, Refusal> {
        match self.decide(request, frames) {
            Ok(grant) => {
                self.enter(&grant);
                Ok(grant)
            }
            Err(refusal) => Err(Refusal { change: self.smallest_change(request, &refusal, frames), ..refusal }),
        }
    }

    /// The decision. Frames are taken when it is a grant; the ledger itself is as before.
    pub(super) fn decide(&self, request: &Request, frames: &mut impl Frames) -> Result<Grant, Refusal> {
        let domain = usize::from(request.domain);
        let Some(account) = self.accounts().get(domain) else {
            return Err(refuse(Rule::Domain, u32::from(request.domain), self.domains as u32));
        };
        if request.frames.is_some_and(|wanted| wanted.bytes == 0) {
            return Err(refuse(Rule::Size, 0, 1));
        }
        let meaning = self.platform.meaning(request.spec);
        let meaning = meaning.map_err(|reason| refuse(Rule::Spec(reason), request.spec.bits(), 0))?;
        let (bound, registers) = self.checked(account, request, meaning)?;
        let left = account.misses.left();
        if request.misses > left {
            return Err(refuse(Rule::Misses, request.misses, left));
        }
        let table_bytes = if registers == 0 { request.table_bytes } else { 0 };
        let table = self.table_growth(account, table_bytes, frames)?;
        let found = match &request.frames {
            None => None,
            Some(wanted) => match self.find(request.spec.data, wanted, frames) {
                Ok(range) => Some(range),
                Err(refusal) => {
                    table.into_iter().for_each(|range| frames.give(range));
                    return Err(refusal);
                }
            },
        };
        let Request { domain, spec, code, misses, .. } = *request;
        Ok(Grant { domain, spec, bound, code, registers, table_bytes, misses, frames: found, table })
    }

    /// Level and registers: the bound, and how many are pinned.
    fn checked(&self, account: &Account, request: &Request, meaning: Meaning) -> Result<(Bound, u8), Refusal> {
        let paged_slots = |code: bool, data: bool| match self.platform.paged_slots(code, data) {
            0 => 0,
            least => u32::from(least.max(account.paged_slots)),
        };
        let (all, pinned) = (u32::from(self.platform.registers), u32::from(account.pinned));
        match meaning {
            Meaning::PinnedRegion(bound) => {
                let left = all - pinned - paged_slots(account.code > 0, account.data > 0);
                let asked = u32::from(request.registers.max(1));
                if asked > left { Err(refuse(Rule::PinnedSlots, asked, left)) } else { Ok((bound, asked as u8)) }
            }
            Meaning::Nodes(class, bound) => {
                let nearer = account.table_class as u8 <= class as u8;
                let have = self.bound_of(account.table_class).unwrap_or(bound);
                if !nearer {
                    return Err(refuse(Rule::TableLevel, request.spec.access as u32, have.level as u32));
                }
                let asked = paged_slots(request.code || account.code > 0, true);
                let left = all - pinned;
                if asked > left { Err(refuse(Rule::PagedSlots, asked, left)) } else { Ok((have, 0)) }
            }
            Meaning::Refused(reason) => Err(refuse(Rule::Spec(reason), request.spec.bits(), 0)),
        }
    }

    /// What a table in memory of this class promises.
    fn bound_of(&self, class: MemoryClass) -> Option<Bound> {
        let strongest_first = AccessLevel::ALL.into_iter().rev();
        strongest_first.map(|level| self.platform.levels[level as usize]).find_map(|meaning| match meaning {
            Meaning::Nodes(of, bound) if of == class => Some(bound),
            _ => None,
        })
    }

    /// Memory that the table has to be given before it holds `bytes` more.
    fn table_growth(&self, account: &Account, bytes: u32, frames: &mut impl Frames) -> Result<Option<Range>, Refusal> {
        let left = account.table.left();
        if bytes <= left {
            return Ok(None);
        }
        let step = GROWTH_NODES * u32::from(self.platform.node_bytes);
        let Some(growth) = (bytes - left).checked_next_multiple_of(step) else {
            return Err(refuse(Rule::TableMemory, bytes, left));
        };
        let wanted = Wanted { bytes: growth, align: 1, at: None };
        match self.find(Some(account.table_class), &wanted, frames) {
            Ok(range) => Ok(Some(range)),
            Err(_) => Err(refuse(Rule::TableMemory, bytes, left)),
        }
    }

    /// Takes memory from the first pool that has it; of any class, or of the one given.
    fn find(&self, class: Option<MemoryClass>, wanted: &Wanted, frames: &mut impl Frames) -> Result<Range, Refusal> {
        let (mut largest, mut clean, mut dirty) = (0, 0u32, 0u32);
        for (number, pool) in self.pools().iter().enumerate() {
            if class.is_some_and(|class| class != pool.class) {
                continue;
            }
            match frames.take(number as u8, wanted) {
                Ok(range) => return Ok(range),
                Err(NotThere { largest: here }) => largest = largest.max(here),
            }
            clean = clean.max(pool.clean.left());
            dirty = dirty.max(pool.dirty);
        }
        let after_cleaning = clean.saturating_add(dirty);
        let rule = if dirty > 0 && after_cleaning >= wanted.bytes { Rule::FramesNotClean } else { Rule::Frames };
        Err(refuse(rule, wanted.bytes, largest))
    }

    /// Carries a decision out.
    fn enter(&mut self, grant: &Grant) {
        let account = &mut self.accounts[usize::from(grant.domain)];
        account.pinned += grant.registers;
        if grant.registers == 0 {
            *if grant.code { &mut account.code } else { &mut account.data } += 1;
        }
        // Whole nodes: what is left of the memory holds nothing.
        let node_bytes = u32::from(self.platform.node_bytes);
        account.table.total += grant.table.map_or(0, |range| range.bytes - range.bytes % node_bytes);
        account.table.used += grant.table_bytes;
        account.misses.used += grant.misses;
        account.held += grant.frames.map_or(0, |range| range.bytes);
        for range in grant.frames.iter().chain(&grant.table) {
            self.pools[usize::from(range.pool)].clean.used += range.bytes;
        }
    }

    /// Takes a grant back. Its frames are dirty, at the cost of the domain, until [`Ledger::cleaned`].
    ///
    /// # Panics
    /// When the grant was not made by this ledger, or is released a second time and the account shows it.
    pub fn release(&mut self, grant: &Grant) {
        let account = &mut self.accounts[usize::from(grant.domain)];
        account.pinned -= grant.registers;
        if grant.registers == 0 {
            *if grant.code { &mut account.code } else { &mut account.data } -= 1;
        }
        account.table.used -= grant.table_bytes;
        account.misses.used -= grant.misses;
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
