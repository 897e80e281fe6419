//! Rules of docs/time.md, each by itself.

use std::vec::Vec;

use abi::{Call, Error, Kind};
use system::Cap;
use system::build::Builder;
use units::Instant;

use super::drive::{Chip, Paths, Run};
use super::small::Step;
use super::systems::{Hostile, LINE, System, Victim, WORDS, bounds, tables, word};
use super::{COSTS, START};
use crate::NOBODY;
use crate::objects::{Life, State};
use crate::ranks::Turn;
use crate::tests::sim::{Machine, boot_with, release};

/// Thread 0 is a victim that nobody lets run; the others are on budget 1, of 5000 ticks every 20000, with these priorities.
fn on_one_budget(priorities: &[u8]) -> Builder {
    let victim = Victim { priority: 30, budget: 0, period: 1_000_000, wcet: 1_000, calls: false };
    let hostile = priorities.iter().map(|&priority| Hostile { priority, budget: 1 }).collect();
    let budgets = vec![(1_000_000, 2_000), (20_000, 5_000)];
    tables(&System { victims: vec![victim], hostile, budgets, gate: (2, 3_000), reload: 0 })
}

fn boots(builder: &Builder) -> Chip {
    boot_with(builder, Machine { now: START, ..Machine::default() })
}

fn sleeps(kernel: &mut Chip, until: u64) {
    kernel.asks(Call::SleepUntil as u32, [until as u32, (until >> 32) as u32, 0, 0]);
}

fn left(kernel: &Chip, budget: usize) -> i64 {
    kernel.budgets[budget].time.left().into()
}

#[test]
fn times_of_less_important_threads_wait() {
    let mut kernel = boots(&on_one_budget(&[3, 2]));
    sleeps(&mut kernel, START + 2_000);
    assert_eq!(kernel.current(), 1);
    sleeps(&mut kernel, START + 2_500);
    kernel.passes(2_000);
    assert_eq!((kernel.current(), kernel.thread(1).state), (2, State::Sleeping));
    kernel.passes(1_000);
    assert_eq!((kernel.current(), kernel.thread(1).state), (2, State::Sleeping), "it is due, and waits");
    sleeps(&mut kernel, START + 9_000);
    assert_eq!(kernel.current(), 1, "nobody more important is ready");
}

#[test]
fn a_timer_that_comes_too_early_costs_nothing() {
    let mut kernel = boots(&on_one_budget(&[3, 2]));
    sleeps(&mut kernel, START + 100);
    sleeps(&mut kernel, START + 1_000);
    kernel.passes(100);
    assert_eq!(kernel.current(), 2);
    let limit = kernel.slice.end();
    kernel.passes(900);
    assert_eq!(kernel.slice.end(), limit.plus(COSTS.switching.early));
}

/// The end of a budget has passed and the timer is late (`virtual`, seed 706716): a sleep that begins then does not set it for later, and whoever is due first is
/// woken in time.
#[test]
fn a_sleep_that_begins_while_the_timer_is_late_delays_nobody() {
    let mut kernel = boots(&on_one_budget(&[2, 3]));
    sleeps(&mut kernel, START + 1_000);
    sleeps(&mut kernel, START + 1_000);
    kernel.asks(Call::WaitPeriod as u32, [0; 4]);
    assert_eq!(kernel.current(), NOBODY);
    kernel.passes(1_100);
    assert_eq!(kernel.current(), 1);
    sleeps(&mut kernel, START + 40_000);
    assert_eq!(kernel.current(), 2);
    // As after a timer for a gate that was left already: the kernel takes its price back, the budget's end is in the past, and the timer is set for that.
    kernel.arch.now = u64::from(kernel.alarm.at().low()) + 50;
    kernel.since = kernel.arch.now;
    sleeps(&mut kernel, START + 90_000);
    assert_eq!(kernel.current(), NOBODY);
    kernel.passes(START + 41_000 - kernel.arch.now);
    assert_eq!((kernel.current(), kernel.thread(2).state), (1, State::Sleeping));
}

#[test]
fn who_exhausts_a_budget_pays_for_the_refill() {
    let mut kernel = boots(&on_one_budget(&[2]));
    kernel.passes(6_000);
    assert_eq!((kernel.current(), kernel.thread(1).state), (0, State::Throttled));
    kernel.passes(20_000 - kernel.arch.now + START);
    assert_eq!(kernel.current(), 1);
    let overrun = i64::from(COSTS.switching.path());
    assert!(left(&kernel, 1) <= 5_000 - COSTS.activation() as i64 + overrun, "{}", left(&kernel, 1));
}

