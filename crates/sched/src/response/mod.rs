//! Response-time analysis: docs/time.md, "The bound".
//!
//! # The bound
//! For a thread with a deadline, the least `R` with
//!
//! `R = late + own + masked + gate + lines + sum of sharers(R) + sum of budgets(R) + kernel(R) + handlers(R)`
//!
//! Every term is a number of [`Terms`], and every budget's part an [`Interference`], so that a refusal can say who contributes what.
//!
//! # Foundations
//! - Fixed priorities, and time demand counted from a release after which the thread does not suspend (Joseph and Pandya 1986;
//!   RTA). The bound does not hold for a job that suspends itself (Chen et al. 2019 review what goes wrong then); rule (g) excludes it.
//! - Other domains count by budget, whatever their programs do: [`Contender::within`]. Threads of the same budget are of the same
//!   domain and count by job: [`Sharer::within`].
//! - The kernel's costs are in the terms (Katcher, Arakawa and Strosnider 1993; Burns, Tindell and
//!   Wellings 1995; Brandenburg, Leontyev and Anderson 2011 compare ways to charge interrupts). Its
//!   paths are paid before they happen, rule (c). So they are part of the capacities, and only
//!   those that were paid before the window opened are added.
//!
//! # Why it ends
//! The iteration starts at 0. Each step evaluates the right side, which does not decrease with `R`, at the step before. So the
//! values never decrease, and no value passes the least solution. A step either repeats the value, which is then the least solution, or
//! some budget, or the handlers, have another boundary in the window, some sharer one job more, or the kernel one look more. All of these are bounded
//! within the deadline, beyond which the iteration stops.

mod budgets;
mod costs;
mod handlers;
mod job;
mod reload;
mod shared;

pub use budgets::{Contender, Interference};
pub use costs::Costs;
pub use handlers::Handlers;
pub use job::{Job, Own, jobs_in};
pub use shared::{Share, Sharer, Sharing, sharing};

/// The thread under analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Urgency: 0 goes first.
    pub level: u8,
    /// From release to completion.
    pub deadline: u64,
    /// Needs of a job.
    pub job: Job,
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

/// An interrupt line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The most urgent level, other than the analysed thread's own, that it can wake. `None` if it
    /// wakes no thread.
    pub wakes: Option<u8>,
}

/// The grid of the thread's own budget. A timer that was set before a boundary, for the end of the budget or for a less urgent sharer that
/// waits for the refill, can come behind it: in vain, and after the activation that paid for early timers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// From one boundary to the next; 0 if there is none.
    pub period: u64,
    /// The distance from a release to a boundary is a multiple of this.
    pub step: u64,
    /// How many timers can come for each boundary.
    pub timers: u64,
}

impl Grid {
    /// Timers within `window` ticks of a release: for each boundary behind the release.
    const fn timers(&self, window: u64) -> u64 {
        if self.period == 0 {
            return 0;
        }
        window.saturating_sub(self.step).div_ceil(self.period).saturating_mul(self.timers)
    }
}

/// Everything beside the thread itself.
#[derive(Clone, Copy, Debug)]
pub struct Set<'a> {
    /// The thread's own budget.
    pub own: Grid,
    /// All budgets but the thread's own.
    pub budgets: &'a [Contender],
    /// The other threads of its own budget.
    pub sharers: &'a [Sharer],
    /// All gates.
    pub gates: &'a [Gate],
    /// All interrupt lines.
    pub lines: &'a [Line],
    /// Costs that kernel and board add.
    pub costs: Costs,
}

/// The terms of the bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// G: the timer of the release is late.
    pub late: u64,
    /// The thread's own job.
    pub own: Own,
    /// M: the thread that ran at the release was in a masked path, or was being switched away from.
    pub masked: u64,
    /// The gate that a less urgent thread was in. One is enough, because nothing suspends inside a
    /// gate.
    pub gate: u64,
    /// Position of that gate in the set, so that a report can name it.
    pub gate_at: Option<usize>,
    /// Interrupts that were paid before the window, so that no capacity within it counts them.
    pub lines: u64,
    /// Jobs of threads of the same budget.
    pub sharers: u64,
    /// All other budgets.
    pub budgets: u64,
    /// Y for each look of the kernel at its clock, and for each timer that comes in vain.
    pub kernel: u64,
    /// Handlers that interrupts reach without the kernel.
    pub handlers: u64,
}

