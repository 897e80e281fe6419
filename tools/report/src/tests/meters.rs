//! Budgets, gates, misses, faults, refusals, markers.

use abi::Error;
use abi::trace::{Event, IDLE};
use record::{DomainCounters, RunEvent, Spread, VectorTime, Waits, observed};

use super::{at, build, idle, summary, switch, system};
use crate::place::Relation;
use crate::schema::{Outcome, Refusal};

#[test]
fn a_budget_is_metered_by_the_periods_of_its_grid_whatever_the_kernel_records() {
    let events = [
        at(50, Event::Replenish, IDLE, 1, 30),
        switch(100, 1, 1),
        idle(350),
        switch(900, 1, 1),
        // In the middle of running: 250 + 100 before the boundary, 60 + 40 after.
        idle(1060),
        at(1080, Event::Replenish, IDLE, 1, 30),
        switch(1100, 1, 1),
        at(1140, Event::BudgetOut, 1, 1, 0),
        idle(1140),
    ];
    let report = build(2000, events);
    let budget = &report.budgets[1];
    assert_eq!((budget.max_used_cycles, budget.used_cycles), (350, 450));
    assert_eq!((budget.replenishments, budget.exhaustions), (2, 1));
    assert_eq!((budget.period_cycles, budget.capacity_cycles), (1000, 300));
    // One tick of enforcement, one of the clock, and a quantum of one cycle.
    assert_eq!(budget.tolerance_cycles, 21);
    assert_eq!(budget.threads, ["work"]);
    assert_eq!(report.verdict.failures[0].code, "budget-overdrawn");
    assert_eq!(report.budgets[0].used_cycles, 0);
}

#[test]
fn what_still_runs_at_the_end_is_counted() {
    let report = build(500, [switch(100, 1, 1)]);
    assert_eq!((report.threads[1].cycles, report.budgets[1].used_cycles), (400, 400));
}

#[test]
fn a_gate_call_is_metered_without_the_time_of_others_and_paid_by_the_caller() {
    let events = [
        switch(0, 0, 0),
        at(10, Event::GateEnter, 1, 0, 0),
        switch(30, 1, 1), // Preempted inside, after 20 cycles.
        switch(90, 1, 0), // Continues inside.
        at(120, Event::GateExit, 0, 0, 0),
        at(200, Event::GateEnter, 1, 0, 0),
        at(215, Event::GateExit, 0, 0, Error::CalleeFault.status()),
        idle(300),
    ];
    let report = build(400, events);
    let gate = &report.gates[0];
    assert_eq!((gate.calls, gate.failed, gate.max_cycles, gate.cycles, gate.bound_cycles), (2, 1, 50, 65, 100));
    // 300 cycles less the 60 in which the other thread ran.
    assert_eq!(
        (report.threads[0].cycles, report.budgets[0].used_cycles, report.budgets[1].used_cycles),
        (240, 240, 60)
    );
    assert_eq!(report.run.strange_events, 0);
}

#[test]
fn a_gate_that_exceeds_its_bound_fails_the_run() {
    let events = [switch(0, 0, 0), at(10, Event::GateEnter, 1, 0, 0), at(111, Event::GateExit, 0, 0, 0), idle(120)];
    let report = build(400, events);
    assert_eq!(report.gates[0].max_cycles, 101);
    assert_eq!(report.verdict.failures[0].code, "gate-bound");
}

#[test]
fn a_miss_costs_from_exception_entry_to_return() {
    let seen =
        |cycle, event, detail| RunEvent { core: record::CoreId::FIRST, cycle, event, domain: 1, detail, payload: 0 };
    let events = [
        seen(100, observed::EXCEPTION_ENTRY, 4),
        at(150, Event::Miss, 1, 5, 0x2000),
        seen(170, observed::EXCEPTION_RETURN, 4),
        // Another exception costs nothing here.
        seen(200, observed::EXCEPTION_ENTRY, 11),
        seen(290, observed::EXCEPTION_RETURN, 11),
        seen(300, observed::EXCEPTION_ENTRY, 4),
        at(350, Event::Miss, 1, 6, 0x2200),
        seen(400, observed::EXCEPTION_RETURN, 4),
    ];
    let counted = record::Summary {
        domains: vec![DomainCounters { domain: 1, paged_misses: 2, ..DomainCounters::default() }],
        ..summary(1000)
    };
    let domain = &super::report(&system(), &counted, events).domains[1];
    assert_eq!((domain.region_misses, domain.region_miss_cycles, domain.region_miss_max_cycles), (2, 170, 100));
    assert!(domain.region_miss_exact);
}

