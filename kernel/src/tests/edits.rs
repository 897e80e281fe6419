//! Mappings change in steps: others in between, deaths in between, and what can be accessed
//! meanwhile.

use abi::{Call, Error};

use super::frames::{BASE, FRAMES, with_frames};
use super::sim::{PEER, Sim};
use super::watch::memory;
use super::{OK, refused};
use crate::Kernel;
use crate::edit::PATIENCE;
use crate::objects::Life;
use crate::regions::Resolution;
use units::VirtAddr;

const ALL: u32 = 0x1_0000;
const HANDLES: u32 = PEER | FRAMES << 16;
/// The frames but for the first and the last eighth: four keys.
const INNER: [u32; 4] = [HANDLES, (BASE + 0x2000) | 3, 0x2000, 0xc000];
/// A page before it.
const PAGE: [u32; 4] = [HANDLES, BASE | 3, 0, 0x1000];

/// A kernel in which both domains hold the frames and each other, and calls are left after each
/// step, so that a test can look at what is there in between.
fn ready() -> Kernel<Sim> {
    let mut kernel = with_frames();
    assert_eq!(kernel.asks(Call::FramesRetype as u32, [FRAMES, 0, ALL, 0]), OK);
    kernel.domain_mut(1).caps[FRAMES as usize] = kernel.domain(0).caps[FRAMES as usize];
    kernel.arch.stepwise = true;
    kernel
}

fn step(kernel: &mut Kernel<Sim>, domain: usize, call: Call, args: [u32; 4]) -> Option<(u32, [u32; 2])> {
    kernel.loads(domain);
    let told = kernel.asks(call as u32, args);
    memory(kernel);
    told
}

/// A call by a domain, step by step: how many there were, and what it was told.
fn all(kernel: &mut Kernel<Sim>, domain: usize, call: Call, args: [u32; 4]) -> (u32, Option<(u32, [u32; 2])>) {
    for steps in 1..200 {
        if let Some(told) = step(kernel, domain, call, args) {
            return (steps, Some(told));
        }
    }
    panic!("the call has no end");
}

/// Eighths of the frames that the target finds.
fn found(kernel: &Kernel<Sim>) -> Vec<bool> {
    (0..8).map(|eighth| kernel.domain(1).protection.trie.find(BASE + eighth * 0x2000).is_some()).collect()
}

fn uses(kernel: &Kernel<Sim>) -> Vec<u8> {
    let at = |eighth: u32| units::PhysAddr(u64::from(BASE + eighth * 0x2000));
    (0..8).map(|eighth| kernel.frames.at(at(eighth)).unwrap().uses).collect()
}

const NOTHING: [bool; 8] = [false; 8];
const SIX: [bool; 8] = [false, true, true, true, true, true, true, false];

#[test]
fn a_region_is_mapped_and_unmapped_all_at_once() {
    let mut kernel = ready();
    let marks = kernel.frames.marks();
    let mut steps = 0;
    while step(&mut kernel, 0, Call::FramesMap, INNER).is_none() {
        assert_eq!(found(&kernel), NOTHING, "after {steps} steps");
        steps += 1;
    }
    assert!(steps > 5, "{steps}");
    assert_eq!((found(&kernel), uses(&kernel)), (SIX.to_vec(), SIX.map(u8::from).to_vec()));
    kernel.loads(1);
    assert_eq!(kernel.on_miss(VirtAddr(BASE + 0x2000)), Resolution::Retry);
    // The target itself: the first step takes it out of the registers, which are in force.
    kernel.domain_mut(1).caps[PEER as usize] = kernel.domain(0).caps[PEER as usize];
    assert_eq!(step(&mut kernel, 1, Call::FramesUnmap, INNER), None);
    assert_eq!(found(&kernel), NOTHING);
    assert_eq!(uses(&kernel), SIX.map(u8::from), "counted as long as not all of it is gone");
    kernel.loads(1);
    assert_eq!(kernel.on_miss(VirtAddr(BASE + 0x2000)), Resolution::Denied);
    assert!(!kernel.arch.kind.holds(BASE));
    assert_eq!(all(&mut kernel, 1, Call::FramesUnmap, INNER).1, OK);
    assert_eq!((uses(&kernel), kernel.frames.marks()), (vec![0; 8], marks));
}

/// A call that is repeated as long as it is told that somebody else is in the way: how often it was, and what it was told then.
fn at_last(kernel: &mut Kernel<Sim>, domain: usize, call: Call, args: [u32; 4]) -> (u32, Option<(u32, [u32; 2])>) {
    for busy in 0..200 {
        let (_, told) = all(kernel, domain, call, args);
        if told != refused(Error::Busy) {
            return (busy, told);
        }
    }
    panic!("busy without end")
}

/// Everything that an edit has changed so far.
fn so_far(kernel: &Kernel<Sim>) -> (Vec<bool>, Vec<u8>, usize, usize) {
    let domain = &kernel.domain(1).protection;
    (found(kernel), uses(kernel), kernel.frames.marks(), domain.trie.free_nodes())
}

#[test]
fn who_comes_meanwhile_does_nothing_of_anothers_edit_and_does_not_wait_for_it() {
    for steps in 1..12 {
        let mut kernel = ready();
        kernel.domain_mut(1).caps[PEER as usize] = kernel.domain(0).caps[PEER as usize];
        (0..steps).for_each(|_| assert_eq!(step(&mut kernel, 0, Call::FramesMap, INNER), None));
        let before = so_far(&kernel);
        for _ in 0..PATIENCE / 4 {
            for (call, args) in [
                (Call::FramesRetype, [FRAMES, 0, ALL, 0]),
                (Call::FramesMap, PAGE),
                (Call::FramesUnmap, PAGE),
                (Call::FramesClean, [FRAMES, 0, ALL, 0]),
            ] {
                assert_eq!(all(&mut kernel, 1, call, args), (1, refused(Error::Busy)), "at once");
                assert_eq!(so_far(&kernel), before, "{steps}: {call:?}");
            }
        }
        assert_eq!(all(&mut kernel, 0, Call::FramesMap, INNER).1, OK, "its owner goes on where it was");
        assert_eq!((found(&kernel), uses(&kernel)), (SIX.to_vec(), SIX.map(u8::from).to_vec()));
    }
}

