//! Interference on request: what another program would leave in caches and TLBs, at a steady rate.

use record::{Interference, Watch};

use crate::model::Model;
use crate::observer::Observer;

/// When it comes next.
pub struct Disturbances {
    request: Option<Interference>,
    /// Cycle of the next one; `u64::MAX` while none is due.
    pub next: u64,
    /// Cycles that were left when the domain concerned last stopped running.
    left: u64,
    /// How many there were.
    pub count: u64,
}

impl Disturbances {
    /// As requested.
    pub fn new(watch: &Watch) -> Self {
        let request = watch.interference.filter(|request| request.every_cycles > 0);
        let left = request.map_or(0, |request| request.every_cycles);
        let next = request.filter(|request| request.domain.is_none()).map_or(u64::MAX, |request| request.every_cycles);
        Self { request, next, left, count: 0 }
    }
}

impl Observer {
    /// `domain` becomes the current one at `cycle`.
    pub(crate) fn disturb_domain(&mut self, domain: u8, cycle: u64) {
        let state = &mut self.disturbances;
        let Some(concerned) = state.request.and_then(|request| request.domain) else { return };
        if concerned == domain && state.next == u64::MAX {
            state.next = cycle + state.left;
            let next = state.next;
            self.tick_by(next);
        } else if concerned != domain && state.next != u64::MAX {
            state.left = state.next.saturating_sub(cycle);
            state.next = u64::MAX;
        }
    }

    /// Lets it come when it is due: once, however late.
    pub(crate) fn disturb_when_due(&mut self, now: u64) {
        let state = &mut self.disturbances;
        let (Some(request), true) = (state.request, now >= state.next) else { return };
        let behind = (now - state.next) % request.every_cycles;
        state.next = now - behind + request.every_cycles;
        state.count += 1;
        if let Model::Application(app) = &mut self.model {
            app.core.disturb();
        }
    }
}
