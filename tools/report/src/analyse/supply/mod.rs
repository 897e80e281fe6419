//! Use of a budget, against what it supplies (docs/time.md, Supply).
//!
//! Two bounds hold for every use: in a period of the grid at most the capacity, and in every window, wherever it begins, at most what a
//! deferrable server supplies. An activation of another thread, as a restart arranges it, may have been paid before: one of each such thread is in no
//! window's use. The windows that are looked at end where a run ends, and begin where one began within the last periods.

use std::collections::{BTreeMap, VecDeque};

use crate::describe::Budget;
use crate::schema::{BudgetReport, Cases, SupplyWindow, Tolerance};
use crate::time::{Grid, Timebase};

/// For how many periods the begin of a run is kept.
const PERIODS: u64 = 4;
/// How many of them are kept: when there are more, every other one goes.
const RUNS: usize = 64;

/// Purpose that time was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Code of the budget's threads, in their domains and in gates.
    User,
    /// The kernel, for their calls and faults.
    Call,
    /// The kernel, for switches that their activations led to.
    Activation,
}

/// Time that was used for activations of each other thread.
type Others = BTreeMap<u16, u64>;

/// The begin of a run.
#[derive(Clone, Debug)]
struct Begin {
    at: u64,
    /// Time that had been used before.
    used: u64,
    others: Others,
}

/// Use of one budget.
#[derive(Debug)]
pub struct BudgetMeter {
    grid: Grid,
    period: u64,
    capacity: u64,
    tolerance: Tolerance,
    window: u64,
    in_window: u64,
    others: Others,
    /// The same when the window began.
    others_before: Others,
    /// Price of an activation.
    activation: u64,
    window_over: bool,
    last: u64,
    begins: VecDeque<Begin>,
    by_use: [u64; 3],
    max: u64,
    max_at: u64,
    tightest: Option<SupplyWindow>,
    overdrawn: Cases,
    pub replenishments: u64,
    pub exhaustions: u64,
}

impl BudgetMeter {
    /// Nothing used; `activation`: what one costs at most.
    pub fn new(budget: &Budget, tolerance: Tolerance, activation: u64, time: &Timebase) -> BudgetMeter {
        BudgetMeter {
            grid: time.grid(budget.period_ticks),
            period: time.cycles(budget.period_ticks).max(1),
            capacity: time.cycles(budget.capacity_ticks),
            tolerance,
            window: 0,
            in_window: 0,
            others: Others::new(),
            others_before: Others::new(),
            activation,
            window_over: false,
            last: 0,
            begins: VecDeque::new(),
            by_use: [0; 3],
            max: 0,
            max_at: 0,
            tightest: None,
            overdrawn: Cases::default(),
            replenishments: 0,
            exhaustions: 0,
        }
    }

    /// The kernel's start: the grid counts from here.
    pub fn start(&mut self, cycle: u64) {
        self.grid.origin = cycle;
    }

    fn used(&self) -> u64 {
        self.by_use.iter().sum()
    }

    /// How much of what was used since then may have been paid before.
    fn paid_before(&self, since: &Others) -> u64 {
        let since = |thread: &u16| since.get(thread).copied().unwrap_or(0);
        self.others.iter().map(|(thread, used)| (used - since(thread)).min(self.activation)).sum()
    }

    /// Somebody it pays for used the time between two cycles, which are not before those of the last call; `of`: for an activation of another thread.
    pub fn charge(&mut self, from: u64, to: u64, what: Use, of: Option<u16>) {
        if from >= to {
            return;
        }
        if from > self.last || self.begins.is_empty() {
            self.end_run();
            self.begin_run(from);
        }
        let mut at = from;
        while at < to {
            let window = self.grid.window_at(at);
            if window != self.window {
                (self.window, self.in_window, self.window_over) = (window, 0, false);
                self.others_before.clone_from(&self.others);
            }
            let end = self.grid.begin_of(window + 1).clamp(at + 1, to);
            if let Some(thread) = of {
                *self.others.entry(thread).or_default() += end - at;
            }
            self.use_in_window(end, end - at);
            at = end;
        }
        self.by_use[what as usize] += to - from;
        self.last = to;
    }