#[test]
fn a_call_that_waits_for_the_boundary_pays_for_it() {
    let mut kernel = boots(&on_one_budget(&[2]));
    kernel.passes(3_000);
    let before = i64::from(kernel.slice.left(Instant::of(kernel.arch.now)));
    kernel.asks(Call::GateCall as u32, [0; 4]);
    assert_eq!(kernel.thread(1).state, State::Throttled);
    assert_eq!(left(&kernel, 1), before - COSTS.activation() as i64);
}

#[test]
fn prices_are_of_the_period_in_which_they_are_arranged() {
    for call in [Call::InterruptAck, Call::SleepUntil] {
        let mut kernel = boots(&on_one_budget(&[2]));
        sleeps(&mut kernel, START + 19_000);
        kernel.passes(20_000);
        assert_eq!(kernel.current(), 1);
        // In the new period nothing has looked at the budget yet.
        kernel.passes(500);
        let handle = if call == Call::InterruptAck { LINE } else { START as u32 + 22_000 };
        kernel.asks(call as u32, [handle, 0, 0, 0]);
        if call == Call::InterruptAck {
            let now = kernel.now();
            kernel.suspend(now);
        }
        assert_eq!(left(&kernel, 1), 5_000 - 500 - COSTS.activation() as i64, "{call:?}");
    }
}

/// The timer is late for a more important sharer: it comes at once behind the first price that is paid meanwhile, whoever goes on then.
#[test]
fn prices_do_not_add_up_while_the_timer_is_late() {
    // The call and its handle; how the second thread has stepped aside, and the third's priority; who goes on.
    let arranges = [
        (Call::InterruptAck, LINE, Call::Wait, 4, 3),
        (Call::Yield, 0, Call::Yield, 3, 2),
        (Call::Signal, word(0), Call::Wait, 4, 2),
    ];
    for (call, handle, aside, priority, next) in arranges {
        for (at, late) in [(140, false), (160, true)] {
            let processor = Machine { now: START, shortest: COSTS.late, ..Machine::default() };
            let mut kernel = boot_with(&on_one_budget(&[2, 3, priority]), processor);
            sleeps(&mut kernel, START + 150);
            kernel.asks(aside as u32, [word(0), 1, 0, 0]);
            assert_eq!((kernel.current(), kernel.arch.timer), (3, Some(START + COSTS.late)));
            kernel.passes(at);
            kernel.asks(call as u32, [handle, 1, 0, 0]);
            assert_eq!((kernel.current(), kernel.arch.again), (next, late), "{call:?} {at} ticks after the start");
        }
    }
}

/// The kernel gives the time of an interrupt for others back in the period in which it came, also
/// if nobody has looked at the budget since the boundary.
#[test]
fn interrupts_are_given_back_behind_a_boundary() {
    for (timer, given) in [(false, COSTS.switching.path()), (true, COSTS.switching.early)] {
        let mut kernel = boots(&on_one_budget(&[2]));
        sleeps(&mut kernel, START + 19_000);
        kernel.passes(20_500);
        assert_eq!(kernel.current(), 1);
        for _ in 0..2 {
            if timer {
                kernel.on_timer();
            } else {
                kernel.interrupts(3);
            }
            kernel.passes(500);
        }
        let now = kernel.now();
        kernel.suspend(now);
        assert_eq!(left(&kernel, 1), 5_000 - 1_500 + 2 * i64::from(given), "timer: {timer}");
    }
}

/// The way into the kernel is paid by the line's owner: it does not end a call that has less than that left of its bound (`virtual`, seed 1995683).
#[test]
fn a_line_in_the_last_moment_of_a_call_does_not_end_it() {
    for (late, stays) in [(COSTS.switching.entry - 1, true), (COSTS.switching.path(), false)] {
        let mut kernel = boots(&on_one_budget(&[3, 4]));
        kernel.asks(Call::Wait as u32, [word(WORDS - 1), 1, 0, 0]);
        kernel.asks(Call::GateCall as u32, [0; 4]);
        assert_eq!((kernel.current(), kernel.depth(2)), (2, 1));
        kernel.passes(2_999);
        kernel.arch.now += u64::from(late) + 1;
        kernel.interrupts(3);
        assert_eq!(kernel.thread(1).state, State::Ready);
        assert_eq!(kernel.depth(2), usize::from(stays), "{late} behind its bound");
    }
}

