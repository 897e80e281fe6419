//! The smallest change after which a refused request is admitted. Each candidate is decided like a request of its own, so that
//! what is proposed is admitted, nothing else having changed.

use super::{Frames, Grant, Ledger, Request};
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
            Rule::Frames | Rule::FramesNotClean if refusal.left > 0 => {
                let wanted = request.frames.map(|wanted| super::Wanted { bytes: refusal.left, ..wanted });
                if self.admits(&Request { frames: wanted, ..*request }, frames) {
                    return Change::Bytes(refusal.left);
                }
            }
            _ => {}
        }
        let spec = self.nearest_spec(request, frames);
        spec.map_or_else(|| self.least_release(request, refusal, frames), Change::Spec)
    }

    /// The specification nearest to the one asked, the stronger one first; without what the platform cannot do.
    fn nearest_spec(&self, request: &Request, frames: &mut impl Frames) -> Option<TemporalSpec> {
        let asked = request.spec;
        let without = TemporalSpec { constant_time: false, ..asked };
        let anywhere = TemporalSpec { data: None, ..without };
        let level = |number: Option<usize>| number.and_then(|number| AccessLevel::from_number(number as u32));
        let own = asked.access as usize;
        let nearest =
            (1..AccessLevel::ALL.len()).flat_map(|far| [level(own.checked_add(far)), level(own.checked_sub(far))]);
        let levels = nearest.flatten().map(|access| TemporalSpec { access, ..without });
        let candidates = [without, anywhere].into_iter().chain(levels);
        candidates.filter(|spec| *spec != asked).find(|spec| self.admits(&Request { spec: *spec, ..*request }, frames))
    }

    /// So much of the domain's own that, once it is released, the request is admitted.
    fn least_release(&mut self, request: &Request, refusal: &Refusal, frames: &mut impl Frames) -> Change {
        let Some(account) = self.accounts.get_mut(usize::from(request.domain)) else { return Change::None };
        let before = *account;
        let missing = refusal.asked.saturating_sub(refusal.left);
        let change = match refusal.rule {
            Rule::PinnedSlots | Rule::PagedSlots if missing <= u32::from(account.pinned) => {
                account.pinned -= missing as u8;
                Change::ReleaseRegisters(missing)
            }
            Rule::TableMemory if missing <= account.table.used => {
                account.table.used -= missing;
                Change::ReleaseTable(missing)
            }
            _ => return Change::None,
        };
        let admitted = self.admits(request, frames);
        self.accounts[usize::from(request.domain)] = before;
        if admitted { change } else { Change::None }
    }

    /// Whether a request would be admitted now. Nothing changes.
    pub fn admits(&self, request: &Request, frames: &mut impl Frames) -> bool {
        let Ok(Grant { frames: found, table, .. }) = self.decide(request, frames) else { return false };
        found.into_iter().chain(table).for_each(|range| frames.give(range));
        true
    }
}
