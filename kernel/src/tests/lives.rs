//! A domain that dies ten thousand times, in the middle of whatever it holds: nothing of the kernel's is lost by it.

use std::fmt::Write as _;
use std::string::String;

use abi::trace::Fault;
use abi::{Call, Error};

use super::frames::{BASE, FRAMES, region, with_frames};
use super::sim::{CALLER, GATE, PEER, PERIOD, SERVANT, Sim, WORD};
use crate::Kernel;
use units::VirtAddr;

const LIVES: u32 = 10_000;
/// Slots of the servant's table that are empty at its start.
const SPARE: u32 = 5;
const PAGE: u32 = 0x400;

fn told(kernel: &mut Kernel<Sim>, call: Call, args: [u32; 4]) -> Option<(u32, [u32; 2])> {
    kernel.asks(call as u32, args)
}

/// Everything of the kernel that a life could use up, in words: capabilities, regions, the table of frames, queues, notifications.
fn state(kernel: &Kernel<Sim>) -> String {
    let mut text = String::new();
    for domain in kernel.domains.iter() {
        let caps = domain.caps.iter().map(|cap| (cap.kind, cap.rights, cap.word, cap.generation, cap.place));
        let _ = writeln!(text, "{:?}", caps.collect::<Vec<_>>());
        let _ = writeln!(text, "{:?} {}", domain.protection.trie.iter().collect::<Vec<_>>(), domain.living);
    }
    // Regions that are pinned, and which slots page; what is in these is a cache.
    let pinned = kernel.domains.iter().map(|domain| domain.protection.slots.pinned().collect::<Vec<_>>());
    let _ = writeln!(text, "{:?}", pinned.collect::<Vec<_>>());
    let entries = kernel.frames.entries().map(|entry| (entry.range, entry.kind, entry.uses));
    let _ = writeln!(text, "{:?} {}", entries.collect::<Vec<_>>(), kernel.frames.marks());
    assert!(kernel.edit.is_none(), "an edit is left");
    let _ = writeln!(text, "{:?}", kernel.ready.listed(&kernel.threads));
    let times = kernel.times.listed();
    let _ = writeln!(text, "{:?}", times.iter().map(|entry| entry.2).collect::<Vec<_>>());
    let words = kernel.notifications.iter().map(|word| (word.bits, word.waiter.is_some(), word.generation));
    let _ = writeln!(text, "{:?}", words.collect::<Vec<_>>());
    let inside = kernel.activations.iter().map(|activation| (activation.outer.is_some(), activation.priority));
    let _ = writeln!(text, "{:?}", inside.collect::<Vec<_>>());
    text
}

/// One life: the servant is given memory and a capability, takes a region, and dies in one of several places.
fn live_and_die(kernel: &mut Kernel<Sim>, life: u32) {
    let page = BASE + PAGE * (life % 16);
    let words = region(PEER | 3 << 16, page, PAGE);
    assert_eq!(told(kernel, Call::FramesMap, words), Some((0, [0, 0])), "life {life}");
    told(kernel, Call::CapGrant, [PEER, WORD, SPARE, 3]);
    match life % 4 {
        // With the caller inside its gate.
        0 => {
            told(kernel, Call::GateCall, [GATE, 0, 0, 0]);
            assert_eq!(kernel.loaded(), 1);
            kernel.on_miss(VirtAddr(page));
            kernel.on_fault(Fault::Data, VirtAddr(4), VirtAddr(0x20_1210));
        }
        // On its own, when its caller sleeps.
        1 => {
            let until = kernel.arch.now + 500;
            told(kernel, Call::SleepUntil, [until as u32, (until >> 32) as u32, 0, 0]);
            kernel.on_miss(VirtAddr(page + 64));
            if kernel.current() == SERVANT {
                told(kernel, Call::Poll, [SPARE, u32::MAX, 0, 0]);
                kernel.on_fault(Fault::Usage, VirtAddr(0), VirtAddr(0x20_1210));
            }
            kernel.passes(2_000);
        }
        // In the time queue.
        2 => {
            let until = kernel.arch.now + 500;
            told(kernel, Call::SleepUntil, [until as u32, (until >> 32) as u32, 0, 0]);
            if kernel.current() == SERVANT {
                told(kernel, Call::SleepUntil, [until as u32, (until >> 32) as u32 + 1, 0, 0]);
            }
            kernel.passes(2_000);
            told(kernel, Call::DomainStop, [PEER, 0, 0, 0]);
        }
        // Ready, as it is.
        _ => drop(told(kernel, Call::DomainStop, [PEER, 0, 0, 0])),
    }
    assert_eq!(kernel.current(), CALLER, "life {life}");
    // Nothing more happens to what is stopped, whatever became of it.
    told(kernel, Call::DomainStop, [PEER, 0, 0, 0]);
}

/// The caller sleeps until budgets are full and everybody is where they would be after any life.
fn rest(kernel: &mut Kernel<Sim>) {
    let period = u64::from(PERIOD);
    let until = (kernel.arch.now / period + 3) * period + 10;
    told(kernel, Call::SleepUntil, [until as u32, (until >> 32) as u32, 0, 0]);
    kernel.passes(until - kernel.arch.now);
}

#[test]
fn ten_thousand_deaths_leak_nothing() {
    let mut kernel = with_frames();
    assert_eq!(told(&mut kernel, Call::FramesRetype, [FRAMES, 0, 16 * PAGE, 0]), Some((0, [0, 0])));
    let (mut first, mut most) = (String::new(), 0);
    for life in 0..LIVES {
        live_and_die(&mut kernel, life);
        let mut steps = 0;
        while told(&mut kernel, Call::DomainRestart, [PEER, 0, 0, 0]) == Some((Error::Again.status(), [0; 2])) {
            steps += 1;
            assert!(steps < 500, "the restart does not end");
        }
        most = most.max(steps);
        told(&mut kernel, Call::FaultNext, [PEER, 0, 0, 0]);
        rest(&mut kernel);
        let now = state(&kernel);
        if life < 4 {
            first = now;
        } else {
            assert_eq!(now, first, "life {life}");
        }
        kernel.arch.trace.clear();
    }
    println!("{LIVES} lives, at most {most} steps of restart");
}
