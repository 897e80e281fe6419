//! Time that another budget adds, whatever its programs do.

use super::costs::Costs;

/// Another budget with the threads that it pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    /// The level of its most urgent thread.
    pub level: u8,
    /// From one boundary of its grid to the next.
    pub period: u64,
    /// Time that it grants in a period.
    pub capacity: u64,
    /// The distance from a release of the thread to a boundary of this budget is a multiple of
    /// this: the greatest common divisor of its period and of all releases. 1 is always right, and
    /// says nothing about the distance.
    pub step: u64,
    /// How many threads it pays.
    pub threads: u32,
    /// How many activations of others one call or fault of its threads arranges at most.
    pub arranges: u64,
}

/// Time that a budget adds to a response, in parts, so that a refusal can say where it comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interference {
    /// How many whole capacities can be spent within the window.
    pub hits: u64,
    /// Part that can be spent of one more before its first boundary in the window.
    pub part: u64,
    /// The whole capacities and the part.
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
    /// I: the most by which this budget delays a less urgent thread within `window` ticks of a release.
    ///
    /// A deferrable server spends a capacity at the end of one period and another at the beginning of the next (DS; Bernat and
    /// Burns 1999): `ceil((window + period - capacity) / period)` capacities cover every phase. But grids and releases have a common
    /// origin (rules (a) and (h)). On the lattice of [`Contender::step`], the worst distances of the first boundary are the two around
    /// the capacity. One further away has fewer periods after it. One nearer gains a period after it only as far as the time lost before
    /// it reaches into that period. When releases are at boundaries, `ceil(window / period)` capacities are left. The less of both holds.
    ///
    /// To that comes
    /// - for each thread one activation that was paid before the window, by whomever: the thread sleeps, was just woken, or was preempted
    ///   and is switched away from in the window. One that is paid in the window before the first boundary and happens after it takes the
    ///   place of the thread's earlier one, which happened before the boundary, in time that is counted;
    /// - by how much the budget is overdrawn when the window ends. It is one overrun of the budget,
    ///   and the price of the last call or fault, which can exceed what is left: the thread that it
    ///   wakes is switched to in the window. The price of a thread's own sleep does not count,
    ///   because that is for an activation after the next boundary. Every earlier overdraft is paid
    ///   at the boundary after it, from a capacity that is counted (as overruns with payback, which
    ///   Davis and Burns 2006 allow to critical sections).
    pub const fn within(&self, window: u64, costs: &Costs) -> Interference {
        let step = if self.step == 0 { 1 } else { self.step };
        let near = self.capacity / step * step;
        let mut worst = self.from(near, window);
        if near < self.capacity {
            worst = larger(worst, self.from(near.saturating_add(step), window));
        }
        let any = self.from(self.capacity, window);
        if any.capacity < worst.capacity {
            worst = any;
        }
        let waiting = costs.activation().saturating_mul(self.threads as u64);
        Interference { carried: waiting.saturating_add(costs.overdraft(self.arranges)), ..worst }
    }

    /// Time that can be spent if the first boundary is `first` ticks after the release.
    const fn from(&self, first: u64, window: u64) -> Interference {
        let after = window.saturating_sub(first).div_ceil(self.period);
        let (hits, part) = if first >= self.capacity { (after.saturating_add(1), 0) } else { (after, first) };
        Interference { hits, part, capacity: hits.saturating_mul(self.capacity).saturating_add(part), carried: 0 }
    }

    pub(super) const fn is_legal(&self) -> bool {
        self.capacity > 0 && self.capacity <= self.period
    }
}

const fn larger(a: Interference, b: Interference) -> Interference {
    if b.capacity > a.capacity { b } else { a }
}
