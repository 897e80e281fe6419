//! Handlers that interrupts reach without the kernel, and registers whose stores are recorded.

use record::{Entered, RunEvent, observed};

use super::{START, report, summary, system};
use crate::Report;
use crate::describe::{Handlers, Output, SystemDescription};

fn observed(cycle: u64, event: u8, detail: u16, payload: u32) -> RunEvent {
    RunEvent { cycle, event, domain: 0, detail, payload, ..RunEvent::default() }
}

fn build(system: &SystemDescription, events: impl IntoIterator<Item = RunEvent>) -> Report {
    let events: Vec<RunEvent> = [START].into_iter().chain(events).collect();
    report(system, &summary(3000), events)
}

fn output(output: Output) -> SystemDescription {
    SystemDescription { outputs: vec![output], ..system() }
}

/// At 100 baud a bit takes 100 cycles.
fn serial(text: &str) -> SystemDescription {
    let line = Output { name: "line".into(), bits: 2, baud: Some(100), text: Some(text.into()), ..Output::default() };
    output(line)
}

/// Stores of a line with these levels, one each 100 cycles, with another bit that changes all the time.
fn levels(levels: &str) -> Vec<RunEvent> {
    let store = |(at, level): (usize, char)| {
        let value = u32::from(level == '1') << 1 | (at as u32 % 2);
        observed(at as u64 * 100 + 7, observed::STORED, 0, value)
    };
    levels.chars().enumerate().map(store).collect()
}

#[test]
fn a_serial_line_is_decoded_from_when_its_bit_was_stored() {
    // At rest, then `A` (0x41) and `b` (0x62), least significant bit first, with a pause between them.
    let report = build(&serial("Ab"), levels("110100000101110010001101"));
    let seen = &report.outputs[0];
    assert_eq!((seen.sent.as_deref(), seen.broken_frames.count), (Some("Ab"), 0));
    assert!(report.verdict.failures.iter().all(|failure| failure.code != "output-text"));
    assert_eq!((seen.stores, seen.changes, seen.shortest_cycles, seen.longest_cycles), (24, 12, Some(100), Some(500)));
}

#[test]
fn another_text_and_a_frame_without_its_end_fail_the_run() {
    let report = build(&serial("A"), levels("1101000001001111"));
    let seen = &report.outputs[0];
    assert_eq!((seen.sent.as_deref(), seen.broken_frames.count), (Some(""), 1));
    assert_eq!(seen.broken_frames.first_at, Some(207));
    let failure = report.verdict.failures.iter().find(|failure| failure.code == "output-text").unwrap();
    assert_eq!(failure.place.as_deref(), Some("run.output.line"));
    assert_eq!(failure.explained.as_deref(), Some("CF0722"));
}

#[test]
fn values_follow_each_other_in_their_sequence() {
    let steps = Output { bits: 0xe, sequence: vec![2, 4, 8], ..Output::default() };
    let stored = |values: &[u32]| {
        let events = (1..).zip(values).map(|(at, value)| observed(at, observed::STORED, 0, *value));
        build(&output(steps.clone()), events.collect::<Vec<_>>()).outputs[0].out_of_sequence.count
    };
    assert_eq!(stored(&[0, 4, 5, 8, 2, 0, 4, 0]), 0);
    assert_eq!(stored(&[2, 4, 2, 4, 8]), 1);
    assert_eq!(stored(&[2, 4, 6, 8]), 1);
    assert_eq!(stored(&[2, 4, 0, 4, 8, 0, 4]), 1);
}

#[test]
fn waits_and_time_of_handlers_are_counted() {
    let handlers = vec![Handlers { domain: 0, period_ticks: 100, capacity_ticks: 5, beyond_ticks: 0 }];
    let system = SystemDescription { handlers, ..system() };
    let entered = |cycle, instructions, cycles| {
        let kernel = instructions > 0;
        let (detail, payload) = Entered { exception: 7 + record::FIRST_LINE, kernel, cycles, instructions }.pack();
        observed(cycle, observed::ENTERED, detail, payload)
    };
    let served = |cycle, cycles| observed(cycle, observed::SERVED, 23, cycles);
    let events = [
        entered(110, 0, 21),
        served(130, 30),
        entered(510, 0, 21),
        served(530, 30),
        entered(1510, 12, 40),
        served(1530, 45),
    ];
    let report = build(&system, events);
    let latency = report.interrupts[0].latency.as_ref().unwrap();
    assert_eq!((latency.count, latency.at_once, latency.max_instructions), (3, 2, 12));
    assert_eq!((latency.cycles.min, latency.cycles.median, latency.cycles.max), (21, 21, 40));
    assert_eq!((latency.mean_millicycles, latency.at_once_cycles.max), (27_333, 21));
    let over: Vec<_> =
        latency.over.iter().map(|over| (over.domain, over.kernel, over.count, over.cycles.max)).collect();
    assert_eq!(over, [(Some(0), false, 2, 21), (Some(0), true, 1, 40)]);
    let budget = report.domains[0].used.handlers_budget.unwrap();
    assert_eq!((budget.period_cycles, budget.capacity_cycles), (1000, 50));
    assert_eq!((budget.max_used_cycles, budget.overdrawn.count, budget.max_overdrawn_cycles), (60, 1, 10));
    assert!(report.domains[1].used.handlers_budget.is_none());
    assert!(report.to_html().contains("From a pending interrupt"));
}

/// A look above a handler is the kernel's time: of a capacity of 50 the handler has used 48, and with what is tolerated a second one may use 54.
#[test]
fn looks_above_handlers_are_not_handlers_time() {
    let handlers = vec![Handlers { domain: 0, period_ticks: 100, capacity_ticks: 5, beyond_ticks: 1 }];
    let system = SystemDescription { handlers, ..system() };
    let looked = |cycle, cycles| observed(cycle, observed::LOOKED, 5 + record::FIRST_LINE, cycles);
    let served = |cycle, cycles| observed(cycle, observed::SERVED, 23, cycles);
    let report =
        build(&system, [looked(180, 70), served(200, 48), looked(1100, 30), served(1200, 54), served(1300, 7)]);
    let budget = report.domains[0].used.handlers_budget.unwrap();
    assert_eq!((budget.tolerance_cycles, budget.max_used_cycles), (10, 61));
    assert_eq!((budget.overdrawn.count, budget.overdrawn.first_at, budget.max_overdrawn_cycles), (1, Some(1300), 1));
    let looks = report.kernel_use.iter().find(|used| used.exception == 5 + record::FIRST_LINE).unwrap();
    assert_eq!((looks.stayed, looks.stayed_cycles, looks.max_cycles, looks.switched), (2, 100, 70, 0));
    assert_eq!(report.domains[0].used.handlers.unwrap().cycles, 109);
}
