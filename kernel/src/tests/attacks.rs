//! Attacks, one by one: each was once possible, or is what somebody would try first.

use abi::trace::{Event, Fault};
use abi::{Call, Error};
use sched::switching::Switching;
use system::build::Builder;

use super::{Chip, OK, boot, refused};
use crate::NOBODY;
use crate::objects::{Life, State};
use crate::tests::rich::{BOUNDS, CLIENT, SERVER, data, domain, gate, rich, word};
use crate::tests::sim::{self, BOUND, CALLER, GATE, PEER, SERVANT, WORD, sample};
use units::{Instant, VirtAddr};

fn enter(kernel: &mut Chip, handle: u32) {
    assert_eq!(kernel.asks(Call::GateCall as u32, [handle, 0, 0, 0]), None);
}

/// Restarts a domain as a supervisor would, on behalf of whoever runs.
fn restart(kernel: &mut Chip, handle: u32) {
    for _ in 0..200 {
        match kernel.asks(Call::DomainRestart as u32, [handle, 0, 0, 0]) {
            Some((status, _)) if status == Error::Again.status() => {}
            told => return assert!(told == OK || told.is_none(), "{told:?}"),
        }
    }
    panic!("the restart does not end");
}

/// Time by which a timer can be late, and prices, for a system in which gates call gates.
fn late() -> Builder {
    let switching = Switching { entry: 30, exit: 35, early: 20 };
    Builder { switching, overrun: OVERRUN, ..rich() }
}

const OVERRUN: u32 = 200;
/// The price of an activation is 2 * (30 + 35 + 20).
const SLACK: u32 = OVERRUN + 170;

#[test]
fn a_nested_gate_must_fit_into_what_is_left_now_with_what_it_can_exceed_it_by() {
    for (beyond, fits) in [(0, true), (1, false)] {
        let mut kernel = boot(&late());
        assert_eq!(kernel.current(), SERVER);
        enter(&mut kernel, gate(0));
        kernel.passes(u64::from(BOUNDS[0] - BOUNDS[1] - SLACK) + beyond);
        let told = kernel.asks(Call::GateCall as u32, [gate(1), 0, 0, 0]);
        assert_eq!(told, if fits { None } else { refused(Error::NoBudget) });
        assert_eq!(kernel.inside(1), if fits { SERVER } else { NOBODY });
    }
}

#[test]
fn an_overrun_does_not_condemn_the_caller_of_the_gate() {
    for beyond in [0, OVERRUN] {
        let mut kernel = boot(&late());
        enter(&mut kernel, gate(0));
        kernel.passes(u64::from(BOUNDS[0] - BOUNDS[1] - SLACK + beyond));
        let is_in = kernel.asks(Call::GateCall as u32, [gate(1), 0, 0, 0]).is_none();
        assert_eq!(is_in, beyond == 0, "what the callee can exceed its bound by would not be left");
        if is_in {
            // The timer comes late, as it may by its granularity.
            kernel.arch.now += u64::from(BOUNDS[1] + OVERRUN) - 1;
            kernel.on_timer();
            assert_eq!(kernel.domain(1).life, Life::Stopped);
        }
        assert_eq!(kernel.domain(3).life, Life::Running, "it had time left when it called");
        assert_eq!(kernel.depth(SERVER), 1);
    }
}

/// The end of the gate that a thread is in, from now.
fn rest(kernel: &Chip) -> i32 {
    Instant::of(kernel.arch.now).until(kernel.end())
}

/// Callees that return by themselves, late, before the timer comes: the gate that calls them pays.
#[test]
fn callees_that_return_late_do_not_prolong_the_gate_that_calls_them() {
    let mut builder = late();
    builder.gates[3].bound = 1;
    let mut kernel = boot(&builder);
    enter(&mut kernel, gate(0));
    let (began, mut calls) = (kernel.arch.now, 0);
    while kernel.asks(Call::GateCall as u32, [gate(3), 0, 0, 0]).is_none() {
        kernel.arch.now += u64::from(OVERRUN);
        kernel.asks(Call::GateReturn as u32, [0; 4]);
        calls += 1;
        let used = (kernel.arch.now - began) as i32;
        assert_eq!(rest(&kernel), BOUNDS[0] as i32 - used, "after {calls} calls");
    }
    assert!((2..=BOUNDS[0] / OVERRUN).contains(&calls), "{calls}");
}

