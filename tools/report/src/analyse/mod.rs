//! One pass over the events of a run.

mod claims;
mod execution;
mod faults;
mod grants;
mod handlers;
mod jobs;
mod meters;
mod outputs;
mod payer;
mod printing;
mod refused;
mod supply;

use std::collections::BTreeMap;

use abi::Error;
use abi::trace::{Event, Fault};
use record::{RunEvent, Summary, observed};

use crate::MAX_MARKS;
use crate::describe::SystemDescription;
use crate::running::{Running, Segment};
use crate::schema::{MarkReport, Stopped};
use crate::time::Timebase;
use crate::timeline::{Marker, MarkerKind, TimelineBuilder};

pub use faults::Faults;
pub use grants::Grants;
pub use handlers::HandlersMeter;
pub use jobs::{JobLimits, Jobs};
pub use meters::{GateLimits, GateMeter, MEM_MANAGE, Misses};
pub use outputs::OutputMeter;
pub use refused::{Refused, call_name, error_name};
pub use supply::BudgetMeter;

use execution::{Charge, Charges, Execution, ThreadMeter};
use printing::Printing;
use supply::Use;

/// Most that is granted to blocks of instructions, between whose ends no timer fires.
const MOST_OF_BLOCKS: u64 = 8000;

/// Most gates that one thread can be in; the kernel refuses many fewer.
const MOST_CALLS: usize = 64;

/// By how much the emulator can be late with a timer unless it advances time after every instruction: until the end of the block in which the time
/// comes, and of the next, in which QEMU learns of it; and the quantum.
fn emulator_late(summary: &Summary) -> u64 {
    let blocks = (2 * summary.longest_block_cycles).min(MOST_OF_BLOCKS);
    summary.quantum_cycles + if summary.quantum_cycles > 1 { blocks } else { 0 }
}

/// A gate call that has not returned.
#[derive(Debug)]
struct Call {
    gate: u32,
    /// Cycles that its thread had been charged when it entered.
    ran: u64,
    /// Importance of whoever is inside.
    ceiling: u8,
    /// Cycles of handlers that have interrupted it, without the kernel, and the domain of the last.
    handlers: (u64, Option<u8>),
}

/// Observations so far. Collectors are addressed by the indices of the description's tables;
/// records with other indices are counted as strange and otherwise ignored.
#[derive(Debug)]
pub struct Analysis<'a> {
    system: &'a SystemDescription,
    pub time: Timebase,
    running: Running,
    calls: Vec<Vec<Call>>,
    pub jobs: Vec<Jobs>,
    pub execution: Execution,
    pub budgets: BTreeMap<u16, BudgetMeter>,
    /// By how much a release may be late while less important code runs.
    pub release_late_bound: u64,
    pub gates: BTreeMap<u32, GateMeter>,
    pub misses: Misses,
    pub faults: Faults,
    pub refused: Refused,
    pub exits: Vec<Option<u32>>,
    /// For each domain that another has stopped, and nobody has restarted since: by whom, and when.
    pub stopped: Vec<Option<Stopped>>,
    pub interrupts: BTreeMap<u16, u64>,
    pub handlers: HandlersMeter,
    pub printing: Printing,
    pub outputs: Vec<OutputMeter>,
    pub marks: BTreeMap<(u8, u16), MarkReport>,
    pub grants: Grants,
    pub timeline: TimelineBuilder,
    pub events: u64,
    pub strange: u64,
    pub switches: u64,
    /// The record with which the kernel stopped for good.
    pub kernel_failed: Option<RunEvent>,
    last: u64,
}

