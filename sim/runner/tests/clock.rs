//! Modelled time drives the guest's timers, and a run is the same every time.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, thread};

use record::{EndReason, ProbeWatch, observed};
use runner::{Mode, Watch};
use support::{Guest, INTERRUPT, MARK, chip, events};

/// 1000 ticks of 25 MHz in cycles of 216 MHz.
const PERIOD: u64 = 8640;
const QUANTUM: u64 = 1000;

fn marks(outcome: &runner::Outcome, event: u8) -> Vec<u64> {
    events(outcome).iter().filter(|record| record.event == event).map(|record| record.cycle).collect()
}

#[test]
fn systick_arrives_every_period_busy_or_asleep() {
    let guest = Guest::build("tick", "systick");
    let outcome = guest.run(guest.watch());
    assert_eq!((outcome.summary.end.reason, outcome.summary.end.status), (EndReason::Exit, Some(7)));
    let ticks = marks(&outcome, MARK);
    assert_eq!(ticks.len(), 20);
    // Asleep the timer is exact; waking and the handler's first instructions take the same time each time.
    for pair in ticks[11..].windows(2) {
        assert_eq!(pair[1] - pair[0], PERIOD);
    }
    // Busy it is late by at most a quantum and a block.
    let exact = ticks[19] - 19 * PERIOD;
    for (index, tick) in ticks.iter().enumerate().take(10) {
        let late = (tick - index as u64 * PERIOD) as i64 - exact as i64;
        assert!((-20..=QUANTUM as i64 + 50).contains(&late), "tick {index} is {late} cycles late");
    }
}

#[test]
fn in_the_exact_mode_no_tick_is_late() {
    let guest = Guest::build("tick", "systick-exact");
    let outcome = guest.run(Watch { mode: Mode::Exact, ..guest.watch() });
    let ticks = marks(&outcome, MARK);
    assert_eq!(ticks.len(), 20);
    for pair in ticks.windows(2) {
        let deviation = (pair[1] - pair[0]) as i64 - PERIOD as i64;
        // One instruction of the loop with its access, and 12 cycles when the first comes asleep.
        assert!(deviation.abs() <= 16, "{deviation} cycles off");
    }
}

#[test]
fn sleeping_costs_time_and_no_instructions() {
    let guest = Guest::build("tick", "sleep");
    let outcome = guest.run(guest.watch());
    let slept: u64 =
        events(&outcome).iter().filter(|record| record.event == observed::SLEPT).map(|r| u64::from(r.payload)).sum();
    assert_eq!(slept, outcome.summary.sleep_cycles);
    assert!(slept > 9 * PERIOD && slept < 11 * PERIOD, "{slept}");
    let counters: Vec<_> = outcome.summary.domains.iter().collect();
    let sum: u64 = counters.iter().map(|c| c.cycles + c.kernel_cycles + c.sleep_cycles).sum();
    assert_eq!(sum, outcome.summary.cycles, "every cycle belongs to somebody");
    let instructions: u64 = counters.iter().map(|c| c.instructions + c.kernel_instructions).sum();
    assert_eq!(instructions, outcome.summary.instructions, "every instruction belongs to somebody");
}

#[test]
fn five_runs_are_identical_also_on_a_busy_host() {
    five_runs(Mode::Quantum, "five-runs");
}

#[test]
fn five_runs_in_the_exact_mode_are_identical_also_on_a_busy_host() {
    five_runs(Mode::Exact, "five-runs-exact");
}

fn five_runs(mode: Mode, test: &str) {
    let guest = Guest::build("mixed", test);
    let stop = Arc::new(AtomicBool::new(false));
    let mut runs = Vec::new();
    for index in 0..5 {
        let hogs: Vec<_> = (0..if index == 3 { 4 } else { 0 })
            .map(|_| {
                let stop = Arc::clone(&stop);
                thread::spawn(move || while !stop.load(Ordering::Relaxed) {})
            })
            .collect();
        let outcome = guest.run(Watch { profile: chip(), mode, ..guest.watch() });
        stop.store(true, Ordering::Relaxed);
        for hog in hogs {
            hog.join().expect("a hog only spins");
        }
        stop.store(false, Ordering::Relaxed);
        assert_eq!(outcome.summary.end.status, Some(0));
        assert_eq!(marks(&outcome, INTERRUPT).len(), 39);
        let mut summary = outcome.summary.clone();
        (summary.host_seconds, summary.mips) = (0.0, 0.0);
        runs.push((summary, fs::read(&outcome.events).expect("the events file")));
    }
    assert!(runs[0].0.cycles > 40 * PERIOD);
    for run in &runs[1..] {
        assert_eq!(run.0, runs[0].0);
        assert!(run.1 == runs[0].1, "the event streams differ");
    }
}