/// A callee that dies wakes a supervisor at the expense of the gate that called it, which had kept that back.
#[test]
fn callees_that_die_do_not_prolong_the_gate_that_calls_them() {
    let mut builder = late();
    builder.threads[0].priority = 1;
    let mut kernel = boot(&builder);
    // The supervisor waits for faults.
    kernel.asks(Call::Wait as u32, [word(0), u32::MAX, 0, 0]);
    assert_eq!(kernel.current(), SERVER);
    enter(&mut kernel, gate(0));
    enter(&mut kernel, gate(3));
    let outer = kernel.activations.at(kernel.resume).outer.unwrap();
    let until = kernel.activations.at(outer).until;
    kernel.on_fault(Fault::Data, VirtAddr(0), VirtAddr(0));
    assert_eq!((kernel.current(), kernel.domain(3).life), (0, Life::Stopped));
    assert_eq!(until.since(kernel.activations.at(outer).until), SLACK - OVERRUN);
}

/// A timer that was set for the end of a callee's bound comes in vain: the gate that called it pays, not the thread, and nobody gets it back.
#[test]
fn timers_for_callees_that_were_left_do_not_prolong_the_gate_that_calls_them() {
    let mut builder = late();
    builder.gates[3].bound = 50;
    let mut kernel = boot(&builder);
    enter(&mut kernel, gate(0));
    let began = kernel.arch.now;
    for _ in 0..4 {
        enter(&mut kernel, gate(3));
        kernel.asks(Call::GateReturn as u32, [0; 4]);
        kernel.passes(100);
    }
    assert_eq!(rest(&kernel), (BOUNDS[0] as u64 + began - kernel.arch.now) as i32);
    // One that comes when the outer gate was left, too, is the thread's.
    enter(&mut kernel, gate(3));
    kernel.asks(Call::GateReturn as u32, [0; 4]);
    kernel.asks(Call::GateReturn as u32, [0; 4]);
    let end = kernel.end();
    kernel.passes(100);
    assert_eq!((kernel.depth(SERVER), kernel.end()), (0, end));
}

#[test]
fn a_restarted_thread_that_is_more_important_than_its_supervisor_lives() {
    let mut builder = sample();
    builder.threads[usize::from(SERVANT)].priority = 1;
    let mut kernel = boot(&builder);
    kernel.asks(Call::WaitPeriod as u32, [0; 4]);
    assert_eq!(kernel.current(), CALLER);
    kernel.stop_domain(1);
    restart(&mut kernel, PEER);
    assert_eq!(kernel.thread(SERVANT).state, State::Ready);
    assert_eq!(kernel.current(), SERVANT);
    assert_eq!(kernel.traced(Event::Restart).len(), 1);
}

#[test]
fn a_thread_that_ends_while_its_siblings_are_started_does_not_end_the_domain() {
    let mut builder = sample();
    builder.threads.swap(1, 2);
    builder.threads[1].priority = 1;
    builder.threads[2] = system::Thread { domain: 1, stack_base: 0x2002_1800, ..builder.threads[2] };
    builder.threads[2].entry = builder.threads[1].entry;
    let mut kernel = boot(&builder);
    kernel.asks(Call::WaitPeriod as u32, [0; 4]);
    kernel.stop_domain(1);
    while kernel.current() == CALLER {
        kernel.asks(Call::DomainRestart as u32, [PEER, 0, 0, 0]);
    }
    assert_eq!(kernel.current(), 1);
    kernel.asks(Call::Exit as u32, [0; 4]);
    assert_eq!((kernel.current(), kernel.domain(1).life.runs()), (CALLER, true));
    while kernel.domain(1).life != Life::Running {
        kernel.asks(Call::DomainRestart as u32, [PEER, 0, 0, 0]);
    }
    assert_eq!(kernel.thread(2).state, State::Ready);
}

#[test]
fn what_a_dead_caller_left_inside_a_gate_cannot_touch_its_restarted_domain() {
    let mut kernel = boot(&rich());
    enter(&mut kernel, gate(0));
    let copy = [data(2), data(3), 4, 0];
    assert_eq!(kernel.asks(Call::GateCopyOut as u32, copy), OK);
    kernel.stop_domain(2);
    kernel.dispatch();
    assert_eq!(kernel.current(), SERVER, "it is still inside");
    assert_eq!(kernel.asks(Call::GateCopyOut as u32, copy), refused(Error::BadAddress));
    let back = [data(3), data(2), 4, 0];
    assert_eq!(kernel.asks(Call::GateCopyIn as u32, back), refused(Error::BadAddress));
}

