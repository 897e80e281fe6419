//! The run as a trace that Perfetto and Chrome's tracing page open (the JSON trace-event format), written as it is read.
//!
//! One process per domain holds a track per thread at home there: what runs is a slice, a gate call a slice inside it, named after the
//! gate. Each release is an asynchronous slice from nominal release to completion. Budgets are counters; what stands
//! out is an instant. Times are modelled microseconds with three decimals.

use std::io::{self, Write};
use std::path::Path;

use abi::console::Printed;
use abi::trace::{Event, Fault, IDLE};
use manager::note::{self, Note, Reader};
use record::{RunEvent, observed};
use serde_json::{Value, json};
use units::Rate;

use crate::analyse::{call_name, error_name};
use crate::describe::SystemDescription;
use crate::output::{self, WriteError};
use crate::place::symbol_of;
use crate::schema::Provenance;
use crate::time::{Grid, Timebase};

/// Process number of what belongs to no domain; domains have their index plus 1.
const NOBODY: u32 = 1000;

/// Writes the trace of a run to a file, which appears complete or not at all.
///
/// # Errors
/// [`WriteError`]; an older file of that name is then untouched.
pub fn write(
    path: &Path,
    system: &SystemDescription,
    origin: Option<&Provenance>,
    events: impl IntoIterator<Item = RunEvent>,
) -> Result<(), WriteError> {
    output::write_with(path, |out| write_to(out, system, origin, events))
}

/// Writes the trace of a run. Memory does not grow with the number of events.
///
/// # Errors
/// What the sink answers.
pub fn write_to<W: Write>(
    out: &mut W,
    system: &SystemDescription,
    origin: Option<&Provenance>,
    events: impl IntoIterator<Item = RunEvent>,
) -> io::Result<()> {
    let mut tracer = Tracer::new(out, system);
    tracer.begin(origin)?;
    for event in events {
        tracer.feed(&event)?;
    }
    tracer.end()
}

/// Slices that are open on a thread's track.
#[derive(Clone, Debug, Default)]
struct Track {
    pid: u32,
    name: String,
    gates: Vec<String>,
    running: bool,
    /// Id of the asynchronous slice of its job.
    job: Option<u64>,
}

struct Tracer<'a, W> {
    out: &'a mut W,
    system: &'a SystemDescription,
    tracks: Vec<Track>,
    /// Cycles used of each budget in the period of its grid that is the last one seen.
    used: Vec<u64>,
    grids: Vec<(Grid, u64)>,
    current: Option<u16>,
    last: u64,
    jobs: u64,
    notes: Reader,
    first: bool,
}

impl<'a, W: Write> Tracer<'a, W> {
    fn new(out: &'a mut W, system: &'a SystemDescription) -> Self {
        let threads = system.threads.iter().map(|thread| usize::from(thread.index) + 1).max().unwrap_or(0);
        let mut tracks = vec![Track { pid: NOBODY, ..Track::default() }; threads];
        for thread in &system.threads {
            let track = &mut tracks[usize::from(thread.index)];
            (track.pid, track.name) = (u32::from(thread.domain) + 1, thread.name.clone());
        }
        let budgets = system.budgets.iter().map(|budget| usize::from(budget.index) + 1).max().unwrap_or(0);
        Tracer {
            out,
            system,
            tracks,
            used: vec![0; budgets],
            grids: grids(system, budgets),
            current: None,
            last: 0,
            jobs: 0,
            notes: Reader::default(),
            first: true,
        }
    }

