//! Metering from execution, and each verdict about time.

use abi::trace::Event;
use abi::{Call, Error};
use record::{Handled, RunEvent, Summary, Window, observed};

use super::{START, at, idle, summary, switch, system};
use crate::describe::{Costs, Stack, SystemDescription};
use crate::schema::{Failure, Mismatch};
use crate::{Report, schema};

pub(super) const SV_CALL: u16 = 11;
pub(super) const SYS_TICK: u16 = 15;
/// The line 7 of the small system.
const PIN: u16 = 16 + 7;

/// Code of a domain ran for so many cycles until this cycle, on a stack that is not known.
pub(super) fn ran(cycle: u64, domain: u8, cycles: u32) -> RunEvent {
    RunEvent { core: record::CoreId::FIRST, cycle, event: observed::RAN, domain, detail: u16::MAX, payload: cycles }
}

pub(super) fn handled(cycle: u64, exception: u16, call: Option<Call>, cycles: u32) -> RunEvent {
    let detail = Handled { exception, call: call.map(|call| call as u8) }.to_detail();
    RunEvent {
        core: record::CoreId::FIRST,
        cycle,
        event: observed::HANDLED,
        domain: record::IDLE,
        detail,
        payload: cycles,
    }
}

pub(super) fn build(system: &SystemDescription, summary: &Summary, events: &[RunEvent]) -> Report {
    let recorded = Summary { use_recorded: true, ..summary.clone() };
    super::report(system, &recorded, [START].into_iter().chain(events.iter().copied()))
}

fn failure<'a>(report: &'a Report, code: &str) -> &'a Failure {
    let all = &report.verdict.failures;
    all.iter().find(|failure| failure.code == code).unwrap_or_else(|| panic!("no {code} in {all:?}"))
}

pub(super) fn codes(report: &Report) -> Vec<&str> {
    report.verdict.failures.iter().map(|failure| failure.code.as_str()).collect()
}

/// Thread 1 runs; the timer releases thread 0, which calls and waits for its next period.
fn preemption() -> Vec<RunEvent> {
    vec![
        switch(5, 1, 1),
        handled(10, 0, None, 10),
        ran(110, 1, 100),
        at(115, Event::Release, 0, 0, 10),
        switch(118, 0, 0),
        handled(130, SYS_TICK, None, 20),
        ran(160, 0, 30),
        handled(165, SV_CALL, Some(Call::TimeNow), 5),
        ran(175, 0, 10),
        at(180, Event::Complete, 0, 0, 0),
        switch(185, 1, 1),
        handled(200, SV_CALL, Some(Call::WaitPeriod), 25),
        ran(250, 1, 50),
        // The timer came for nothing, and a line that wakes nobody.
        handled(257, SYS_TICK, None, 7),
        ran(260, 1, 3),
        at(262, Event::Interrupt, 1, 7, 0),
        handled(269, PIN, None, 9),
        ran(300, 1, 31),
        idle(310),
    ]
}

#[test]
fn use_is_counted_from_execution_and_switches_are_paid_by_who_arranged_them() {
    let report = build(&system(), &summary(310), &preemption());
    assert!(report.run.use_from_execution);
    let used = |thread: usize| {
        let schema::ThreadUse { user_cycles, gate_cycles, call_cycles, activation_cycles, .. } =
            report.threads[thread].used;
        [user_cycles, gate_cycles, call_cycles, activation_cycles]
    };
    // Both switches are thread 0's: to it when it preempts, and away from it when it waits.
    assert_eq!(used(0), [40, 0, 5, 20 + 25]);
    assert_eq!(used(1), [100 + 50 + 3 + 31, 0, 0, 0]);
    let sums = |budget: &schema::BudgetReport| {
        [budget.user_cycles, budget.call_cycles, budget.activation_cycles, budget.used_cycles, budget.max_used_cycles]
    };
    assert_eq!(sums(&report.budgets[0]), [40, 5, 45, 90, 90]);
    assert_eq!(sums(&report.budgets[1]), [184, 0, 0, 184, 184]);
    assert_eq!((report.run.timer_cycles, report.interrupts[0].cycles, report.run.unpaid_cycles), (7, 9, 10));
    assert_eq!((report.domains[1].used.user_cycles, report.domains[0].used.activation_cycles), (184, 45));
    let timer = report.kernel_use.iter().find(|of| of.exception == SYS_TICK).expect("the timer");
    assert_eq!((timer.stayed, timer.stayed_cycles, timer.switched, timer.switched_cycles), (1, 7, 1, 20));
    let wait = report.kernel_use.iter().find(|of| of.call == Some(Call::WaitPeriod as u8)).expect("the call");
    assert_eq!((wait.exception, wait.switched, wait.max_cycles), (SV_CALL, 1, 25));
    assert_eq!(report.threads[0].job.max_cycles, 45);
    assert!(report.verdict.ok, "{:?}", report.verdict);
}