/// The kernel once took such a thread for one that is in no gate. Its next life began in two ready queues, and nothing less important ever ran again.
#[test]
fn a_callee_cannot_restart_the_thread_that_is_inside_its_gate() {
    for nested in [false, true] {
        let mut system = rich();
        // Gate 0 leads into domain 3, gate 1 into domain 1: both may restart domain 2 here.
        let supervises = |cap: &&mut system::Cap| [1, 3].contains(&cap.domain) && cap.slot == domain(2);
        system.caps.iter_mut().filter(supervises).for_each(|cap| cap.rights = 7);
        let mut kernel = boot(&system);
        enter(&mut kernel, gate(0));
        assert_eq!(kernel.asks(Call::DomainStop as u32, [domain(2), 0, 0, 0]), OK);
        if nested {
            enter(&mut kernel, gate(1));
        }
        for _ in 0..400 {
            assert_eq!(kernel.asks(Call::DomainRestart as u32, [domain(2), 0, 0, 0]), refused(Error::Again));
        }
        assert_eq!((kernel.current(), kernel.here()), (SERVER, if nested { 1 } else { 3 }));
        assert_eq!(kernel.domain(2).life, Life::Starting(SERVER), "it waits for the thread");
        // What the callee returns reaches nobody: the thread's former life ends.
        for _ in 0..1 + u32::from(nested) {
            kernel.asks(Call::GateReturn as u32, [7, 8, 0, 0]);
        }
        assert_eq!(kernel.thread(SERVER).state, State::Ended);
        assert!(
            kernel.current() != SERVER
                && kernel.ready.listed(&kernel.threads).iter().all(|(thread, _)| *thread != SERVER)
        );
    }
}

#[test]
fn copies_between_overlapping_ranges_are_refused() {
    let mut builder = sample();
    builder.gates[0] = system::Gate { domain: 0, entry: 0x20_0301, stack_base: 0x2002_0800, ..builder.gates[0] };
    let mut kernel = boot(&builder);
    enter(&mut kernel, GATE);
    for (dst, src) in [(0, 8), (8, 0), (0, 15), (15, 0), (0, 0)] {
        let args = [0x2002_0c00 + dst, 0x2002_0c00 + src, 16, 0];
        assert_eq!(kernel.asks(Call::GateCopyIn as u32, args), refused(Error::BadArgument), "{dst} {src}");
    }
    assert_eq!(kernel.asks(Call::GateCopyIn as u32, [0x2002_0c10, 0x2002_0c00, 16, 0]), OK);
}

#[test]
fn a_dead_waiter_neither_blocks_a_notification_nor_swallows_its_bits() {
    let mut kernel = boot(&rich());
    kernel.asks(Call::Wait as u32, [word(1), 8, 0, 0]);
    assert_eq!(kernel.thread(SERVER).state, State::Waiting(1));
    kernel.stop_domain(2);
    assert_eq!(kernel.asks(Call::Signal as u32, [word(1), 8, 0, 0]), OK);
    assert_eq!(kernel.asks(Call::Wait as u32, [word(1), 8, 0, 0]), Some((0, [8, 0])), "the bit is still there");
    let waiter = kernel.current();
    assert_eq!(kernel.asks(Call::Wait as u32, [word(1), 8, 0, 0]), None, "nobody alive waits");
    assert_eq!(kernel.thread(waiter).state, State::Waiting(1));
    kernel.asks(Call::Signal as u32, [word(1), 8, 0, 0]);
    assert_eq!(kernel.thread(waiter).state, State::Ready);
}

#[test]
fn stopping_again_and_again_never_revives_an_activation() {
    let mut kernel = boot(&rich());
    let epoch = kernel.domain(2).epoch;
    for _ in 0..=u16::MAX {
        kernel.stop_domain(2);
    }
    assert_eq!(kernel.domain(2).epoch, epoch + 1, "a stop of what is stopped changes nothing");
    kernel.domain_mut(2).life = Life::Running;
    kernel.dispatch();
    assert_ne!(kernel.current(), SERVER);
}

