//! Verdicts that name who it was, and notes of runs that pass.

use abi::console::{PRINTED, Printed};
use abi::trace::{Event, Fault};
use abi::{Call, Error};
use record::{Entered, RunEvent, observed};

use super::time::{SV_CALL, SYS_TICK, handled, ran};
use super::{START, at, idle, summary, switch, system};
use crate::Report;
use crate::describe::{Console, Handlers, SystemDescription};

fn build(system: &SystemDescription, cycles: u64, events: &[RunEvent]) -> Report {
    let recorded = record::Summary { use_recorded: true, ..summary(cycles) };
    super::report(system, &recorded, [START].into_iter().chain(events.iter().copied()))
}

/// Domain 1 has handlers, which may use 5 ticks of each 100, and the line 7, whose interrupts are 20 ticks apart.
fn with_handlers() -> SystemDescription {
    let mut system = system();
    system.handlers = vec![Handlers { domain: 1, period_ticks: 100, capacity_ticks: 5, beyond_ticks: 0 }];
    system.interrupts[0].separation_ticks = Some(20);
    system
}

fn outside(cycle: u64, event: u8, exception: u16, cycles: u32) -> RunEvent {
    RunEvent { cycle, event, domain: 1, detail: exception, payload: cycles, ..RunEvent::default() }
}

fn entered(cycle: u64) -> RunEvent {
    let (detail, payload) = Entered { exception: 23, kernel: false, cycles: 10, instructions: 0 }.pack();
    RunEvent { cycle, event: observed::ENTERED, domain: 1, detail, payload, ..RunEvent::default() }
}

#[test]
fn a_run_that_passes_says_what_happened_to_handlers() {
    let quiet = [entered(100), outside(130, observed::SERVED, 23, 30), entered(300)];
    assert_eq!(build(&with_handlers(), 3000, &quiet).verdict.notes, Vec::<String>::new());
    let look = |cycle| outside(cycle, observed::LOOKED, 21, 9);
    let events = [
        entered(100),
        // The handler goes on behind the first look, and not behind the second.
        look(120),
        outside(150, observed::SERVED, 23, 30),
        entered(250),
        look(300),
        outside(300, observed::SERVED, 23, 40),
    ];
    let report = build(&with_handlers(), 3000, &events);
    assert!(report.verdict.ok, "{:?}", report.verdict);
    assert_eq!(
        report.verdict.notes,
        [
            "Handlers of soft were cut off once, first at 30.000 ms: they had used up their 5000.0 us each 100.000 ms. A handler that loops, or does not acknowledge its device, uses up whatever it has.",
            "Handlers of soft used more than 5000.0 us each 100.000 ms and the 0.0 us that are tolerated, in 1 periods, by 2000.0 us at most, first at 30.000 ms.",
            "Interrupts of pin came sooner than their separation of 20.000 ms once, 15.000 ms after the one before at least, first at 24.000 ms. Declare what the device keeps; a handler that does not acknowledge its device is entered again as soon as it returns.",
        ]
    );
    assert!(report.to_html().contains("were cut off once"));
    assert!(report.to_json().contains("\"cut_off\""));
}

#[test]
fn a_call_that_takes_too_long_names_its_caller_and_who_interrupted_it() {
    let call = |served: &[RunEvent]| {
        let mut events = vec![switch(0, 0, 0), handled(10, 0, None, 10), ran(20, 0, 10)];
        events.extend([at(24, Event::GateEnter, 1, 0, 0), handled(30, SV_CALL, Some(Call::GateCall), 10)]);
        events.extend_from_slice(served);
        events.extend([ran(190, 1, 160), at(195, Event::Fault, 1, Fault::GateOverrun as u16, 0)]);
        events.extend([
            at(196, Event::FaultPc, 1, Fault::GateOverrun as u16, 0),
            at(198, Event::GateExit, 0, 0, Error::GateOverrun.status()),
            handled(200, SYS_TICK, None, 10),
        ]);
        build(&with_handlers(), 300, &events)
    };
    let told = |report: &Report, code: &str| {
        let failure = report.verdict.failures.iter().find(|failure| failure.code == code);
        failure.unwrap_or_else(|| panic!("no {code}: {:?}", report.verdict)).clone()
    };
    let alone = call(&[]);
    assert_eq!(alone.gates[0].exceeded_by, Some(0));
    assert!(told(&alone, "gate-bound").text.contains("call of gate ask by loop"), "{:?}", alone.verdict);
    let fault = told(&alone, "domain-fault");
    assert!(fault.text.contains("soft in a call of loop: a call of gate ask ran longer than its bound"), "{fault:?}");
    assert!(fault.remedy.is_some_and(|remedy| remedy.contains("what the caller asks for")));
    let interrupted = call(&[outside(100, observed::SERVED, 23, 40)]);
    assert_eq!(interrupted.faults[0].handlers_of, Some(1));
    let fault = told(&interrupted, "domain-fault");
    assert!(fault.text.contains("handlers of soft took 4000.0 us of that"), "{fault:?}");
    assert!(fault.remedy.is_some_and(|remedy| remedy.contains("handlers")));
}

