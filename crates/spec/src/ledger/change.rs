//! The smallest change after which a refused request is admitted. Each candidate is decided like a request of its own, so that
//! what is proposed is admitted, nothing else having changed.
//!
//! The search is a sequence of steps of at most one decision each. A caller with a bound to keep takes one step at a time
//! ([`Ledger::explain`]); on the host, [`Ledger::admit`] takes all of them.

use super::{Frames, Grant, Ledger, Request, Wanted};
use crate::platform::PAGE_BYTES;
use crate::refusal::{Change, Refusal, Rule};
use crate::temporal::{AccessLevel, TemporalSpec};

/// Specifications that are tried: with what is asked for in part, without constant time, of any class, and of each other level.
const SPECS: u32 = 3 + 2 * (AccessLevel::ALL.len() as u32 - 1);

/// Sizes that are tried: what the fullest pool could give at most, and half of each before, from pools of 4 MiB down to a page.
const SIZES: u32 = 11;

/// The steps of the search, in order: the request for what is left, then specifications that promise something, then what can be
/// given back (for quotas, of each pool), then less memory, then specifications that promise nothing. Giving something back comes before
/// giving the promise up.
const FIRST_PROMISED: u32 = 1;
const FIRST_RELEASE: u32 = FIRST_PROMISED + SPECS;

impl<const D: usize, const P: usize> Ledger<D, P> {
    const FIRST_SIZE: u32 = FIRST_RELEASE + if P > 0 { P as u32 } else { 1 };
    const FIRST_UNPROMISED: u32 = Self::FIRST_SIZE + SIZES;
    const STEPS: u32 = Self::FIRST_UNPROMISED + SPECS;

    /// One step of the search for the smallest change of a request that [`Ledger::admit_unexplained`] has refused: decides the
    /// request again, for much may have changed since, and one candidate. The first step is 0, and [`Change::Unknown`] in the
    /// refusal names the next one; any number will do, and beyond the last step there is no change. Nothing changes.
    ///
    /// # Errors
    /// The refusal, as things are now. `Ok` when the request would be admitted.
    ///
    /// # Time complexity
    /// Two decisions: at most four takes in each pool.
    pub fn explain(&mut self, request: &Request, step: u32, frames: &mut impl Frames) -> Result<(), Refusal> {
        let Err(refusal) = self.decided(request, frames) else { return Ok(()) };
        Err(Refusal { change: self.search(request, &refusal, step, frames), ..refusal })
    }

    /// The change that all steps of the search lead to.
    pub(super) fn smallest_change(&mut self, request: &Request, refusal: &Refusal, frames: &mut impl Frames) -> Change {
        let mut change = Change::Unknown(0);
        while let Change::Unknown(step) = change {
            change = self.search(request, refusal, step, frames);
        }
        change
    }

    /// Decides the first candidate from a step on.
    fn search(&mut self, request: &Request, refusal: &Refusal, step: u32, frames: &mut impl Frames) -> Change {
        // Bounded: most steps have no candidate for most refusals, and finding that out costs no decision.
        for at in step..Self::STEPS {
            let found = match at {
                0 => self.less(request, refusal, frames),
                FIRST_PROMISED..FIRST_RELEASE => self.other_spec(request, refusal, at - FIRST_PROMISED, true, frames),
                _ if at < Self::FIRST_SIZE => self.less_held(request, refusal, at - FIRST_RELEASE, frames),
                _ if at < Self::FIRST_UNPROMISED => self.smaller(request, refusal, at - Self::FIRST_SIZE, frames),
                _ => self.other_spec(request, refusal, at - Self::FIRST_UNPROMISED, false, frames),
            };
            match found {
                Candidate::None => {}
                Candidate::Refused => return Change::Unknown(at + 1),
                Candidate::Admitted(change) => return change,
            }
        }
        Change::None
    }

    /// The request for no more than what is left.
    fn less(&self, request: &Request, refusal: &Refusal, frames: &mut impl Frames) -> Candidate {
        let left = refusal.left;
        let (changed, change) = match refusal.rule {
            Rule::Misses => (Request { misses: left, ..*request }, Change::Misses(left)),
            Rule::Frames | Rule::FramesNotClean | Rule::Pages | Rule::Quota if left > 0 => {
                (with_bytes(request, left), Change::Bytes(left))
            }
            _ => return Candidate::None,
        };
        Candidate::of(change, self.admits(&changed, frames))
    }

    /// The request for less, where the refusal does not say how much less: addresses, tables, locked entries and descriptors are not counted in
    /// bytes, and of what is left one piece may be too much.
    fn smaller(&self, request: &Request, refusal: &Refusal, halvings: u32, frames: &mut impl Frames) -> Candidate {
        let helps = match refusal.rule {
            Rule::Addresses | Rule::TableMemory | Rule::LockSlots | Rule::ConstantTime => true,
            Rule::Frames | Rule::FramesNotClean | Rule::Pages => refusal.left > 0,
            _ => false,
        };
        let (Some(wanted), true) = (request.frames, helps) else { return Candidate::None };
        let most = self.pools().iter().map(|pool| pool.clean.left()).max().unwrap_or(0);
        let bytes = most.min(wanted.bytes.saturating_sub(1)) >> halvings;
        // Whole pages, or what is less than one; the halves below a page have been tried.
        let bytes = if bytes >= PAGE_BYTES { bytes - bytes % PAGE_BYTES } else { bytes };
        if bytes == 0 || halvings > 0 && bytes < PAGE_BYTES {
            return Candidate::None;
        }
        Candidate::of(Change::Bytes(bytes), self.admits(&with_bytes(request, bytes), frames))
    }

