//! One pass over the events of a run.

mod faults;
mod grants;
mod jobs;
mod meters;
mod refused;

use std::collections::BTreeMap;

use abi::Error;
use abi::trace::Event;
use record::{RunEvent, Summary, observed};

use crate::MAX_MARKS;
use crate::describe::SystemDescription;
use crate::running::{Running, Segment};
use crate::schema::MarkReport;
use crate::time::Timebase;
use crate::timeline::{Marker, MarkerKind, TimelineBuilder};

pub use faults::Faults;
pub use grants::Grants;
pub use jobs::Jobs;
pub use meters::{BudgetMeter, GateMeter, MEM_MANAGE, Misses};
pub use refused::{Refused, call_name, error_name};

/// A gate call that has not returned.
#[derive(Debug)]
struct Call {
    gate: u32,
    /// Cycles that its thread had run when it entered.
    ran: u64,
}

/// What was seen so far. Collectors are addressed by the indices of the description's tables; records with other indices are
/// counted as strange and otherwise ignored.
#[derive(Debug)]
pub struct Analysis<'a> {
    system: &'a SystemDescription,
    pub time: Timebase,
    running: Running,
    calls: Vec<Vec<Call>>,
    pub jobs: Vec<Jobs>,
    pub budgets: Vec<BudgetMeter>,
    pub gates: BTreeMap<u32, GateMeter>,
    pub misses: Misses,
    pub faults: Faults,
    pub refused: Refused,
    pub exits: Vec<Option<u32>>,
    pub interrupts: BTreeMap<u16, u64>,
    pub marks: BTreeMap<(u8, u16), MarkReport>,
    pub grants: Grants,
    pub timeline: TimelineBuilder,
    pub events: u64,
    pub strange: u64,
    pub switches: u64,
    last: u64,
}

