//! The trace for Perfetto.

use std::collections::BTreeMap;

use abi::trace::{Event, IDLE};
use serde_json::Value;

use super::{at, idle, job, switch, system};
use crate::trace::write_to;

fn trace(events: impl IntoIterator<Item = record::RunEvent>) -> Vec<Value> {
    let mut out = Vec::new();
    write_to(&mut out, &system(), None, events).expect("memory does not fail");
    let whole: Value = serde_json::from_slice(&out).expect("JSON");
    whole["traceEvents"].as_array().expect("a list").clone()
}

fn with<'a>(trace: &'a [Value], phase: &str) -> Vec<&'a Value> {
    trace.iter().filter(|event| event["ph"] == phase).collect()
}

/// Slices of a track are balanced, and times never go back.
fn check(trace: &[Value]) {
    let mut open: BTreeMap<(u64, u64), Vec<String>> = BTreeMap::new();
    let mut jobs: BTreeMap<u64, f64> = BTreeMap::new();
    let mut last = 0.0;
    for event in trace.iter().filter(|event| event["ph"] != "M") {
        let time = event["ts"].as_f64().expect("a time");
        assert!(time >= last, "{event} after {last}");
        last = time;
        let track = || (event["pid"].as_u64().expect("pid"), event["tid"].as_u64().expect("tid"));
        match event["ph"].as_str().expect("a phase") {
            "B" => open.entry(track()).or_default().push(event["name"].to_string()),
            "E" => assert!(open.entry(track()).or_default().pop().is_some(), "{event} closes nothing"),
            "b" => assert!(jobs.insert(event["id"].as_u64().expect("id"), time).is_none(), "{event} opens twice"),
            "e" => assert!(jobs.remove(&event["id"].as_u64().expect("id")).is_some(), "{event} closes nothing"),
            "C" | "i" => {}
            other => panic!("phase {other}"),
        }
    }
    assert!(open.values().all(Vec::is_empty), "{open:?} stay open");
    assert!(jobs.is_empty(), "{jobs:?} stay open");
}

fn eventful() -> Vec<record::RunEvent> {
    let mut events = vec![at(0, Event::Replenish, IDLE, 0, 50), at(0, Event::Replenish, IDLE, 1, 30)];
    events.extend(job(0, 100));
    events.extend([
        switch(110, 1, 1),
        at(120, Event::Miss, 1, 5, 0x2000),
        at(130, Event::Fault, 1, 1, 0x1000),
        at(131, Event::FaultPc, 1, 0, 0x104),
        switch(140, 0, 0),
        at(150, Event::GateEnter, 1, 0, 0),
        switch(160, 1, 1),
        at(170, Event::Restart, 1, 1, 0),
        at(175, Event::Refused, 1, 7, abi::Error::BadHandle.status()),
        switch(180, 1, 0),
        at(190, Event::GateExit, 0, 0, 0),
        at(195, Event::BudgetOut, 0, 0, 0),
        at(1000, Event::Replenish, IDLE, 0, 50),
        at(1001, Event::Release, 0, 0, 100),
        at(1100, Event::GateEnter, 1, 0, 0),
    ]);
    events
}

#[test]
fn slices_nest_and_times_never_go_back() {
    let trace = trace(eventful());
    check(&trace);
    let names: Vec<_> = with(&trace, "B").iter().map(|event| event["name"].as_str().expect("a name")).collect();
    // A call that was preempted is opened again.
    assert_eq!(names, ["loop", "work", "loop", "ask", "work", "loop", "ask", "ask"]);
}

#[test]
fn times_are_microseconds() {
    let trace = trace([switch(3, 0, 0), idle(10)]);
    // A cycle of 10 kHz is 100 us.
    assert_eq!((with(&trace, "B")[0]["ts"].as_f64(), with(&trace, "E")[0]["ts"].as_f64()), (Some(300.0), Some(1000.0)));
}

#[test]
fn budgets_are_counters_of_what_is_left() {
    let trace = trace(eventful());
    let loops: Vec<_> = with(&trace, "C").into_iter().filter(|event| event["name"] == "budget loop").collect();
    let left: Vec<_> = loops.iter().map(|event| event["args"]["us left"].as_f64().expect("a figure")).collect();
    // 50 ticks are 50 000 us; 99 cycles of 100 us go to the job, then 20, then 15.
    assert_eq!(left, [50_000.0, 40_100.0, 38_100.0, 36_600.0, 50_000.0]);
}

#[test]
fn what_stands_out_is_an_instant_with_its_details() {
    let trace = trace(eventful());
    let instants = with(&trace, "i");
    let find = |name: &str| *instants.iter().find(|event| event["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    assert_eq!(find("fault: data access")["args"]["address"], "0x00001000");
    assert_eq!(find("fault pc")["args"]["symbol"], "start+0x4");
    assert_eq!(find("refused")["args"], serde_json::json!({"call": "gate_call", "error": "BAD_HANDLE"}));
    assert_eq!(find("budget exhausted")["args"]["budget"], "loop");
    assert_eq!((find("region miss")["pid"].as_u64(), find("region miss")["tid"].as_u64()), (Some(2), Some(2)));
}

#[test]
fn domains_are_processes_and_threads_are_tracks() {
    let trace = trace([]);
    let names: Vec<_> =
        with(&trace, "M").iter().map(|event| event["args"]["name"].clone()).filter(|n| !n.is_null()).collect();
    assert_eq!(names, ["hard", "soft", "loop", "work", "budgets and kernel"]);
}

#[test]
fn a_job_that_never_completes_is_closed_at_the_end() {
    let trace = trace([at(1, Event::Release, 0, 0, 0), idle(50)]);
    check(&trace);
    assert_eq!(with(&trace, "e")[0]["ts"].as_f64(), Some(5000.0));
}
