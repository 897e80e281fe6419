//! Tests on small streams of events whose results are computed by hand. Clocks are chosen so that a tick is ten cycles.

mod account;
mod claims;
mod compare;
mod contrast;
mod faults;
mod figures;
mod files;
mod grants;
mod meters;
mod named;
mod outside;
mod page;
mod places;
mod time;
mod timelines;
mod traces;
mod verdicts;

use abi::trace::{Event, IDLE};
use record::{DomainCounters, End, EndReason, Masked, Mode, RunEvent, Summary, Witness};

use crate::Report;
use crate::describe::*;

/// 1000 ticks and 10 000 cycles in a second: a cycle is 100 us, a tick ten cycles.
fn system() -> SystemDescription {
    let thread = |index: u16, name: &str, domain: u8, priority: u8| Thread {
        index,
        name: name.into(),
        domain,
        priority,
        budget: index,
        period_ticks: None,
        deadline_ticks: None,
        response_bound_ticks: None,
        wcet_ticks: None,
        reload_ticks: 0,
    };
    let area = |name: &str, base, bytes, pinned| Area {
        name: name.into(),
        base,
        bytes,
        access: "rw".into(),
        memory: "RAM".into(),
        pinned,
        pages: u32::from(!pinned) * 2,
        ..Area::default()
    };
    let domain =
        |index: u8, name: &str, areas| Domain { index, name: name.into(), color: index, areas, ..Domain::default() };
    SystemDescription {
        system: "small".into(),
        board: "desk".into(),
        ticks_per_second: 1000,
        cpu_hz: 10_000,
        enforcement_ticks: 1,
        domains: vec![
            domain(0, "hard", vec![area("data", 0x1000, 0x100, true)]),
            domain(1, "soft", vec![area("heap", 0x2000, 0x400, false)]),
        ],
        threads: vec![
            Thread {
                period_ticks: Some(100),
                deadline_ticks: Some(50),
                response_bound_ticks: Some(40),
                ..thread(0, "loop", 0, 1)
            },
            thread(1, "work", 1, 9),
        ],
        budgets: vec![
            Budget { index: 0, name: "loop".into(), period_ticks: 100, capacity_ticks: 50 },
            Budget { index: 1, name: "work".into(), period_ticks: 100, capacity_ticks: 30 },
        ],
        gates: vec![Gate { index: 0, name: "ask".into(), domain: 1, ceiling: 1, bound_ticks: 10 }],
        interrupts: vec![Interrupt { line: 7, name: "pin".into(), domain: 1, separation_ticks: None }],
        memories: vec![Memory { name: "RAM".into(), base: 0x1000, capacity: 0x2000, used: 0x500, ..Memory::default() }],
        symbols: vec![
            Symbol { address: 0x100, size: 0x20, name: "start".into(), domain: Some(0) },
            Symbol { address: 0x140, size: 0, name: "rest".into(), domain: Some(1) },
        ],
        ..SystemDescription::default()
    }
}

fn summary(cycles: u64) -> Summary {
    let counters = |domain, cycles| DomainCounters { domain, cycles, ..DomainCounters::default() };
    Summary {
        version: record::SUMMARY_VERSION,
        profile: "p".into(),
        architecture: record::Architecture::Armv7M,
        modelled: true,
        exact: false,
        mode: Mode::Exact,
        quantum_cycles: 1,
        longest_block_cycles: 0,
        cpu_hz: 10_000,
        cycles,
        sleep_cycles: 0,
        instructions: cycles / 2,
        domains: vec![counters(0, cycles / 4), counters(1, cycles / 2)],
        exceptions: Vec::new(),
        masked: Masked::default(),
        clock: None,
        regions: None,
        counter: None,
        violations: Vec::new(),
        violations_total: 0,
        witness: Witness::default(),
        probes: Vec::new(),
        areas: Vec::new(),
        disturbances: 0,
        faults: Vec::new(),
        broken_stretches: 0,
        use_recorded: false,
        events: 0,
        end: End { reason: EndReason::Exit, status: Some(0), trace_status: Some(0) },
        host_seconds: 0.5,
        mips: 30.0,
    }
}

fn at(cycle: u64, event: Event, domain: u8, detail: u16, payload: u32) -> RunEvent {
    RunEvent { core: record::CoreId::FIRST, cycle, event: event as u8, domain, detail, payload }
}

fn switch(cycle: u64, domain: u8, thread: u16) -> RunEvent {
    at(cycle, Event::Switch, domain, thread, 0)
}

fn idle(cycle: u64) -> RunEvent {
    switch(cycle, IDLE, 0)
}

/// Thread 0 is released at `nominal` ticks, runs at once, and completes at `done` cycles.
fn job(nominal: u32, done: u64) -> [RunEvent; 4] {
    let released = u64::from(nominal) * 10 + 1;
    [
        at(released, Event::Release, 0, 0, nominal),
        switch(released, 0, 0),
        at(done, Event::Complete, 0, 0, 0),
        idle(done),
    ]
}

/// The clock of the kernel begins with the run.
const START: RunEvent =
    RunEvent { core: record::CoreId::FIRST, cycle: 0, event: Event::Start as u8, domain: IDLE, detail: 0, payload: 0 };

fn build(cycles: u64, events: impl IntoIterator<Item = RunEvent>) -> Report {
    report(&system(), &summary(cycles), [START].into_iter().chain(events))
}

fn report(system: &SystemDescription, summary: &Summary, events: impl IntoIterator<Item = RunEvent>) -> Report {
    let events: Vec<RunEvent> = events.into_iter().collect();
    Report::build(system, summary, events).expect("room for the jobs")
}