#[test]
fn a_switch_is_paid_with_what_it_takes_at_most_and_its_neighbours_run_on_that() {
    let mut priced = system();
    priced.costs = Costs { entry_cycles: 12, exit_cycles: 18, early_cycles: 10 };
    let report = build(&priced, &summary(310), &preemption());
    let used = |thread: usize| report.threads[thread].used;
    // Thread 0 has 30 of 45 for nothing; the timer's switch to it took 20 of these 30, so that it pays for 10 itself. The other switch took 25.
    assert_eq!((used(0).user_cycles, used(0).given_cycles, used(0).call_cycles), (10, 30, 5));
    assert_eq!(used(0).activation_cycles, 20 + 10 + 25 + 5);
    // Thread 1 has 30 behind the start and behind thread 0, and 30 behind the timer, which may have found thread 0 without budget; the line's
    // interrupt took 9 of 30.
    assert_eq!((used(1).user_cycles, used(1).given_cycles), (184 - 30 - 30 - 34, 94));
    assert_eq!((report.budgets[0].used_cycles, report.budgets[1].used_cycles), (10 + 5 + 60, 90));
    // The time of a job does not depend on the prices of switches.
    assert_eq!(report.threads[0].job.max_cycles, 45);
}

#[test]
fn who_signals_pays_for_whom_it_wakes() {
    let mut shared = system();
    shared.threads[0].period_ticks = None;
    let events = [
        switch(0, 0, 0),
        handled(10, 0, None, 10),
        ran(20, 0, 10),
        switch(25, 1, 1),
        handled(30, SV_CALL, Some(Call::Wait), 10),
        ran(100, 1, 70),
        switch(110, 0, 0),
        handled(120, SV_CALL, Some(Call::Signal), 20),
        ran(150, 0, 30),
        switch(160, 1, 1),
        handled(180, SV_CALL, Some(Call::Wait), 30),
        ran(200, 1, 20),
        at(205, Event::Interrupt, 0, 7, 0),
        switch(210, 0, 0),
        handled(240, PIN, None, 40),
        ran(250, 0, 10),
        switch(260, 1, 1),
        handled(300, SV_CALL, Some(Call::Wait), 50),
        idle(310),
    ];
    let report = build(&shared, &summary(310), &events);
    // To it and back after the signal, and to it and back after the line, which is its own.
    assert_eq!(report.threads[1].used.activation_cycles, 20 + 30);
    assert_eq!(report.threads[0].used.activation_cycles, 10 + 40 + 50);
}

#[test]
fn who_restarts_pays_for_whose_threads_begin() {
    let mut supervised = system();
    supervised.threads[0].priority = 1;
    supervised.threads[1].priority = 9;
    let events = [
        switch(0, 1, 1),
        handled(10, 0, None, 10),
        ran(100, 1, 90),
        at(110, Event::Restart, 0, 1, 0),
        handled(115, SV_CALL, Some(Call::DomainRestart), 15),
        ran(140, 1, 25),
        switch(150, 0, 0),
        handled(170, SV_CALL, Some(Call::DomainRestart), 30),
        ran(200, 0, 30),
    ];
    let report = build(&supervised, &summary(200), &events);
    assert_eq!((report.threads[0].used.activation_cycles, report.threads[1].used.activation_cycles), (0, 30));
}

