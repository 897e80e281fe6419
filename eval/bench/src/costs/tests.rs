//! Tests of what is made of a run's records, and of what is written.

use abi::trace::Event;
use record::{Handled, IDLE, RunEvent, observed};

use super::seen::{DUE, Stretches};
use super::{Cost, Found, Quantity, file, with_margin};
use crate::chip;
use crate::chip::tests::install;

const TIMER: u16 = 15;
const CALL: u16 = 11;

fn event(event: u8, detail: u16, payload: u32) -> RunEvent {
    RunEvent { core: record::CoreId::FIRST, cycle: 0, event, domain: 0, detail, payload }
}

fn switch(thread: u16) -> RunEvent {
    event(Event::Switch as u8, thread, 0)
}

fn handled(exception: u16, call: Option<u8>, cycles: u32) -> RunEvent {
    event(observed::HANDLED, Handled { exception, call }.to_detail(), cycles)
}

fn stretches(events: &[RunEvent]) -> Stretches {
    let mut stretches = Stretches::default();
    // Thread 1 runs first.
    for event in [switch(1), handled(0, None, 9999)].iter().chain(events) {
        stretches.feed(event);
    }
    stretches
}

#[test]
fn a_switch_counts_when_another_thread_goes_on() {
    let idle = RunEvent { domain: IDLE, ..switch(0xff) };
    let seen = stretches(&[
        handled(CALL, Some(4), 100),
        switch(2),
        handled(CALL, Some(4), 300),
        // Back and forth within one stretch is none.
        switch(1),
        switch(2),
        handled(CALL, Some(4), 800),
        // Nobody waits for the way to the idle loop.
        idle,
        handled(CALL, Some(2), 900),
        switch(2),
        handled(TIMER, None, 950),
        switch(1),
        handled(TIMER, None, 700),
        // To the idle loop, an interrupt there, and on.
        idle,
        switch(2),
        handled(CALL, Some(5), 2000),
    ]);
    assert_eq!(seen.switched.into_iter().collect::<Vec<_>>(), [((CALL, Some(4)), 300), ((TIMER, None), 700)]);
    assert_eq!(seen.in_vain.into_iter().collect::<Vec<_>>(), [((CALL, Some(4)), 800)]);
}

#[test]
fn a_timer_at_which_something_was_due_did_not_come_in_vain() {
    let due = event(observed::PROBE, DUE, 40);
    let seen = stretches(&[handled(TIMER, None, 300), due, handled(TIMER, None, 1200), handled(TIMER, None, 200)]);
    assert_eq!(seen.in_vain[&(TIMER, None)], 300);
}

/// A fault in a gate lets the same thread go on, too.
#[test]
fn a_fault_is_no_miss() {
    let miss = event(Event::Miss as u8, 0, 0);
    let seen = stretches(&[miss, handled(4, None, 200), handled(4, None, 1700)]);
    assert_eq!(seen.missed.into_iter().collect::<Vec<_>>(), [((4, None), 200)]);
}

#[test]
fn reads_of_the_clock_belong_to_the_stretch_behind_them() {
    let clock = |to, from| event(observed::CLOCK, to, from);
    let seen = stretches(&[
        clock(50, 70),
        handled(TIMER, None, 200),
        handled(TIMER, None, 90),
        clock(40, 300),
        switch(2),
        handled(TIMER, None, 500),
    ]);
    assert_eq!(seen.to_clock[&(TIMER, None)], 50);
}

#[test]
fn a_tenth_is_added_and_rounded_up() {
    assert_eq!([0, 1, 100, 1409, 2272, 2273, 7293].map(with_margin), [0, 50, 150, 1550, 2500, 2600, 8100]);
}

fn cost(quantity: Quantity, cycles: u64) -> Cost {
    let seen =
        Found { cycles, system: "eval/systems/paths/system.toml".to_owned(), path: "YIELD".to_owned(), waits: None };
    Cost {
        key: quantity.key(),
        about: quantity.about(),
        declared: 1000,
        proposed: with_margin(cycles),
        seen,
        exact: false,
    }
}

#[test]
fn only_more_than_declared_is_exceeded() {
    assert_eq!([999, 1000, 1001].map(|cycles| cost(Quantity::Entry, cycles).is_exceeded()), [false, false, true]);
}

/// Values and the comments above them are replaced; everything else stays, other comments too.
#[test]
fn a_board_file_keeps_what_was_not_measured() {
    let text = "# A board.\nname = \"b\"\n\n# Bounds.\n[kernel]\n# Old.\nswitch_cycles = 10\n# Kept.\nmiss_cycles = 0\n# Old, too.\nentry_cycles = 5 \n\n[memory.sram]\nbase = 0x2000_0000\n";
    let new = file::rewritten(text, &[cost(Quantity::Switch, 1500), cost(Quantity::Entry, 170)]).expect("a good file");
    let expected = format!(
        "# A board.\nname = \"b\"\n\n# Bounds.\n[kernel]\n# {}: 1500 at most (eval/systems/paths/system.toml, YIELD).\nswitch_cycles = 1650\n# Kept.\nmiss_cycles = 0\n# {}: 170 at most (eval/systems/paths/system.toml, YIELD).\nentry_cycles = 200\n\n[memory.sram]\nbase = 0x2000_0000\n",
        Quantity::Switch.about(),
        Quantity::Entry.about(),
    );
    assert_eq!(new, expected);
    let missing = file::rewritten(text, &[cost(Quantity::Early, 1)]);
    assert_eq!(missing.expect_err("no such key"), "[kernel] has no early_cycles");
    assert!(file::rewritten("name = 3", &[]).is_err());
}

/// The file of every board that is measured has every key.
#[test]
fn boards_have_all_keys() {
    let install = install();
    for chip in chip::all(&install).expect("the files follow their schema") {
        let path = install.root.join("boards").join(&chip.board.name).join("board.toml");
        // Of one that is like another board, with the other's.
        let board = board_facts::BoardText::read(&path).expect("a board");
        file::rewritten(&board.text, &Quantity::ALL.map(|quantity| cost(quantity, 1))).expect("all keys");
    }
}
