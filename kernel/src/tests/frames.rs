//! Memory as objects.

use abi::{Call, Error};
use system::build::Builder;
use system::{Area, Cap, Frames, area, frames};

use super::sim::{PEER, boot, boot_with, sample};
use super::{refused, watch};
use crate::Kernel;
use crate::regions::Resolution;
use crate::tests::sim::Sim;
use units::VirtAddr;

pub const FRAMES: u32 = 4;
pub const BASE: u32 = 0x6000_0000;
const KIB: u32 = 1024;

/// The sample, where domain 1 has paged memory and domain 0 holds 64 KiB of untyped frames.
pub fn with_frames() -> Kernel<Sim> {
    boot(&builder())
}

fn builder() -> Builder {
    let mut builder = sample();
    builder.frames.insert(0, Frames { base: BASE, bytes: 64 * KIB, kind: frames::USER, marks: 300 });
    builder.frames.push(Frames { base: BASE + 64 * KIB, bytes: 64 * KIB, kind: frames::USER, marks: 0 });
    builder.areas.push(Area {
        domain: 1,
        base: BASE + 64 * KIB,
        bytes: 64 * KIB,
        flags: area::READ | area::WRITE | area::CLEAR,
        memory: area::NORMAL,
        physical: 0,
    });
    builder.shape(4).page_log2 = 15;
    builder.domains[1].areas = 3;
    builder.caps.push(Cap { domain: 0, slot: FRAMES, kind: 7, object: 0, rights: 7, badge: 0 });
    builder
}

fn call(kernel: &mut Kernel<Sim>, call: Call, args: [u32; 4]) -> Option<(u32, [u32; 2])> {
    kernel.asks(call as u32, args)
}

/// The words for memory of the frames at its physical address; `target` has the access in bits 31..16.
pub fn region(target: u32, base: u32, bytes: u32) -> [u32; 4] {
    let (access, offset) = (target >> 16, base.wrapping_sub(BASE));
    abi::Mapping { target: target as u16, frames: FRAMES as u16, at: base, access, offset, bytes }.words()
}

#[test]
fn memory_that_begins_clear_or_can_be_mapped_is_cleared_at_boot_and_no_other() {
    let mut builder = builder();
    // A part of the range is a domain's from the start, which it only reads.
    let last = builder.areas[builder.areas.len() - 1];
    let area = Area { domain: 1, base: BASE + 4 * KIB, bytes: 4 * KIB, physical: 0, flags: area::READ, ..last };
    builder.areas.push(area);
    builder.domains[1].areas = 4;
    let held =
        [0, 4 * KIB - 1, 4 * KIB, 8 * KIB - 1, 8 * KIB, 64 * KIB - 1, 64 * KIB, 128 * KIB - 1].map(|at| BASE + at);
    let memory = held.iter().map(|at| (*at, 0x5a)).collect();
    let kernel = boot_with(&builder, Sim { now: 1000, memory, ..Sim::default() });
    let left = [4 * KIB, 8 * KIB - 1].map(|at| BASE + at);
    assert_eq!(kernel.arch.memory.range(BASE..).map(|(at, _)| *at).collect::<Vec<u32>>(), left);
    let all = [BASE..BASE + 4 * KIB, BASE + 8 * KIB..BASE + 64 * KIB, BASE + 64 * KIB..BASE + 128 * KIB];
    assert!(all.iter().all(|range| kernel.arch.zeroed.contains(range)), "all of it");
}

const OK: Option<(u32, [u32; 2])> = Some((0, [0, 0]));

const ALL: u32 = 64 * KIB;
const READ: u32 = PEER | 1 << 16;
const WRITE: u32 = PEER | 3 << 16;

#[test]
fn memory_is_typed_before_it_is_mapped_and_reached_by_a_miss() {
    let mut kernel = with_frames();
    assert_eq!(call(&mut kernel, Call::FramesMap, region(WRITE, BASE, ALL)), refused(Error::BadState));
    assert_eq!(call(&mut kernel, Call::FramesRetype, [FRAMES, 0, ALL, 0]), OK);
    assert_eq!(call(&mut kernel, Call::FramesRetype, [FRAMES, 0, ALL, 0]), refused(Error::BadState));
    kernel.loads(1);
    assert_eq!(kernel.on_miss(VirtAddr(BASE + 0x1234)), Resolution::Denied);
    kernel.loads(0);
    assert_eq!(call(&mut kernel, Call::FramesMap, region(WRITE, BASE, ALL)), OK);
    kernel.loads(1);
    assert_eq!(kernel.on_miss(VirtAddr(BASE + 0x1234)), Resolution::Retry);
    assert_eq!(
        kernel.on_miss(VirtAddr(BASE + 0x1234)),
        Resolution::Denied,
        "what is loaded and still faults is a violation"
    );
}

#[test]
fn unmapping_takes_the_region_out_of_the_registers_at_once() {
    let mut kernel = with_frames();
    call(&mut kernel, Call::FramesRetype, [FRAMES, 0, ALL, 0]);
    call(&mut kernel, Call::FramesMap, region(WRITE, BASE, ALL));
    for handle in [FRAMES, PEER] {
        kernel.domain_mut(1).caps[handle as usize] = kernel.domain(0).caps[handle as usize];
    }
    kernel.asks(Call::SleepUntil as u32, [u32::MAX, 0, 0, 0]);
    assert_eq!(kernel.loaded(), 1, "the domain itself asks for it");
    kernel.on_miss(VirtAddr(BASE));
    let holds = |kernel: &Kernel<Sim>| kernel.arch.kind.holds(BASE);
    assert!(holds(&kernel));
    assert_eq!(call(&mut kernel, Call::FramesUnmap, region(WRITE, BASE, ALL)), OK);
    assert!(!holds(&kernel), "a stale register would still grant access");
    assert_eq!(kernel.on_miss(VirtAddr(BASE)), Resolution::Denied);
    assert_eq!(call(&mut kernel, Call::FramesUnmap, region(WRITE, BASE, ALL)), refused(Error::BadState));
}