    /// The request with another specification; with `promised`, one for which something is
    /// promised.
    fn other_spec(
        &self,
        request: &Request,
        refusal: &Refusal,
        index: u32,
        promised: bool,
        frames: &mut impl Frames,
    ) -> Candidate {
        // No specification helps a request without a domain, for nothing, or with too many misses.
        if matches!(refusal.rule, Rule::Domain | Rule::Size | Rule::Misses) {
            return Candidate::None;
        }
        let Some(spec) = self.near_spec(request.spec, index) else { return Candidate::None };
        let granted = self.decided(&Request { spec, ..*request }, frames);
        Candidate::of(Change::Spec(spec), granted.is_ok_and(|grant| grant.bound.is_some() || !promised))
    }

    /// The specifications near to the one asked, the nearest first: with what it gets only in part, without what cannot be kept, then
    /// other levels, the stronger one first. `None` where there is none, or it has been tried.
    fn near_spec(&self, asked: TemporalSpec, index: u32) -> Option<TemporalSpec> {
        let in_part = asked.independent && self.platform.scheme().shares_checks;
        let partly = TemporalSpec { allow_partial: asked.allow_partial || in_part, ..asked };
        let without = TemporalSpec { constant_time: false, ..partly };
        let anywhere = TemporalSpec { data: None, ..without };
        let (spec, before) = match index {
            0 => (partly, asked),
            1 => (without, partly),
            2 => (anywhere, without),
            _ => {
                let (far, own) = ((index - 3) / 2 + 1, asked.access as u32);
                let number = if index % 2 == 1 { own.checked_add(far) } else { own.checked_sub(far) };
                (TemporalSpec { access: AccessLevel::from_number(number?)?, ..without }, asked)
            }
        };
        (spec != before).then_some(spec)
    }

    /// The request after so much of the domain's own is released that it could be admitted; of quotas, in the pool with this index.
    fn less_held(&mut self, request: &Request, refusal: &Refusal, index: u32, frames: &mut impl Frames) -> Candidate {
        match refusal.rule {
            Rule::Quota => self.less_of_pool(request, refusal, index as u8, frames),
            _ if index == 0 => self.less_of_slots_or_tables(request, refusal, frames),
            _ => Candidate::None,
        }
    }

    fn less_of_slots_or_tables(&mut self, request: &Request, refusal: &Refusal, frames: &mut impl Frames) -> Candidate {
        let Some(account) = self.accounts.get_mut(usize::from(request.domain)) else { return Candidate::None };
        let before = (*account, self.slots);
        let missing = refusal.asked.saturating_sub(refusal.left);
        let change = match refusal.rule {
            Rule::PinnedSlots | Rule::PagedSlots if missing <= account.slots.used => {
                account.slots.used -= missing;
                Change::ReleaseRegisters(missing)
            }
            Rule::LockSlots if missing <= account.slots.used => {
                self.slots.used -= missing;
                Change::ReleaseEntries(missing)
            }
            Rule::TableMemory => {
                // Whatever of its tables it gives back has to lie where the most is left, which is what the refusal says.
                let owned: u32 = account.tables.iter().map(|table| table.used).sum();
                let suits = |table: &&mut super::Quantity| {
                    table.left() == refusal.left && missing <= table.used && table.used == owned
                };
                let Some(table) = account.tables.iter_mut().find(suits) else { return Candidate::None };
                table.used -= missing;
                Change::ReleaseTable(missing)
            }
            _ => return Candidate::None,
        };
        let admitted = self.admits(request, frames);
        (self.accounts[usize::from(request.domain)], self.slots) = before;
        Candidate::of(change, admitted)
    }

    /// So many bytes of the domain's own of a pool that, once they are released, its quota covers the request.
    fn less_of_pool(&mut self, request: &Request, refusal: &Refusal, pool: u8, frames: &mut impl Frames) -> Candidate {
        let missing = refusal.asked.saturating_sub(refusal.left);
        if usize::from(pool) >= self.pool_count || missing == 0 || self.quota(request.domain, pool).used < missing {
            return Candidate::None;
        }
        let given = super::Range { pool, base: 0, bytes: missing };
        self.discharge(request.domain, given);
        let admitted = self.admits(request, frames);
        self.charge(request.domain, given);
        Candidate::of(Change::ReleaseBytes(missing), admitted)
    }

    /// Returns true if a request would be admitted now. Nothing changes.
    pub fn admits(&self, request: &Request, frames: &mut impl Frames) -> bool {
        self.decided(request, frames).is_ok()
    }

    /// The grant that would be made now; its memory is given back.
    #[inline(never)]
    fn decided(&self, request: &Request, frames: &mut impl Frames) -> Result<Grant, Refusal> {
        let grant = self.decide(request, frames)?;
        grant.charge.frames.into_iter().chain(grant.table).for_each(|range| frames.give(range));
        Ok(grant)
    }
}

/// The request for so many bytes.
fn with_bytes(request: &Request, bytes: u32) -> Request {
    Request { frames: request.frames.map(|wanted| Wanted { bytes, ..wanted }), ..*request }
}

/// The outcome of one step of the search.
enum Candidate {
    /// There is none at this step.
    None,
    /// It would be refused, or promise nothing where something has to be promised.
    Refused,
    Admitted(Change),
}

impl Candidate {
    fn of(change: Change, admitted: bool) -> Candidate {
        if admitted { Candidate::Admitted(change) } else { Candidate::Refused }
    }
}
