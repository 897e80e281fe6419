//! Each way in which a run fails, and what does not fail it.

use abi::trace::{Event, IDLE};
use record::{EndReason, ViolationKind, Window};

use super::{at, build, job, summary, system};
use crate::Report;

fn codes(report: &Report) -> Vec<&str> {
    report.verdict.failures.iter().map(|failure| failure.code.as_str()).collect()
}

#[test]
fn a_good_run_is_good() {
    let report = build(500, job(0, 100));
    assert!(report.verdict.ok && report.verdict.failures.is_empty());
}

#[test]
fn whoever_stops_a_domain_is_named_and_a_hostile_one_fails_the_run() {
    let stop = [super::switch(10, 1, 1), at(20, Event::Stop, 0, 0, 0)];
    let mut system = system();
    let told = super::report(&system, &summary(100), stop).verdict;
    assert!(told.ok && told.notes[0].contains("stopped"), "{told:?}");
    system.domains[1].hostile = true;
    let failures = super::report(&system, &summary(100), stop).verdict.failures;
    assert_eq!(failures[0].code, "domain-stopped");
    let restarted = [stop[0], stop[1], at(30, Event::Restart, 0, 1, 0)];
    assert!(super::report(&system, &summary(100), restarted).verdict.ok);
}

#[test]
fn a_hostile_domain_may_fault_and_others_may_not() {
    let events = [at(10, Event::Fault, 1, 1, 0x10), at(20, Event::Exit, 1, 0, u32::MAX)];
    assert_eq!(codes(&build(100, events)), ["domain-fault", "exit-code"]);
    let mut hostile = system();
    hostile.domains[1].hostile = true;
    assert!(super::report(&hostile, &summary(100), events).verdict.ok);
    hostile.domains[0].hostile = true;
    hostile.threads[0].response_bound_ticks = None;
    hostile.budgets[0].capacity_ticks = 90;
    assert!(super::report(&hostile, &summary(900), job(0, 700)).verdict.ok, "nobody promised its deadlines");
}

#[test]
fn a_response_beyond_the_computed_bound_fails() {
    // 450 cycles meet the deadline of 500 and exceed the bound of 400.
    assert_eq!(codes(&build(600, job(0, 450))), ["response-bound"]);
    assert!(build(600, job(0, 400)).verdict.ok);
}

#[test]
fn a_kernel_that_stops_is_told_from_a_program_that_ends() {
    let mut ended = summary(100);
    (ended.end.reason, ended.end.status, ended.end.trace_status) = (EndReason::Exit, Some(0xad), None);
    let stopped = |detail: u16, pc: u32| {
        let event = at(90, Event::KernelFailed, IDLE, detail, pc);
        let verdict = super::report(&system(), &ended, [event]).verdict;
        let [failure] = &verdict.failures[..] else { panic!("{:?}", verdict.failures) };
        assert_eq!((failure.code.as_str(), failure.explained.as_deref()), ("kernel-failed", Some("CF0705")));
        failure.text.clone()
    };
    assert_eq!(stopped(0, 0), "The kernel stopped. It went wrong.");
    assert_eq!(stopped(3, 0), "The kernel stopped. The kernel's object memory is too small for the tables.");
}

#[test]
fn an_end_that_was_not_its_own_fails() {
    let mut ended = summary(100);
    (ended.end.reason, ended.end.status, ended.end.trace_status) = (EndReason::Killed, None, None);
    assert_eq!(codes(&super::report(&system(), &ended, [])), ["run-unfinished"]);
    (ended.end.reason, ended.end.status) = (EndReason::Exit, Some(3));
    assert_eq!(codes(&super::report(&system(), &ended, [])), ["run-status"]);
    (ended.end.reason, ended.end.status) = (EndReason::CycleLimit, None);
    assert_eq!(codes(&super::report(&system(), &ended, [])), ["run-unfinished"]);
    let endless = crate::SystemDescription { ends_at_limit: true, ..system() };
    assert!(super::report(&endless, &ended, []).verdict.ok);
    ended.end.reason = EndReason::IdleForever;
    assert_eq!(codes(&super::report(&endless, &ended, [])), ["run-unfinished"]);
    let lost = record::Summary { events: 9, ..summary(500) };
    assert_eq!(codes(&super::report(&system(), &lost, job(0, 100))), ["trace-lost"]);
    let unmodelled = record::Summary { modelled: false, ..summary(100) };
    assert_eq!(codes(&super::report(&system(), &unmodelled, [])), ["run-not-modelled"]);
}

#[test]
fn violations_and_the_witness_fail() {
    let mut seen = summary(100);
    seen.violations_total = 2;
    seen.witness.changed_slices = 1;
    seen.witness.stores_outside = 1;
    assert_eq!(codes(&super::report(&system(), &seen, [])), ["violation", "witness-changed", "witness-store"]);
}