#[test]
fn a_fill_outside_the_miss_handler_has_no_cost_of_its_own() {
    let seen =
        |cycle, event, detail| RunEvent { core: record::CoreId::FIRST, cycle, event, domain: 1, detail, payload: 0 };
    let events = [
        seen(100, observed::EXCEPTION_ENTRY, 11),
        at(150, Event::Miss, 1, 5, 0x2000),
        seen(170, observed::EXCEPTION_RETURN, 11),
    ];
    let mut counted = summary(1000);
    counted.domains[1].paged_misses = 1;
    let domain = &super::report(&system(), &counted, events).domains[1];
    assert_eq!((domain.region_misses, domain.region_miss_cycles, domain.region_miss_exact), (1, 0, false));
}

#[test]
fn without_records_of_exceptions_a_miss_costs_the_median_of_its_handler() {
    let cycles = Spread { count: 9, min: 80, median: 90, max: 120 };
    let mut counted = summary(1000);
    counted.domains[1].paged_misses = 3;
    counted.masked.vectors = vec![VectorTime {
        core: record::CoreId::FIRST,
        exception: 4,
        cycles,
        instructions: cycles,
        waits: Waits::default(),
    }];
    let events = [at(1, Event::Miss, 1, 5, 0), at(2, Event::Miss, 1, 5, 0), at(3, Event::Miss, 1, 5, 0)];
    let report = super::report(&system(), &counted, events);
    let domain = &report.domains[1];
    assert_eq!((domain.region_misses, domain.region_miss_cycles, domain.region_miss_max_cycles), (3, 270, 120));
    assert!(!domain.region_miss_exact);
    assert!(report.domains[0].region_miss_exact);
}

#[test]
fn a_fault_names_symbol_memory_and_outcome() {
    let events = [
        switch(0, 1, 1),
        at(100, Event::Fault, 1, 1, 0x1010),
        at(101, Event::FaultPc, 1, 0, 0x105),
        at(300, Event::Restart, 1, 1, 0),
        at(400, Event::Fault, 1, 6, 3),
        at(401, Event::FaultPc, 1, 0, 0x130),
    ];
    let report = build(1000, events);
    let [first, second] = &report.faults[..] else { panic!("{:?}", report.faults) };
    assert_eq!((first.at, first.kind.as_str(), first.thread.as_deref()), (100, "data access", Some("work")));
    assert_eq!((first.pc, first.symbol.as_deref()), (Some(0x105), Some("start+0x4")));
    assert_eq!((first.outcome, first.recovery_cycles), (Outcome::Restarted, Some(200)));
    let nearest = first.nearest.as_ref().expect("an area");
    assert_eq!(
        (nearest.area.as_str(), nearest.owners[0].as_str(), nearest.relation, nearest.distance),
        ("data", "hard", Relation::Inside, 0x10)
    );
    // A gate's overrun has an index, not an address; 0x130 lies behind `start` and before `rest`.
    assert_eq!((second.kind.as_str(), &second.nearest, &second.symbol), ("gate overrun", &None, &None));
    assert_eq!((second.outcome, second.recovery_cycles), (Outcome::Stopped, None));
    assert_eq!((report.domains[1].faults, report.domains[1].restarts, report.run.faults), (2, 1, 2));
}

