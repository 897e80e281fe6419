//! Budgets and gates: what was used against what was given.

use crate::describe::{Budget, Gate};
use crate::schema::{BudgetReport, GateReport};
use crate::time::Timebase;

/// Use of one budget.
#[derive(Debug, Default)]
pub struct BudgetMeter {
    window: u64,
    used: u64,
    max: u64,
    replenishments: u64,
    exhaustions: u64,
}

impl BudgetMeter {
    /// Somebody it pays for ran.
    pub fn charge(&mut self, cycles: u64) {
        self.window += cycles;
        self.used += cycles;
        self.max = self.max.max(self.window);
    }

    /// A new period begins.
    pub fn replenish(&mut self) {
        self.window = 0;
        self.replenishments += 1;
    }

    /// It is exhausted.
    pub fn exhaust(&mut self) {
        self.exhaustions += 1;
    }

    /// The budget's part of the report.
    pub fn report(&self, budget: &Budget, threads: Vec<String>, tolerance: u64, time: &Timebase) -> BudgetReport {
        BudgetReport {
            index: budget.index,
            name: budget.name.clone(),
            threads,
            period_cycles: time.cycles(budget.period_ticks),
            capacity_cycles: time.cycles(budget.capacity_ticks),
            used_cycles: self.used,
            max_used_cycles: self.max,
            replenishments: self.replenishments,
            exhaustions: self.exhaustions,
            tolerance_cycles: tolerance,
        }
    }
}

/// Use of one gate.
#[derive(Debug, Default)]
pub struct GateMeter {
    calls: u64,
    failed: u64,
    max: u64,
    cycles: u64,
}

impl GateMeter {
    /// A call entered.
    pub fn enter(&mut self) {
        self.calls += 1;
    }

    /// A call returned after so many cycles of execution.
    pub fn exit(&mut self, cycles: u64, failed: bool) {
        self.cycles += cycles;
        self.max = self.max.max(cycles);
        self.failed += u64::from(failed);
    }

    /// The gate's part of the report.
    pub fn report(&self, gate: &Gate, time: &Timebase) -> GateReport {
        GateReport {
            index: gate.index,
            name: gate.name.clone(),
            domain: gate.domain,
            ceiling: gate.ceiling,
            calls: self.calls,
            failed: self.failed,
            max_cycles: self.max,
            cycles: self.cycles,
            bound_cycles: time.cycles(gate.bound_ticks),
        }
    }
}

/// Cost of the misses of one domain.
#[derive(Debug, Default)]
pub struct MissMeter {
    pub count: u64,
    pub timed: u64,
    pub cycles: u64,
    pub max: u64,
}

/// The domains whose misses are timed, and the miss being handled now.
#[derive(Debug, Default)]
pub struct Misses {
    meters: Vec<MissMeter>,
    entered: Option<u64>,
    filling: Option<u8>,
}

/// Architectural number of the exception in which misses are handled.
pub const MEM_MANAGE: u16 = 4;

impl Misses {
    /// Meters for so many domains.
    pub fn new(domains: usize) -> Misses {
        Misses { meters: (0..domains).map(|_| MissMeter::default()).collect(), ..Misses::default() }
    }

    /// An exception was entered.
    pub fn enter(&mut self, exception: u16, cycle: u64) {
        self.entered = (exception == MEM_MANAGE).then_some(cycle);
        self.filling = None;
    }

    /// A paged region was filled; false when there is no such domain.
    pub fn fill(&mut self, domain: u8) -> bool {
        self.filling = Some(domain);
        self.meters.get_mut(usize::from(domain)).map(|meter| meter.count += 1).is_some()
    }

    /// The processor returned to thread mode.
    pub fn leave(&mut self, cycle: u64) {
        if let (Some(entered), Some(domain)) = (self.entered.take(), self.filling.take())
            && let Some(meter) = self.meters.get_mut(usize::from(domain))
        {
            let cost = cycle.saturating_sub(entered);
            meter.timed += 1;
            meter.cycles += cost;
            meter.max = meter.max.max(cost);
        }
    }

    /// What one domain's misses cost.
    pub fn of(&self, domain: u8) -> Option<&MissMeter> {
        self.meters.get(usize::from(domain))
    }
}
