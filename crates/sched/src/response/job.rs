//! Time that a job needs: of the processor until it is done, and of its budget.

use super::costs::Costs;

/// Most that one job of a thread does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// Its own execution, without gates.
    pub wcet: u64,
    /// Paged-region misses on top of that.
    pub misses: u64,
    /// How many gates it calls.
    pub calls: u64,
    /// The bounds of all these calls together.
    pub bounds: u64,
    /// How often it signals or acknowledges: each arranges an activation.
    pub activations: u64,
    /// All that it loses to caches, TLBs and predictors: [`super::Set::resumptions`] times the loss of one.
    pub reload: u64,
}

/// The thread's own part of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// E + X + 2 Y: its own activation, but for the switch away from it.
    pub switch: u64,
    /// Its own execution.
    pub wcet: u64,
    /// Its misses.
    pub misses: u64,
    /// The bounds of the gates that it calls.
    pub gates: u64,
    /// Time that their callees can cost beyond their bounds.
    pub slack: u64,
    /// The activations that it arranges, because the woken threads may be more urgent and no other
    /// term has the switches to them.
    pub activations: u64,
    /// Time that it loses because others have used the caches.
    pub reload: u64,
}

impl Own {
    /// All of it.
    pub const fn total(&self) -> u64 {
        self.switch
            .saturating_add(self.wcet)
            .saturating_add(self.misses)
            .saturating_add(self.gates)
            .saturating_add(self.slack)
            .saturating_add(self.activations)
            .saturating_add(self.reload)
    }
}

impl Job {
    /// Returns the work with which it occupies the processor, from its release on.
    ///
    /// Its activation was paid before, but happens now: the switch to it, and timers of its own
    /// that come too early. If another thread preempts it, that thread's activation pays for the
    /// switch there and the one back. The activations that the job itself pays happen in its window
    /// when they wake a more urgent thread, and no budget's capacity contains them.
    pub const fn own(&self, costs: &Costs) -> Own {
        Own {
            switch: costs.activation() - costs.switching.path() as u64,
            wcet: self.wcet,
            misses: self.misses.saturating_mul(costs.miss),
            gates: self.bounds,
            slack: self.calls.saturating_mul(costs.slack()),
            activations: self.activations.saturating_mul(costs.activation()),
            reload: self.reload,
        }
    }

    /// Returns the time that it takes from its budget: its execution, its calls, the activations it
    /// arranges and the one of its next release (rule (c)). Switches to it are paid already.
    pub const fn price(&self, costs: &Costs) -> u64 {
        let own = self.own(costs);
        own.total().saturating_sub(own.switch).saturating_add(costs.activation())
    }
}

/// How many jobs of a thread can take from its budget within one period of the budget's grid. Releases are points of the grid, or divide it, if
/// one period is a multiple of the other (rule (h)); otherwise a job can reach into the grid's period from before.
///
/// # Panics
/// If a period is zero.
pub const fn jobs_in(budget: u64, period: u64) -> u64 {
    let harmonic = budget.is_multiple_of(period) || period.is_multiple_of(budget);
    budget.div_ceil(period) + if harmonic { 0 } else { 1 }
}