#[test]
fn a_thread_that_waits_for_its_first_release_for_ever_misses_its_deadlines() {
    let begins = |call: Option<Call>| {
        let exception = if call.is_some() { SV_CALL } else { SYS_TICK };
        [switch(0, 0, 0), handled(10, 0, None, 10), ran(20, 0, 10), idle(25), handled(30, exception, call, 10)]
    };
    let missed = |cycles, events: &[RunEvent]| {
        let thread = &build(&system(), cycles, events).threads[0];
        (thread.missed_deadlines, thread.unfinished)
    };
    // Its first release is due within two periods of 1000; each has 500 until its deadline.
    assert_eq!(missed(2500, &begins(Some(Call::WaitPeriod))), (0, 0));
    assert_eq!(missed(2600, &begins(Some(Call::WaitPeriod))), (1, 1));
    assert_eq!(missed(9000, &begins(Some(Call::WaitPeriod))), (7, 7));
    assert_eq!(missed(9000, &begins(None)), (7, 7), "it does not get the processor again");
    assert_eq!(missed(9000, &begins(Some(Call::Wait))), (0, 0), "it has asked for that");
    let released = [&begins(Some(Call::WaitPeriod))[..], &super::job(100, 1100)].concat();
    assert_eq!(missed(1600, &released), (0, 0));
    let restarted = [&released[..], &[at(1200, Event::Restart, 0, 1, 0)]].concat();
    assert_eq!(missed(9000, &restarted).0, 6, "nor after a restart");
}

#[test]
fn text_that_the_console_has_not_printed_is_told() {
    let mut system = system();
    system.threads[0].period_ticks = None;
    system.console = Some(Console { domain: 1, clients: vec![(0, 7)] });
    // Thread 1 is the console's; thread 0 writes through the gate, which signals, and ends.
    let writes = [
        switch(0, 0, 0),
        handled(10, 0, None, 10),
        ran(20, 0, 10),
        at(24, Event::GateEnter, 1, 0, 0),
        handled(30, SV_CALL, Some(Call::GateCall), 10),
        ran(40, 1, 10),
        handled(50, SV_CALL, Some(Call::Signal), 10),
        ran(60, 1, 10),
        at(64, Event::GateExit, 0, 0, 0),
        handled(70, SV_CALL, Some(Call::GateReturn), 10),
        ran(80, 0, 10),
    ];
    let prints = [switch(85, 1, 1), handled(90, SV_CALL, Some(Call::Yield), 10), ran(120, 1, 30), idle(125)];
    // It never waits. A count that belongs to another client says nothing.
    let tells = |at_cycle, badge| at(at_cycle, Event::Mark, 1, PRINTED, Printed { badge, writes: 1 }.value());
    let ends = [at(140, Event::Exit, 0, 0, 0)];
    let report = |parts: &[&[RunEvent]]| build(&system, 200, &parts.concat());
    let lost = report(&[&writes, &ends]);
    let codes: Vec<_> = lost.verdict.failures.iter().map(|failure| failure.explained.clone()).collect();
    assert_eq!(codes, [Some("CF0723".to_owned())]);
    assert_eq!((lost.unprinted[0].domain, lost.unprinted[0].writes, lost.unprinted[0].ended), (0, 1, true));
    let other = report(&[&writes, &prints, &[tells(130, 2)], &ends]);
    assert_eq!(other.unprinted, lost.unprinted);
    let whole = report(&[&writes, &prints, &[tells(130, 7)], &ends]);
    assert!(whole.verdict.ok && whole.unprinted.is_empty(), "{:?}", whole.verdict);
    let cut = report(&[&writes, &prints]);
    assert!(cut.verdict.ok, "{:?}", cut.verdict);
    assert_eq!(cut.verdict.notes, ["The run ended before the console had printed the last 1 writes of hard."]);
}

#[test]
fn entries_that_no_account_pays_for_stand_in_rows() {
    let events =
        [handled(10, 0, None, 10), outside(50, observed::LOOKED, 21, 9), outside(60, observed::LOOKED, 21, 12)];
    let report = build(&with_handlers(), 100, &events);
    let rows: Vec<_> =
        report.unpaid.iter().map(|row| (row.name.as_str(), row.count, row.cycles, row.max_cycles)).collect();
    assert_eq!(rows, [("Start and idling", 1, 10, 10), ("interrupt 5", 2, 21, 12)]);
    assert_eq!(report.run.unpaid_cycles, 31);
    assert!(report.to_html().contains("for nobody"));
}
