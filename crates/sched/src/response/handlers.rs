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
    /// Time that it takes to end handlers, and to close or open their lines.
    pub end: u64,
    /// The shortest interval between two looks, not 0.
    pub between_looks: u64,
    /// Time that a look takes.
    pub look: u64,
}

impl Handlers {
    /// The most that handlers use within `window` ticks.
    ///
    /// A deferrable server spends a capacity at the end of one period and another at the beginning of the next (DS; Bernat and Burns 1999). Each can be
    /// exceeded by [`Handlers::late`], and a boundary can come so much nearer to the one before. Nothing is known of where boundaries are. The looks are
    /// counted as if all intervals were the shortest.
    pub const fn within(&self, window: u64) -> u64 {
        let Handlers { period, capacity, late, end, between_looks, look } = *self;
        if period == 0 {
            return u64::MAX;
        }
        let hits = window.saturating_add(period.saturating_sub(capacity)).saturating_add(late).div_ceil(period);
        let looks = window.div_ceil(if between_looks == 0 { 1 } else { between_looks }).saturating_add(1);
        hits.saturating_mul(capacity.saturating_add(late).saturating_add(end))
            .saturating_add(looks.saturating_mul(look))
    }
}