#[test]
fn missing_maintenance_of_translation_is_named_with_its_rule_and_remedy() {
    let case = |kind| record::Violation {
        core: record::CoreId::FIRST,
        kind,
        cycle: 7,
        pc: 0x105,
        address: 0x3_0000,
        len: 4,
        domain: 0,
        victim: None,
        translation: Some(record::Disagreement { space: 2, held: 0x114_0000, tables: None }),
    };
    let mut seen = summary(100);
    seen.violations =
        [ViolationKind::StaleLocked, ViolationKind::StaleTranslation, ViolationKind::UncleanTable].map(case).into();
    seen.violations_total = 3;
    let report = super::report(&system(), &seen, []);
    assert_eq!(codes(&report), ["stale-translation", "unclean-table"]);
    let failure = &report.verdict.failures[0];
    let text = format!("{} {}", failure.text, failure.remedy.as_deref().unwrap_or_default());
    for part in [
        "2 times",
        "locked entry",
        "0x00000105 in start+0x4",
        "0x00030000 of space 2",
        "TLBIALL",
        "TLBIMVA with the address",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    seen.violations_total = 4;
    assert_eq!(codes(&super::report(&system(), &seen, [])), ["stale-translation", "unclean-table", "violation"]);
}

/// The machine's clock has 10 000 cycles in a second: ten are a millisecond.
#[test]
fn a_machine_that_is_not_what_its_files_say_fails() {
    let described = crate::SystemDescription { timer_exception: Some(15), regions: Some(8), ..system() };
    let failures = |clock, taken, regions| {
        let exceptions =
            vec![record::ExceptionCount { core: record::CoreId::FIRST, number: 15, taken, tail_chained: 0 }];
        let report = super::report(&described, &record::Summary { clock, exceptions, regions, ..summary(500) }, []);
        report
            .verdict
            .failures
            .into_iter()
            .map(|failure| (failure.code, failure.explained.unwrap()))
            .collect::<Vec<_>>()
    };
    let seen = |reads, counts| Some(record::ClockSeen { reads, counts, cycles: 100 });
    let is = |code: &str, explained: &str| vec![(code.to_owned(), explained.to_owned())];
    assert_eq!(failures(seen(9, 10), 9, Some(8)), []);
    assert_eq!(failures(seen(9, 11), 9, Some(8)), is("clock-rate", "CF0716"));
    assert_eq!(failures(seen(8, 10), 9, Some(8)), is("clock-unseen", "CF0716"));
    assert_eq!(failures(Some(record::ClockSeen::default()), 1, Some(8)), is("clock-unseen", "CF0716"));
    assert_eq!(failures(Some(record::ClockSeen::default()), 0, None), [], "no timer interrupt has come");
    assert_eq!(failures(None, 9, None), [], "nobody looked");
    assert_eq!(failures(seen(9, 10), 9, Some(16)), is("region-registers", "CF0717"));
}

#[test]
fn a_masked_window_beyond_its_bound_fails() {
    let mut seen = summary(100);
    seen.masked.longest = Some(Window {
        core: record::CoreId::FIRST,
        pc: 0x105,
        exception: 14,
        start_cycle: 5,
        cycles: 901,
        instructions: 140,
        waits: record::Waits::default(),
    });
    let mut bounded = system();
    assert!(super::report(&bounded, &seen, []).verdict.ok);
    bounded.masked_bound_cycles = Some(900);
    let report = super::report(&bounded, &seen, []);
    assert_eq!(codes(&report), ["masked-bound"]);
    let window = report.run.longest_masked.expect("a window");
    assert_eq!((window.exception.as_str(), window.symbol.as_deref()), ("PendSV", Some("start+0x4")));
}

/// The program's own end is told as such, and once.
#[test]
fn a_code_of_a_program_is_no_failure_of_the_kernel() {
    let mut ended = summary(100);
    ended.end.status = Some(3);
    let report = super::report(&system(), &ended, [at(50, Event::Exit, 1, 0, 3)]);
    assert_eq!(codes(&report), ["exit-code"]);
    let failure = &report.verdict.failures[0];
    assert_eq!((failure.text.as_str(), failure.explained.as_deref()), ("soft: exited with code 3.", Some("CF0718")));
    assert_eq!(failure.place.as_deref(), Some("domain.soft"));
    let json = serde_json::to_value(failure).unwrap();
    assert_eq!((&json["value"], &json["limit"], &json["unit"]), (&3.into(), &0.into(), &"exit code".into()));
}

/// Whatever the verdict finds, `cofferdam explain` says more, and the figures stand beside the words.
#[test]
fn a_faulting_domain_is_told_with_its_first_fault_and_a_code() {
    let report = build(100, [at(60, Event::Fault, 1, 1, 0), at(60, Event::FaultPc, 1, 1, 0x104)]);
    let failure = &report.verdict.failures[0];
    assert_eq!(
        (failure.text.as_str(), failure.explained.as_deref()),
        ("soft faulted once, first at 6.000 ms.", Some("CF0719"))
    );
    assert_eq!(report.faults[0].text, "soft: access to 0x0 in start+0x4: no area here; null pointer?");
}