/// To end a call takes as long as several wake-ups, so the entry that does it wakes nobody whose time has come before: the next one does.
#[test]
fn who_is_due_waits_for_the_entry_behind_the_end_of_a_call() {
    let mut kernel = boots(&on_one_budget(&[5, 2, 3]));
    sleeps(&mut kernel, START + 3_000);
    sleeps(&mut kernel, START + 1_000);
    kernel.asks(Call::GateCall as u32, [0; 4]);
    assert_eq!((kernel.current(), kernel.depth(1)), (1, 1));
    kernel.passes(2_999);
    kernel.arch.now += 500;
    kernel.on_timer();
    let states = |kernel: &Chip| [2, 3].map(|thread| kernel.thread(thread).state);
    assert_eq!((kernel.depth(1), states(&kernel)), (0, [State::Ready, State::Sleeping]), "one is woken beside it");
    kernel.passes(0);
    assert_eq!(states(&kernel), [State::Ready; 2]);
}

/// A callee cannot arrange what the rest of its bound does not cover: its caller would pay for that and for the fault.
#[test]
fn a_price_beyond_the_bound_is_an_overrun_before_anything_is_arranged() {
    for (call, handle) in [(Call::Signal, word(0)), (Call::InterruptAck, LINE)] {
        for (rest, overruns) in [(COSTS.activation() + 10, false), (COSTS.activation() - 10, true)] {
            let mut kernel = boots(&on_one_budget(&[2, 2]));
            kernel.asks(Call::Wait as u32, [word(0), 1, 0, 0]);
            kernel.asks(Call::GateCall as u32, [0; 4]);
            assert_eq!((kernel.current(), kernel.depth(2)), (2, 1));
            kernel.passes(3_000 - rest);
            let limit = kernel.slice.end();
            kernel.arch.masked.clear();
            kernel.asks(call as u32, [handle, 1, 0, 0]);
            kernel.passes(0);
            let arranged = kernel.thread(1).state == State::Ready || kernel.arch.masked.get(&3) == Some(&false);
            assert_eq!((arranged, kernel.depth(2)), (!overruns, usize::from(!overruns)), "{call:?} with {rest} left");
            if overruns {
                let now = kernel.now();
                kernel.suspend(now);
                let left = left(&kernel, 1);
                assert!(left >= i64::from(limit.since(Instant::of(now))), "{call:?} took from the caller: {left}");
            }
        }
    }
}

/// The last step of a restart is refused to a callee whose bound does not cover the activations of the domain's threads.
#[test]
fn a_callee_restarts_nobody_beyond_its_bound() {
    const PEER: u32 = 9;
    for (rest, overruns) in [(COSTS.activation() + 10, false), (COSTS.activation() - 10, true)] {
        let mut tables = on_one_budget(&[2]);
        tables.caps.push(Cap { domain: 2, slot: PEER, kind: Kind::Domain as u32, object: 0, rights: 7, badge: 1 });
        let mut kernel = boots(&tables);
        kernel.asks(Call::GateCall as u32, [0; 4]);
        assert_eq!((kernel.current(), kernel.depth(1)), (1, 1));
        kernel.asks(Call::DomainStop as u32, [PEER, 0, 0, 0]);
        kernel.passes(3_000 - rest);
        let again = Some((Error::Again.status(), [0; 2]));
        let steps = (0..100).take_while(|_| kernel.asks(Call::DomainRestart as u32, [PEER, 0, 0, 0]) == again).count();
        assert!((1..99).contains(&steps), "{steps}");
        kernel.passes(0);
        let runs = kernel.domain(0).life == Life::Running;
        assert_eq!((runs, kernel.depth(1)), (!overruns, usize::from(!overruns)), "with {rest} left");
    }
}

/// One thread wakes another again and again, which waits again at once, on a processor whose paths take no time.
#[test]
fn short_switches_do_not_add_up_to_a_supply() {
    let mut kernel = boots(&on_one_budget(&[2]));
    kernel.asks(Call::Wait as u32, [word(0), 1, 0, 0]);
    assert_eq!(kernel.current(), 0);
    for _ in 0..4 {
        kernel.asks(Call::Signal as u32, [word(0), 1, 0, 0]);
        assert_eq!(kernel.current(), 1);
        kernel.asks(Call::Wait as u32, [word(0), 1, 0, 0]);
        assert!(left(&kernel, 1) <= 5_000, "{}", left(&kernel, 1));
    }
}