impl<'a> Analysis<'a> {
    /// Nothing seen yet.
    pub fn new(system: &'a SystemDescription, summary: &Summary) -> Analysis<'a> {
        let domains = system.domains.iter().map(|domain| usize::from(domain.index) + 1).max().unwrap_or(0);
        let threads = system.threads.iter().map(|thread| usize::from(thread.index) + 1).max().unwrap_or(0);
        let time = Timebase::new(system);
        let path = summary.masked.longest.as_ref().map_or(0, |window| window.cycles);
        let budget = |budget: &crate::describe::Budget| {
            let payers = system.threads.iter().filter(|thread| thread.budget == budget.index).count() as u64;
            let tolerance = supply::tolerance(system, payers, path, summary.quantum_cycles, &time);
            (budget.index, BudgetMeter::new(budget, tolerance, system.costs.activation(), &time))
        };
        Analysis {
            system,
            execution: Execution::new(system, summary),
            handlers: HandlersMeter::new(system, &time, emulator_late(summary)),
            printing: Printing::new(system),
            outputs: system.outputs.iter().map(|output| OutputMeter::new(output, system.cpu_hz)).collect(),
            budgets: system.budgets.iter().map(budget).collect(),
            release_late_bound: time.cycles(system.enforcement_ticks.saturating_add(1)) + emulator_late(summary),
            time,
            running: Running::default(),
            calls: (0..threads).map(|_| Vec::new()).collect(),
            jobs: (0..threads).map(|_| Jobs::default()).collect(),
            gates: system.gates.iter().map(|gate| (gate.index, GateMeter::default())).collect(),
            misses: Misses::new(domains),
            faults: Faults::new(domains, summary),
            refused: Refused::default(),
            exits: vec![None; domains],
            stopped: vec![None; domains],
            interrupts: system.interrupts.iter().map(|interrupt| (interrupt.line, 0)).collect(),
            marks: BTreeMap::new(),
            grants: Grants::default(),
            timeline: TimelineBuilder::new(system, summary.cycles),
            events: 0,
            strange: 0,
            switches: 0,
            kernel_failed: None,
            last: 0,
        }
    }

    /// Takes the next event.
    pub fn feed(&mut self, event: &RunEvent) {
        self.events += 1;
        self.last = self.last.max(event.cycle);
        if let Some((thread, cycles)) = self.running.elapse(event.cycle) {
            self.elapsed(thread, event.cycle, cycles);
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

    /// Time passed for the thread that runs, as the kernel says.
    fn elapsed(&mut self, thread: u16, to: u64, cycles: u64) {
        if let Some(jobs) = self.jobs.get_mut(usize::from(thread)) {
            jobs.cycles += cycles;
        }
        if !self.execution.is_recorded {
            self.charge([Some(Charge { thread, from: to - cycles, to, what: Use::User, of: None }), None, None]);
        }
    }

    fn charge(&mut self, charges: Charges) {
        for Charge { thread, from, to, what, of } in charges.into_iter().flatten() {
            let payer = |thread| self.system.threads.iter().find(|t| t.index == thread).map(|t| t.budget);
            let budget = payer(thread);
            // Of its own threads the tolerance counts one each.
            let of = of.filter(|of| payer(*of) != budget);
            if let Some(meter) = budget.and_then(|budget| self.budgets.get_mut(&budget)) {
                meter.charge(from, to, what, of);
            }
        }
    }

    fn meter(&self, thread: usize) -> ThreadMeter {
        self.execution.threads.get(thread).copied().unwrap_or_default()
    }

    /// Time that a thread has been charged for between switches.
    fn charged(&self, thread: usize) -> u64 {
        if self.execution.is_recorded { self.meter(thread).charged() } else { self.jobs[thread].cycles }
    }

    /// Code of a domain ran.
    fn ran(&mut self, event: &RunEvent) {
        let charge = self.execution.ran(event, self.running.thread(), self.system);
        self.charge(charge);
        let Some(priority) = self.importance() else { return };
        self.execution.remember(event.cycle.saturating_sub(u64::from(event.payload)), event.cycle, priority);
    }

    /// Priority of the thread that has the processor, in the gates that it is in; `None` if nobody has it.
    fn importance(&self) -> Option<u16> {
        let (thread, _) = self.running.thread()?;
        let own = self.system.threads.iter().find(|t| t.index == thread).map_or(u8::MAX, |t| t.priority);
        let calls = self.calls.get(usize::from(thread)).into_iter().flatten();
        Some(calls.map(|call| call.ceiling).fold(own, u8::min).into())
    }

    fn complete(&mut self, event: &RunEvent) -> bool {
        let thread = usize::from(event.detail);
        let meter = self.meter(thread);
        let declared = self.system.threads.iter().find(|t| t.index == event.detail);
        let limits = declared.map_or(JobLimits::default(), |thread| self.limits(thread));
        self.jobs.get_mut(thread).is_some_and(|jobs| jobs.complete(event.cycle, &meter, limits))
    }

    /// Takes an event of the kernel's trace port; false when it names what the description does not have.
    fn kernel_event(&mut self, kind: Event, event: &RunEvent) -> bool {
        let thread = usize::from(event.detail);
        match kind {
            Event::Switch => {
                self.switches += 1;
                let jobs = self.jobs.get_mut(thread).filter(|_| event.domain != abi::trace::IDLE);
                let known = event.domain == abi::trace::IDLE || jobs.is_some();
                jobs.into_iter().for_each(Jobs::runs);
                known
            }
            Event::Release => self.release(event),
            Event::Complete => self.complete(event),
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
            Event::Replenish => self.budgets.get_mut(&event.detail).map(|meter| meter.replenishments += 1).is_some(),
            Event::Interrupt => self.interrupts.get_mut(&event.detail).map(|count| *count += 1).is_some(),
            Event::Mark => self.mark(event),
            Event::Exit => self.exit(event),
            Event::Restart => self.restart(event),
            Event::Stop => self.stop(event),
            Event::Occupy => true,
            Event::Refused => self.refused.note(event),
            Event::Start => {
                self.time.start(event.payload, event.cycle);
                self.budgets.values_mut().for_each(|meter| meter.start(event.cycle));
                true
            }
            Event::End => true,
            Event::KernelFailed => {
                self.kernel_failed = Some(*event);
                true
            }
        }
    }

    fn observed_event(&mut self, event: &RunEvent) -> bool {
        match event.event {
            observed::EXCEPTION_ENTRY => self.misses.enter(event.detail, event.cycle),
            observed::EXCEPTION_RETURN => self.misses.leave(event.cycle),
            observed::VIOLATION => self.stands_out(event, MarkerKind::Violation, None),
            observed::RAN => self.ran(event),
            observed::SERVED => self.served(event),
            observed::LOOKED => {
                self.execution.looked(event);
                self.handlers.looked(event);
            }
            observed::ENTERED => self.handlers.entered(event),
            observed::STORED => match self.outputs.get_mut(usize::from(event.detail)) {
                Some(output) => output.stored(event),
                None => return false,
            },
            observed::HANDLED => {
                self.note_stop(event);
                self.printing.handled(event, self.execution.last_context(), self.system);
                let charge = self.execution.handled(event, self.running.thread(), self.system);
                self.charge(charge);
            }
            // Of a domain that waits for interrupts by an instruction of its own: the stretch in which it ran holds that time.
            observed::SLEPT if event.domain != abi::trace::IDLE => {}
            observed::SLEPT => {
                let from = event.cycle.saturating_sub(u64::from(event.payload));
                self.execution.remember(from, event.cycle, u16::MAX);
            }
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
        let thread = usize::from(event.detail);
        let meter = self.meter(thread);
        let Some(jobs) = self.jobs.get_mut(thread) else { return false };
        let nominal = self.time.unwrap(event.payload, event.cycle);
        self.time.observe(nominal, event.cycle);
        if jobs.release(nominal, event.cycle, &meter) {
            self.judge_release(event, nominal);
        }
        true
    }

    /// Releases that a periodic thread waits for come from the timer: code that is less important does not hold it up for longer than the
    /// timer is late. A thread whose job before still ran waits for none.
    fn judge_release(&mut self, event: &RunEvent, nominal: u64) {
        let thread = self.system.threads.iter().find(|t| t.index == event.detail && t.period_ticks.is_some());
        let Some(thread) = thread.filter(|_| self.time.is_known()) else { return };
        let due = nominal.saturating_add_signed(self.time.tick_zero());
        let lateness = self.execution.less_important(due, event.cycle, thread.priority);
        self.jobs[usize::from(event.detail)].late_release(event.cycle, lateness, self.release_late_bound);
    }

    fn overrun(&mut self, event: &RunEvent) -> bool {
        let Some(jobs) = self.jobs.get_mut(usize::from(event.detail)) else { return false };
        jobs.overrun(self.time.unwrap(event.payload, event.cycle), event.cycle);
        self.stands_out(event, MarkerKind::Overrun, Some(event.detail));
        true
    }

    fn gate_enter(&mut self, event: &RunEvent) -> bool {
        let thread = usize::from(event.detail);
        let charge = self.execution.so_far(event.detail, event.cycle);
        self.charge(charge);
        let ceiling = self.system.gates.iter().find(|gate| gate.index == event.payload).map_or(u8::MAX, |g| g.ceiling);
        let ran = if thread < self.jobs.len() { self.charged(thread) } else { 0 };
        let (Some(meter), Some(calls)) = (self.gates.get_mut(&event.payload), self.calls.get_mut(thread)) else {
            return false;
        };
        if calls.len() == MOST_CALLS {
            return false;
        }
        meter.enter();
        calls.push(Call { gate: event.payload, ran, ceiling, handlers: (0, None) });
        true
    }

    fn gate_exit(&mut self, event: &RunEvent) -> bool {
        let thread = usize::from(event.detail);
        let Some(call) = self.calls.get_mut(thread).and_then(Vec::pop) else { return false };
        let failed = matches!(Error::from_status(event.payload), Some(Error::CalleeFault | Error::GateOverrun));
        let charge = self.execution.so_far(event.detail, event.cycle);
        self.charge(charge);
        let ran = self.charged(thread).saturating_sub(call.ran);
        let Some(gate) = self.system.gates.iter().find(|gate| gate.index == call.gate) else { return false };
        let limits = GateLimits::of(gate, self.system, &self.time);
        let Some(meter) = self.gates.get_mut(&call.gate) else { return false };
        if meter.exit(event.cycle, ran, failed, limits) {
            meter.exceeded_by.get_or_insert(event.detail);
        }
        true
    }

    /// Handlers ran that interrupts reach without the kernel: the calls that they have interrupted may fail because of that.
    fn served(&mut self, event: &RunEvent) {
        self.execution.served(event);
        self.handlers.served(event, self.time.tick_zero());
        let thread = self.running.thread().map(|(thread, _)| usize::from(thread));
        for call in thread.and_then(|thread| self.calls.get_mut(thread)).into_iter().flatten() {
            call.handlers = (call.handlers.0 + u64::from(event.payload), Some(event.domain));
        }
    }

    fn fault(&mut self, event: &RunEvent) -> bool {
        let running = self.running.thread().map(|(thread, _)| thread);
        // An overrun can be found before its caller goes on, while another thread has the processor. A gate has one caller.
        let thread = if event.detail == Fault::GateOverrun as u16 { self.caller_in(event.payload) } else { running };
        let named = thread.and_then(|index| self.system.threads.iter().find(|t| t.index == index));
        let call = thread.and_then(|thread| self.calls.get(usize::from(thread))).into_iter().flatten();
        let handlers = call.rev().find(|call| call.gate == event.payload).map_or((0, None), |call| call.handlers);
        let known = self.faults.fault(event, (named.map(|t| t.name.clone()), handlers), self.system);
        self.for_threads_of(event.domain, Jobs::abandon);
        self.stands_out(event, MarkerKind::Fault, thread);
        known
    }

    /// The thread that is in a gate.
    fn caller_in(&self, gate: u32) -> Option<u16> {
        let is_in = |calls: &[Call]| calls.iter().any(|call| call.gate == gate);
        self.calls.iter().position(|calls| is_in(calls)).map(|thread| thread as u16)
    }

    fn restart(&mut self, event: &RunEvent) -> bool {
        let cycle = event.cycle;
        self.for_threads_of(event.domain, |jobs| {
            jobs.abandon();
            jobs.keep_waiting(cycle);
        });
        for thread in self.system.threads.iter().filter(|thread| thread.domain == event.domain) {
            self.execution.restarted(thread.index);
        }
        self.printing.restarted(event.domain);
        if let Some(stopped) = self.stopped.get_mut(usize::from(event.domain)) {
            *stopped = None;
        }
        self.stands_out(event, MarkerKind::Restart, None);
        self.faults.restart(event)
    }

    fn stop(&mut self, event: &RunEvent) -> bool {
        self.for_threads_of(event.domain, Jobs::abandon);
        let by = self.running.thread().map(|(_, domain)| Stopped { by: domain, at: event.cycle });
        self.stopped.get_mut(usize::from(event.domain)).map(|stopped| *stopped = stopped.or(by)).is_some()
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
        let Some(meter) = self.budgets.get_mut(&event.detail) else { return false };
        meter.exhaustions += 1;
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
        if let Some(printed) = self.system.printed(event) {
            self.printing.told(printed);
            return true;
        }
        let key = (event.domain, event.detail);
        let of_domain = || self.marks.range((key.0, 0)..=(key.0, u16::MAX)).count();
        if !self.marks.contains_key(&key) && of_domain() >= MAX_MARKS {
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
            self.elapsed(thread, end, cycles);
        }
        self.budgets.values_mut().for_each(BudgetMeter::close);
        if let Some(segment) = self.running.close(end) {
            self.ended(segment);
        }
        end
    }
}
