//! Handlers that interrupts reach without the kernel: how long each interrupt waited for its handler, and what they used of their time.

use std::collections::{BTreeMap, BTreeSet};

use record::{Entered, RunEvent};

use crate::describe::{self, SystemDescription};
use crate::schema::{HandlersBudget, Latency, LatencyOver, Separation};
use crate::stats::{Histogram, Quantiles};
use crate::time::Timebase;

/// Observations so far.
#[derive(Debug, Default)]
pub struct HandlersMeter {
    /// Of each domain that has handlers.
    given: BTreeMap<u8, Given>,
    /// Of each exception.
    waits: BTreeMap<u16, Waits>,
    /// Of each exception whose separation is declared, and when it was pending last.
    apart: BTreeMap<u16, (Separation, Option<u64>)>,
    /// By how much the emulator can be late with an interrupt.
    late: u64,
    /// Exceptions of domains' lines.
    lines: BTreeSet<u16>,
    /// When a look above handlers of a domain ended last.
    looked: Option<(u64, u8)>,
}

/// Time of a domain's handlers.
#[derive(Debug)]
struct Given {
    budget: HandlersBudget,
    /// Number of the period, and the cycles used in it.
    period: (i64, u64),
}

/// Waits of one exception.
#[derive(Debug, Default)]
struct Waits {
    all: Lengths,
    max_instructions: u64,
    at_once: Lengths,
    /// By what was interrupted: a domain, and whether the kernel on its behalf.
    over: BTreeMap<(u8, bool), Lengths>,
}

/// How many waits there were of each length, in cycles.
#[derive(Debug, Default)]
struct Lengths(BTreeMap<u64, u64>);

impl HandlersMeter {
    /// Nothing seen.
    pub fn new(system: &SystemDescription, time: &Timebase, late: u64) -> Self {
        let given = |given: &describe::Handlers| {
            let budget = HandlersBudget {
                period_cycles: time.cycles(given.period_ticks),
                capacity_cycles: time.cycles(given.capacity_ticks),
                tolerance_cycles: time.cycles(given.beyond_ticks),
                ..HandlersBudget::default()
            };
            (given.domain, Given { budget, period: (0, 0) })
        };
        let apart = |line: &describe::Interrupt| {
            let declared_cycles = time.cycles(line.separation_ticks?);
            Some((line.line + record::FIRST_LINE, (Separation { declared_cycles, ..Separation::default() }, None)))
        };
        let apart = system.interrupts.iter().filter_map(apart).collect();
        let lines = system.interrupts.iter().map(|line| line.line + record::FIRST_LINE).collect();
        Self { given: system.handlers.iter().map(given).collect(), apart, lines, late, ..Self::default() }
    }

    /// A handler begins.
    pub fn entered(&mut self, event: &RunEvent) {
        let Entered { exception, kernel, cycles, instructions } = Entered::of(event);
        let waits = self.waits.entry(exception).or_default();
        waits.all.add(cycles);
        waits.over.entry((event.domain, kernel)).or_default().add(cycles);
        waits.max_instructions = waits.max_instructions.max(instructions);
        if instructions == 0 {
            waits.at_once.add(cycles);
        }
        if let Some((separation, last)) = self.apart.get_mut(&exception) {
            let pending = event.cycle.saturating_sub(cycles);
            let apart = last.replace(pending).map(|last| pending.saturating_sub(last));
            let shortest = separation.shortest_cycles.into_iter().chain(apart).min();
            separation.shortest_cycles = shortest;
            if apart.is_some_and(|apart| apart.saturating_add(self.late) < separation.declared_cycles) {
                separation.broken.add(pending);
            }
        }
    }

    /// An exception of the kernel was above handlers until now.
    pub fn looked(&mut self, event: &RunEvent) {
        // Only the meter ends them because their time is used up: a fault ends them for what they did, and an exception of the kernel is served when they have
        // made room for it.
        self.looked = Some((event.cycle, event.domain))
            .filter(|_| event.detail >= record::FIRST_LINE && !self.lines.contains(&event.detail));
    }