    fn begin(&mut self, origin: Option<&Provenance>) -> io::Result<()> {
        write!(self.out, "{{\"displayTimeUnit\":\"ns\",")?;
        if let Some(Provenance { run, image_hash, .. }) = origin {
            write!(self.out, "\"otherData\":{},", json!({"run": run, "image": image_hash}))?;
        }
        write!(self.out, "\"traceEvents\":[")?;
        for domain in &self.system.domains {
            let hostile = if domain.hostile { " (hostile)" } else { "" };
            let name = format!("{}{hostile}", domain.name);
            let pid = u32::from(domain.index) + 1;
            self.put(json!({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}}))?;
            self.put(json!({"ph": "M", "pid": pid, "name": "process_sort_index", "args": {"sort_index": pid}}))?;
        }
        for thread in &self.system.threads {
            let (pid, tid) = (u32::from(thread.domain) + 1, u32::from(thread.index) + 1);
            self.put(json!({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": thread.name}}))?;
        }
        self.put(json!({"ph": "M", "pid": NOBODY, "name": "process_name", "args": {"name": "budgets and kernel"}}))
    }

    fn put(&mut self, value: Value) -> io::Result<()> {
        self.out.write_all(if self.first { b"\n" } else { b",\n" })?;
        self.first = false;
        self.out.write_all(record::visible_json(&value.to_string()).as_bytes())
    }

    /// Modelled microseconds; exact to a nanosecond.
    fn micros(&self, cycle: u64) -> f64 {
        Rate::hz(self.system.cpu_hz).ns_in(cycle).floor() as f64 / 1000.0
    }

    fn feed(&mut self, event: &RunEvent) -> io::Result<()> {
        self.charge(self.last, event.cycle);
        self.last = self.last.max(event.cycle);
        let Some(kind) = Event::from_number(event.event) else { return self.observed(event) };
        match kind {
            Event::Switch => self.switch(event),
            Event::GateEnter => self.gate_enter(event),
            Event::GateExit => self.gate_exit(event),
            Event::Release => self.release(event),
            Event::Complete => self.complete(event),
            Event::Replenish => self.budget(event.detail, event.cycle),
            Event::BudgetOut => {
                self.budget(event.detail, event.cycle)?;
                let name = self.budget_name(event.detail);
                self.instant(event, "budget exhausted", json!({"budget": name}))
            }
            Event::Fault => self.fault(event),
            Event::FaultPc => {
                let symbol = symbol_of(self.system, event.domain, u64::from(event.payload));
                self.instant(event, "fault pc", json!({"pc": hex(event.payload), "symbol": symbol}))
            }
            Event::Miss => {
                self.instant(event, "region miss", json!({"address": hex(event.payload), "slot": event.detail}))
            }
            Event::Interrupt => self.instant(event, "interrupt", json!({"line": event.detail})),
            Event::Mark if self.system.manager == Some(event.domain) && note::is_note(event.detail) => self.note(event),
            Event::Mark if let Some(Printed { badge, writes }) = self.system.printed(event) => {
                self.instant(event, "printed", json!({"badge": badge, "writes": writes}))
            }
            Event::Mark => self.instant(event, "mark", json!({"id": event.detail, "value": event.payload})),
            Event::Exit => self.instant(event, "exit", json!({"code": event.payload as i32})),
            Event::Restart => self.instant(event, "restart", json!({"restarts": event.detail})),
            Event::Stop => self.instant(event, "stop", json!({})),
            Event::Occupy => self.instant(event, "occupy", json!({})),
            Event::Refused => {
                let args = json!({"call": call_name(event.detail), "error": error_name(event.payload)});
                self.instant(event, "refused", args)
            }
            Event::Overrun => self.instant(event, "overrun", json!({"thread": self.thread_name(event.detail)})),
            Event::Start => {
                self.grids.iter_mut().for_each(|(grid, _)| grid.origin = event.cycle);
                self.instant(event, "start", json!({"ticks": event.payload}))
            }
            Event::End => self.instant(event, "end", json!({"status": event.payload as i32})),
            Event::KernelFailed => {
                self.instant(event, "kernel failed", json!({"pc": event.payload, "boot error": event.detail}))
            }
        }
    }

    fn observed(&mut self, event: &RunEvent) -> io::Result<()> {
        if event.event == observed::VIOLATION {
            return self.instant(event, "violation", json!({"address": hex(event.payload)}));
        }
        Ok(())
    }

    fn thread_name(&self, thread: u16) -> &str {
        self.tracks.get(usize::from(thread)).map_or("?", |track| &track.name)
    }

    fn budget_name(&self, index: u16) -> String {
        let budget = self.system.budgets.iter().find(|budget| budget.index == index);
        budget.map_or_else(|| format!("budget {index}"), |budget| budget.name.clone())
    }

    /// Opens or closes every slice of a thread's track.
    fn set_running(&mut self, thread: u16, running: bool, cycle: u64) -> io::Result<()> {
        let Some(track) = self.tracks.get_mut(usize::from(thread)) else { return Ok(()) };
        if track.running == running {
            return Ok(());
        }
        track.running = running;
        let Track { pid, name, gates, .. } = track.clone();
        for slice in std::iter::once(name).chain(gates) {
            self.slice(running, pid, thread, cycle, &slice)?;
        }
        Ok(())
    }

    fn slice(&mut self, opens: bool, pid: u32, thread: u16, cycle: u64, name: &str) -> io::Result<()> {
        let (tid, ts) = (u32::from(thread) + 1, self.micros(cycle));
        if opens {
            self.put(json!({"ph": "B", "pid": pid, "tid": tid, "ts": ts, "name": name}))
        } else {
            self.put(json!({"ph": "E", "pid": pid, "tid": tid, "ts": ts}))
        }
    }

    fn switch(&mut self, event: &RunEvent) -> io::Result<()> {
        let next = (event.domain != IDLE).then_some(event.detail);
        if next == self.current {
            return Ok(());
        }
        if let Some(thread) = self.current {
            self.set_running(thread, false, event.cycle)?;
            if let Some(budget) = self.budget_of(thread) {
                self.budget(budget, event.cycle)?;
            }
        }
        self.current = next;
        match next {
            Some(thread) => self.set_running(thread, true, event.cycle),
            None => Ok(()),
        }
    }

    fn gate_enter(&mut self, event: &RunEvent) -> io::Result<()> {
        let gate = self.system.gates.iter().find(|gate| gate.index == event.payload);
        let name = gate.map_or_else(|| format!("gate {}", event.payload), |gate| gate.name.clone());
        let Some(track) = self.tracks.get_mut(usize::from(event.detail)) else { return Ok(()) };
        track.gates.push(name.clone());
        let (running, pid) = (track.running, track.pid);
        if running { self.slice(true, pid, event.detail, event.cycle, &name) } else { Ok(()) }
    }

    fn gate_exit(&mut self, event: &RunEvent) -> io::Result<()> {
        let Some(track) = self.tracks.get_mut(usize::from(event.detail)) else { return Ok(()) };
        let (left, running, pid) = (track.gates.pop(), track.running, track.pid);
        if left.is_some() && running { self.slice(false, pid, event.detail, event.cycle, "") } else { Ok(()) }
    }

    fn release(&mut self, event: &RunEvent) -> io::Result<()> {
        self.close_job(event)?;
        self.jobs += 1;
        let id = self.jobs;
        let Some(track) = self.tracks.get_mut(usize::from(event.detail)) else { return Ok(()) };
        track.job = Some(id);
        let (pid, name) = (track.pid, format!("{} job", track.name));
        let ts = self.micros(event.cycle);
        let tid = u32::from(event.detail) + 1;
        self.put(json!({"ph": "b", "cat": "job", "id": id, "pid": pid, "tid": tid, "ts": ts, "name": name}))
    }

    fn complete(&mut self, event: &RunEvent) -> io::Result<()> {
        self.close_job(event)
    }

    fn close_job(&mut self, event: &RunEvent) -> io::Result<()> {
        let Some(track) = self.tracks.get_mut(usize::from(event.detail)) else { return Ok(()) };
        let Some(id) = track.job.take() else { return Ok(()) };
        let (pid, name) = (track.pid, format!("{} job", track.name));
        let ts = self.micros(event.cycle);
        let tid = u32::from(event.detail) + 1;
        self.put(json!({"ph": "e", "cat": "job", "id": id, "pid": pid, "tid": tid, "ts": ts, "name": name}))
    }

    /// Charges the budget of the thread that runs.
    fn charge(&mut self, from: u64, to: u64) {
        let Some(budget) = self.current.and_then(|thread| self.budget_of(thread)) else { return };
        let begin = self.refill(budget, to);
        if let Some(used) = self.used.get_mut(usize::from(budget)) {
            *used += to.saturating_sub(from.max(begin));
        }
    }

    /// Empties the count of use when a period has begun by this cycle; when it began.
    fn refill(&mut self, budget: u16, by: u64) -> u64 {
        let index = usize::from(budget);
        let (Some((grid, last)), Some(used)) = (self.grids.get_mut(index), self.used.get_mut(index)) else { return by };
        let window = grid.window_at(by);
        if std::mem::replace(last, window) != window {
            *used = 0;
        }
        grid.begin_of(window)
    }

    fn budget_of(&self, thread: u16) -> Option<u16> {
        self.system.threads.iter().find(|t| t.index == thread).map(|t| t.budget)
    }

    /// The counter of what is left of a budget, in modelled microseconds; an overdraft shows as 0.
    fn budget(&mut self, index: u16, cycle: u64) -> io::Result<()> {
        self.refill(index, cycle);
        let Some(budget) = self.system.budgets.iter().find(|budget| budget.index == index) else { return Ok(()) };
        let capacity = Rate::hz(self.system.ticks_per_second).us(budget.capacity_ticks);
        let left = (capacity - self.micros(self.used[usize::from(index)])).max(0.0);
        let (name, ts) = (format!("budget {}", budget.name), self.micros(cycle));
        self.put(json!({"ph": "C", "pid": NOBODY, "ts": ts, "name": name, "args": {"us left": left}}))
    }

    fn fault(&mut self, event: &RunEvent) -> io::Result<()> {
        let kind = u8::try_from(event.detail).ok().and_then(Fault::from_number).map_or("unknown", Fault::name);
        self.instant(event, &format!("fault: {kind}"), json!({"address": hex(event.payload)}))
    }

    /// A grant as the memory manager tells it, when that is complete.
    fn note(&mut self, event: &RunEvent) -> io::Result<()> {
        match self.notes.take(event.detail, event.payload) {
            Ok(Some(Note::Granted(told))) => {
                let args = json!({"domain": told.client, "address": hex(told.base), "bytes": told.bytes});
                self.instant(event, "granted", args)
            }
            Ok(Some(Note::Ended { client, base })) => {
                self.instant(event, "grant ended", json!({"domain": client, "address": hex(base)}))
            }
            // The report counts what is strange.
            Ok(None) | Err(note::Strange) => Ok(()),
        }
    }

    /// An instant: on the track of the thread that runs if that is at home in the domain, otherwise on the domain's process.
    fn instant(&mut self, event: &RunEvent, name: &str, args: Value) -> io::Result<()> {
        let pid = if event.domain == IDLE { NOBODY } else { u32::from(event.domain) + 1 };
        let ts = self.micros(event.cycle);
        let track = self.current.filter(|&thread| self.tracks.get(usize::from(thread)).is_some_and(|t| t.pid == pid));
        match track {
            Some(thread) => {
                let tid = u32::from(thread) + 1;
                self.put(json!({"ph": "i", "s": "t", "pid": pid, "tid": tid, "ts": ts, "name": name, "args": args}))
            }
            None => self.put(json!({"ph": "i", "s": "p", "pid": pid, "tid": 0, "ts": ts, "name": name, "args": args})),
        }
    }

    /// Closes what is open.
    fn end(&mut self) -> io::Result<()> {
        if let Some(thread) = self.current.take() {
            self.set_running(thread, false, self.last)?;
        }
        for index in 0..self.tracks.len() {
            let event = RunEvent { cycle: self.last, detail: index as u16, ..RunEvent::default() };
            self.close_job(&event)?;
        }
        self.out.write_all(b"\n]}\n")
    }
}

/// The grids of budgets by index, each with the period seen last.
fn grids(system: &SystemDescription, budgets: usize) -> Vec<(Grid, u64)> {
    let time = Timebase::new(system);
    let period = |index: usize| system.budgets.iter().find(|b| usize::from(b.index) == index).map(|b| b.period_ticks);
    (0..budgets).map(|index| (time.grid(period(index).unwrap_or(1)), 0)).collect()
}

fn hex(word: u32) -> String {
    format!("{word:#010x}")
}
