//! Behaviour of every processor's kernel.

use abi::trace::{Event, Fault, IDLE, header};
use abi::{Call, Error, Kind, rights};

use std::boxed::Box;

use super::{Chip, OK, boot, refused};
use crate::objects::{Cap, Life, State};
use crate::tests::sim::{
    BOUND, CALLER, CAPACITY, GATE, Guard, LINE, Machine, OTHER, PEER, PERIOD, SERVANT, WORD, sample,
};
use crate::{Kernel, NOBODY};
use units::VirtAddr;

#[test]
fn the_most_important_thread_runs_first_in_its_own_domain() {
    let kernel = boot(&sample());
    assert_eq!(kernel.current(), CALLER);
    assert_eq!(kernel.loaded(), 0);
}

#[test]
fn a_gate_call_moves_the_thread_and_its_return_brings_it_back() {
    let mut kernel = boot(&sample());
    assert_eq!(kernel.asks(Call::GateCall as u32, [GATE, 7, 8, 9]), None);
    assert_eq!((kernel.current(), kernel.loaded()), (CALLER, 1));
    assert_eq!(kernel.activation(CALLER).priority, 2);
    let start = kernel.context(CALLER).start.unwrap();
    assert_eq!(start.args, [40, 7, 8, 9], "the badge names the caller");
    assert_eq!(start.stack_base, kernel.address(0x2002_1400));
    kernel.asks(Call::GateReturn as u32, [0, 55, 0, 0]);
    assert_eq!((kernel.current(), kernel.loaded()), (CALLER, 0));
    assert_eq!(kernel.context(CALLER).response, Some((0, [55, 0])));
    assert_eq!(kernel.activation(CALLER).priority, 3);
}

#[test]
fn a_gate_is_entered_only_when_the_budget_covers_its_bound() {
    let mut kernel = boot(&sample());
    kernel.passes(u64::from(CAPACITY - BOUND) + 1);
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    assert_eq!(kernel.thread(CALLER).state, State::Throttled);
    assert_eq!(kernel.context(CALLER).repeated, 1, "the call is performed again");
    assert_ne!(kernel.current(), CALLER);
    kernel.passes(u64::from(PERIOD - (CAPACITY - BOUND) - 1));
    assert_eq!(kernel.current(), CALLER);
    assert_eq!(kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]), None);
    assert_eq!((kernel.current(), kernel.loaded()), (CALLER, 1));
}

#[test]
fn a_gate_whose_bound_exceeds_the_capacity_is_refused() {
    let mut builder = sample();
    builder.gates[0].bound = CAPACITY + 1;
    let mut kernel = boot(&builder);
    assert_eq!(kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]), refused(Error::NoBudget));
}

#[test]
fn a_caller_above_the_ceiling_is_refused() {
    let mut builder = sample();
    builder.gates[0].ceiling = 4;
    let mut kernel = boot(&builder);
    assert_eq!(kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]), refused(Error::Ceiling));
}

#[test]
fn a_thread_that_runs_out_of_budget_inside_a_gate_finishes_the_call_first() {
    let mut kernel = boot(&sample());
    kernel.passes(u64::from(CAPACITY - BOUND));
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    assert_eq!(kernel.loaded(), 1);
    kernel.passes(u64::from(BOUND) - 1);
    assert_eq!((kernel.current(), kernel.loaded()), (CALLER, 1), "nobody takes the gate from it");
    kernel.asks(Call::GateReturn as u32, [0; 4]);
    kernel.passes(2);
    assert_eq!(kernel.thread(CALLER).state, State::Throttled);
}

#[test]
fn a_gate_that_exceeds_its_bound_fails_and_its_caller_goes_on() {
    let mut kernel = boot(&sample());
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    kernel.passes(u64::from(BOUND) + 1);
    assert_eq!((kernel.current(), kernel.loaded()), (CALLER, 0));
    assert_eq!(kernel.context(CALLER).response, Some((Error::GateOverrun.status(), [0, 0])));
    assert_eq!(kernel.domain(1).life, Life::Stopped);
    assert_eq!(kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]), refused(Error::Stopped));
}