    fn use_in_window(&mut self, end: u64, cycles: u64) {
        self.in_window += cycles;
        let used = self.in_window - self.paid_before(&self.others_before);
        if used > self.max {
            (self.max, self.max_at) = (used, self.grid.begin_of(self.window));
        }
        let over = used.saturating_sub(self.capacity.saturating_add(self.tolerance.cycles));
        if over > 0 && !self.window_over {
            self.window_over = true;
            self.overdrawn.add(end.saturating_sub(over));
        }
    }

    fn begin_run(&mut self, at: u64) {
        let oldest = at.saturating_sub(PERIODS.saturating_mul(self.period));
        while self.begins.front().is_some_and(|begin| begin.at < oldest) {
            self.begins.pop_front();
        }
        if self.begins.len() >= RUNS {
            let mut keep = false;
            self.begins.retain(|_| {
                keep = !keep;
                keep
            });
        }
        let (used, others) = (self.used(), self.others.clone());
        self.begins.push_back(Begin { at, used, others });
    }

    /// Holds every window that ends with the run that ends now against the supply.
    fn end_run(&mut self) {
        let (to, used) = (self.last, self.used());
        let windows = self.begins.iter().map(|begin| SupplyWindow {
            from: begin.at,
            to,
            used_cycles: used.saturating_sub(begin.used + self.paid_before(&begin.others)),
            bound_cycles: self.supply(to.saturating_sub(begin.at)),
        });
        let Some(worst) = windows.max_by_key(SupplyWindow::excess) else { return };
        if worst.excess() > i128::from(self.tolerance.cycles) {
            self.overdrawn.add(to);
        }
        if self.tightest.is_none_or(|tightest| tightest.excess() < worst.excess()) {
            self.tightest = Some(worst);
        }
    }

    /// Most that a deferrable server supplies in a window of this length: ceil((W + T - C) / T) * C.
    fn supply(&self, window: u64) -> u64 {
        let hits = window.saturating_add(self.period.saturating_sub(self.capacity)).div_ceil(self.period);
        hits.saturating_mul(self.capacity)
    }

    /// The run is over.
    pub fn close(&mut self) {
        self.end_run();
    }

    /// The budget's part of the report.
    pub fn report(&self, budget: &Budget, threads: Vec<String>) -> BudgetReport {
        let [user_cycles, call_cycles, activation_cycles] = self.by_use;
        BudgetReport {
            index: budget.index,
            name: budget.name.clone(),
            threads,
            period_cycles: self.period,
            capacity_cycles: self.capacity,
            used_cycles: self.used(),
            user_cycles,
            call_cycles,
            activation_cycles,
            max_used_cycles: self.max,
            max_used_at: self.max_at,
            tightest_window: self.tightest,
            overdrawn: self.overdrawn,
            replenishments: self.replenishments,
            exhaustions: self.exhaustions,
            tolerance_cycles: self.tolerance.cycles,
            limit_cycles: self.capacity.saturating_add(self.tolerance.cycles),
            tolerance: self.tolerance,
        }
    }
}

/// By how much the use of a budget may exceed what it supplies, and what that consists of.
pub fn tolerance(
    system: &crate::SystemDescription,
    threads: u64,
    path: u64,
    quantum: u64,
    time: &Timebase,
) -> Tolerance {
    /// The observer's quantum is not longer.
    const LONGEST_QUANTUM: u64 = 1000;
    let timer = time.cycles(system.enforcement_ticks);
    let clock = time.cycles(1);
    let activations = system.costs.activation().saturating_mul(threads);
    let sum = |parts: [u64; 5]| parts.into_iter().fold(0, u64::saturating_add);
    let bound = |masked: u64| masked.saturating_add(system.costs.entry_cycles).saturating_add(system.costs.exit_cycles);
    let longest_path = system.masked_bound_cycles.map(bound);
    Tolerance {
        cycles: sum([timer, path, quantum, clock, activations]),
        limit_cycles: longest_path.map(|path| sum([timer, path, LONGEST_QUANTUM, clock, activations])),
        timer_cycles: timer,
        path_cycles: path,
        quantum_cycles: quantum,
        clock_cycles: clock,
        activation_cycles: activations,
    }
}

#[cfg(test)]
mod tests;