#[test]
fn an_exhausted_budget_pays_for_its_end_and_an_idle_processor_for_nothing() {
    let mut starved = system();
    starved.threads[0].priority = 9;
    starved.threads[1].priority = 1;
    let events = [
        switch(0, 1, 1),
        handled(10, 0, None, 10),
        ran(100, 1, 90),
        at(105, Event::BudgetOut, 1, 1, 0),
        switch(110, 0, 0),
        handled(130, SYS_TICK, None, 30),
        ran(200, 0, 70),
        idle(210),
        handled(220, SV_CALL, Some(Call::SleepUntil), 20),
        RunEvent {
            core: record::CoreId::FIRST,
            cycle: 500,
            event: observed::SLEPT,
            domain: record::IDLE,
            detail: 0,
            payload: 280,
        },
        switch(510, 1, 1),
        handled(540, SYS_TICK, None, 40),
        ran(600, 1, 60),
    ];
    let report = build(&starved, &summary(600), &events);
    assert_eq!((report.threads[1].used.activation_cycles, report.threads[0].used.activation_cycles), (30 + 40, 20));
    assert_eq!(report.run.unpaid_cycles, 10);
}

/// Thread 1 runs over these stretches, and nobody else.
fn runs(stretches: &[(u64, u64)]) -> Vec<RunEvent> {
    let one = |&(from, to): &(u64, u64)| [switch(from, 1, 1), ran(to, 1, (to - from) as u32), idle(to)];
    stretches.iter().flat_map(one).collect()
}

#[test]
fn use_is_split_at_the_boundaries_of_the_grid_that_begins_with_the_kernel() {
    let started = |from: u64| {
        let start = RunEvent { cycle: 300, ..START };
        let recorded = Summary { use_recorded: true, ..summary(9000) };
        super::report(&system(), &recorded, [start].into_iter().chain(runs(&[(from, from + 300)])))
    };
    assert_eq!(started(300).budgets[1].max_used_cycles, 300);
    let split = started(1200);
    assert_eq!((split.budgets[1].max_used_cycles, split.budgets[1].max_used_at), (200, 1300));
    // A period of two thirds of a cycle more than 3: no error grows.
    let odd = SystemDescription { cpu_hz: 11_000, ticks_per_second: 3000, ..system() };
    let grid = crate::time::Timebase::new(&odd).grid(1);
    assert_eq!([1, 2, 3, 3_000_000].map(|window| grid.begin_of(window)), [3, 7, 11, 11_000_000]);
    assert_eq!(
        [0, 2, 3, 6, 7, 10, 11, 11_000_000].map(|cycle| grid.window_at(cycle)),
        [0, 0, 1, 1, 2, 2, 3, 3_000_000]
    );
}

#[test]
fn a_period_in_which_more_is_used_than_given_and_tolerated_is_told_with_code_place_and_remedy() {
    // 300 are given, 21 tolerated: a tick for the timer, one for the clock, and a quantum of one cycle.
    let report = build(&system(), &summary(9000), &runs(&[(1000, 1321)]));
    assert_eq!((report.budgets[1].tolerance_cycles, report.budgets[1].overdrawn.count), (21, 0));
    assert!(report.verdict.ok, "{:?}", report.verdict);
    let report = build(&system(), &summary(9000), &runs(&[(1000, 1200), (1300, 1450), (2000, 2300)]));
    let told = failure(&report, "budget-overdrawn");
    assert_eq!(
        (told.explained.as_deref(), told.place.as_deref(), told.at),
        (Some("CF0708"), Some("budget.work"), Some(1421))
    );
    assert!(
        told.text.contains("35.000 ms in one period, supply 30.000 ms, tolerance 2100.0 us, over by 2900.0 us")
            && told.remedy.is_some(),
        "{told:?}"
    );
}

#[test]
fn two_capacities_around_a_boundary_are_supplied_and_three_are_not() {
    let report = build(&system(), &summary(9000), &runs(&[(700, 1300)]));
    assert!(report.verdict.ok, "{:?}", report.verdict);
    let tightest = report.budgets[1].tightest_window.expect("a window");
    assert_eq!((tightest.from, tightest.to, tightest.used_cycles, tightest.bound_cycles), (700, 1300, 600, 600));
    // Within tolerance in every period, and beyond it once in all.
    let report = build(&system(), &summary(9000), &runs(&[(691, 1000), (1000, 1309), (2000, 2309)]));
    assert!(report.budgets[1].max_used_cycles <= 321);
    let told = failure(&report, "budget-overdrawn");
    assert!(told.text.contains("92.700 ms in a window of 161.800 ms, supply 90.000 ms"), "{}", told.text);
    assert_eq!(told.at, Some(2309));
}

