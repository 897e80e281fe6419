//! The observer of the soft core, whose simulator is made of the hardware's own description: cycles are exact, and the bench says at which of them the
//! core's privilege changed. Meter, accounts, masked times and the log are those of every other run.
//!
//! The bench compares every physical access of user mode with what the domain has, and tells of each store, the kernel's
//! too, while a run has a hostile domain: the witness judges them one by one and hashes nothing. A run that asks for
//! something that cannot be observed here is refused.

use abi::trace::Event;
use record::{
    Architecture, CONTEXTS_PER_DOMAIN, CoreId, Deed, End, EndReason, FIRST_LINE, FaultContext, Mode, ProfileSource,
    Registers, RunEvent, SUMMARY_VERSION, Summary, Violation, ViolationKind, Waits, Watch, observed,
};
use std::path::Path;
use std::{fs, io};

use crate::accounts::{Accounts, Mark};
use crate::clock_reads::ClockReads;
use crate::exceptions::{Exceptions, Moment};
use crate::log::Log;
use crate::meter::Meter;
use crate::probes::Probes;
use crate::shared::host_seconds;
use crate::witness::Witnesses;

/// A point of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// Cycles since reset.
    pub cycle: u64,
    /// Instructions retired until then.
    pub instructions: u64,
}

/// Something that a bench has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// The core is in machine mode now.
    Entered {
        /// Number of the exception: a cause, or a line and [`FIRST_LINE`].
        exception: u16,
        /// The instruction to which it returns.
        pc: u32,
        /// The register that holds the number of a call.
        call: u32,
    },
    /// The core is in user mode now.
    Left {
        /// The next instruction.
        pc: u32,
        /// The stack pointer.
        sp: u32,
        /// First entry of the tables in force.
        space: u32,
    },
    /// Before the record of a fault: two registers of the thread, as they were when machine mode was entered.
    Held {
        /// Number of the first one.
        number: u32,
        /// It, and the next one.
        values: [u32; 2],
    },
    /// Before the record of a fault: two words of memory from the stack pointer on, one after the other.
    OnStack {
        /// Address of the first one.
        address: u32,
        /// It, and the next one.
        values: [u32; 2],
    },
    /// A record was written to the trace port.
    Traced {
        /// Its header.
        header: u32,
        /// Its payload.
        payload: u32,
    },
    /// The kernel's clock was read.
    Clock {
        /// Value of its register.
        value: u32,
    },
    /// The core has slept until now.
    Woke {
        /// For so many cycles.
        slept: u64,
        /// Number of the exception that woke it, if one did.
        exception: Option<u16>,
    },
    /// A translation led to memory that is not the domain's.
    Strayed {
        /// The kind of the access.
        access: Access,
        /// Physical address.
        physical: u32,
        /// First entry of the tables in force.
        space: u32,
    },
    /// A store reached the bus.
    Stored {
        /// Physical address of its word.
        physical: u32,
        /// Machine mode makes it.
        kernel: bool,
    },
    /// An instruction was executed at which a probe starts or ends.
    Reached {
        /// Its address.
        pc: u32,
    },
    /// Time has passed.
    Alive,
}

/// Kinds of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads data.
    Load,
    /// It writes data.
    Store,
    /// It reads an instruction.
    Fetch,
}

/// Cause of an environment call from user mode.
const CALL: u16 = 8;
/// Bytes of what a store is judged by.
const WORD: u32 = 4;
/// No exception has this number.
const ANONYMOUS: u16 = u16::MAX;
const CORE: CoreId = CoreId(0);

/// The observer.
pub struct SoftCore {
    watch: Watch,
    /// Name and clock of the chip.
    chip: (String, u64),
    log: Log,
    exceptions: Exceptions,
    accounts: Accounts,
    meter: Meter,
    clock: ClockReads,
    witness: Witnesses,
    probes: Probes,
    /// The cycle in which machine mode was entered last.
    entered: u64,
    /// The exception that it was for, and the instruction to which it returns.
    cause: (u16, u32),
    faults: Vec<FaultContext>,
    /// Registers and stack of the fault that is told next.
    next: FaultContext,
    /// The domain that is current, as the kernel says.
    domain: u8,
    in_kernel: bool,
    slept: u64,
    trace_status: Option<u32>,
    started: f64,
}