#[test]
fn a_callee_that_faults_returns_an_error_to_its_caller() {
    let mut kernel = boot(&sample());
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    kernel.on_fault(Fault::Data, VirtAddr(0x1234), VirtAddr(0x20_1210));
    assert_eq!((kernel.current(), kernel.loaded()), (CALLER, 0));
    assert_eq!(kernel.context(CALLER).response, Some((Error::CalleeFault.status(), [0, 0])));
    assert_eq!(kernel.inside(0), NOBODY);
    assert_eq!(kernel.asks(Call::FaultNext as u32, [PEER, 0, 0, 0]), Some((0, [Fault::Data as u32, 0x1234])));
}

#[test]
fn a_caller_that_is_stopped_inside_a_gate_ends_when_the_callee_returns() {
    let mut kernel = boot(&sample());
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    kernel.stop_domain(0);
    kernel.dispatch();
    assert_eq!((kernel.current(), kernel.loaded()), (CALLER, 1), "the callee is not harmed");
    kernel.asks(Call::GateReturn as u32, [0; 4]);
    assert_eq!(kernel.thread(CALLER).state, State::Ended);
    assert_eq!(kernel.current(), SERVANT);
}

#[test]
fn a_stopped_domain_is_restarted_in_bounded_steps_with_fresh_data_and_capabilities() {
    let mut kernel = boot(&sample());
    kernel.arch.memory.insert(0x20_4000, 0xaa);
    let data = kernel.place(1, 0x2002_1c00);
    kernel.arch.memory.insert(data, 0x11);
    kernel.domain_mut(1).caps[5] = kernel.domain(0).caps[0];
    assert_eq!(kernel.asks(Call::DomainRestart as u32, [PEER, 0, 0, 0]), refused(Error::BadState));
    assert_eq!(kernel.asks(Call::DomainStop as u32, [PEER, 0, 0, 0]), OK);
    let mut steps = 0;
    while kernel.asks(Call::DomainRestart as u32, [PEER, 0, 0, 0]) == refused(Error::Again) {
        steps += 1;
        assert!(steps < 200);
    }
    assert_eq!(kernel.domain(1).life, Life::Running);
    assert_eq!(kernel.arch.memory[&data], 0xaa);
    assert_eq!(kernel.domain(1).caps[5].kind, abi::Kind::Empty);
    assert_eq!(kernel.thread(SERVANT).state, State::Ready);
    assert_eq!(kernel.context(SERVANT).start.unwrap().args[2], 1, "it learns how often it was restarted");
}

#[test]
fn budgets_are_enforced_and_replenished() {
    let mut kernel = boot(&sample());
    kernel.passes(u64::from(CAPACITY));
    assert_eq!(kernel.current(), SERVANT);
    assert_eq!(kernel.thread(CALLER).state, State::Throttled);
    // SERVANT and OTHER share a budget.
    kernel.passes(u64::from(CAPACITY));
    assert_eq!(kernel.current(), NOBODY);
    kernel.passes(u64::from(PERIOD - 2 * CAPACITY));
    assert_eq!(kernel.current(), CALLER);
    assert_eq!(kernel.traced(Event::BudgetOut).len(), 3);
}

