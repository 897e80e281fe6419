//! What another budget adds, whatever its programs do.

use super::Costs;
use crate::budget::hits;

/// Another budget with the threads that it pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    /// The level of its most urgent thread.
    pub level: u8,
    /// From one boundary of its grid to the next.
    pub period: u64,
    /// What it grants in a period.
    pub capacity: u64,
    /// How many threads it pays.
    pub threads: u32,
    /// Whether one of them can call a gate.
    pub calls: bool,
}

/// What a budget adds to a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interference {
    /// How often its capacity can be spent within the window.
    pub hits: u64,
    /// That many capacities.
    pub capacity: u64,
    /// e: what was paid before the window and happens in it, and what the budget is overdrawn by at its end.
    pub carried: u64,
}

impl Interference {
    /// All of it.
    pub const fn ticks(&self) -> u64 {
        self.capacity.saturating_add(self.carried)
    }
}

impl Contender {
    /// I: the most by which this budget delays a less urgent thread within `window` ticks.
    ///
    /// A deferrable server spends a capacity at the end of one period and another at the beginning of the next (DS; Bernat and
    /// Burns 1999): that is a jitter of `period - capacity`, which any phase of the grid is covered by. To that comes
    /// - for each thread one activation that was paid before the window, by whomever: the thread sleeps, was just woken, or was preempted
    ///   and is switched away from in the window;
    /// - by how much the budget is overdrawn when the window ends. Every earlier overdraft is paid at the boundary after it, from a capacity
    ///   that is counted (overruns with payback: Davis and Burns 2006). It is one overrun of the budget, or one of a gate's bound with the
    ///   fault that follows. A price that exceeds what is left is for an activation that comes after the next boundary, but for
    ///   the timer that ends the sleep: a masked path at most.
    pub const fn within(&self, window: u64, costs: &Costs) -> Interference {
        let hits = hits(window, self.period, self.capacity);
        let waiting = costs.activation().saturating_mul(self.threads as u64);
        let overdraft = if self.calls { costs.slack() } else { costs.overrun() };
        Interference { hits, capacity: hits.saturating_mul(self.capacity), carried: waiting.saturating_add(overdraft) }
    }

    /// Whether period and capacity can be.
    pub(super) const fn is_legal(&self) -> bool {
        self.capacity > 0 && self.capacity <= self.period
    }
}