#[test]
fn many_runs_do_not_hide_an_overdraft() {
    // Crumbs of 2 in every 5 cycles: 400 of 300 in a period.
    let crumbs: Vec<_> = (0..400).map(|n| (n * 5 + 3, n * 5 + 5)).collect();
    let report = build(&system(), &summary(9000), &runs(&crumbs));
    assert_eq!(codes(&report), ["budget-overdrawn"]);
    assert_eq!(report.budgets[1].max_used_cycles, 400);
}

#[test]
fn a_tolerance_beyond_its_limit_fails_and_nothing_is_tolerated_for_it() {
    let mut bounded = system();
    bounded.masked_bound_cycles = Some(60);
    bounded.costs = Costs { entry_cycles: 3, exit_cycles: 4, early_cycles: 1 };
    let window = |cycles| Window {
        core: record::CoreId::FIRST,
        pc: 0x105,
        exception: 15,
        start_cycle: 40,
        cycles,
        instructions: 9,
        waits: record::Waits::default(),
    };
    let mut seen = summary(9000);
    seen.masked.longest = Some(window(57));
    let report = build(&bounded, &seen, &runs(&[(1000, 1394)]));
    let tolerance = report.budgets[1].tolerance;
    assert_eq!((tolerance.cycles, tolerance.activation_cycles, tolerance.path_cycles), (10 + 57 + 1 + 10 + 16, 16, 57));
    assert!(report.verdict.ok, "{:?}", report.verdict);
    // The value of a difference that wraps, which occurred once.
    seen.masked.longest = Some(window(u64::MAX - 600_000));
    let report = build(&bounded, &seen, &runs(&[(1000, 1394)]));
    let told = failure(&report, "tolerance");
    assert_eq!((told.explained.as_deref(), told.at), (Some("CF0713"), Some(40)));
}

#[test]
fn an_ordinary_system_is_not_overdrawn_by_what_the_kernel_takes_to_switch() {
    // 0.2 % of 3 068 000: finding 8.
    let mut ordinary = system();
    ordinary.costs = Costs { entry_cycles: 2500, exit_cycles: 3500, early_cycles: 1000 };
    ordinary.masked_bound_cycles = Some(10_000);
    (ordinary.budgets[1].period_ticks, ordinary.budgets[1].capacity_ticks) = (767_000, 306_800);
    let report = build(&ordinary, &summary(20_000_000), &runs(&[(100, 3_076_720)]));
    assert!(report.verdict.ok, "{:?}", report.verdict);
}

#[test]
fn a_kernel_that_says_somebody_else_runs_is_found_out() {
    let lie = [switch(0, 0, 0), handled(10, 0, None, 10), ran(110, 1, 100), idle(120)];
    let report = build(&system(), &summary(120), &lie);
    let told = failure(&report, "context-mismatch");
    assert_eq!(
        (told.explained.as_deref(), told.place.as_deref(), told.at),
        (Some("CF0714"), Some("domain.soft"), Some(10))
    );
    assert_eq!(
        report.run.mismatch,
        Some(Mismatch { at: 10, thread: Some(0), domain: Some(0), seen_domain: Some(1), seen_stack_of: None })
    );
    // It says that nobody runs.
    let report = build(&system(), &summary(120), &[idle(0), ran(110, 1, 100)]);
    assert_eq!(codes(&report), ["context-mismatch"]);
}

#[test]
fn a_stack_says_which_thread_of_a_domain_runs() {
    let mut two = system();
    two.threads[1].domain = 0;
    two.stacks = vec![
        Stack { domain: 0, thread: Some(0), ..Stack::default() },
        Stack { domain: 0, thread: Some(1), ..Stack::default() },
        Stack { domain: 0, thread: None, ..Stack::default() },
    ];
    let on = |stack: u16| {
        let mut events = [switch(0, 0, 1), handled(10, 0, None, 10), ran(110, 0, 100), idle(120)];
        events[2].detail = stack;
        events
    };
    assert_eq!(codes(&build(&two, &summary(120), &on(0))), ["context-mismatch"]);
    for right in [1, 2, 3, u16::MAX] {
        assert!(build(&two, &summary(120), &on(right)).verdict.ok);
    }
    two.domains[0].hostile = true;
    assert!(build(&two, &summary(120), &on(0)).verdict.ok, "it may point its stack pointer anywhere");
}