/// Handlers run in a thread's last ticks, in a gate's, while nobody runs, and while somebody else does: the first two get that back, and nobody else.
#[test]
fn time_of_handlers_is_charged_to_nobody_whom_they_interrupt() {
    const TAKEN: u32 = 500;
    let mut kernel = boot(&sample());
    kernel.passes(u64::from(CAPACITY - 10));
    kernel.arch.handlers.displaced.set(TAKEN);
    kernel.passes(u64::from(TAKEN + 9));
    assert_eq!(kernel.thread(CALLER).state, State::Ready);
    kernel.passes(1);
    assert_eq!((kernel.thread(CALLER).state, kernel.current()), (State::Throttled, SERVANT));
    kernel.passes(u64::from(CAPACITY));
    assert_eq!(kernel.current(), NOBODY, "who is switched to has no part of it");
    kernel.arch.handlers.displaced.set(TAKEN);
    kernel.passes(u64::from(PERIOD - 2 * CAPACITY - TAKEN));
    assert_eq!(kernel.current(), CALLER);
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    kernel.passes(u64::from(BOUND - 10));
    kernel.arch.handlers.displaced.set(TAKEN);
    kernel.passes(u64::from(TAKEN + 9));
    assert_eq!((kernel.current(), kernel.loaded()), (CALLER, 1));
    kernel.asks(Call::GateReturn as u32, [0; 4]);
    assert_eq!(kernel.context(CALLER).response, Some((0, [0, 0])));
    kernel.passes(u64::from(CAPACITY - BOUND));
    assert_eq!(kernel.thread(CALLER).state, State::Ready);
    kernel.passes(1);
    assert_eq!(kernel.thread(CALLER).state, State::Throttled);
}

/// Handlers set the count of their time far ahead: the thread gets back what has passed, and no more.
#[test]
fn handlers_cannot_have_taken_more_than_has_passed() {
    const PASSED: u32 = 100;
    let mut kernel = boot(&sample());
    kernel.passes(u64::from(PASSED));
    kernel.arch.handlers.displaced.set(10 * CAPACITY);
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    kernel.asks(Call::GateReturn as u32, [0; 4]);
    assert_eq!((kernel.current(), kernel.arch.handlers.displaced.get()), (CALLER, 0));
    kernel.passes(u64::from(CAPACITY));
    assert_eq!(kernel.thread(CALLER).state, State::Throttled);
}

#[test]
fn who_may_command_a_domain_has_it_occupy_if_it_has_handlers() {
    let mut kernel = boot(&sample());
    assert_eq!(kernel.asks(Call::Occupy as u32, [PEER, 0, 0, 0]), Some((Error::BadState.status(), [0; 2])));
    kernel.arch.handlers.of = &[1];
    assert_eq!(kernel.asks(Call::Occupy as u32, [PEER, 0, 0, 0]), Some((0, [0; 2])));
    assert_eq!(kernel.asks(Call::Occupy as u32, [WORD, 0, 0, 0]), Some((Error::WrongKind.status(), [0; 2])));
    let occupied = kernel.arch.trace.iter().filter(|(word, _)| *word == header(Event::Occupy, 1, 0));
    assert_eq!(occupied.count(), 1);
}

/// Handles of the two servers of handlers, whose numbers follow those of the two budgets.
const SERVERS: [u32; 2] = [4, 5];

/// The processor has two servers, and the caller holds both: the first to read and to grant, the second to read.
fn give_servers<K: Guard>(kernel: &mut Kernel<Machine<K>>) {
    for (place, left) in [(300, 9_000), (0, 41)].into_iter().enumerate() {
        kernel.arch.handlers.servers.push((Box::leak(Box::default()), left));
        let rights = if place == 0 { rights::READ | rights::GRANT } else { rights::READ };
        let cap = Cap { kind: Kind::Budget, rights, word: 2 + place as u32, ..Cap::EMPTY };
        kernel.domain_mut(0).caps[SERVERS[place] as usize] = cap;
    }
}

#[test]
fn the_time_of_handlers_is_read_by_a_capability_to_their_server() {
    let mut kernel = boot(&sample());
    give_servers(&mut kernel);
    let query = Call::BudgetQuery as u32;
    assert_eq!(kernel.asks(query, [SERVERS[0], 0, 0, 0]), Some((0, [300, 9_000])));
    assert_eq!(kernel.asks(query, [SERVERS[1], 0, 0, 0]), Some((0, [0, 41])));
    assert_eq!(kernel.asks(query, [PEER, 0, 0, 0]), refused(Error::WrongKind));
    assert_eq!(kernel.asks(Call::Occupy as u32, [SERVERS[0], 0, 0, 0]), refused(Error::WrongKind));
    kernel.domain_mut(0).caps[SERVERS[1] as usize].rights = rights::WRITE;
    assert_eq!(kernel.asks(query, [SERVERS[1], 0, 0, 0]), refused(Error::NoRight));
    kernel.domain_mut(0).caps[SERVERS[1] as usize] = Cap { word: 4, ..kernel.domain(0).caps[SERVERS[0] as usize] };
    assert_eq!(kernel.asks(query, [SERVERS[1], 0, 0, 0]), refused(Error::BadHandle), "there is no third");
}