impl<'a> Analysis<'a> {
    /// Nothing seen yet.
    pub fn new(system: &'a SystemDescription, summary: &Summary) -> Analysis<'a> {
        let domains = system.domains.iter().map(|domain| usize::from(domain.index) + 1).max().unwrap_or(0);
        let threads = system.threads.iter().map(|thread| usize::from(thread.index) + 1).max().unwrap_or(0);
        let budgets = system.budgets.iter().map(|budget| usize::from(budget.index) + 1).max().unwrap_or(0);
        Analysis {
            system,
            time: Timebase::new(system),
            running: Running::default(),
            calls: (0..threads).map(|_| Vec::new()).collect(),
            jobs: (0..threads).map(|_| Jobs::default()).collect(),
            budgets: (0..budgets).map(|_| BudgetMeter::default()).collect(),
            gates: system.gates.iter().map(|gate| (gate.index, GateMeter::default())).collect(),
            misses: Misses::new(domains),
            faults: Faults::new(domains),
            refused: Refused::default(),
            exits: vec![None; domains],
            interrupts: system.interrupts.iter().map(|interrupt| (interrupt.line, 0)).collect(),
            marks: BTreeMap::new(),
            grants: Grants::default(),
            timeline: TimelineBuilder::new(system, summary.cycles),
            events: 0,
            strange: 0,
            switches: 0,
            last: 0,
        }
    }

    /// Takes the next event.
    pub fn feed(&mut self, event: &RunEvent) {
        self.events += 1;
        self.last = self.last.max(event.cycle);
        if let Some((thread, cycles)) = self.running.elapse(event.cycle) {
            self.charge(thread, cycles);
        }
        let known = match Event::from_number(event.event) {
            Some(kind) => self.kernel_event(kind, event),
            None => self.observed_event(event),
        };
        self.strange += u64::from(!known);
        if let Some(segment) = self.running.apply(event) {
            self.ended(segment);
        }
    }

    fn ended(&mut self, segment: Segment) {
        self.timeline.segment(segment);
    }

    fn charge(&mut self, thread: u16, cycles: u64) {
        if let Some(jobs) = self.jobs.get_mut(usize::from(thread)) {
            jobs.cycles += cycles;
        }
        let budget = self.system.threads.iter().find(|t| t.index == thread).map(|t| usize::from(t.budget));
        if let Some(meter) = budget.and_then(|budget| self.budgets.get_mut(budget)) {
            meter.charge(cycles);
        }
    }

    /// Takes an event of the kernel's trace port; false when it names what the description does not have.
    fn kernel_event(&mut self, kind: Event, event: &RunEvent) -> bool {
        let thread = usize::from(event.detail);
        match kind {
            Event::Switch => {
                self.switches += 1;
                event.domain == abi::trace::IDLE || thread < self.jobs.len()
            }
            Event::Release => self.release(event),
            Event::Complete => self.jobs.get_mut(thread).is_some_and(|jobs| jobs.complete(event.cycle)),
            Event::Overrun => self.overrun(event),
            Event::GateEnter => self.gate_enter(event),
            Event::GateExit => self.gate_exit(event),
            Event::Fault => self.fault(event),
            Event::FaultPc => {
                self.faults.pc(event, self.system);
                true
            }
            Event::Miss => self.misses.fill(event.domain),
            Event::BudgetOut => self.budget_out(event),
            Event::Replenish => self.budgets.get_mut(thread).map(BudgetMeter::replenish).is_some(),
            Event::Interrupt => self.interrupts.get_mut(&event.detail).map(|count| *count += 1).is_some(),
            Event::Mark => self.mark(event),
            Event::Exit => self.exit(event),
            Event::Restart => self.restart(event),
            Event::Refused => self.refused.note(event),
            Event::Start => {
                self.time.start(event.payload, event.cycle);
                true
            }
            Event::End => true,
        }
    }

    fn observed_event(&mut self, event: &RunEvent) -> bool {
        match event.event {
            observed::EXCEPTION_ENTRY => self.misses.enter(event.detail, event.cycle),
            observed::EXCEPTION_RETURN => self.misses.leave(event.cycle),
            observed::VIOLATION => self.stands_out(event, MarkerKind::Violation, None),
            number => return observed::name(number).is_some(),
        }
        true
    }

    fn stands_out(&mut self, event: &RunEvent, kind: MarkerKind, thread: Option<u16>) {
        let lane = thread.and_then(|thread| self.timeline.lane(thread));
        let domain = (event.domain != abi::trace::IDLE).then_some(event.domain);
        self.timeline.mark(Marker { at: event.cycle, kind, lane, domain });
    }

    fn release(&mut self, event: &RunEvent) -> bool {
        let Some(jobs) = self.jobs.get_mut(usize::from(event.detail)) else { return false };
        let nominal = self.time.unwrap(event.payload, event.cycle);
        self.time.observe(nominal, event.cycle);
        jobs.release(nominal);
        self.timeline.release(event.cycle, event.detail);
        true
    }

    fn overrun(&mut self, event: &RunEvent) -> bool {
        let Some(jobs) = self.jobs.get_mut(usize::from(event.detail)) else { return false };
        jobs.overrun(self.time.unwrap(event.payload, event.cycle));
        self.stands_out(event, MarkerKind::Overrun, Some(event.detail));
        true
    }

    fn gate_enter(&mut self, event: &RunEvent) -> bool {
        let thread = usize::from(event.detail);
        let (Some(meter), Some(calls)) = (self.gates.get_mut(&event.payload), self.calls.get_mut(thread)) else {
            return false;
        };
        meter.enter();
        calls.push(Call { gate: event.payload, ran: self.jobs[thread].cycles });
        true
    }

    fn gate_exit(&mut self, event: &RunEvent) -> bool {
        let thread = usize::from(event.detail);
        let Some(call) = self.calls.get_mut(thread).and_then(Vec::pop) else { return false };
        let failed = matches!(Error::from_status(event.payload), Some(Error::CalleeFault | Error::GateOverrun));
        let ran = self.jobs[thread].cycles - call.ran;
        self.gates.get_mut(&call.gate).map(|meter| meter.exit(ran, failed)).is_some()
    }

    fn fault(&mut self, event: &RunEvent) -> bool {
        let thread = self.running.thread().map(|(thread, _)| thread);
        let named = thread.and_then(|index| self.system.threads.iter().find(|t| t.index == index));
        let known = self.faults.fault(event, named.map(|t| t.name.clone()), self.system);
        self.for_threads_of(event.domain, Jobs::abandon);
        self.stands_out(event, MarkerKind::Fault, thread);
        known
    }

    fn restart(&mut self, event: &RunEvent) -> bool {
        self.for_threads_of(event.domain, Jobs::abandon);
        self.stands_out(event, MarkerKind::Restart, None);
        self.faults.restart(event)
    }

    fn exit(&mut self, event: &RunEvent) -> bool {
        self.for_threads_of(event.domain, Jobs::end);
        self.exits.get_mut(usize::from(event.domain)).map(|exit| *exit = Some(event.payload)).is_some()
    }

    fn for_threads_of(&mut self, domain: u8, act: impl Fn(&mut Jobs)) {
        for thread in self.system.threads.iter().filter(|thread| thread.domain == domain) {
            act(&mut self.jobs[usize::from(thread.index)]);
        }
    }

    fn budget_out(&mut self, event: &RunEvent) -> bool {
        let Some(meter) = self.budgets.get_mut(usize::from(event.detail)) else { return false };
        meter.exhaust();
        let thread = self.running.thread().map(|(thread, _)| thread);
        let payer = |t: &&crate::describe::Thread| t.budget == event.detail;
        let paid = self.system.threads.iter().filter(payer).map(|t| t.index);
        let lane = paid.clone().find(|index| Some(*index) == thread).or_else(|| paid.min());
        self.stands_out(event, MarkerKind::BudgetOut, lane);
        true
    }

    fn mark(&mut self, event: &RunEvent) -> bool {
        if self.system.manager == Some(event.domain) && Grants::concern(event.detail) {
            return self.grants.note(event, self.system);
        }
        let key = (event.domain, event.detail);
        if self.marks.len() >= MAX_MARKS && !self.marks.contains_key(&key) {
            return true;
        }
        let first_at = event.cycle;
        let new = MarkReport { domain: key.0, id: key.1, count: 0, first_at, last_at: first_at, last_value: 0 };
        let mark = self.marks.entry(key).or_insert(new);
        mark.count += 1;
        mark.last_at = event.cycle;
        mark.last_value = event.payload;
        true
    }

    /// The run is over at this cycle, or at the last event if that is later.
    pub fn close(&mut self, end: u64) -> u64 {
        let end = end.max(self.last);
        if let Some((thread, cycles)) = self.running.elapse(end) {
            self.charge(thread, cycles);
        }
        if let Some(segment) = self.running.close(end) {
            self.ended(segment);
        }
        end
    }
}