/// A job of thread 0 that takes so many cycles, with a call, a gate and a preemption inside.
fn job_of(cycles: u32) -> Vec<RunEvent> {
    let mut now = 10;
    let mut events = vec![at(5, Event::Release, 0, 0, 0), switch(6, 0, 0), handled(now, SYS_TICK, None, 10)];
    let step = |now: &mut u64, cycles: u32| {
        *now += u64::from(cycles);
        *now
    };
    events.push(ran(step(&mut now, cycles), 0, cycles));
    events.push(handled(step(&mut now, 5), SV_CALL, Some(Call::TimeNow), 5));
    events.push(at(step(&mut now, 4), Event::GateEnter, 1, 0, 0));
    events.push(handled(step(&mut now, 6), SV_CALL, Some(Call::GateCall), 10));
    events.push(ran(step(&mut now, 80), 1, 80));
    events.push(at(step(&mut now, 3), Event::GateExit, 0, 0, 0));
    events.push(handled(step(&mut now, 7), SV_CALL, Some(Call::GateReturn), 10));
    events.push(ran(step(&mut now, 1), 0, 1));
    events.push(switch(step(&mut now, 5), 1, 1));
    events.push(handled(step(&mut now, 5), SYS_TICK, None, 10));
    events.push(ran(step(&mut now, 10), 1, 10));
    events.push(switch(step(&mut now, 5), 0, 0));
    events.push(handled(step(&mut now, 5), SV_CALL, Some(Call::WaitPeriod), 10));
    events.push(ran(step(&mut now, 2), 0, 2));
    events.push(at(step(&mut now, 1), Event::Complete, 0, 0, 0));
    events.push(idle(step(&mut now, 1)));
    events.push(handled(step(&mut now, 2), SV_CALL, Some(Call::WaitPeriod), 4));
    events
}

#[test]
fn a_job_is_held_against_its_wcet_without_gates_and_switches() {
    let mut declared = system();
    declared.threads[0].wcet_ticks = Some(10);
    (declared.budgets[0].capacity_ticks, declared.threads[0].response_bound_ticks) = (80, None);
    // 100 cycles are declared: 5 for the call, 3 after the gate and the preemption.
    let report = build(&declared, &summary(500), &job_of(92));
    assert!(report.verdict.ok, "{:?}", report.verdict);
    assert_eq!((report.threads[0].job.max_cycles, report.threads[0].wcet_cycles), (100, Some(100)));
    let report = build(&declared, &summary(500), &job_of(93));
    let told = failure(&report, "wcet-exceeded");
    assert_eq!(
        (told.explained.as_deref(), told.place.as_deref()),
        (Some("CF0709"), Some("domain.hard.thread[0].wcet"))
    );
    assert_eq!(told.at, report.threads[0].job.exceeded.first_at);
    let remedy = told.remedy.as_deref().expect("a remedy");
    assert!(told.at.is_some() && remedy.starts_with("it went on 2 times after others had run: "), "{remedy}");
    assert!(remedy.contains("declare `reload` (100.0 us at least, from this job)"), "{remedy}");
    assert!(told.text.starts_with("loop: job released at "), "{}", told.text);
    assert!(told.text.ends_with(" ms took 10.100 ms, wcet 10.000 ms, over by 100.0 us."), "{}", told.text);
    assert_eq!(told.measure, Some(crate::schema::Measure::cycles(101, 100, 0)));
    // It went on twice after others: what it had to reload is not its own.
    declared.threads[0].reload_ticks = 1;
    assert!(build(&declared, &summary(500), &job_of(112)).verdict.ok);
    assert_eq!(codes(&build(&declared, &summary(500), &job_of(113))), ["wcet-exceeded"]);
    declared.domains[0].hostile = true;
    let report = build(&declared, &summary(500), &job_of(113));
    assert!(report.verdict.ok && report.threads[0].job.exceeded.count == 1, "it is information");
}

