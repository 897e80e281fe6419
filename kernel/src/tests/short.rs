//! The short ways of the hot calls against the general ones.

use std::vec::Vec;

use abi::{Call, Error};

use super::{Chip, Kind, boot};
use crate::NOBODY;
use crate::objects::State;
use crate::tests::rich::{budget, gate, line, rich, word};
use crate::tests::sim::{BOUND, CALLER, CAPACITY, GATE, LINE, Machine, OTHER, SERVANT, WORD, boot_with, sample};

/// State that can be told apart from outside.
type Seen = (Vec<(u32, u32)>, u8, u8, Option<u64>, Vec<Option<(u32, [u32; 2])>>);

fn seen(kernel: &mut Chip) -> Seen {
    let responses = (0..kernel.threads.len() as u8).map(|thread| kernel.context(thread).response).collect();
    let trace = std::mem::take(&mut kernel.arch.trace);
    (trace, kernel.current(), kernel.loaded(), kernel.arch.timer, responses)
}

/// One of the things that the short ways are about.
fn act(kernel: &mut Chip, what: u32, detail: u32) {
    let asks = |kernel: &mut Chip, call: Call, args| {
        if kernel.current() != NOBODY {
            kernel.asks(call as u32, args);
        }
    };
    match what % 18 {
        0 | 1 => asks(kernel, Call::GateCall, [gate(detail % 5), detail, 7, 8]),
        2..=4 => asks(kernel, Call::GateReturn, [0, detail, 0, 0]),
        5 => asks(kernel, Call::Yield, [0; 4]),
        6 => asks(kernel, Call::Signal, [word(detail % 5), 1 << (detail % 4), 0, 0]),
        7 | 8 => asks(kernel, Call::Wait, [word(detail % 5), detail % 16, 0, 0]),
        9 => asks(kernel, Call::BudgetQuery, [budget(detail % 4), 0, 0, 0]),
        10 => kernel.interrupts(3),
        11 => asks(kernel, Call::SleepUntil, [kernel.arch.now as u32 + detail % 700, 0, 0, 0]),
        12 => asks(kernel, Call::WaitPeriod, [0; 4]),
        13 => asks(kernel, Call::Poll, [word(detail % 5), detail % 16, 0, 0]),
        14 => asks(kernel, Call::InterruptAck, [line(detail % 3), 0, 0, 0]),
        15 => asks(kernel, [Call::TimeNow, Call::Mark][detail as usize % 2], [detail, 7, 0, 0]),
        16 if detail.is_multiple_of(16) => asks(kernel, Call::Exit, [detail / 16 % 2, 0, 0, 0]),
        _ => kernel.passes(u64::from(detail % 900)),
    }
}

#[test]
fn both_ways_come_to_the_same() {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    for _ in 0..60 {
        let shortest = u64::from(next() % 2 * 250);
        let mut ways = [true, false].map(|long_way| {
            boot_with(&rich(), Machine::<Kind> { now: 1000, shortest, long_way, ..Machine::default() })
        });
        for step in 0..300 {
            let (what, detail) = (next(), next());
            let [long, short] = &mut ways;
            act(long, what, detail);
            act(short, what, detail);
            assert_eq!(seen(long), seen(short), "step {step}: {} {detail}", what % 18);
        }
    }
}

/// Returns true if the short way into a gate is declined, and has changed nothing.
fn declined(kernel: &mut Chip, handle: u32) -> bool {
    kernel.arch.trace.clear();
    let before = kernel.resume();
    kernel.pass_in(handle).is_none() && kernel.arch.trace.is_empty() && kernel.resume() == before
}

#[test]
fn what_the_short_way_declines_has_changed_nothing() {
    let mut kernel = boot(&sample());
    for handle in [WORD, 5, 6, 64, u32::MAX] {
        assert!(declined(&mut kernel, handle), "handle {handle}");
    }
    kernel.passes(u64::from(CAPACITY - BOUND) + 1);
    assert!(declined(&mut kernel, GATE), "the budget does not cover the bound");
    let mut kernel = boot(&sample());
    kernel.domain_mut(0).caps[GATE as usize].rights = abi::rights::READ;
    assert!(declined(&mut kernel, GATE), "a capability that does not permit to call");
    kernel.domain_mut(0).caps[GATE as usize].rights = abi::rights::ALL;
    kernel.domain_mut(0).caps[GATE as usize].generation += 1;
    assert!(declined(&mut kernel, GATE), "a stale capability");
    kernel.domain_mut(0).caps[GATE as usize].generation -= 1;
    assert!(kernel.pass_in(GATE).is_some());
    assert!(declined(&mut kernel, GATE), "a nested call");
}

#[test]
fn a_caller_that_was_overtaken_does_not_return_the_short_way() {
    let mut kernel = boot(&sample());
    kernel.asks(Call::SleepUntil as u32, [3000, 0, 0, 0]);
    assert_eq!(kernel.current(), SERVANT);
    kernel.asks(Call::Wait as u32, [WORD, 4, 0, 0]);
    kernel.asks(Call::InterruptAck as u32, [LINE, 0, 0, 0]);
    kernel.passes(3000);
    assert_eq!(kernel.current(), CALLER);
    assert!(kernel.pass_in(GATE).is_some());
    kernel.interrupts(9);
    assert_eq!((kernel.current(), kernel.thread(SERVANT).state), (CALLER, State::Ready));
    assert!(kernel.pass_out(0, 0).is_none(), "somebody else has become ready");
    assert_eq!(kernel.inside(0), CALLER, "and nothing has changed");
}

#[test]
fn outside_of_gates_there_is_no_way_out() {
    let mut kernel = boot(&sample());
    assert!(kernel.pass_out(0, 0).is_none());
    assert_eq!(kernel.asks(Call::GateReturn as u32, [0; 4]), super::refused(Error::NotInGate));
}

#[test]
fn a_timer_that_comes_too_early_only_arms_again() {
    let mut kernel = boot(&sample());
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    kernel.asks(Call::GateReturn as u32, [0; 4]);
    kernel.arch.trace.clear();
    let early = kernel.arch.timer.unwrap();
    assert!(early < u64::from(CAPACITY), "it was armed for the gate's bound");
    kernel.passes(early - kernel.arch.now);
    assert_eq!((kernel.current(), kernel.arch.trace.as_slice()), (CALLER, [].as_slice()));
    assert_eq!(kernel.arch.timer, Some(1000 + u64::from(CAPACITY)), "the budget's end");
    assert_eq!(kernel.thread(OTHER).state, State::Ready);
}