#[test]
fn memory_returns_to_untyped_only_unmapped_and_cleared() {
    let mut kernel = with_frames();
    call(&mut kernel, Call::FramesRetype, [FRAMES, 0, ALL, 0]);
    call(&mut kernel, Call::FramesMap, region(WRITE, BASE, ALL));
    assert_eq!(call(&mut kernel, Call::FramesClean, [FRAMES, 0, ALL, 0]), refused(Error::BadState));
    call(&mut kernel, Call::FramesUnmap, region(WRITE, BASE, ALL));
    kernel.arch.memory.insert(BASE + 777, 0x5a);
    let mut left = ALL;
    while left > 0 {
        assert_eq!(call(&mut kernel, Call::FramesClean, [FRAMES, 0, ALL, 0]), Some((0, [left - 256, 0])));
        left -= 256;
    }
    assert_eq!(kernel.arch.memory.get(&(BASE + 777)), None);
    assert_eq!(call(&mut kernel, Call::FramesClean, [FRAMES, 0, ALL, 0]), OK);
    assert_eq!(call(&mut kernel, Call::FramesRetype, [FRAMES, 0, ALL, 0]), OK);
}

#[test]
fn a_part_is_typed_and_mapped_without_the_rest() {
    let mut kernel = with_frames();
    for [offset, bytes] in [[0, 0], [0, ALL + 32], [32, ALL], [u32::MAX - 31, 64], [0, 33], [8, 32]] {
        assert_eq!(call(&mut kernel, Call::FramesRetype, [FRAMES, offset, bytes, 0]), refused(Error::BadArgument));
    }
    assert_eq!(call(&mut kernel, Call::FramesRetype, [FRAMES, ALL / 2, ALL / 2, 0]), OK);
    assert_eq!(call(&mut kernel, Call::FramesMap, region(READ, BASE, ALL)), refused(Error::BadState));
    assert_eq!(call(&mut kernel, Call::FramesMap, region(READ, BASE + ALL, ALL)), refused(Error::BadAddress));
    assert_eq!(call(&mut kernel, Call::FramesMap, region(READ, BASE + ALL / 2, ALL / 2)), OK);
    kernel.loads(1);
    assert_eq!(kernel.on_miss(VirtAddr(BASE)), Resolution::Denied);
    assert_eq!(kernel.on_miss(VirtAddr(BASE + ALL / 2)), Resolution::Retry);
}

#[test]
fn what_cannot_be_mapped_exactly_or_safely_is_refused() {
    let mut kernel = with_frames();
    call(&mut kernel, Call::FramesRetype, [FRAMES, 0, ALL, 0]);
    for access in [0, 2, 4, 7, 16, 17, 31] {
        let told = call(&mut kernel, Call::FramesMap, region(PEER | access << 16, BASE, ALL));
        assert_eq!(told, refused(Error::BadArgument), "access {access}");
    }
    // Not a granule; a paged region below 256 bytes; no power of two and no run of its eighths; not of a granule at all.
    for (base, bytes) in [
        (BASE, 16),
        (BASE, 0),
        (BASE, 128),
        (BASE + 0x80, 0x1000),
        (BASE, 0x2020),
        (BASE + 0x1000, 0xa000),
        (BASE, 0x1001),
        (BASE, u32::MAX),
    ] {
        let told = call(&mut kernel, Call::FramesMap, region(READ, base, bytes));
        assert_eq!(told, refused(Error::BadArgument), "{bytes:#x} bytes at {base:#x}");
    }
    let elsewhere = abi::Mapping { at: BASE + ALL, ..abi::Mapping::of(region(READ, BASE, ALL)) };
    assert_eq!(call(&mut kernel, Call::FramesMap, elsewhere.words()), refused(Error::BadAddress));
}

#[test]
fn nobody_uses_up_the_marks_of_frames_that_he_does_not_hold() {
    const MARKS: u32 = 20;
    const OTHER: u32 = FRAMES + 1;
    let mut builder = builder();
    builder.frames[0].marks = MARKS;
    let base = BASE + 128 * KIB;
    builder.frames.insert(1, Frames { base, bytes: ALL, kind: frames::USER, marks: MARKS });
    builder.caps.push(Cap { domain: 0, slot: OTHER, kind: 7, object: 1, rights: 7, badge: 0 });
    let mut kernel = boot(&builder);
    // Every other granule, until the own marks are used up: those of the ends are there for good.
    let types = |kernel: &mut Kernel<Sim>, at: u32| call(kernel, Call::FramesRetype, [OTHER, 32 + at * 64, 32, 0]);
    let typed = (0..100).take_while(|at| types(&mut kernel, *at) == OK).count() as u32;
    assert_eq!((typed, types(&mut kernel, typed)), (MARKS / 2, refused(Error::Full)));
    watch::memory(&kernel);
    for at in 0..MARKS / 2 {
        assert_eq!(call(&mut kernel, Call::FramesRetype, [FRAMES, 4096 + at * 64, 32, 0]), OK, "another's");
    }
    // All of a range needs none inside; and what is given back can be used again.
    assert_eq!(call(&mut kernel, Call::FramesClean, [OTHER, 32, 32, 0]), OK);
    assert_eq!(types(&mut kernel, typed), OK);
    assert_eq!(types(&mut kernel, typed + 1), refused(Error::Full));
    watch::memory(&kernel);
}