#[test]
fn a_capability_to_a_server_ends_when_it_is_revoked() {
    let mut kernel = boot(&sample());
    give_servers(&mut kernel);
    let query = Call::BudgetQuery as u32;
    kernel.domain_mut(1).caps[3] = kernel.domain(0).caps[SERVERS[0] as usize];
    assert_eq!(kernel.asks(Call::Revoke as u32, [SERVERS[1], 0, 0, 0]), refused(Error::NoRight));
    assert_eq!(kernel.asks(Call::Revoke as u32, [SERVERS[0], 0, 0, 0]), OK);
    assert_eq!(kernel.asks(query, [SERVERS[0], 0, 0, 0]), Some((0, [300, 9_000])), "the holder's own follows");
    assert_eq!(kernel.asks(query, [SERVERS[1], 0, 0, 0]), Some((0, [0, 41])), "another server is another object");
    kernel.asks(Call::Wait as u32, [WORD, 6, 0, 0]);
    assert_eq!(kernel.current(), SERVANT);
    assert_eq!(kernel.asks(query, [3, 0, 0, 0]), refused(Error::BadHandle));
    let generation = kernel.arch.handlers.servers[0].0;
    generation.store(u16::MAX - 1, std::sync::atomic::Ordering::Relaxed);
    kernel.domain_mut(1).caps[3].generation = u16::MAX - 1;
    assert_eq!(kernel.asks(Call::Revoke as u32, [3, 0, 0, 0]), refused(Error::Full));
}

#[test]
fn no_budget_is_overdrawn_in_any_period() {
    let mut kernel = boot(&sample());
    let mut used = 0;
    for tick in 0..u64::from(PERIOD) * 8 {
        used += u64::from(kernel.current() == CALLER);
        kernel.passes(1);
        if tick % u64::from(PERIOD) == u64::from(PERIOD) - 1 {
            assert!(used <= u64::from(CAPACITY), "{used} ticks in one period");
            used = 0;
        }
    }
}

#[test]
fn notifications_wake_the_waiter_and_preempt() {
    let mut kernel = boot(&sample());
    kernel.asks(Call::Wait as u32, [WORD, 6, 0, 0]);
    assert_eq!(kernel.current(), SERVANT);
    assert_eq!(kernel.asks(Call::Wait as u32, [WORD, 1, 0, 0]), refused(Error::Busy));
    assert_eq!(kernel.asks(Call::Signal as u32, [WORD, 1, 0, 0]), OK);
    assert_eq!(kernel.current(), SERVANT, "a bit outside the mask wakes nobody");
    kernel.asks(Call::Signal as u32, [WORD, 2, 0, 0]);
    assert_eq!(kernel.current(), CALLER);
    assert_eq!(kernel.context(CALLER).response, Some((0, [2, 0])));
    assert_eq!(kernel.asks(Call::Poll as u32, [WORD, u32::MAX, 0, 0]), Some((0, [1, 0])));
}

#[test]
fn an_interrupt_stays_masked_until_its_owner_acknowledges_it() {
    let mut kernel = boot(&sample());
    kernel.asks(Call::InterruptAck as u32, [LINE, 0, 0, 0]);
    assert!(!kernel.arch.masked[&9]);
    kernel.asks(Call::Wait as u32, [WORD, 4, 0, 0]);
    kernel.interrupts(9);
    assert!(kernel.arch.masked[&9]);
    assert_eq!(kernel.current(), CALLER);
    kernel.interrupts(77);
    assert!(kernel.arch.masked[&77], "a line that nobody owns is silenced");
}