/// Many threads due at once: no kernel entry wakes more than it may, and all run at last.
#[test]
fn a_herd_is_woken_in_steps() {
    let mut builder = on_one_budget(&[5; 31]);
    for (index, thread) in builder.threads.iter_mut().enumerate().skip(1) {
        // Room for the stacks. Their addresses do not matter, because no thread executes anything
        // here.
        thread.stack_base = 0x2002_2000 + (index as u32 % 8) * 0x200;
        thread.priority = 2 + index as u32 % 5;
    }
    builder.budgets[1] = system::Budget { period: 1_000_000, capacity: 900_000, misses: 0 };
    let mut kernel = boots(&builder);
    let due = START + 100_000;
    while kernel.current() != 0 {
        sleeps(&mut kernel, due);
    }
    kernel.passes(due - kernel.arch.now - 1);
    kernel.arch.now = due;
    let asleep = |kernel: &Chip| (1..32).filter(|thread| kernel.thread(*thread).state == State::Sleeping).count();
    let (mut ran, mut entries) = (Vec::new(), 0);
    while asleep(&kernel) > 0 || kernel.arch.again || kernel.current() != 0 {
        let before = asleep(&kernel);
        if kernel.arch.again || kernel.arch.timer.is_some_and(|at| at <= kernel.arch.now) {
            kernel.arch.again = false;
            kernel.arch.timer = None;
            kernel.on_timer();
        } else if kernel.current() != 0 && kernel.current() != NOBODY {
            ran.push(kernel.current());
            sleeps(&mut kernel, due + 1_000_000);
        } else {
            kernel.arch.now += 10;
        }
        let slept = usize::from(asleep(&kernel) > before);
        assert!(before + slept <= asleep(&kernel) + 1, "{before} sleepers, then {}", asleep(&kernel));
        entries += 1;
        assert!(entries < 1_000, "they do not all run");
        if ran.len() == 31 {
            break;
        }
    }
    ran.sort_unstable();
    assert_eq!(ran, (1..32).collect::<Vec<u8>>());
}

/// A budget that was idle for longer than low words can tell apart is full once for each period afterwards, and is seen to be so.
#[test]
fn long_idleness_is_told_from_none() {
    for idle in [1u64 << 30, 1 << 31, (1 << 31) + 12_345, 3 << 30, 1 << 32, (1 << 32) + (1 << 31), 5 << 31] {
        let mut kernel = boots(&on_one_budget(&[2]));
        // Most of the budget is used, then its thread waits for long, and is woken when the other one has a new budget to do so.
        kernel.passes(4_000);
        kernel.asks(Call::Wait as u32, [word(0), 1, 0, 0]);
        let wake = START + idle / 1_000_000 * 1_000_000 + 500;
        kernel.passes(wake - kernel.arch.now);
        assert_eq!(kernel.current(), 0);
        kernel.asks(Call::Signal as u32, [word(0), 1, 0, 0]);
        assert_eq!(kernel.current(), 1);
        let mut used = 0;
        let (mut from, end) = (wake, wake + 60_000);
        while kernel.arch.now < end {
            let ran = kernel.current() == 1;
            kernel.passes(10);
            used += if ran { kernel.arch.now - from } else { 0 };
            from = kernel.arch.now;
        }
        // The rest of three periods, and the beginning of another.
        let most = 3 * 5_000 + 500 + 4 * u64::from(COSTS.switching.path());
        assert!((3 * 4_500..=most).contains(&used), "{used} ticks after {idle}");
    }
}

/// Time that a call may still take is no sharer's while its thread is switched away.
#[test]
fn what_is_set_aside_for_a_call_is_nobody_elses() {
    let mut kernel = boots(&on_one_budget(&[5, 1]));
    sleeps(&mut kernel, START + 1_100);
    assert_eq!(kernel.current(), 1);
    kernel.passes(1_000);
    kernel.asks(Call::GateCall as u32, [0; 4]);
    assert_eq!(kernel.depth(1), 1);
    kernel.passes(100);
    assert_eq!(kernel.current(), 2);
    kernel.passes(1_000);
    assert_eq!(kernel.current(), 2);
    // 1100 of 5000 ticks and a sleep are used, and 2900 are set aside.
    kernel.passes(300);
    assert_eq!((kernel.current(), kernel.thread(2).state), (1, State::Throttled));
    kernel.passes(2_700);
    assert_eq!((kernel.current(), kernel.depth(1)), (1, 1), "the call has its bound");
}

