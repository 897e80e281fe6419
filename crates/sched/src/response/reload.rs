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
    pub fn resumptions(&self, level: u8, job: &Job, window: u64) -> u64 {
        let Set { costs, budgets, sharers, lines, .. } = self;
        let budgets = budgets.iter().filter(|budget| budget.level <= level);
        let fit = budgets.map(|budget| (budget.within(window, costs).ticks() / at_least_one(costs)).saturating_add(1));
        let sharers = sharers.iter().filter(|sharer| sharer.level <= level);
        let jobs = sharers.map(|sharer| sharer.jobs(window).saturating_mul(sharer.activations));
        let arranged = job.activations.saturating_add(job.calls).saturating_add(lines.len() as u64);
        let activations = fit.chain(jobs).fold(arranged, u64::saturating_add);
        let own =
            job.calls.saturating_add(self.own.timers(window)).saturating_add(costs.looks(window)).saturating_add(2);
        activations.saturating_mul(3).saturating_add(own)
    }
}

/// A, as a divisor. Without costs an activation could be 0, and is taken as a tick.
const fn at_least_one(costs: &Costs) -> u64 {
    let activation = costs.activation();
    if activation == 0 { 1 } else { activation }
}
