//! The smallest change after which a refused request is admitted. Each candidate is decided like a request of its own.

use super::ledger::{Ledger, Request};
use crate::refusal::{Change, Refusal, Rule};
use crate::temporal::{AccessLevel, TemporalSpec};

/// Bytes of the smallest page.
const PAGE: u32 = 4096;

impl<const D: usize, const P: usize> Ledger<D, P> {
    pub(super) fn smallest_change(&mut self, request: &Request, refusal: &Refusal) -> Change {
        match refusal.rule {
            Rule::Domain | Rule::Size => return Change::None,
            Rule::Pages | Rule::FramesNotClean => {
                let bytes = refusal.left / PAGE * PAGE;
                let fewer = Request { frames: Some(bytes), ..*request };
                if bytes > 0 && self.admits(&fewer) {
                    return Change::Bytes(bytes);
                }
            }
            _ => {}
        }
        // Giving something back comes before giving the promise up.
        let promised = |spec: &TemporalSpec| spec.access > AccessLevel::BestEffort;
        if let Some(spec) = self.nearest_spec(request, promised) {
            return Change::Spec(spec);
        }
        match self.least_release(request, refusal) {
            Change::None => self.nearest_spec(request, |_| true).map_or(Change::None, Change::Spec),
            change => change,
        }
    }

    /// The specification nearest to the one asked: with what it gets only in part, without what cannot be kept, then other levels, the
    /// stronger one first.
    fn nearest_spec(&self, request: &Request, suits: impl Fn(&TemporalSpec) -> bool) -> Option<TemporalSpec> {
        let asked = request.spec;
        let partly = TemporalSpec { allow_partial: asked.allow_partial || asked.independent, ..asked };
        let without = TemporalSpec { constant_time: false, ..partly };
        let anywhere = TemporalSpec { data: None, ..without };
        let own = asked.access as usize;
        let level = |number: Option<usize>| number.and_then(|number| AccessLevel::from_number(number as u32));
        let nearest =
            (1..AccessLevel::ALL.len()).flat_map(|far| [level(own.checked_add(far)), level(own.checked_sub(far))]);
        let levels = nearest.flatten().map(|access| TemporalSpec { access, ..partly });
        let candidates = [partly, without, anywhere].into_iter().chain(levels);
        let mut others = candidates.filter(|spec| *spec != asked && suits(spec));
        others.find(|spec| self.admits(&Request { spec: *spec, ..*request }))
    }

    /// So much of the domain's own that, once it is released, the request is admitted.
    fn least_release(&mut self, request: &Request, refusal: &Refusal) -> Change {
        let Some(account) = self.accounts.get(usize::from(request.domain)) else { return Change::None };
        let missing = refusal.asked.saturating_sub(refusal.left);
        let before = (self.slots, self.tables);
        let change = match refusal.rule {
            Rule::LockSlots if missing <= u32::from(account.locked) => {
                self.slots.used -= missing;
                Change::ReleaseEntries(missing)
            }
            Rule::TableMemory => {
                // Whatever of its tables it gives back has to lie where the most is left, which is what the refusal says.
                let owned: u32 = account.tables.iter().sum();
                let place = (0..3).find(|place| {
                    let own = account.tables[*place];
                    self.tables[*place].left() == refusal.left && missing <= own && own == owned
                });
                let Some(place) = place else { return Change::None };
                self.tables[place].used -= missing;
                Change::ReleaseTable(missing)
            }
            _ => return Change::None,
        };
        let admitted = self.admits(request);
        (self.slots, self.tables) = before;
        if admitted { change } else { Change::None }
    }
}