#[test]
fn an_edit_whose_owner_does_not_go_on_is_completed_piece_by_piece_and_its_owner_is_told() {
    for steps in 1..12 {
        let mut kernel = ready();
        (0..steps).for_each(|_| assert_eq!(step(&mut kernel, 0, Call::FramesMap, INNER), None));
        // All of it is typed: the other is refused in the end.
        let (busy, told) = at_last(&mut kernel, 1, Call::FramesRetype, [FRAMES, 0, ALL, 0]);
        assert!(told == refused(Error::BadState) && busy > u32::from(PATIENCE), "{steps}: {busy} {told:?}");
        assert_eq!(found(&kernel), SIX);
        assert!(kernel.edit.is_none());
        assert_eq!(step(&mut kernel, 0, Call::FramesMap, INNER), OK, "the answer has waited");
        assert_eq!(all(&mut kernel, 0, Call::FramesMap, INNER).1, refused(Error::BadState), "for one call");
        assert_eq!(uses(&kernel), SIX.map(u8::from));
    }
}

#[test]
fn an_owner_that_goes_on_is_left_alone() {
    let mut kernel = ready();
    let mut steps = 0;
    while step(&mut kernel, 0, Call::FramesMap, INNER).is_none() {
        let before = so_far(&kernel);
        for _ in 0..PATIENCE {
            assert_eq!(all(&mut kernel, 1, Call::FramesClean, [FRAMES, 0, ALL, 0]), (1, refused(Error::Busy)));
        }
        assert_eq!(so_far(&kernel), before, "{steps}");
        steps += 1;
    }
    assert!(steps > 5, "{steps}");
}

#[test]
fn what_fails_in_the_middle_is_taken_back_by_whoever_comes_next() {
    for steps in 1..30 {
        let mut kernel = ready();
        kernel.domain_mut(1).caps[PEER as usize] = kernel.domain(0).caps[PEER as usize];
        // In the last of its keys.
        let last = [HANDLES, (BASE + 0xc000) | 3, 0xc000, 0x1000];
        assert_eq!(all(&mut kernel, 0, Call::FramesMap, last).1, OK);
        let (before, marks) = (uses(&kernel), kernel.frames.marks());
        let told = (0..steps).find_map(|_| step(&mut kernel, 0, Call::FramesMap, INNER));
        let other = at_last(&mut kernel, 1, Call::FramesMap, PAGE).1;
        assert_eq!(other, OK, "{steps}");
        assert_eq!(told.or_else(|| step(&mut kernel, 0, Call::FramesMap, INNER)), refused(Error::BadState));
        assert_eq!(all(&mut kernel, 1, Call::FramesUnmap, PAGE).1, OK);
        assert_eq!((uses(&kernel), kernel.frames.marks()), (before, marks));
    }
}

#[test]
fn the_edit_of_an_owner_that_was_stopped_is_completed_a_piece_a_call_and_nobody_is_told() {
    for steps in 1..12 {
        let mut kernel = ready();
        (0..steps).for_each(|_| assert_eq!(step(&mut kernel, 0, Call::FramesMap, INNER), None));
        kernel.stop_domain(0);
        memory(&kernel);
        let (busy, told) = at_last(&mut kernel, 1, Call::FramesRetype, [FRAMES, 0, 32, 0]);
        assert!(told == refused(Error::BadState) && busy < u32::from(PATIENCE), "{steps}: {busy} {told:?}");
        assert_eq!(found(&kernel), SIX);
        // As after a restart: a new epoch.
        kernel.loads(0);
        let epoch = kernel.domain(0).epoch;
        kernel.activations.at_mut(kernel.resume).epoch = epoch;
        kernel.domain_mut(0).life = Life::Running;
        assert_eq!(
            all(&mut kernel, 0, Call::FramesMap, INNER).1,
            refused(Error::BadState),
            "not the answer of its last life"
        );
    }
}

#[test]
fn a_restart_of_the_target_completes_the_edit_and_takes_it_away() {
    for steps in 1..12 {
        let mut kernel = ready();
        let (regions, marks) = (kernel.domain(1).protection.trie.len(), kernel.frames.marks());
        (0..steps).for_each(|_| assert_eq!(step(&mut kernel, 0, Call::FramesMap, INNER), None));
        kernel.stop_domain(1);
        kernel.loads(0);
        // Another thread of the caller's domain has an activation of its own, so it finds no answer
        // there.
        for _ in 0..2000 {
            let told = kernel.domain_restart(PEER);
            memory(&kernel);
            match told {
                Err(Error::Again) => {}
                other => {
                    assert!(other.is_ok());
                    break;
                }
            }
        }
        assert_eq!(kernel.domain(1).life, Life::Running);
        assert!(kernel.edit.is_none());
        assert_eq!((kernel.domain(1).protection.trie.len(), kernel.frames.marks()), (regions, marks), "{steps}");
        assert_eq!((found(&kernel), uses(&kernel)), (NOTHING.to_vec(), vec![0; 8]));
        assert_eq!(step(&mut kernel, 0, Call::FramesMap, INNER), OK, "it was mapped, and then taken away");
    }
}