#[test]
fn yielding_inside_a_gate_lets_no_rival_find_it_busy() {
    let mut builder = sample();
    builder.gates[0].ceiling = 3;
    builder.threads[1].priority = 3;
    let mut kernel = boot(&builder);
    enter(&mut kernel, GATE);
    assert_eq!(kernel.asks(Call::Yield as u32, [0; 4]), OK);
    assert_eq!((kernel.current(), kernel.loaded()), (CALLER, 1));
}

#[test]
fn a_chain_whose_middle_was_restarted_unwinds_to_its_first_caller() {
    let mut kernel = boot(&rich());
    enter(&mut kernel, gate(0));
    enter(&mut kernel, gate(1));
    kernel.stop_domain(3);
    kernel.domain_mut(3).life = Life::Running;
    kernel.dispatch();
    assert_eq!((kernel.current(), kernel.loaded()), (SERVER, 1), "the innermost callee is alive");
    kernel.asks(Call::GateReturn as u32, [0; 4]);
    assert_eq!((kernel.current(), kernel.loaded(), kernel.depth(SERVER)), (SERVER, 2, 0));
    assert_eq!(kernel.context(SERVER).response, Some((Error::CalleeFault.status(), [0, 0])));
    assert!((0..4).all(|gate| kernel.inside(gate) == NOBODY));
}

#[test]
fn a_domain_that_stops_itself_stays_stopped_and_cannot_restart_itself() {
    let mut kernel = boot(&sample());
    kernel.domain_mut(0).caps[4] = crate::objects::Cap { word: 0, ..kernel.domain(0).caps[PEER as usize] };
    assert_eq!(kernel.asks(Call::DomainRestart as u32, [4, 0, 0, 0]), refused(Error::BadState));
    kernel.asks(Call::DomainStop as u32, [4, 0, 0, 0]);
    assert_eq!(kernel.current(), SERVANT);
    assert_eq!(kernel.thread(CALLER).state, State::Ended);
}

#[test]
fn a_faulting_client_cannot_flood_its_supervisor() {
    let mut kernel = boot(&rich());
    for _ in 0..40 {
        let here = kernel.here();
        kernel.on_fault(Fault::Usage, VirtAddr(0), VirtAddr(0));
        assert_ne!(kernel.domain(here).life, Life::Running);
        if kernel.current() == NOBODY {
            break;
        }
    }
    assert!(kernel.traced(Event::Fault).len() <= 4, "one fault for each domain until somebody restarts it");
    assert_eq!(kernel.notifications[0].bits, 0b1110, "one bit for each supervised domain");
}

#[test]
fn a_dead_owner_leaves_its_interrupt_line_masked() {
    let mut kernel = boot(&sample());
    kernel.asks(Call::InterruptAck as u32, [sim::LINE, 0, 0, 0]);
    kernel.stop_domain(0);
    kernel.dispatch();
    kernel.interrupts(9);
    assert!(kernel.arch.masked[&9]);
    assert_eq!(kernel.asks(Call::InterruptAck as u32, [sim::LINE, 0, 0, 0]), refused(Error::BadHandle));
}

#[test]
fn a_throttled_gate_call_of_a_stopped_domain_is_not_repeated() {
    let mut kernel = boot(&sample());
    kernel.passes(u64::from(sim::CAPACITY - BOUND) + 1);
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    kernel.stop_domain(0);
    kernel.passes(u64::from(sim::PERIOD));
    assert_eq!(kernel.thread(CALLER).state, State::Ended);
    assert_eq!(kernel.inside(0), NOBODY);
    assert_eq!(kernel.asks(Call::Poll as u32, [WORD, 0, 0, 0]), OK);
}

#[test]
fn revocation_ends_before_a_generation_comes_round() {
    let mut kernel = boot(&sample());
    let mut revoked = 0_u32;
    while kernel.asks(Call::Revoke as u32, [WORD, 0, 0, 0]) == OK {
        revoked += 1;
        assert!(revoked < 70_000);
    }
    assert_eq!(kernel.asks(Call::Revoke as u32, [WORD, 0, 0, 0]), refused(Error::Full));
    assert_eq!(kernel.asks(Call::Poll as u32, [WORD, 0, 0, 0]), OK);
}

#[test]
fn the_first_client_of_the_rich_system_is_as_named() {
    let kernel = boot(&rich());
    assert_eq!((kernel.activation(CLIENT).domain_number(), kernel.activation(SERVER).domain_number()), (1, 2));
    assert_eq!(kernel.domain(0).caps[domain(1) as usize].object(), 1);
}