#[test]
fn more_faults_than_listed_are_counted() {
    let many = (0..crate::MAX_FAULTS as u64 + 3).map(|n| at(n * 10, Event::Fault, 1, 1, 0x10));
    let report = build(100_000, many);
    assert_eq!((report.faults.len(), report.run.faults), (crate::MAX_FAULTS, crate::MAX_FAULTS as u64 + 3));
}

#[test]
fn refused_calls_are_counted_by_domain_call_and_error() {
    let refused = |domain, call, error| at(5, Event::Refused, domain, call, error);
    let (handle, right) = (Error::BadHandle.status(), Error::NoRight.status());
    let events = [refused(1, 7, handle), refused(1, 4, right), refused(1, 7, handle), refused(0, 99, 77)];
    let report = build(100, events);
    let row = |call: &str, error: &str, count| Refusal { call: call.into(), error: error.into(), count };
    assert_eq!(report.domains[1].refused, [row("signal", "NO_RIGHT", 1), row("gate_call", "BAD_HANDLE", 2)]);
    assert_eq!(report.domains[0].refused, [row("call 99", "0x4d", 1)]);
    assert_eq!((report.run.refused_calls, report.run.retried_calls), (4, 0));
    let (busy, again) = (abi::Error::Busy.status(), abi::Error::Again.status());
    let report = build(100, [refused(1, 7, busy), refused(1, 7, handle), refused(1, 30, again), refused(1, 7, busy)]);
    assert_eq!((report.run.refused_calls, report.run.retried_calls), (1, 3), "to be repeated is not refused");
}

#[test]
fn markers_interrupts_exits_and_switches_are_counted() {
    let events = [
        at(10, Event::Mark, 1, 3, 7),
        at(20, Event::Mark, 1, 3, 9),
        at(30, Event::Interrupt, 1, 7, 0),
        at(40, Event::Exit, 1, 0, 5),
        switch(50, 0, 0),
        at(60, Event::End, IDLE, 0, 0),
    ];
    let report = build(100, events);
    let mark = &report.marks[0];
    assert_eq!((mark.domain, mark.id, mark.count, mark.first_at, mark.last_at, mark.last_value), (1, 3, 2, 10, 20, 9));
    assert_eq!((report.interrupts[0].count, report.domains[1].exit_code, report.run.switches), (1, Some(5), 1));
    assert_eq!((report.run.events, report.run.strange_events), (7, 0));
    assert_eq!((report.domains[0].share, report.domains[1].share), (0.25, 0.5));
}

#[test]
fn a_domain_that_writes_every_marker_hides_nobody_elses() {
    let flood = (0..1000).map(|id| at(u64::from(id), Event::Mark, 0, id, 0));
    let report = build(2000, flood.chain([at(1000, Event::Mark, 1, 7, 8), at(1001, Event::Mark, 0, 3, 1)]));
    let of = |domain: u8| report.marks.iter().filter(|mark| mark.domain == domain).count();
    assert_eq!((of(0), of(1)), (crate::MAX_MARKS, 1));
    assert_eq!(report.marks[3].count, 2, "one that is known goes on being counted");
}

#[test]
fn records_that_name_what_is_not_there_are_strange_and_harmless() {
    let events = [
        switch(1, 9, 40),
        at(2, Event::Release, 0, 40, 0),
        at(3, Event::Complete, 0, 0, 0),
        at(4, Event::GateEnter, 0, 0, 9),
        at(5, Event::GateExit, 0, 0, 0),
        at(6, Event::Fault, 40, 1, 0),
        at(7, Event::Restart, 40, 1, 0),
        at(8, Event::Exit, 40, 1, 0),
        at(9, Event::BudgetOut, 0, 40, 0),
        at(10, Event::Replenish, 0, 40, 0),
        at(11, Event::Interrupt, 0, 40, 0),
        at(12, Event::Miss, 40, 0, 0),
        RunEvent { cycle: 13, event: 0x70, ..RunEvent::default() },
        RunEvent { cycle: 14, event: 0xf0, ..RunEvent::default() },
    ];
    let report = build(100, events);
    assert_eq!(report.run.strange_events, 14);
    assert_eq!(report.verdict.failures[0].code, "trace-strange");
}