#[test]
fn the_first_record_says_what_time_it_is() {
    let kernel = boot(&sample());
    assert_eq!(kernel.arch.trace[0], (header(Event::Start, IDLE, 0), 1000));
    assert_eq!(kernel.traced(Event::Start), [1000]);
}

#[test]
fn periodic_threads_are_released_at_nominal_times() {
    let mut builder = sample();
    builder.threads[2].priority = 1;
    let mut kernel = boot(&builder);
    assert_eq!(kernel.current(), SERVANT);
    kernel.asks(Call::WaitPeriod as u32, [0; 4]);
    let first = 1000 + PERIOD;
    kernel.passes(u64::from(PERIOD));
    assert_eq!(kernel.current(), SERVANT);
    kernel.asks(Call::WaitPeriod as u32, [0; 4]);
    kernel.passes(u64::from(PERIOD));
    assert_eq!(kernel.traced(Event::Release)[..2], [first, first + PERIOD]);
    assert_eq!(kernel.traced(Event::Complete).len(), 1);
}

#[test]
fn a_job_that_sleeps_and_waits_stays_one_job() {
    let mut builder = sample();
    builder.threads[2].priority = 1;
    let mut kernel = boot(&builder);
    let count = |kernel: &Chip| [Event::Release, Event::Complete].map(|event| kernel.traced(event).len());
    let sleeps = |kernel: &mut Chip| {
        let until = kernel.arch.now + 100;
        assert_eq!(kernel.asks(Call::SleepUntil as u32, [until as u32, (until >> 32) as u32, 0, 0]), None);
        kernel.passes(200);
        assert_eq!(kernel.current(), SERVANT);
    };
    sleeps(&mut kernel);
    assert_eq!(count(&kernel), [0, 0], "before its first release");
    kernel.asks(Call::WaitPeriod as u32, [0; 4]);
    kernel.passes(u64::from(PERIOD));
    assert_eq!(count(&kernel), [1, 0]);
    sleeps(&mut kernel);
    assert_eq!(kernel.asks(Call::Wait as u32, [WORD, 1, 0, 0]), None);
    assert_eq!(kernel.current(), CALLER);
    kernel.asks(Call::Signal as u32, [WORD, 1, 0, 0]);
    assert_eq!((kernel.current(), count(&kernel)), (SERVANT, [1, 0]), "in its job");
    kernel.asks(Call::WaitPeriod as u32, [0; 4]);
    kernel.passes(u64::from(PERIOD));
    assert_eq!(count(&kernel), [2, 1]);
}

#[test]
fn whoever_is_stopped_in_its_sleep_is_not_released() {
    let mut builder = sample();
    builder.threads[2].priority = 1;
    let mut kernel = boot(&builder);
    kernel.asks(Call::WaitPeriod as u32, [0; 4]);
    assert_eq!(kernel.asks(Call::DomainStop as u32, [PEER, 0, 0, 0]), OK);
    kernel.passes(2 * u64::from(PERIOD));
    assert!(kernel.traced(Event::Release).is_empty());
    assert_eq!(kernel.thread(SERVANT).state, State::Ended);
}

#[test]
fn a_thread_that_overruns_its_period_is_told_so() {
    let mut builder = sample();
    builder.threads[2].priority = 1;
    builder.budgets[1].capacity = PERIOD;
    let mut kernel = boot(&builder);
    kernel.asks(Call::WaitPeriod as u32, [0; 4]);
    kernel.passes(u64::from(PERIOD) + 10);
    kernel.passes(u64::from(PERIOD));
    assert_eq!(kernel.asks(Call::WaitPeriod as u32, [0; 4]), Some((0, [1, 0])));
    assert_eq!(kernel.traced(Event::Overrun).len(), 1);
}

