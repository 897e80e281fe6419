//! Time of handlers that interrupts reach without the kernel.

/// Handlers of a domain: a deferrable server that is more important than every thread and every path of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handlers {
    /// From one boundary of its grid to the next.
    pub period: u64,
    /// Time that it grants in a period.
    pub capacity: u64,
    /// How late it can be noticed that the capacity is used up, or be full again: the longest interval between two looks at what runs.
    pub late: u64,
}

/// Longest interval, in ticks, between two looks at what runs: 100 us on a clock of 20 MHz.
pub const LATE: u64 = 2_000;

impl Handlers {
    /// The most that handlers use within `window` ticks.
    ///
    /// A deferrable server spends a capacity at the end of one period and another at the beginning of the next (DS; Bernat and Burns 1999). Each can be
    /// exceeded by [`Handlers::late`], and a boundary can come so much nearer to the one before. Nothing is known of where boundaries are.
    pub const fn within(&self, window: u64) -> u64 {
        let Handlers { period, capacity, late } = *self;
        if period == 0 {
            return u64::MAX;
        }
        let hits = window.saturating_add(period.saturating_sub(capacity)).saturating_add(late).div_ceil(period);
        hits.saturating_mul(capacity.saturating_add(late))
    }
}
