//! Gates and misses: what was used against what was given.

use crate::describe::{Gate, SystemDescription};
use crate::schema::{Cases, GateReport};
use crate::time::Timebase;

/// Use of one gate.
#[derive(Debug, Default)]
pub struct GateMeter {
    calls: u64,
    failed: u64,
    max: u64,
    max_failed: u64,
    cycles: u64,
    over: Cases,
    /// Thread that made the first call that took longer.
    pub exceeded_by: Option<u16>,
}

impl GateMeter {
    /// A call entered.
    pub fn enter(&mut self) {
        self.calls += 1;
    }

    /// A call returned at a cycle after so many cycles of execution. The declared bound limits
    /// those that returned by themselves; the bound and what it takes to stop a callee together
    /// limit the others. Whether it took longer.
    pub fn exit(&mut self, at: u64, cycles: u64, failed: bool, limits: GateLimits) -> bool {
        self.cycles += cycles;
        let (max, limit) = match failed {
            true => (&mut self.max_failed, limits.bound.saturating_add(limits.slack)),
            false => (&mut self.max, limits.bound),
        };
        *max = (*max).max(cycles);
        self.failed += u64::from(failed);
        if cycles > limit {
            self.over.add(at);
        }
        cycles > limit
    }

    /// The gate's part of the report.
    pub fn report(&self, gate: &Gate, limits: GateLimits) -> GateReport {
        GateReport {
            index: gate.index,
            name: gate.name.clone(),
            domain: gate.domain,
            ceiling: gate.ceiling,
            calls: self.calls,
            failed: self.failed,
            max_cycles: self.max,
            max_failed_cycles: self.max_failed,
            cycles: self.cycles,
            bound_cycles: limits.bound,
            slack_cycles: limits.slack,
            exceeded: self.over,
            exceeded_by: self.exceeded_by,
        }
    }
}

/// How long a call may take.
#[derive(Clone, Copy, Debug)]
pub struct GateLimits {
    /// As declared.
    pub bound: u64,
    /// Time that a callee that fails can cost beyond that: G + M + A (docs/time.md, Gates).
    pub slack: u64,
}

impl GateLimits {
    /// Those of one gate.
    pub fn of(gate: &Gate, system: &SystemDescription, time: &Timebase) -> GateLimits {
        let parts = [system.masked_bound_cycles.unwrap_or(0), system.costs.activation()];
        let slack = parts.into_iter().fold(time.cycles(system.enforcement_ticks), u64::saturating_add);
        GateLimits { bound: time.cycles(gate.bound_ticks), slack }
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

    /// Cost of one domain's misses.
    pub fn of(&self, domain: u8) -> Option<&MissMeter> {
        self.meters.get(usize::from(domain))
    }
}