#[test]
fn capabilities_are_unforgeable_and_revocable() {
    let mut kernel = boot(&sample());
    assert_eq!(kernel.asks(Call::Signal as u32, [4, 1, 0, 0]), refused(Error::BadHandle));
    assert_eq!(kernel.asks(Call::Signal as u32, [u32::MAX, 1, 0, 0]), refused(Error::BadHandle));
    assert_eq!(kernel.asks(Call::Signal as u32, [GATE, 1, 0, 0]), refused(Error::WrongKind));
    assert_eq!(kernel.asks(Call::CapCopy as u32, [WORD, 4, u32::from(rights::READ), 0]), OK);
    assert_eq!(kernel.asks(Call::Signal as u32, [4, 1, 0, 0]), refused(Error::NoRight));
    assert_eq!(kernel.asks(Call::CapCopy as u32, [4, 5, u32::from(rights::ALL), 0]), refused(Error::NoRight));
    assert_eq!(kernel.asks(Call::CapCopy as u32, [WORD, 6, 1, 0]), refused(Error::BadSlot));
    assert_eq!(kernel.asks(Call::CapGrant as u32, [PEER, 4, 4, 1]), refused(Error::NoRight));
    assert_eq!(kernel.asks(Call::CapGrant as u32, [PEER, WORD, 4, 1]), OK);
    assert_eq!(kernel.asks(Call::Revoke as u32, [WORD, 0, 0, 0]), OK);
    assert_eq!(kernel.asks(Call::Poll as u32, [4, 1, 0, 0]), refused(Error::BadHandle));
    assert_eq!(kernel.asks(Call::Poll as u32, [WORD, 1, 0, 0]), OK);
}

#[test]
fn copies_reach_only_what_both_sides_may_access() {
    let mut kernel = boot(&sample());
    let copy_in = Call::GateCopyIn as u32;
    assert_eq!(kernel.asks(copy_in, [0x2002_1c00, 0x2002_0c00, 4, 0]), refused(Error::NotInGate));
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    assert_eq!(kernel.asks(copy_in, [0x2002_1c00, 0x2002_0c00, 64, 0]), OK);
    assert_eq!(kernel.asks(copy_in, [0x2002_1c00, 0x2002_0c00, 65, 0]), refused(Error::BadArgument));
    let bad: [[u32; 3]; 6] = [
        [0x2002_1c00, 0x2002_0fff, 2],
        [0x2002_1fff, 0x2002_0c00, 2],
        [0x2002_1c00, 0x2002_1c40, 4],
        [0x20_1000, 0x2002_0c00, 4],
        [0x2002_1c00, 0xffff_fffe, 4],
        [0x2000_0000, 0x2002_0c00, 4],
    ];
    for [dst, src, len] in bad {
        assert_eq!(kernel.asks(copy_in, [dst, src, len, 0]), refused(Error::BadAddress), "{dst:x} {src:x}");
    }
    assert_eq!(kernel.asks(Call::GateCopyOut as u32, [0x2002_0c00, 0x2002_1c00, 4, 0]), OK);
    assert_eq!(kernel.asks(Call::GateCopyOut as u32, [0x20_0000, 0x2002_1c00, 4, 0]), refused(Error::BadAddress));
}

#[test]
fn nothing_that_blocks_is_allowed_inside_a_gate() {
    let mut kernel = boot(&sample());
    kernel.domain_mut(1).caps[0] = kernel.domain(0).caps[0];
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    for (call, args) in [
        (Call::Wait, [WORD, 1, 0, 0]),
        (Call::SleepUntil, [u32::MAX, 0, 0, 0]),
        (Call::WaitPeriod, [0; 4]),
        (Call::Exit, [0; 4]),
    ] {
        assert_eq!(kernel.asks(call as u32, args), refused(Error::InGate), "{call:?}");
    }
    assert_eq!(kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]), refused(Error::Busy));
}

#[test]
fn the_run_ends_when_every_awaited_domain_has_finished() {
    let mut kernel = boot(&sample());
    kernel.asks(Call::Exit as u32, [0; 4]);
    assert_eq!(kernel.arch.ended, None);
    kernel.asks(Call::Exit as u32, [3, 0, 0, 0]);
    kernel.asks(Call::Exit as u32, [0; 4]);
    assert_eq!(kernel.arch.ended, Some(3));
    assert_eq!(kernel.current(), NOBODY);
    assert_eq!(kernel.thread(OTHER).state, State::Ended);
}