/// Somebody enters a gate and leaves it at once, again and again. The timer that was set for the gate's bound comes each time,
/// in vain, and costs a victim what nobody else has paid for.
#[test]
fn who_leaves_a_gate_early_pays_for_its_timer() {
    for bound in [150, 260, 400] {
        let victim = Victim { priority: 3, budget: 0, period: 200_000, wcet: 40_000, calls: false };
        let hostile = vec![Hostile { priority: 2, budget: 1 }];
        let system = System {
            victims: vec![victim],
            hostile,
            budgets: vec![(200_000, 40_340), (20_000, 10_000)],
            gate: (2, bound),
            reload: 0,
        };
        let bounds = bounds(&system).unwrap();
        let mut run = Run::new(&system, 0);
        run.take_scripts(vec![(vec![Step::Knock], 0)], Paths::Longest);
        run.play_until(START + 1_000_000, &bounds);
        assert!(run.worst[0] <= bounds[0], "{:?} with a gate of {bound}, above {bounds:?}", run.worst);
    }
}

/// States of so many threads from number 1 on: `R` ready, `-` waiting for the budget, `z` asleep.
fn states(kernel: &Chip, count: u8) -> std::string::String {
    let letter = |thread| match kernel.thread(thread).state {
        State::Ready => 'R',
        State::Throttled => '-',
        _ => 'z',
    };
    (1..=count).map(letter).collect()
}

/// A boundary makes one of those ready who wait for it, the most important; each that blocks hands on to the next.
#[test]
fn a_boundary_is_handed_on_from_thread_to_thread() {
    let mut kernel = boots(&on_one_budget(&[5, 3, 4, 3]));
    kernel.passes(6_000);
    assert_eq!((kernel.current(), states(&kernel, 4).as_str()), (0, "----"));
    let before = kernel.arch.now;
    kernel.passes(20_000 + START - before);
    for (runs, others) in [(2, "-R--"), (4, "-z-R"), (3, "-zRz"), (1, "Rzzz")] {
        assert_eq!((kernel.current(), states(&kernel, 4).as_str()), (runs, others));
        kernel.passes(100);
        sleeps(&mut kernel, START + 100_000);
    }
    assert_eq!(states(&kernel, 4), "zzzz");
    assert_eq!(kernel.budgets[1].turn, Turn::Nobody);
}

/// If equals never block, each has a boundary of its own before any has a second.
#[test]
fn equals_have_boundaries_in_turn() {
    let mut kernel = boots(&on_one_budget(&[3, 3, 4, 3]));
    let mut ran = Vec::new();
    for period in 1..=6 {
        kernel.passes(START + period * 20_000 + 1_000 - kernel.arch.now);
        ran.push(kernel.current());
    }
    ran[..3].sort_unstable();
    ran[3..].sort_unstable();
    assert_eq!(ran, [1, 2, 4, 1, 2, 4]);
}

/// Equals that wait for their turn are there to be yielded to.
#[test]
fn who_yields_hands_on_to_an_equal() {
    let mut kernel = boots(&on_one_budget(&[3, 3, 4]));
    kernel.passes(START + 21_000 - kernel.arch.now);
    let first = kernel.current();
    kernel.asks(Call::Yield as u32, [0; 4]);
    assert_eq!((kernel.current(), states(&kernel, 3).as_str()), (3 - first, "RR-"), "{first} has yielded");
}

/// Until a debt is paid, however many periods that takes, no timer comes for the budget.
#[test]
fn a_debt_of_many_periods_is_waited_for_at_once() {
    let mut tables = on_one_budget(&[2]);
    tables.budgets[1] = system::Budget { period: 1_000, capacity: 50, misses: 0 };
    let mut kernel = boots(&tables);
    kernel.passes(800);
    assert_eq!((kernel.current(), states(&kernel, 1).as_str()), (0, "-"));
    let debt = -left(&kernel, 1);
    assert!(debt > 300, "{debt}");
    let paid = START + 1_000 * (debt as u64 / 50 + 1);
    let due = kernel.times.listed().into_iter().map(|(_, at, _)| at).collect::<Vec<u64>>();
    assert_eq!(due, [paid]);
    kernel.passes(paid - kernel.arch.now);
    assert_eq!((kernel.current(), left(&kernel, 1) > 0), (1, true));
}

/// A boundary at which a budget has nothing, because of what it owes since the timer was set, is paid by the budget.
#[test]
fn a_boundary_in_vain_is_paid() {
    let mut kernel = boots(&on_one_budget(&[2]));
    kernel.passes(6_000);
    let budget = &mut kernel.budgets[1].time;
    budget.pay(20_000);
    let before = left(&kernel, 1);
    kernel.passes(START + 20_000 - kernel.arch.now);
    assert_eq!(left(&kernel, 1), before + 5_000 - i64::from(COSTS.switching.yielding()));
}