#[test]
fn exceptions_and_windows_are_counted() {
    let guest = Guest::build("mixed", "windows");
    let summary = guest.run(guest.watch()).summary;
    let taken = |number| summary.exceptions.iter().find(|count| count.number == number).map(|count| count.taken);
    assert_eq!(taken(24), Some(40), "TIMER0 is interrupt 8");
    assert!(taken(11).is_some_and(|calls| calls > 0));
    let timer = summary.masked.vectors.iter().find(|times| times.exception == 24).expect("TIMER0 has times");
    // The last activation does not return. Entry 12; the handler: 12 instructions, of which str, ldr, ldr, str access once
    // and push twice (two of its ldr are moves); trace: 4 with 3 accesses; pop: 1 with 2.
    let cycles = 12 + 17 + 2 * (6 + 3 + 2);
    assert_eq!(timer.instructions.count, 39);
    assert_eq!((timer.instructions.min, timer.instructions.max), (17, 17));
    assert_eq!((timer.cycles.min, timer.cycles.max), (cycles, cycles));
    let longest = summary.masked.longest.expect("there were handlers");
    assert_eq!((longest.exception, longest.cycles), (24, cycles));
}

#[test]
fn a_restarted_load_is_charged_once() {
    for mode in [Mode::Quantum, Mode::Exact] {
        let guest = Guest::build("restart", "restart");
        let probe = ProbeWatch {
            name: "restart".into(),
            start: guest.symbol("probe_start"),
            end: guest.symbol("probe_end"),
            ..ProbeWatch::default()
        };
        let summary = guest.run(Watch { mode, probes: vec![probe], ..guest.watch() }).summary;
        assert_eq!(summary.violations, Vec::new());
        let probe = &summary.probes[0];
        // Six instructions with one access, and the handler: entry 12, six instructions with five accesses, exit 12.
        assert_eq!((probe.instructions.count, probe.instructions.median), (1, 12), "{mode:?}");
        assert_eq!(probe.cycles.median, 6 + 2 + 12 + 6 + 2 * 5 + 12, "{mode:?}");
    }
}

#[test]
fn floating_point_state_is_charged_when_it_moves() {
    let guest = Guest::build("float", "float");
    let probe = |name: &str, start: &str, end: &str| ProbeWatch {
        name: name.into(),
        start: guest.symbol(start),
        end: guest.symbol(end),
        ..ProbeWatch::default()
    };
    let probes = vec![probe("lazy", "call_1", "back_1"), probe("saved", "call_2", "back_2")];
    let summary = guest.run(Watch { probes, ..guest.watch() }).summary;
    assert_eq!(summary.end.status, Some(0));
    let median = |index: usize| summary.probes[index].cycles.median;
    // svc, entry 12, three instructions: the frame's room is left and nothing moves; exit 12.
    assert_eq!(median(0), 1 + 12 + 3 + 12);
    // Five instructions, one of which uses a register: 17 words are stored, and loaded again at the exit.
    assert_eq!(median(1), 1 + 12 + 17 + 5 + 12 + 17);
}

#[test]
fn a_masked_stretch_in_thread_mode_is_a_window() {
    let guest = Guest::build("masked", "masked");
    let summary = guest.run(Watch { trace_port: None, cycle_limit: 10_000, ..guest.watch() }).summary;
    let longest = summary.masked.longest.expect("PRIMASK was set");
    assert_eq!((longest.exception, longest.pc), (0, guest.symbol("first_masked")));
    // From behind cpsid to behind cpsie: 100 nops and cpsie; the later stretch under BASEPRI is shorter.
    assert_eq!((longest.instructions, longest.cycles), (101, 101));
}