impl SoftCore {
    /// Begins to observe.
    ///
    /// # Errors
    /// A text: the run asks for something that cannot be observed here, the chip has no name or clock, or a file cannot be written.
    pub fn begin(watch: Watch) -> Result<Self, String> {
        refuse(&watch)?;
        let chip = chip(&watch.profile)?;
        let log = Log::create(&watch)?;
        let meter = Meter::new(watch.meter.as_ref());
        let clock = ClockReads::new(watch.clock);
        let witness = Witnesses::new(&watch);
        Ok(Self {
            chip,
            log,
            exceptions: Exceptions::new(CORE, watch.trace_port.is_none()),
            accounts: Accounts::new(CORE),
            meter,
            clock,
            witness,
            probes: Probes::new(&watch),
            entered: 0,
            cause: (ANONYMOUS, 0),
            faults: Vec::new(),
            next: FaultContext::default(),
            domain: record::IDLE,
            in_kernel: true,
            slept: 0,
            trace_status: None,
            started: host_seconds(),
            watch,
        })
    }

    /// Something happened.
    pub fn see(&mut self, at: At, happened: Happened) {
        match happened {
            Happened::Entered { exception, pc, call } => self.entered(at, exception, pc, call),
            Happened::Left { pc, sp, space } => self.left(at, pc, sp, space),
            Happened::Held { number, values } => self.held(number as usize, values),
            Happened::OnStack { address, values } => self.on_stack(address, values),
            Happened::Traced { header, payload } => self.traced(at, header, payload),
            Happened::Clock { value } => self.clock_read(at, value),
            Happened::Woke { slept, exception } => self.woke(at, slept, exception),
            Happened::Strayed { access, physical, space } => self.strayed(at, access, physical, space),
            Happened::Stored { physical, kernel } => self.stored(at, physical, kernel),
            Happened::Reached { pc } => self.reached(at, pc),
            Happened::Alive => self.log.progress(at.cycle, at.instructions),
        }
    }

    /// Whether a file could not take an event: the run cannot go on.
    pub fn has_failed(&self) -> bool {
        self.log.has_failed()
    }

    fn entered(&mut self, at: At, exception: u16, pc: u32, call: u32) {
        self.settle(at);
        (self.in_kernel, self.entered, self.cause) = (true, at.cycle, (exception, pc));
        if self.watch.exception_events {
            let (event, cycle) = (observed::EXCEPTION_ENTRY, at.cycle);
            self.log.event(RunEvent { cycle, core: CORE, event, domain: self.domain, detail: exception, payload: pc });
        }
        let call = (exception == CALL).then_some(call as usize);
        self.witness.follow_call(call);
        self.end_stretch(at.cycle);
        self.meter.enter_kernel();
        self.meter.enter_exception(exception, call);
        self.exceptions.follows(exception >= FIRST_LINE, at.instructions);
        self.exceptions.start_activation(pc, exception, call, false, moment(at));
    }

    fn left(&mut self, at: At, pc: u32, sp: u32, space: u32) {
        self.settle(at);
        self.in_kernel = false;
        self.witness.follow_call(None);
        self.end_stretch(at.cycle);
        self.meter.leave_kernel(pc, (sp, Some(space)));
        self.exceptions.end_innermost(moment(at));
    }

    fn traced(&mut self, at: At, header: u32, payload: u32) {
        // No event has number 0: this is the port being cleared at boot.
        let event = header as u8;
        if event == 0 {
            return;
        }
        let (domain, detail) = ((header >> 8) as u8, (header >> 16) as u16);
        let record = RunEvent { cycle: at.cycle, core: CORE, event, domain, detail, payload };
        self.log.event(record);
        self.log.last_header = header;
        let enters = [Event::Switch, Event::GateEnter, Event::GateExit];
        if enters.iter().any(|known| *known as u8 == event) {
            self.settle(at);
            self.exceptions.start_counting(at.cycle);
            if domain != self.domain {
                self.accounts.entered(domain);
            }
            self.witness.recorded(&record, self.domain);
            self.domain = domain;
            self.witness.follow(domain);
        } else if event == Event::Miss as u8 {
            self.accounts.missed(domain);
        } else if event == Event::Fault as u8 {
            self.keep_context(at, domain);
        } else if event == Event::End as u8 {
            self.trace_status = Some(payload);
        }
    }

