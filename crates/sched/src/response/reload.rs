//! How often a job is interrupted, and so has to load again from memory lines that others have used of caches, TLBs and predictors (cache-related
//! preemption delay; Altmeyer et al. 2012, and Lunniss et al. 2014 for threads on servers). A bound needs no trust in other programs: every
//! preemption is an activation, and every activation is paid (docs/time.md, rule (c)).

use super::{Costs, Job, Set};

impl Set<'_> {
    /// How often a job of this level goes on after others, or after the kernel, within `window` ticks of its release, at most.
    ///
    /// Others run in between once for each of their activations; a budget can pay for so many as fit into its interference. Each brings
    /// at most two timers that come too early (A = 2 (E + X + Y)). Lines and callees that fail count as activations; so do those that the job
    /// arranges, because they can wake somebody more urgent. The job itself comes back from each gate that it calls. The kernel looks at
    /// its clock, and timers of the job's own budget can come in vain.
    ///
    /// # Time complexity
    /// O(budgets + sharers).
    pub const fn resumptions(&self, level: u8, job: &Job, window: u64) -> u64 {
        let Set { costs, lines, .. } = self;
        let mut activations = job.activations.saturating_add(job.calls).saturating_add(lines.len() as u64);
        let mut at = 0;
        while at < self.budgets.len() {
            let budget = &self.budgets[at];
            if budget.level <= level {
                let fit = budget.within(window, costs).ticks() / at_least_one(costs);
                activations = activations.saturating_add(fit).saturating_add(1);
            }
            at += 1;
        }
        let mut at = 0;
        while at < self.sharers.len() {
            let sharer = &self.sharers[at];
            if sharer.level <= level {
                activations = activations.saturating_add(sharer.jobs(window).saturating_mul(sharer.activations));
            }
            at += 1;
        }
        let looks = if costs.look == 0 { 0 } else { window.div_ceil(costs.look) };
        let own = job.calls.saturating_add(self.own.timers(window)).saturating_add(looks).saturating_add(2);
        activations.saturating_mul(3).saturating_add(own)
    }
}

/// A, for a division. Without costs an activation can be as short as a tick.
const fn at_least_one(costs: &Costs) -> u64 {
    let activation = costs.activation();
    if activation == 0 { 1 } else { activation }
}