#[test]
fn a_gate_is_metered_by_what_ran_inside_and_its_failure_by_what_stopping_it_takes() {
    // The rest of the kernel's entry, the callee, and the exit until it is left: 6 + 80 + 3.
    let report = build(&system(), &summary(500), &job_of(50));
    assert_eq!((report.gates[0].max_cycles, report.gates[0].cycles), (89, 89));
    let mut events = job_of(50);
    let long = |events: &mut Vec<RunEvent>, more: u64, status: u32| {
        let inside =
            events.iter().position(|event| event.event == observed::RAN && event.domain == 1).expect("a callee");
        events[inside].payload += more as u32;
        events[inside..].iter_mut().for_each(|event| event.cycle += more);
        let exit = events.iter_mut().find(|event| event.event == Event::GateExit as u8).expect("an exit");
        exit.payload = status;
    };
    long(&mut events, 12, 0);
    let report = build(&system(), &summary(500), &events);
    let told = failure(&report, "gate-bound");
    assert_eq!(
        (told.explained.as_deref(), told.place.as_deref()),
        (Some("CF0711"), Some("domain.soft.gate.ask.bound"))
    );
    assert!(told.at.is_some() && told.remedy.is_some());
    // G + M + A: 10 + 20 + 2 * 8.
    let mut bounded = system();
    bounded.masked_bound_cycles = Some(20);
    bounded.costs = Costs { entry_cycles: 3, exit_cycles: 4, early_cycles: 1 };
    for (more, expected) in [(57, &[][..]), (58, &["gate-bound"][..])] {
        let mut events = job_of(50);
        long(&mut events, more, Error::GateOverrun.status());
        let report = build(&bounded, &summary(800), &events);
        assert_eq!(codes(&report), expected, "{:?}", report.gates);
    }
}

#[test]
fn a_release_that_waits_for_less_important_code_is_late_and_one_that_waits_for_more_important_is_not() {
    let release = |priority: u8, until: u64| {
        let mut other = system();
        other.threads[1].priority = priority;
        let events = [
            switch(0, 1, 1),
            handled(10, 0, None, 10),
            ran(until, 1, (until - 10) as u32),
            at(until + 5, Event::Release, 0, 0, 10),
            switch(until + 6, 0, 0),
            handled(until + 10, SYS_TICK, None, 10),
        ];
        build(&other, &summary(200), &events)
    };
    // Due at 100; a tick for the timer, one for the clock, and a quantum of one cycle.
    assert!(release(9, 121).verdict.ok);
    let late = release(9, 122);
    let told = failure(&late, "release-late");
    assert_eq!(
        (told.explained.as_deref(), told.place.as_deref(), told.at),
        (Some("CF0712"), Some("domain.hard.thread[0].period"), Some(127))
    );
    assert_eq!((late.threads[0].release_late_cycles, late.run.release_late_bound_cycles), (22, 21));
    assert!(release(1, 190).verdict.ok, "nobody less important ran");
    // Asleep.
    let slept = RunEvent {
        core: record::CoreId::FIRST,
        cycle: 150,
        event: observed::SLEPT,
        domain: record::IDLE,
        detail: 0,
        payload: 140,
    };
    let events = [idle(5), handled(10, 0, None, 10), slept, at(155, Event::Release, 0, 0, 10)];
    assert_eq!(codes(&build(&system(), &summary(200), &events)), ["release-late"]);
    // A thread that is more important has the processor asleep: its own time.
    let mut other = system();
    (other.threads[0].priority, other.threads[1].priority) = (9, 1);
    let slept = RunEvent {
        core: record::CoreId::FIRST,
        cycle: 150,
        event: observed::SLEPT,
        domain: 1,
        detail: 0,
        payload: 140,
    };
    let events = [switch(5, 1, 1), handled(10, 0, None, 10), slept, at(155, Event::Release, 0, 0, 10)];
    assert_eq!(codes(&build(&other, &summary(200), &events)), Vec::<String>::new());
}

#[test]
fn a_response_beyond_its_bound_says_where_and_when() {
    let report = super::report(&system(), &summary(600), [START].into_iter().chain(super::job(0, 450)));
    let told = failure(&report, "response-bound");
    assert_eq!(
        (told.explained.as_deref(), told.place.as_deref(), told.at),
        (Some("CF0710"), Some("domain.hard.thread[0]"), Some(450))
    );
    assert_eq!(report.threads[0].response_exceeded.count, 1);
}

#[test]
fn stretches_that_the_observer_could_not_measure_fail_the_run() {
    let broken = Summary { broken_stretches: 1, ..summary(300) };
    let report = build(&system(), &broken, &preemption());
    assert_eq!(codes(&report), ["observer-broken"]);
}
