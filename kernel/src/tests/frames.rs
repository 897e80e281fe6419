//! Memory as objects.

use abi::{Call, Error};
use system::{Area, Cap, Frames, area, frames};

use super::refused;
use super::sim::{PEER, boot, sample};
use crate::Kernel;
use crate::fault::Resolution;
use crate::tests::sim::Sim;

const FRAMES: u32 = 4;
const SECOND: u32 = 5;
const BASE: u32 = 0x6000_0000;
const KIB: u32 = 1024;

/// The sample, where domain 1 has paged memory and domain 0 holds 64 KiB of untyped frames.
fn with_frames() -> Kernel<Sim> {
    let mut builder = sample();
    builder.frames.insert(0, Frames { base: BASE, bytes: 64 * KIB, kind: frames::USER });
    builder.frames.push(Frames { base: BASE + 64 * KIB, bytes: 64 * KIB, kind: frames::USER });
    builder.areas.push(Area {
        domain: 1,
        base: BASE + 64 * KIB,
        bytes: 64 * KIB,
        flags: area::READ | area::WRITE,
        memory: area::NORMAL,
        page_log2: 15,
    });
    builder.domains[1].areas = 3;
    builder.caps.push(Cap { domain: 0, slot: FRAMES, kind: 7, object: 0, rights: 7, badge: 0 });
    boot(&builder)
}

fn call(kernel: &mut Kernel<Sim>, call: Call, args: [u32; 4]) -> Option<(u32, [u32; 2])> {
    kernel.asks(call as u32, args)
}

const OK: Option<(u32, [u32; 2])> = Some((0, [0, 0]));

#[test]
fn memory_is_typed_before_it_is_mapped_and_reached_by_a_miss() {
    let mut kernel = with_frames();
    assert_eq!(call(&mut kernel, Call::FramesMap, [PEER, FRAMES, 3, 0]), refused(Error::BadState));
    assert_eq!(call(&mut kernel, Call::Retype, [FRAMES, 0, 0, 0]), Some((0, [1, 0])));
    assert_eq!(call(&mut kernel, Call::Retype, [FRAMES, 0, 0, 0]), refused(Error::BadState));
    kernel.load(1);
    assert_eq!(kernel.on_miss(BASE + 0x1234), Resolution::Denied);
    assert_eq!(call(&mut kernel, Call::FramesMap, [PEER, FRAMES, 3, 0]), OK);
    kernel.load(1);
    assert_eq!(kernel.on_miss(BASE + 0x1234), Resolution::Retry);
    assert_eq!(kernel.on_miss(BASE + 0x1234), Resolution::Denied, "what is loaded and still faults is a violation");
}

#[test]
fn unmapping_takes_the_region_out_of_the_registers_at_once() {
    let mut kernel = with_frames();
    call(&mut kernel, Call::Retype, [FRAMES, 0, 0, 0]);
    call(&mut kernel, Call::FramesMap, [PEER, FRAMES, 3, 0]);
    kernel.load(1);
    kernel.on_miss(BASE);
    let holds = |kernel: &Kernel<Sim>| kernel.arch.loaded.iter().any(|word| word & !31 == BASE);
    assert!(holds(&kernel));
    assert_eq!(call(&mut kernel, Call::FramesUnmap, [PEER, FRAMES, 0, 0]), OK);
    assert!(!holds(&kernel), "a stale register would still grant access");
    assert_eq!(kernel.on_miss(BASE), Resolution::Denied);
    assert_eq!(call(&mut kernel, Call::FramesUnmap, [PEER, FRAMES, 0, 0]), refused(Error::BadState));
}

#[test]
fn memory_returns_to_untyped_only_unmapped_and_cleared() {
    let mut kernel = with_frames();
    call(&mut kernel, Call::Retype, [FRAMES, 0, 0, 0]);
    call(&mut kernel, Call::FramesMap, [PEER, FRAMES, 3, 0]);
    assert_eq!(call(&mut kernel, Call::FramesScrub, [FRAMES, 0, 0, 0]), refused(Error::BadState));
    call(&mut kernel, Call::FramesUnmap, [PEER, FRAMES, 0, 0]);
    kernel.arch.memory.insert(BASE + 777, 0x5a);
    let mut steps = 0;
    while call(&mut kernel, Call::FramesScrub, [FRAMES, 0, 0, 0]) == refused(Error::Again) {
        steps += 1;
        let reused = call(&mut kernel, Call::Retype, [FRAMES, 0, 0, 0]);
        assert_eq!(reused, refused(Error::BadState), "not before all of it is clear");
    }
    assert_eq!(steps, 64 * KIB / abi::STEP_BYTES);
    assert_eq!(kernel.arch.memory[&(BASE + 777)], 0);
    assert_eq!(call(&mut kernel, Call::Retype, [FRAMES, 0, 0, 0]), Some((0, [1, 0])));
}

#[test]
fn a_range_is_split_in_two_that_are_typed_apart() {
    let mut kernel = with_frames();
    assert_eq!(call(&mut kernel, Call::FramesSplit, [FRAMES, 0, SECOND, 0]), refused(Error::BadArgument));
    assert_eq!(call(&mut kernel, Call::FramesSplit, [FRAMES, 64 * KIB, SECOND, 0]), refused(Error::BadArgument));
    assert_eq!(call(&mut kernel, Call::FramesSplit, [FRAMES, 33, SECOND, 0]), refused(Error::BadArgument));
    assert_eq!(call(&mut kernel, Call::FramesSplit, [FRAMES, 32 * KIB, PEER, 0]), refused(Error::BadSlot));
    assert_eq!(call(&mut kernel, Call::FramesSplit, [FRAMES, 32 * KIB, SECOND, 0]), OK);
    assert_eq!(call(&mut kernel, Call::Retype, [SECOND, 0, 0, 0]), Some((0, [1, 0])));
    assert_eq!(call(&mut kernel, Call::FramesMap, [PEER, FRAMES, 1, 0]), refused(Error::BadState));
    assert_eq!(call(&mut kernel, Call::FramesMap, [PEER, SECOND, 1, 0]), OK);
    kernel.load(1);
    assert_eq!(kernel.on_miss(BASE), Resolution::Denied);
    assert_eq!(kernel.on_miss(BASE + 32 * KIB), Resolution::Retry);
}

#[test]
fn what_cannot_be_mapped_exactly_or_safely_is_refused() {
    let mut kernel = with_frames();
    call(&mut kernel, Call::Retype, [FRAMES, 0, 0, 0]);
    for access in [0, 2, 4, 7, 8, 9, u32::MAX] {
        let told = call(&mut kernel, Call::FramesMap, [PEER, FRAMES, access, 0]);
        assert_eq!(told, refused(Error::BadArgument), "access {access}");
    }
    // Paged code needs two more slots than the domain has left... which it has: 6 of 8. Its own domain is not paged at all.
    assert_eq!(call(&mut kernel, Call::FramesMap, [PEER, FRAMES, 5, 0]), OK);
    assert_eq!(call(&mut kernel, Call::FramesMap, [PEER, FRAMES, 5, 0]), refused(Error::Full));
}