impl Terms {
    /// Their sum.
    pub const fn total(&self) -> u64 {
        self.late
            .saturating_add(self.own.total())
            .saturating_add(self.masked)
            .saturating_add(self.gate)
            .saturating_add(self.lines)
            .saturating_add(self.sharers)
            .saturating_add(self.budgets)
            .saturating_add(self.kernel)
            .saturating_add(self.handlers)
    }
}

/// A bound with its terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// The window that the terms hold for.
    pub window: u64,
    /// The terms. Their sum is the window. In a refusal it is the first value above the deadline,
    /// and the response is at least that.
    pub terms: Terms,
}

/// Why a thread is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// This contender's period or capacity is zero, or its capacity exceeds the period.
    Budget(usize),
    /// The response can exceed the deadline.
    Late(Response),
}

/// The response-time bound of a thread.
///
/// # Errors
/// [`Refusal`].
///
/// # Time complexity
/// O(budgets + sharers) for each hit within the deadline.
#[expect(
    clippy::result_large_err,
    reason = "a refusal has the same terms as a bound, and there is no heap to put them on"
)]
pub fn response(thread: &Thread, set: &Set<'_>) -> Result<Response, Refusal> {
    response_beside(thread, set, &[])
}

/// The response-time bound of a thread in a system in which interrupts reach handlers without the kernel.
///
/// # Errors
/// [`Refusal`].
///
/// # Time complexity
/// As [`response`], and O(domains with handlers) for each of their periods.
#[expect(clippy::result_large_err, reason = "as in `response`")]
pub fn response_beside(thread: &Thread, set: &Set<'_>, handlers: &[Handlers]) -> Result<Response, Refusal> {
    if let Some(position) = set.budgets.iter().position(|budget| !budget.is_legal()) {
        return Err(Refusal::Budget(position));
    }
    let mut window = 0;
    loop {
        let handlers = handlers.iter().fold(0u64, |sum, handlers| sum.saturating_add(handlers.within(window)));
        let found = Response { window, terms: Terms { handlers, ..terms(thread, set, window) } };
        let next = found.terms.total();
        if next > thread.deadline {
            return Err(Refusal::Late(found));
        }
        if next == window {
            return Ok(found);
        }
        window = next;
    }
}

fn terms(thread: &Thread, set: &Set<'_>, window: u64) -> Terms {
    let costs = &set.costs;
    let (gate_at, gate) = blocking(set.gates, thread.level, costs);
    let before = |level: u8| level <= thread.level;
    let budgets = set.budgets.iter().filter(|budget| before(budget.level));
    let sharers = set.sharers.iter().filter(|sharer| before(sharer.level));
    Terms {
        late: costs.late,
        own: thread.job.own(costs),
        masked: costs.under_way(),
        gate,
        gate_at,
        lines: lines(set.lines, thread.level, costs),
        sharers: sharers.fold(0, |sum, sharer| sum.saturating_add(sharer.within(window))),
        budgets: budgets.fold(0, |sum, budget| sum.saturating_add(budget.within(window, costs).ticks())),
        kernel: set.own.timers(window).saturating_add(costs.looks(window)).saturating_mul(costs.switching.early.into()),
        handlers: 0,
    }
}

/// The longest gate, with slack, that a less urgent thread can be inside of while it holds this level off. At most one is under way
/// when the thread is released, because to enter another its caller would have to run (stack resource policy, SRP).
fn blocking(gates: &[Gate], level: u8, costs: &Costs) -> (Option<usize>, u64) {
    let mut worst = (None, 0);
    for (position, gate) in gates.iter().enumerate() {
        let ticks = gate.bound.saturating_add(costs.slack());
        if gate.lowest_caller > level && gate.ceiling <= level && ticks > worst.1 {
            worst = (Some(position), ticks);
        }
    }
    worst
}

/// Returns the ticks of interrupts that come in the window without being paid in it: each line has
/// at most one that its owner paid for before. One that wakes a thread as urgent costs an
/// activation. Any other costs a path, once, because it stays masked until its owner has run (rule
/// (e)).
fn lines(lines: &[Line], level: u8, costs: &Costs) -> u64 {
    let one = |line: &Line| match line.wakes {
        Some(woken) if woken <= level => costs.activation(),
        _ => costs.switching.path().into(),
    };
    lines.iter().fold(0, |sum, line| sum.saturating_add(one(line)))
}

#[cfg(test)]
mod tests;
