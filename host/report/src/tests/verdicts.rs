//! Each way in which a run fails, and what does not fail it.

use abi::trace::Event;
use record::{EndReason, Window};

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
fn a_hostile_domain_may_fault_and_others_may_not() {
    let events = [at(10, Event::Fault, 1, 1, 0x10), at(20, Event::Exit, 1, 0, u32::MAX)];
    assert_eq!(codes(&build(100, events)), ["domain-fault", "exit-code"]);
    let mut hostile = system();
    hostile.domains[1].hostile = true;
    assert!(Report::build(&hostile, &summary(100), events).verdict.ok);
}

#[test]
fn a_response_beyond_the_computed_bound_fails() {
    // 450 cycles meet the deadline of 500 and exceed the bound of 400.
    assert_eq!(codes(&build(600, job(0, 450))), ["response-bound"]);
    assert!(build(600, job(0, 400)).verdict.ok);
}

#[test]
fn an_end_that_was_not_its_own_fails() {
    let mut killed = summary(100);
    (killed.end.reason, killed.end.status, killed.end.trace_status) = (EndReason::Killed, None, None);
    assert_eq!(codes(&Report::build(&system(), &killed, [])), ["run-unfinished"]);
    killed.end.status = Some(3);
    assert_eq!(codes(&Report::build(&system(), &killed, [])), ["run-status"]);
    let unmodelled = record::Summary { modelled: false, ..summary(100) };
    assert_eq!(codes(&Report::build(&system(), &unmodelled, [])), ["run-not-modelled"]);
}

#[test]
fn violations_and_the_witness_fail() {
    let mut seen = summary(100);
    seen.violations_total = 2;
    seen.witness.changed_slices = 1;
    seen.witness.stores_outside = 1;
    assert_eq!(codes(&Report::build(&system(), &seen, [])), ["violation", "witness-changed", "witness-store"]);
}

#[test]
fn a_masked_window_beyond_its_bound_fails() {
    let mut seen = summary(100);
    seen.masked.longest = Some(Window { pc: 0x105, exception: 14, start_cycle: 5, cycles: 901, instructions: 140 });
    let mut bounded = system();
    assert!(Report::build(&bounded, &seen, []).verdict.ok);
    bounded.masked_bound_cycles = Some(900);
    let report = Report::build(&bounded, &seen, []);
    assert_eq!(codes(&report), ["masked-bound"]);
    let window = report.run.longest_masked.expect("a window");
    assert_eq!((window.exception.as_str(), window.symbol.as_deref()), ("PendSV", Some("start+0x4")));
}
