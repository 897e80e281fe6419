//! The time that a job loses to caches that others have used.

use sched::response::{Job, Sharer};

use super::system::{Analysis, Beside};

impl Analysis<'_> {
    /// All that a job loses: its declared `reload` for each time that it can go on after others, up to its deadline.
    pub(super) fn reload(&self, thread: usize, job: &Job) -> u64 {
        let Some(once) = self.subjects[thread].declared.reload else { return 0 };
        self.resumptions(thread, job).saturating_mul(once.into())
    }

    /// The same number of times, where a declared `wcet` has to hold with them.
    pub(super) fn unpriced_resumptions(&self, thread: usize) -> u64 {
        let declared = self.subjects[thread].declared;
        let holds = declared.reload.is_none() && declared.wcet.is_some() && self.board.chip.has_caches;
        if holds { self.resumptions(thread, &self.job(thread)) } else { 0 }
    }

    /// Times that a job can go on after others, up to its deadline.
    fn resumptions(&self, thread: usize, job: &Job) -> u64 {
        let window = self.deadline(thread).unwrap_or_else(|| self.budget(thread).0);
        let named = |(other, sharer): (usize, Sharer)| (self.subjects[other].name.clone(), sharer);
        let peers = self.peers(thread).into_iter().map(named).collect();
        let beside = Beside::new(self.grid(thread), self.contenders(thread), peers, self.lines(thread));
        let times = beside.view(&self.costs).resumptions(self.level(thread), job, window);
        // A handler takes longer than a tick, from its interrupt to where the thread goes on.
        let handlers = self.displaced(window);
        times.saturating_add(handlers)
    }

    /// The other threads of its budget that are periodic, by their numbers, without their prices.
    pub(super) fn peers(&self, thread: usize) -> Vec<(usize, Sharer)> {
        let (grid, _) = self.budget(thread);
        let own = self.period(thread).unwrap_or(grid);
        let budget = self.subjects[thread].declared.budget;
        let others = (0..self.subjects.len())
            .filter(|other| *other != thread && self.subjects[*other].declared.budget == budget);
        let sharer = |other: usize| {
            let (period, declared) = (self.period(other)?, self.subjects[other].declared);
            let calls: u64 = declared.calls.iter().map(|(_, count)| u64::from(*count)).sum();
            let sharer = Sharer {
                level: self.level(other),
                period,
                deadline: self.deadline(other).unwrap_or(period),
                price: 0,
                activations: 1 + u64::from(declared.activations) + calls,
                together: grid.is_multiple_of(period) && own.is_multiple_of(period),
            };
            Some((other, sharer))
        };
        others.filter_map(sharer).collect()
    }
}