    fn held(&mut self, number: usize, values: [u32; 2]) {
        let Registers { count, .. } = Architecture::Rv32.registers();
        self.next.registers.resize(count, None);
        for (to, value) in self.next.registers.iter_mut().skip(number).zip(values) {
            *to = Some(value);
        }
    }

    fn on_stack(&mut self, address: u32, values: [u32; 2]) {
        if self.next.stack.is_empty() {
            self.next.stack_at = address;
        }
        self.next.stack.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }

    /// A domain faults, at the instruction to which the exception returns.
    fn keep_context(&mut self, at: At, domain: u8) {
        let mut context = std::mem::take(&mut self.next);
        if self.faults.iter().filter(|kept| kept.domain == domain).count() == CONTEXTS_PER_DOMAIN {
            return;
        }
        let (exception, address) = self.cause;
        let Registers { count, pc, .. } = Architecture::Rv32.registers();
        context.registers.resize(count, None);
        context.registers[pc] = Some(address);
        (context.cycle, context.domain, context.instruction) = (at.cycle, domain, deed(exception));
        let stack = self.meter.last_stack().filter(|(_, stack)| stack.domain == domain);
        context.stack_of = stack.map(|(place, _)| place);
        self.faults.push(context);
    }

    /// A stretch of a handler begins when machine mode was entered.
    fn reached(&mut self, at: At, pc: u32) {
        let start = if self.watch.vectors.contains(&pc) { self.entered } else { at.cycle };
        let (log, domain) = (&mut self.log, self.domain);
        self.probes.reach((pc, domain), (start, at.cycle, at.instructions), |index, cycles| {
            let payload = u32::try_from(cycles).unwrap_or(u32::MAX);
            let event = observed::PROBE;
            log.event(RunEvent { cycle: at.cycle, core: CORE, event, domain, detail: index, payload });
        });
    }

    fn clock_read(&mut self, at: At, value: u32) {
        if let Some(register) = self.watch.clock.map(|watch| watch.register) {
            self.clock.loaded(register, value, at.cycle);
            self.meter.loaded(register, at.cycle);
        }
    }

    /// Every physical access of user mode is compared: one to other memory fails the run.
    fn strayed(&mut self, at: At, access: Access, physical: u32, space: u32) {
        let kind = match access {
            Access::Load => ViolationKind::Read,
            Access::Store => ViolationKind::Write,
            Access::Fetch => ViolationKind::Execute,
        };
        let contexts = self.watch.meter.iter().flat_map(|meter| &meter.contexts);
        let domain = contexts.filter(|context| context.space == Some(space)).map(|context| context.domain).next();
        self.violation(at, kind, physical, domain.unwrap_or(self.domain), None);
    }

    /// While a hostile domain is current, its stores reach its own memory alone, and the kernel's no memory of another domain.
    fn stored(&mut self, at: At, physical: u32, kernel: bool) {
        if !kernel && self.witness.is_watching && self.witness.stores_outside(physical, WORD) {
            self.violation(at, ViolationKind::HostileStore, physical, self.domain, None);
        }
        if kernel && let Some(victim) = self.witness.stored_for(physical) {
            self.violation(at, ViolationKind::MemoryChanged, physical, self.domain, Some(victim));
        }
    }

    fn violation(&mut self, at: At, kind: ViolationKind, address: u32, domain: u8, victim: Option<u8>) {
        let cycle = at.cycle;
        let violation =
            Violation { core: CORE, kind, cycle, pc: 0, address, len: WORD, domain, victim, translation: None };
        let detail = self.log.violation(violation);
        let event = observed::VIOLATION;
        self.log.event(RunEvent { cycle, core: CORE, event, domain, detail, payload: address });
    }

    fn woke(&mut self, at: At, slept: u64, exception: Option<u16>) {
        self.slept += slept;
        self.settle(at);
        let payload = u32::try_from(slept).unwrap_or(u32::MAX);
        let (event, in_domain) = (observed::SLEPT, self.meter.is_in_domain());
        let domain = if in_domain { self.domain } else { record::IDLE };
        if !in_domain {
            self.end_stretch(at.cycle.saturating_sub(slept));
            self.meter.wake(at.cycle);
            self.exceptions.restart_windows(moment(at), slept);
        }
        self.log.event(RunEvent { cycle: at.cycle, core: CORE, event, domain, detail: 0, payload });
        if in_domain {
            return;
        }
        if let Some(number) = exception {
            self.meter.identify(ANONYMOUS, number);
            self.exceptions.identify(ANONYMOUS, number, moment(at));
        }
    }

