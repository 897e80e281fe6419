//! Response-time analysis: fixed priorities, deferrable-server budgets, blocking, overheads.
//!
//! # The bound
//! For a thread with demand `C` per period, the least `R` with
//!
//! `R = B + C' + sum over all others of at least its priority of ceil((R + T_j - C_j) / T_j) * C'_j`
//!
//! where `C' = C + 2 * switch + misses * miss`. The jitter `T_j - C_j` is the deferrable server's double hit. `B` is the longest
//! masked kernel path plus the longest gate that a thread of lower priority can be inside at a ceiling at or above this priority.
//!
//! # What it rests on
//! - A thread's release and its budget's replenishment coincide (the kernel starts them together), and its demand per period is
//!   at most its capacity; its deadline is at most its period.
//! - A thread that has been released runs to completion of its demand: one that sleeps in between may be blocked again after
//!   each sleep, and counts as that many threads.
//! - Switches that a thread causes by sleeping and waking within its budget are charged to that budget; the one in and the
//!   one out of each replenishment are what is added here.
//! - What a budget can exceed its capacity by (the enforcement granularity) is part of the `capacity` given for interference: add it
//!   to [`Costs::excess`].
//!
//! The iteration starts at the thread's own terms and only grows, by at least one hit of some thread each time, so it ends after
//! at most as many rounds as there are hits within the deadline.

use crate::budget::hits;

/// One thread and its budget. Level 0 is the most urgent; equal levels count as interfering with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Urgency: 0 goes first.
    pub level: u8,
    /// What its budget grants in a period, all of which it may use.
    pub capacity: u64,
    /// Its period, and its budget's.
    pub period: u64,
    /// From release to completion, at most the period; `None` for a thread without a deadline, which is only interference.
    pub deadline: Option<u64>,
    /// Paged-region misses per period that are not already part of `capacity`.
    pub misses: u64,
}

/// A gate: code of a higher ceiling that threads of lower priority may be inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Level at which it executes.
    pub ceiling: u8,
    /// The bound it declares.
    pub bound: u64,
    /// The least urgent level among its callers.
    pub lowest_caller: u8,
}

/// What the kernel adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// One thread switch across domains.
    pub switch: u64,
    /// One paged-region miss.
    pub miss: u64,
    /// The longest path with interrupts masked.
    pub masked: u64,
    /// The most by which a budget is overrun before that is noticed.
    pub excess: u64,
}

/// The terms of a response time; they sum to `response`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// The bound, or, in a refusal, the value at which the iteration passed the deadline.
    pub response: u64,
    /// The thread's own demand with its overheads.
    pub own: u64,
    /// Longest masked path.
    pub blocking_masked: u64,
    /// Longest gate below at or above this level.
    pub blocking_gate: u64,
    /// Position of that gate.
    pub gate: Option<usize>,
    /// All interference; [`interference`] has it by thread.
    pub interference: u64,
}

/// Why a set is refused. `thread` is a position in the list given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Period or capacity is zero, or the capacity exceeds the period.
    Budget {
        /// The thread.
        thread: usize,
    },
    /// The deadline exceeds the period, or is zero.
    Deadline {
        /// The thread.
        thread: usize,
        /// Its period, the limit.
        limit: u64,
    },
    /// The response time exceeds the deadline.
    Late {
        /// The thread.
        thread: usize,
        /// Its deadline.
        deadline: u64,
        /// The terms. `response` is at least this.
        computed: Response,
    },
}

/// What one thread adds to another's response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interference {
    /// Times that its budget can be spent within the window.
    pub hits: u64,
    /// Ticks in all, overheads included.
    pub ticks: u64,
}

/// What `other` adds within a window of `window` ticks, if it is at least as urgent.
pub const fn interference(other: &Thread, window: u64, costs: &Costs) -> Interference {
    let hits = hits(window, other.period, other.capacity);
    Interference { hits, ticks: hits.saturating_mul(demand(other, costs).saturating_add(costs.excess)) }
}

/// Own demand of one period with its overheads.
const fn demand(thread: &Thread, costs: &Costs) -> u64 {
    thread
        .capacity
        .saturating_add(costs.switch.saturating_mul(2))
        .saturating_add(costs.miss.saturating_mul(thread.misses))
}

/// Whether thread `j` can delay thread `i`.
pub fn interferes(threads: &[Thread], i: usize, j: usize) -> bool {
    i != j && threads[j].level <= threads[i].level
}

/// The share of the processor that all budgets together may use, in parts per million, rounded up, overheads left out.
pub fn utilisation_ppm(threads: &[Thread]) -> u64 {
    threads
        .iter()
        .map(|t| if t.period == 0 { 0 } else { t.capacity.saturating_mul(1_000_000).div_ceil(t.period) })
        .sum()
}

/// The response-time bound of thread `i`.
///
/// # Errors
/// [`Refusal`].
///
/// # Panics
/// If `i` is not a position in `threads`.
///
/// # Time complexity
/// O(threads) for each hit within the deadline.
pub fn response(threads: &[Thread], gates: &[Gate], costs: &Costs, i: usize) -> Result<Response, Refusal> {
    for (thread, t) in threads.iter().enumerate() {
        if t.period == 0 || t.capacity == 0 || t.capacity > t.period {
            return Err(Refusal::Budget { thread });
        }
    }
    let thread = &threads[i];
    let limit = thread.period;
    let deadline = thread.deadline.unwrap_or(limit);
    if deadline == 0 || deadline > limit {
        return Err(Refusal::Deadline { thread: i, limit });
    }
    let (gate, blocking_gate) = blocking(gates, thread.level);
    let own = demand(thread, costs);
    let fixed = own.saturating_add(costs.masked).saturating_add(blocking_gate);
    let mut window = fixed;
    loop {
        let interference = sum(threads, i, window, costs);
        let next = fixed.saturating_add(interference);
        let computed =
            Response { response: next, own, blocking_masked: costs.masked, blocking_gate, gate, interference };
        if next > deadline {
            return Err(Refusal::Late { thread: i, deadline, computed });
        }
        if next == window {
            return Ok(computed);
        }
        window = next;
    }
}

/// Analyses every thread that has a deadline; `report` gets each result in the order given. Returns whether all are admitted.
pub fn analyse(
    threads: &[Thread],
    gates: &[Gate],
    costs: &Costs,
    mut report: impl FnMut(usize, Result<Response, Refusal>),
) -> bool {
    let mut all = true;
    for i in (0..threads.len()).filter(|&i| threads[i].deadline.is_some()) {
        let result = response(threads, gates, costs, i);
        all &= result.is_ok();
        report(i, result);
    }
    all
}

fn sum(threads: &[Thread], i: usize, window: u64, costs: &Costs) -> u64 {
    (0..threads.len())
        .filter(|&j| interferes(threads, i, j))
        .fold(0, |sum: u64, j| sum.saturating_add(interference(&threads[j], window, costs).ticks))
}

/// The longest gate that a less urgent thread can be inside of while it holds this level off.
fn blocking(gates: &[Gate], level: u8) -> (Option<usize>, u64) {
    let mut worst = (None, 0);
    for (position, gate) in gates.iter().enumerate() {
        if gate.lowest_caller > level && gate.ceiling <= level && gate.bound > worst.1 {
            worst = (Some(position), gate.bound);
        }
    }
    worst
}

#[cfg(test)]
mod tests;