    /// Handlers ran for so many cycles until now, on a clock whose tick zero is at a cycle.
    pub fn served(&mut self, event: &RunEvent, tick_zero: i64) {
        let Some(Given { budget, period }) = self.given.get_mut(&event.domain) else { return };
        // Nothing of theirs ran behind the look: it has ended them.
        if self.looked == Some((event.cycle, event.domain)) {
            budget.cut_off.add(event.cycle);
        }
        let length = budget.period_cycles.max(1);
        let number = (event.cycle as i64 - tick_zero).div_euclid(length as i64);
        if number != period.0 {
            *period = (number, 0);
        }
        period.1 += u64::from(event.payload);
        let (used, begin) = (period.1, (tick_zero + number * length as i64).max(0) as u64);
        if used > budget.max_used_cycles {
            (budget.max_used_cycles, budget.max_used_at) = (used, begin);
        }
        let over = used.saturating_sub(budget.capacity_cycles + budget.tolerance_cycles);
        // Once for each period: when it happens first.
        if over > 0 && over <= u64::from(event.payload) {
            budget.overdrawn.add(event.cycle);
        }
        budget.max_overdrawn_cycles = budget.max_overdrawn_cycles.max(over);
    }

    /// Time that a domain's handlers were given and used; `None`: it has none.
    pub fn budget_of(&self, domain: u8) -> Option<HandlersBudget> {
        self.given.get(&domain).map(|given| given.budget)
    }

    /// How far interrupts of a line were apart, if that was declared.
    pub fn separation_of(&self, line: u16) -> Option<Separation> {
        self.apart.get(&(line + record::FIRST_LINE)).map(|(separation, _)| *separation)
    }

    /// How long interrupts of a line waited for their handlers.
    pub fn latency_of(&self, line: u16) -> Option<Latency> {
        self.waits.get(&(line + record::FIRST_LINE)).map(Waits::report)
    }
}

impl Waits {
    fn report(&self) -> Latency {
        let over = |(&(domain, kernel), lengths): (&(u8, bool), &Lengths)| LatencyOver {
            domain: (domain != record::IDLE).then_some(domain),
            kernel,
            count: lengths.count(),
            cycles: lengths.quantiles(),
            mean_millicycles: lengths.mean(),
        };
        Latency {
            count: self.all.count(),
            cycles: self.all.quantiles(),
            mean_millicycles: self.all.mean(),
            histogram: self.all.histogram(),
            max_instructions: self.max_instructions,
            at_once: self.at_once.count(),
            at_once_cycles: self.at_once.quantiles(),
            over: self.over.iter().map(over).collect(),
        }
    }
}

impl Lengths {
    fn add(&mut self, cycles: u64) {
        *self.0.entry(cycles).or_default() += 1;
    }

    fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// In thousandths of a cycle.
    fn mean(&self) -> u64 {
        let sum: u64 = self.0.iter().map(|(cycles, count)| cycles * count).sum();
        sum * 1000 / self.count().max(1)
    }

    fn quantiles(&self) -> Quantiles {
        let at = |percent: u64| {
            let rank = (self.count() * percent).div_ceil(100).max(1);
            let mut below = 0;
            let found = self.0.iter().find(|(_, count)| {
                below += **count;
                below >= rank
            });
            found.map_or(0, |(cycles, _)| *cycles)
        };
        Quantiles { min: at(0), median: at(50), p99: at(99), max: at(100) }
    }

    fn histogram(&self) -> Histogram {
        let ends = self.0.keys().next().zip(self.0.keys().next_back());
        let (min, max) = ends.map_or((0, 0), |(min, max)| (*min as i64, *max as i64));
        let mut histogram = Histogram::between(min, max);
        for (cycles, count) in &self.0 {
            histogram.add_many(*cycles as i64, *count);
        }
        histogram
    }
}