    /// Everything until now belongs to the domain that is current, or to the kernel on its behalf.
    fn settle(&mut self, at: At) {
        let mark = Mark { cycles: at.cycle, slept: self.slept, instructions: at.instructions, ..Mark::default() };
        self.accounts.settle(self.domain, self.in_kernel, mark);
    }

    fn end_stretch(&mut self, cycle: u64) {
        self.meter.end_stretch(cycle).for_each(|record| self.log.event(record));
    }

    /// The run is over: writes the rest of the events and the summary.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(mut self, at: At, reason: EndReason) -> io::Result<()> {
        self.settle(at);
        self.end_stretch(at.cycle);
        let events = self.log.close()?;
        let summary = self.watch.summary.clone();
        let text = self.summary(at, reason, events).to_json();
        crate::finish::replace(&summary, &text)?;
        self.log.progress(at.cycle, at.instructions);
        self.log.over();
        Ok(())
    }

    fn summary(&mut self, at: At, reason: EndReason, events: u64) -> Summary {
        let host_seconds = host_seconds() - self.started;
        let (violations, violations_total) = self.log.violations();
        Summary {
            version: SUMMARY_VERSION,
            profile: self.chip.0.clone(),
            architecture: Architecture::Rv32,
            modelled: true,
            exact: true,
            mode: Mode::Exact,
            quantum_cycles: 1,
            longest_block_cycles: 0,
            cpu_hz: self.chip.1,
            cycles: at.cycle,
            sleep_cycles: self.slept,
            instructions: at.instructions,
            domains: self.accounts.used(),
            exceptions: self.exceptions.counts(),
            masked: self.exceptions.masked(),
            violations,
            violations_total,
            faults: std::mem::take(&mut self.faults),
            witness: self.witness.seen(),
            probes: self.probes.results(CORE),
            areas: Vec::new(),
            disturbances: 0,
            broken_stretches: self.exceptions.broken + self.accounts.broken + self.meter.broken,
            clock: self.clock.seen(),
            regions: None,
            counter: None,
            use_recorded: self.watch.meter.is_some(),
            events,
            end: End { reason, status: None, trace_status: self.trace_status },
            host_seconds,
            mips: at.instructions as f64 / host_seconds / 1e6,
        }
    }
}

/// The action of the instruction that caused an exception (RISC-V privileged architecture, 3.1.15). An illegal one may be anything.
fn deed(exception: u16) -> Option<Deed> {
    match exception {
        3 => Some(Deed::Trap),
        4 | 5 => Some(Deed::Read),
        6 | 7 => Some(Deed::Write),
        _ => None,
    }
}

fn moment(At { cycle, instructions }: At) -> Moment {
    Moment { cycle, instructions, waits: Waits::default() }
}

/// Refuses what cannot be observed here.
fn refuse(watch: &Watch) -> Result<(), String> {
    let absent = [
        (watch.cores > 1, "several cores"),
        (watch.interference.is_some() || watch.adverse, "interference: there is no cache"),
        (watch.handlers.is_some(), "handlers that interrupts reach without the kernel"),
        (!watch.outputs.is_empty(), "stores to outputs"),
        (watch.instruction_limit > 0, "a limit of instructions"),
        (watch.debugger, "a debugger"),
    ];
    match absent.into_iter().find(|(asked, _)| *asked) {
        Some((_, what)) => Err(format!("the soft core's bench cannot do this yet: {what}")),
        None => Ok(()),
    }
}

/// Name and clock of the chip.
fn chip(profile: &ProfileSource) -> Result<(String, u64), String> {
    let ProfileSource::Text(text) = profile else { return Err("the soft core has a chip's file".into()) };
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| format!("chip: {}", error.message()))?;
    let name = table.get("name").and_then(toml::Value::as_str).ok_or("chip: it has no name")?;
    let clock = table.get("core_clock").and_then(|clock| clock.get("value")?.as_integer());
    let hz = clock.and_then(|hz| u64::try_from(hz).ok()).filter(|hz| *hz > 0).ok_or("chip: it has no clock")?;
    Ok((name.to_owned(), hz))
}

/// Reads the request of a run.
///
/// # Errors
/// A text: the file cannot be read, or is no request.
pub fn read_watch(path: &Path) -> Result<Watch, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
