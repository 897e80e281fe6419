//! Time of handlers that interrupts reach without the kernel.

use super::super::sampling::{counted_looks_in, looks_in};

/// Handlers of a domain: a deferrable server that is more important than every thread and every path of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handlers {
    /// From one boundary of its grid to the next.
    pub period: u64,
    /// Time that it grants in a period.
    pub capacity: u64,
    /// By how much handlers can exceed what is left before they are ended: the longest interval
    /// between two looks, because nothing else ends them, or what a counter's interrupt takes.
    pub beyond: u64,
    /// How late a boundary can be noticed, so that the next is nearer.
    pub late: u64,
    /// Time that handlers can have once in a window beyond all that: what is not counted until a
    /// look charges it or stops their domain, and what looks miss by chance.
    pub uncounted: u64,
    /// Time that it takes to end handlers, and to close or open their lines.
    pub end: u64,
    /// Time of timers for the end of a budget that come too early, because the end has moved by
    /// what is counted. The interrupted thread gets it back.
    pub early: u64,
    /// Time by which looks that meet handlers in a period take longer than others. Beside a counter
    /// the interrupted thread gets that back, too.
    pub met: u64,
    /// Time that a look takes.
    pub look: u64,
    /// A counter counts, so the interrupted thread is not charged for what it counts.
    pub counted: bool,
    /// How many times what is counted they can use: 1 if they are believed not to set their counter
    /// back. The rest is charged to the interrupted thread.
    pub times: u64,
    /// Time of an activation of whoever restarts their domain, if somebody does: their server pays for each, the last out of what it has no more.
    pub restart: u64,
    /// Time in a period that they waste by faults of the threads that they interrupt, which pay for them.
    pub slips: u64,
}

impl Handlers {
    /// The most that they execute for one spending of their capacity.
    pub const fn used(&self) -> u64 {
        self.capacity.saturating_add(self.beyond).saturating_mul(self.times)
    }

    /// The most that handlers use within `window` ticks.
    ///
    /// A deferrable server spends a capacity at the end of one period and another at the beginning of the next (DS; Bernat and Burns 1999). Each can be
    /// exceeded by [`Handlers::beyond`], and a boundary can come by [`Handlers::late`] nearer to the one before. Nothing is known of where boundaries are.
    pub const fn within(&self, window: u64) -> u64 {
        let Handlers { end, early, met, restart, slips, .. } = *self;
        let own = self.used().saturating_add(restart).saturating_add(slips);
        self.spent(window, own.saturating_add(end).saturating_add(early).saturating_add(met))
    }

    /// Returns the most of it that is charged to the threads that they interrupt.
    pub const fn charged_within(&self, window: u64) -> u64 {
        let Handlers { capacity, beyond, end, times, slips, .. } = *self;
        let hidden = capacity.saturating_add(beyond).saturating_mul(times.saturating_sub(1)).saturating_add(slips);
        if self.counted { self.spent(window, end.saturating_add(hidden)) } else { self.within(window) }
    }

    /// Returns the most looks in a window.
    pub const fn looks(&self, window: u64) -> u64 {
        if self.counted { counted_looks_in(window) } else { looks_in(window) }
    }

    const fn spent(&self, window: u64, each: u64) -> u64 {
        let Handlers { period, capacity, late, .. } = *self;
        if period == 0 {
            return u64::MAX;
        }
        let hits = window.saturating_add(period.saturating_sub(capacity)).saturating_add(late).div_ceil(period);
        let looks = self.looks(window).saturating_mul(self.look);
        hits.saturating_mul(each).saturating_add(looks).saturating_add(self.uncounted)
    }
}