/// A thread that has paid for its sleep is woken to an empty budget, which pays for the boundary at which the thread goes on.
#[test]
fn who_is_woken_to_an_empty_budget_pays_for_the_boundary() {
    let mut kernel = boots(&on_one_budget(&[2]));
    kernel.passes(4_900);
    sleeps(&mut kernel, START + 6_000);
    let debt = left(&kernel, 1);
    assert!(debt < 0);
    kernel.passes(START + 6_000 - kernel.arch.now);
    assert_eq!(states(&kernel, 1), "-");
    assert_eq!(left(&kernel, 1), debt - i64::from(COSTS.switching.yielding()));
}

/// Handle of a domain with four threads that thread 0, which is more important, has stopped.
const WARD: u32 = 9;

fn stopped_ward() -> Chip {
    let mut tables = on_one_budget(&[5, 5, 5, 5]);
    tables.caps.push(Cap { domain: 0, slot: WARD, kind: Kind::Domain as u32, object: 1, rights: 7, badge: 1 });
    tables.threads[0].priority = 1;
    let mut kernel = boots(&tables);
    kernel.asks(Call::DomainStop as u32, [WARD, 0, 0, 0]);
    kernel
}

fn restart(kernel: &mut Chip) -> Option<u32> {
    kernel.asks(Call::DomainRestart as u32, [WARD, 0, 0, 0]).map(|(status, _)| status)
}

#[test]
fn a_restart_releases_one_thread_in_a_step() {
    let mut kernel = stopped_ward();
    let (mut ready, again) = (0, Error::Again.status());
    let steps = (0..200).take_while(|_| {
        let more = restart(&mut kernel) == Some(again);
        let now = (1..5)
            .filter(|thread| kernel.domain(1).life.runs() && kernel.thread(*thread).state == State::Ready)
            .count();
        assert!(now <= ready + 1, "{now} after {ready}");
        ready = now;
        more
    });
    assert!((4..199).contains(&steps.count()));
    assert_eq!((ready, kernel.domain(1).life), (4, Life::Running));
}

/// A domain that stops while its threads are made ready is restarted by whoever reads of that, not by the restart under way.
#[test]
fn a_restart_that_is_cut_short_is_over() {
    let (mut kernel, again) = (stopped_ward(), Error::Again.status());
    while kernel.domain(1).life != Life::Releasing(2) {
        assert_eq!(restart(&mut kernel), Some(again));
    }
    kernel.asks(Call::DomainStop as u32, [WARD, 0, 0, 0]);
    assert_eq!(restart(&mut kernel), Some(0), "it ran, and has stopped since");
    assert_eq!((restart(&mut kernel), kernel.domain(1).life), (Some(again), Life::Restoring(0)));
}

/// Thirty threads of one budget, on every grid: ready for ever, or asleep for a tick at a time.
#[test]
fn no_herd_of_one_budget_delays_a_victim_beyond_its_bound() {
    for (steps, period, capacity) in [
        (vec![Step::Run], 25_000, 7_500),
        (vec![Step::Run], 5_000, 400),
        (vec![Step::Doze], 25_000, 6_000),
        (vec![Step::Doze], 7_000, 3_000),
        (vec![Step::Doze, Step::Run], 12_500, 5_000),
        (vec![Step::Doze], 500, 25),
        (vec![Step::Run], 700, 20),
    ] {
        let victim = Victim { priority: 4, budget: 0, period: 2_500_000, wcet: 500_000, calls: false };
        let hostile = (0..30).map(|index| Hostile { priority: index % 3, budget: 1 }).collect();
        let budgets = vec![(2_500_000, 600_000), (period, capacity)];
        let system = System { victims: vec![victim], hostile, budgets, gate: (0, 300), reload: 0 };
        let bounds = bounds(&system).unwrap();
        let mut run = Run::new(&system, 0);
        run.take_scripts((0..30).map(|at| (steps.clone(), at)).collect(), Paths::Longest);
        run.play_until(START + 2 * 2_500_000, &bounds);
        let worst = run.worst[0];
        assert!(
            worst <= bounds[0] && run.complaint.is_none(),
            "{worst} of {bounds:?}, {:?}: {steps:?}, {capacity} in {period}",
            run.complaint
        );
        release(run.kernel);
    }
}
