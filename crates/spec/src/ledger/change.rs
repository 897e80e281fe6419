//! The smallest change after which a refused request is admitted. Each candidate is decided like a request of its own, so that
//! what is proposed is admitted, nothing else having changed.

use super::{Frames, Grant, Ledger, Request, Wanted};
use crate::refusal::{Change, Refusal, Rule};
use crate::temporal::{AccessLevel, TemporalSpec};

impl<const D: usize, const P: usize> Ledger<D, P> {
    pub(super) fn smallest_change(&mut self, request: &Request, refusal: &Refusal, frames: &mut impl Frames) -> Change {
        match refusal.rule {
            Rule::Domain | Rule::Size => return Change::None,
            Rule::Misses => {
                let changed = Request { misses: refusal.left, ..*request };
                return if self.admits(&changed, frames) { Change::Misses(refusal.left) } else { Change::None };
            }
            Rule::Frames | Rule::FramesNotClean | Rule::Pages | Rule::Quota if refusal.left > 0 => {
                let wanted = request.frames.map(|wanted| Wanted { bytes: refusal.left, ..wanted });
                if self.admits(&Request { frames: wanted, ..*request }, frames) {
                    return Change::Bytes(refusal.left);
                }
            }
            _ => {}
        }
        // Giving something back comes before giving the promise up.
        if let Some(spec) = self.nearest_spec(request, frames, true) {
            return Change::Spec(spec);
        }
        match self.least_release(request, refusal, frames) {
            Change::None => self.nearest_spec(request, frames, false).map_or(Change::None, Change::Spec),
            change => change,
        }
    }

    /// The specification nearest to the one asked, with a promise if there has to be one: with what it gets only in part, without what
    /// cannot be kept, then other levels, the stronger one first.
    #[inline(never)]
    fn nearest_spec(&self, request: &Request, frames: &mut impl Frames, promised: bool) -> Option<TemporalSpec> {
        let asked = request.spec;
        let in_part = asked.independent && self.platform.pages().is_some();
        let partly = TemporalSpec { allow_partial: asked.allow_partial || in_part, ..asked };
        let without = TemporalSpec { constant_time: false, ..partly };
        let anywhere = TemporalSpec { data: None, ..without };
        let level = |number: Option<usize>| number.and_then(|number| AccessLevel::from_number(number as u32));
        let own = asked.access as usize;
        let nearest =
            (1..AccessLevel::ALL.len()).flat_map(|far| [level(own.checked_add(far)), level(own.checked_sub(far))]);
        let levels = nearest.flatten().map(|access| TemporalSpec { access, ..without });
        let mut others = [partly, without, anywhere].into_iter().chain(levels).filter(|spec| *spec != asked);
        others.find(|spec| {
            self.decided(&Request { spec: *spec, ..*request }, frames)
                .is_some_and(|grant| grant.bound.is_some() || !promised)
        })
    }

    /// So much of the domain's own that, once it is released, the request is admitted.
    fn least_release(&mut self, request: &Request, refusal: &Refusal, frames: &mut impl Frames) -> Change {
        if refusal.rule == Rule::Quota {
            return self.least_given_back(request, refusal, frames);
        }
        let Some(account) = self.accounts.get_mut(usize::from(request.domain)) else { return Change::None };
        let before = (*account, self.slots);
        let missing = refusal.asked.saturating_sub(refusal.left);
        let change = match refusal.rule {
            Rule::PinnedSlots | Rule::PagedSlots if missing <= u32::from(account.pinned) => {
                account.pinned -= missing as u8;
                Change::ReleaseRegisters(missing)
            }
            Rule::LockSlots if missing <= u32::from(account.pinned) => {
                self.slots.used -= missing;
                Change::ReleaseEntries(missing)
            }
            Rule::TableMemory => {
                // Whatever of its tables it gives back has to lie where the most is left, which is what the refusal says.
                let owned: u32 = account.tables.iter().map(|table| table.used).sum();
                let suits = |table: &&mut super::Quantity| {
                    table.left() == refusal.left && missing <= table.used && table.used == owned
                };
                let Some(table) = account.tables.iter_mut().find(suits) else { return Change::None };
                table.used -= missing;
                Change::ReleaseTable(missing)
            }
            _ => return Change::None,
        };
        let admitted = self.admits(request, frames);
        (self.accounts[usize::from(request.domain)], self.slots) = before;
        if admitted { change } else { Change::None }
    }

    /// So many bytes of the domain's own of a pool that, once they are released, its quota covers the request.
    fn least_given_back(&mut self, request: &Request, refusal: &Refusal, frames: &mut impl Frames) -> Change {
        let missing = refusal.asked.saturating_sub(refusal.left);
        for pool in 0..self.pool_count as u8 {
            if missing == 0 || self.quota(request.domain, pool).used < missing {
                continue;
            }
            let given = super::Range { pool, base: 0, bytes: missing };
            self.discharge(request.domain, given);
            let admitted = self.admits(request, frames);
            self.charge(request.domain, given);
            if admitted {
                return Change::ReleaseBytes(missing);
            }
        }
        Change::None
    }

    /// Whether a request would be admitted now. Nothing changes.
    pub fn admits(&self, request: &Request, frames: &mut impl Frames) -> bool {
        self.decided(request, frames).is_some()
    }

    /// What would be granted now, but for the memory, which is given back.
    #[inline(never)]
    fn decided(&self, request: &Request, frames: &mut impl Frames) -> Option<Grant> {
        let grant = self.decide(request, frames).ok()?;
        grant.charge.frames.into_iter().chain(grant.table).for_each(|range| frames.give(range));
        Some(grant)
    }
}
