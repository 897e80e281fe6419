//! Cycles of the processor and ticks of the kernel's clock.

use units::Rate;

use crate::describe::SystemDescription;

/// Boundaries at which budgets of one period are refilled: multiples of the period, counted from the kernel's start.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Cycle of the first boundary.
    pub origin: u64,
    period_ticks: u64,
    cpu: Rate,
    clock: Rate,
}

impl Grid {
    /// Cycle at which a period begins, the first being 0; rounded down once, so that no error grows with the number.
    pub fn begin_of(&self, window: u64) -> u64 {
        let ticks = window.saturating_mul(self.period_ticks);
        self.origin.saturating_add(self.cpu.counts_of(ticks, self.clock).floor())
    }

    /// The period that a cycle lies in; what is before the start counts to the first.
    pub fn window_at(&self, cycle: u64) -> u64 {
        let about = self.clock.counts_of(cycle.saturating_sub(self.origin), self.cpu).floor() / self.period_ticks;
        // A boundary is rounded down, so that it may lie just before the quotient changes.
        if self.begin_of(about.saturating_add(1)) <= cycle { about.saturating_add(1) } else { about }
    }
}

/// Converts between the two clocks and finds the cycle of a nominal time.
#[derive(Clone, Debug)]
pub struct Timebase {
    cpu: Rate,
    clock: Rate,
    started: Option<i64>,
    fastest: Option<i64>,
}

impl Timebase {
    /// A time base for the system.
    pub fn new(system: &SystemDescription) -> Timebase {
        Timebase {
            cpu: Rate::hz(system.cpu_hz),
            clock: Rate::hz(system.ticks_per_second),
            started: None,
            fastest: None,
        }
    }

    /// The grid of a period; it counts from cycle 0 until its origin is set.
    pub fn grid(&self, period_ticks: u64) -> Grid {
        let Timebase { cpu, clock, .. } = *self;
        Grid { origin: 0, period_ticks: period_ticks.max(1), cpu, clock }
    }

    /// Cycles in so many ticks, rounded down.
    pub fn cycles(&self, ticks: u64) -> u64 {
        self.cpu.counts_of(ticks, self.clock).floor()
    }

    /// Notes the tick (low word; the clock has not wrapped at boot) that the kernel read at a cycle. The time between reading and recording,
    /// and the part of a tick that had passed, make tick 0 later than it was by some tens of cycles.
    pub fn start(&mut self, ticks: u32, cycle: u64) {
        self.started = Some(cycle as i64 - self.cycles(u64::from(ticks)) as i64);
    }

    /// The cycle of a nominal time, counted from tick 0, of which the trace holds only the low word: the candidate
    /// nearest to the cycle at which it was recorded.
    pub fn unwrap(&self, ticks_low: u32, recorded: u64) -> u64 {
        let since_zero = recorded.saturating_add_signed(-self.started.unwrap_or(0));
        let about = self.clock.counts_of(since_zero, self.cpu).floor();
        let turn = 1u64 << 32;
        let base = about & !(turn - 1);
        let candidates = [base.checked_sub(turn), Some(base), base.checked_add(turn)];
        let whole = |base: u64| base + u64::from(ticks_low);
        let ticks = candidates.into_iter().flatten().map(whole).min_by_key(|t| t.abs_diff(about)).unwrap_or(0);
        self.cycles(ticks)
    }

    /// Notes that a release with nominal cycle `nominal` (from tick 0) was seen at cycle `seen`.
    pub fn observe(&mut self, nominal: u64, seen: u64) {
        let lag = seen as i64 - nominal as i64;
        self.fastest = Some(self.fastest.map_or(lag, |fastest| fastest.min(lag)));
    }

    /// The cycle of tick 0: as the kernel's start says, or so that the fastest release seen so far has no latency.
    pub fn tick_zero(&self) -> i64 {
        self.started.or(self.fastest).unwrap_or(0)
    }

    /// Whether the kernel's start was seen.
    pub const fn is_known(&self) -> bool {
        self.started.is_some()
    }
}
