//! Memory that is mapped at its first touch: what is there after it, what is not, and whose it was before.

use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

use abi::region::{FIRST_ALONE, LAST_ALONE};
use abi::{Call, Error};
use protect::AccessKind;
use system::build::Builder;
use system::rtmmu::{BASE, PAGE};
use system::{Area, Cap, Frames, area, frames};
use testing::Rng;
use units::VirtAddr;

use super::maps::{FRAMES, Told, call, check, map, restart, run};
use super::sim::{DEMAND_PAGES, GATE, Guard, Machine, PEER, WORD, boot_with, release, sample};
use super::{Kind, refused};
use crate::Kernel;
use crate::rtmmu::CLEAR_BYTES;

type Chip = Kernel<Machine<Kind>>;

const OK: Told = Some((0, [0, 0]));
const POOL: u32 = 0x6000_0000;
/// Frames of each domain, by the addresses under which they are declared.
const HOME: [u32; 2] = [0x2004_0000, 0x2007_0000];
const COUNT: u32 = 12;
/// Every byte of a frame that nobody has used.
const GARBAGE: u8 = 0xa5;

/// The sample, where both domains have a demand area and domain 0 may map memory for domain 1.
fn system() -> Builder {
    let mut builder = sample();
    builder.frames.push(Frames { base: POOL, bytes: 0x4_0000, kind: frames::USER, marks: 60 });
    builder.caps.push(Cap { domain: 0, slot: FRAMES, kind: 7, object: 3, rights: 7, badge: 0 });
    let flags = area::READ | area::WRITE | area::DEMAND;
    let demand = |domain: u32| Area {
        domain,
        base: HOME[domain as usize],
        bytes: COUNT * PAGE,
        flags,
        physical: HOME[domain as usize],
        ..Area::default()
    };
    builder.areas.insert(2, demand(0));
    builder.areas.push(demand(1));
    builder.domains[0].areas = 3;
    (builder.domains[1].first_area, builder.domains[1].areas) = (3, 3);
    builder
}

fn ready() -> Chip {
    let mut kernel = boot_with(&system(), Machine::<Kind> { now: 1000, ..Machine::default() });
    for home in HOME {
        kernel.arch.memory.extend((home..home + COUNT * PAGE).map(|at| (at, GARBAGE)));
    }
    kernel
}

fn page(domain: usize, number: u32) -> u32 {
    Kind::address(HOME[domain]) + number * PAGE
}

fn region(kernel: &mut Chip, number: u32, pages: u32, cuts: u32) -> Told {
    call(kernel, Call::RegionMap, [page(0, number), pages, cuts, 0])
}

/// In one step, or in several, each of which frees whole pages from the first one on.
fn free(kernel: &mut Chip, number: u32, regions: u32) -> Told {
    let (mut at, mut left) = (page(0, number), regions);
    loop {
        let told = call(kernel, Call::RegionUnmap, [at, left, 0, 0]);
        let Some((0, [rest, more])) = told.filter(|told| told.1 != [0; 2]) else { return told };
        assert!(
            !Kind::AT_ONCE && more > 0 && more <= left && rest > at && rest.is_multiple_of(PAGE),
            "{rest:x} {more}"
        );
        check(kernel);
        assert!((at..rest).step_by(PAGE as usize).all(|page| is_free(kernel, page)));
        (at, left) = (rest, more);
    }
}

fn is_free(kernel: &Chip, page: u32) -> bool {
    kernel.arch.kind.translate(page, AccessKind::Read).is_none()
}

/// The running thread makes an access: how many faults it takes, if it gets through at all, and the physical address.
fn access(kernel: &mut Chip, at: u32, kind: AccessKind) -> Option<(u32, u32)> {
    for faults in 0..100 {
        check(kernel);
        if let Some(found) = kernel.arch.kind.translate(at, kind) {
            return Some((faults, found));
        }
        if !kernel.on_touch(VirtAddr(at), kind) {
            return None;
        }
    }
    panic!("{at:#x} is touched for ever")
}

fn bytes(kernel: &Chip, physical: u32) -> BTreeSet<u8> {
    let first = physical & !(PAGE - 1);
    (first..first + PAGE).map(|at| kernel.arch.memory.get(&at).copied().unwrap_or(0)).collect()
}

#[test]
fn a_first_touch_shows_a_clear_frame_and_never_a_part_of_it() {
    let mut kernel = ready();
    assert_eq!(access(&mut kernel, page(0, 0), AccessKind::Write), None, "it is part of no region");
    assert_eq!(region(&mut kernel, 0, 3, 0), OK);
    let (faults, found) = access(&mut kernel, page(0, 1) + 8, AccessKind::Read).unwrap();
    assert_eq!(faults, PAGE / CLEAR_BYTES + 1, "each fault clears a piece, the last one maps the page");
    assert_eq!(found, HOME[0] + 8, "frames are given in their order");
    assert_eq!(bytes(&kernel, found), [0].into());
    assert_eq!(access(&mut kernel, page(0, 1), AccessKind::Exec), None);
    assert_eq!(access(&mut kernel, page(0, 2), AccessKind::Exec), None, "a fetch is no first touch");
    assert_eq!(kernel.arch.kind.translate(page(0, 0), AccessKind::Read), None);
    let (_, second) = access(&mut kernel, page(0, 0), AccessKind::Write).unwrap();
    assert_eq!(second, HOME[0] + PAGE);
}

#[test]
fn a_release_takes_every_page_and_its_frames_come_first() {
    let mut kernel = ready();
    assert_eq!(region(&mut kernel, 4, 5, FIRST_ALONE | LAST_ALONE), OK);
    for number in 4..9 {
        assert!(access(&mut kernel, page(0, number), AccessKind::Write).is_some());
    }
    kernel.arch.memory.insert(HOME[0] + 3 * PAGE, 77);
    assert_eq!(free(&mut kernel, 5, 1), OK);
    for (number, there) in [(4, true), (5, false), (6, false), (7, false), (8, true)] {
        assert_eq!(kernel.arch.kind.translate(page(0, number), AccessKind::Read).is_some(), there, "{number}");
        assert_eq!(access(&mut kernel, page(0, number), AccessKind::Read).is_some(), there, "{number}");
    }
    assert_eq!(region(&mut kernel, 20, 2, 0), OK);
    let (faults, found) = access(&mut kernel, page(0, 20), AccessKind::Read).unwrap();
    assert_eq!((faults, found), (1, HOME[0] + 3 * PAGE), "the domain's own frame, which nobody clears");
    assert_eq!(kernel.arch.memory[&found], 77);
    assert_eq!((free(&mut kernel, 4, 1), free(&mut kernel, 8, 1)), (OK, OK));
}

#[test]
fn regions_that_are_not_there_or_not_free_are_refused_and_nothing_changes() {
    let mut kernel = ready();
    assert_eq!(region(&mut kernel, 10, 6, FIRST_ALONE), OK);
    access(&mut kernel, page(0, 11), AccessKind::Write).unwrap();
    let before: Vec<_> =
        (0..DEMAND_PAGES).map(|at| kernel.arch.kind.translate(page(0, at), AccessKind::Read)).collect();
    let at = |number: u32| page(0, number);
    for (args, error) in [
        ([at(0), 0, 0], Error::BadAddress),
        ([at(0), DEMAND_PAGES + 1, 0], Error::BadAddress),
        ([at(0), u32::MAX, 0], Error::BadAddress),
        ([at(DEMAND_PAGES), 1, 0], Error::BadAddress),
        ([at(0) - PAGE, 2, 0], Error::BadAddress),
        ([page(1, 0), 1, 0], Error::BadAddress),
        ([0, 1, 0], Error::BadAddress),
        ([HOME[0], 1, 0], Error::BadAddress),
        ([at(0) + 32, 1, 0], Error::BadArgument),
        ([at(0), 1, 4], Error::BadArgument),
        ([at(9), 2, 0], Error::BadState),
        ([at(0), DEMAND_PAGES, 0], Error::BadState),
    ] {
        let [a, b, c] = args;
        assert_eq!(call(&mut kernel, Call::RegionMap, [a, b, c, 0]), refused(error), "{args:x?}");
    }
    for (args, error) in [
        ([at(10), 0], Error::BadArgument),
        ([at(10), 4], Error::BadArgument),
        ([at(10) + 4, 1], Error::BadArgument),
        // Not so many, one behind the other; none begins there.
        ([at(10), 3], Error::BadState),
        ([at(12), 1], Error::BadState),
        ([at(0), 1], Error::BadState),
        ([at(DEMAND_PAGES), 1], Error::BadAddress),
        ([Kind::address(0x2002_0000), 1], Error::BadAddress),
        ([Kind::address(0x20_0000), 1], Error::BadAddress),
    ] {
        let [a, b] = args;
        assert_eq!(call(&mut kernel, Call::RegionUnmap, [a, b, 0, 0]), refused(error), "{args:x?}");
    }
    let after: Vec<_> = (0..DEMAND_PAGES).map(|at| kernel.arch.kind.translate(page(0, at), AccessKind::Read)).collect();
    assert_eq!(before, after);
    assert_eq!(free(&mut kernel, 10, 2), OK);
}

#[test]
fn there_are_as_many_frames_as_were_reserved() {
    let mut kernel = ready();
    assert_eq!(region(&mut kernel, 0, DEMAND_PAGES, 0), OK);
    let got = (0..DEMAND_PAGES).filter(|at| access(&mut kernel, page(0, *at), AccessKind::Write).is_some());
    assert_eq!(got.collect::<Vec<_>>(), (0..COUNT).collect::<Vec<_>>());
    assert_eq!(free(&mut kernel, 0, 1), OK);
    assert_eq!(region(&mut kernel, 30, 1, 0), OK);
    assert!(access(&mut kernel, page(0, 30), AccessKind::Write).is_some(), "they are free again");
}

#[test]
fn nobody_maps_memory_into_a_demand_area() {
    let mut kernel = ready();
    assert_eq!(call(&mut kernel, Call::FramesRetype, [FRAMES, 0, 0x4_0000, 0]), OK);
    for (number, pages) in [(0, 1), (DEMAND_PAGES - 1, 1), (DEMAND_PAGES - 1, 2)] {
        assert_eq!(map(&mut kernel, PEER | 3 << 16, page(1, number), pages, 0), refused(Error::BadState));
    }
    assert_eq!(map(&mut kernel, PEER | 3 << 16, page(1, DEMAND_PAGES), 1, 0), OK);
}

#[test]
fn a_mapping_that_is_not_complete_is_no_first_touch() {
    let mut builder = system();
    builder.caps.push(Cap { domain: 0, slot: 5, kind: 1, object: 0, rights: 7, badge: 0 });
    let mut kernel = boot_with(&builder, Machine::<Kind> { now: 1000, ..Machine::default() });
    assert_eq!(call(&mut kernel, Call::FramesRetype, [FRAMES, 0, 0x4_0000, 0]), OK);
    let at = Kind::address(POOL);
    let words = run(5 | 3 << 16, FRAMES, at, 20, 0);
    kernel.arch.stepwise = true;
    let (mut steps, mut untouched) = (0, 0);
    while kernel.asks(Call::FramesMap as u32, words).is_none() {
        for page in (0..20).map(|page| at + page * PAGE) {
            let there = kernel.arch.kind.translate(page, AccessKind::Write).is_some();
            untouched += u32::from(!there);
            assert!(there || !kernel.on_touch(VirtAddr(page), AccessKind::Write), "{page:#x} in step {steps}");
        }
        steps += 1;
    }
    assert!(steps > 3 && untouched > 20, "{steps} {untouched}");
}

/// Calls the gate until its copy is made, and touches what the kernel names between two calls, as the run-times do; the pages.
fn copied(kernel: &mut Chip, copy: Call, args: [u32; 4]) -> Vec<u32> {
    let mut touched = Vec::new();
    loop {
        kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
        let cleared = kernel.arch.zeroed.len();
        let (status, values) = call(kernel, copy, args).unwrap();
        assert_eq!(kernel.arch.zeroed.len(), cleared, "nothing is cleared within the callee's bound");
        let told = call(kernel, Call::GateReturn, [status, 77, 0, 0]);
        if status == 0 {
            assert_eq!(told, Some((0, [77, 0])));
            return touched;
        }
        assert_eq!((status, values), (Error::Untouched.status(), [0; 2]));
        let Some((_, [at, 0])) = told.filter(|told| told.0 == Error::Untouched.status()) else { panic!("{told:x?}") };
        assert!(!touched.contains(&(at & !(PAGE - 1))), "a page is touched once");
        access(kernel, at, AccessKind::Read).unwrap();
        touched.push(at & !(PAGE - 1));
    }
}

#[test]
fn a_callee_does_not_pay_for_pages_that_its_caller_never_touched() {
    for long_way in [false, true] {
        let mut kernel = ready();
        kernel.arch.long_way = long_way;
        assert_eq!(region(&mut kernel, 0, 6, 0), OK);
        let (across, own) = (HOME[0] + PAGE - 8, 0x2002_1c00);
        assert_eq!(copied(&mut kernel, Call::GateCopyOut, [across, own, 16, 0]), [page(0, 0), page(0, 1)]);
        assert_eq!(copied(&mut kernel, Call::GateCopyIn, [own, across, 16, 0]), [0; 0]);
        assert_eq!(
            copied(&mut kernel, Call::GateCopyIn, [own, HOME[0] + 3 * PAGE - 1, 2, 0]),
            [page(0, 2), page(0, 3)]
        );
        assert_eq!(copied(&mut kernel, Call::GateCopyIn, [own, HOME[0] + 4 * PAGE, 64, 0]), [page(0, 4)]);
        kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
        // In no region; behind the area; the callee's own.
        for to in [HOME[0] + 6 * PAGE, HOME[0] + 6 * PAGE - 8, HOME[1]] {
            let told = call(&mut kernel, Call::GateCopyOut, [to, own, 16, 0]);
            let expected = if to == HOME[0] + 6 * PAGE - 8 { Error::Untouched } else { Error::BadAddress };
            assert_eq!(told, refused(expected), "{to:#x}");
        }
        call(&mut kernel, Call::GateReturn, [0; 4]);
        let there = (0..7).map(|at| kernel.arch.kind.translate(page(0, at), AccessKind::Read).is_some());
        assert_eq!(there.collect::<Vec<_>>(), [true, true, true, true, true, false, false]);
        release(kernel);
    }
}

#[test]
fn a_callee_pays_for_pages_of_its_own() {
    let mut kernel = ready();
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    assert_eq!(call(&mut kernel, Call::RegionMap, [page(1, 0), 4, 0, 0]), OK);
    let own = HOME[1] + PAGE - 8;
    assert_eq!(call(&mut kernel, Call::GateCopyIn, [own, 0x2002_0c00, 16, 0]), OK);
    assert_eq!(call(&mut kernel, Call::GateCopyOut, [0x2002_0c00, HOME[1] + 2 * PAGE, 64, 0]), OK);
    let there = (0..4).map(|at| kernel.arch.kind.translate(page(1, at), AccessKind::Read).is_some());
    assert_eq!(there.collect::<Vec<_>>(), [true, true, true, false]);
    assert_eq!(call(&mut kernel, Call::GateReturn, [0, 7, 0, 0]), Some((0, [7, 0])));
}

#[test]
fn only_the_kernel_says_that_a_page_was_never_touched() {
    for long_way in [false, true] {
        let mut kernel = ready();
        kernel.arch.long_way = long_way;
        assert_eq!(region(&mut kernel, 0, 4, 0), OK);
        let untouched = Error::Untouched.status();
        let told = |kernel: &mut Chip, status: u32| call(kernel, Call::GateReturn, [status, 0xbad, 0, 0]);
        let copies = |kernel: &mut Chip, at: u32| call(kernel, Call::GateCopyIn, [0x2002_1c00, at, 4, 0]);
        // A callee that has met none.
        kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
        assert_eq!(told(&mut kernel, untouched), Some((Error::BadAddress.status(), [0xbad, 0])));
        // One that keeps it to itself; nothing of it is left for the next call.
        kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
        assert_eq!(copies(&mut kernel, HOME[0] + 8), refused(Error::Untouched));
        assert_eq!(told(&mut kernel, 0), Some((0, [0xbad, 0])));
        kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
        assert_eq!(told(&mut kernel, untouched), Some((Error::BadAddress.status(), [0xbad, 0])));
        // One that overruns its bound, behind which another call comes.
        kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
        assert_eq!(copies(&mut kernel, HOME[0] + 8), refused(Error::Untouched));
        kernel.arch.now += 600;
        kernel.on_timer();
        assert_eq!(restart(&mut kernel), OK);
        kernel.loads(0);
        kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
        assert_eq!(told(&mut kernel, untouched), Some((Error::BadAddress.status(), [0xbad, 0])));
        // The last one that was met, as the kernel saw it.
        kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
        assert_eq!(copies(&mut kernel, HOME[0] + 8), refused(Error::Untouched));
        assert_eq!(copies(&mut kernel, HOME[0] + PAGE + 8), refused(Error::Untouched));
        assert_eq!(told(&mut kernel, untouched), Some((untouched, [page(0, 1) + 8, 0])));
        // Without a frame that is left it is no page that could be touched.
        assert_eq!(region(&mut kernel, 8, COUNT, 0), OK);
        for number in 8..8 + COUNT {
            access(&mut kernel, page(0, number), AccessKind::Write).unwrap();
        }
        kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
        assert_eq!(copies(&mut kernel, HOME[0] + 8), refused(Error::BadAddress));
        release(kernel);
    }
}

#[test]
fn a_restart_frees_every_region() {
    let mut kernel = ready();
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    for (number, pages) in [(0, 1), (1, 6), (20, DEMAND_PAGES - 20)] {
        assert_eq!(call(&mut kernel, Call::RegionMap, [page(1, number), pages, 3, 0]), OK);
    }
    for number in [0, 1, 3, 6, 20, 22, DEMAND_PAGES - 1] {
        let (_, found) = access(&mut kernel, page(1, number), AccessKind::Write).unwrap();
        kernel.arch.memory.extend((found..found + PAGE).map(|at| (at, GARBAGE)));
    }
    // A part of the next frame is clear.
    assert!(kernel.on_touch(VirtAddr(page(1, 23)), AccessKind::Write));
    call(&mut kernel, Call::GateReturn, [0; 4]);
    assert_eq!(restart(&mut kernel), OK);
    kernel.loads(1);
    let there = (0..DEMAND_PAGES).filter(|at| kernel.arch.kind.translate(page(1, *at), AccessKind::Read).is_some());
    assert_eq!(there.count(), 0);
    kernel.loads(0);
    kernel.asks(Call::GateCall as u32, [GATE, 0, 0, 0]);
    let all = [page(1, 0), DEMAND_PAGES, 0, 0];
    assert_eq!(call(&mut kernel, Call::RegionMap, all), OK, "all of it is one free region");
    let found = (0..DEMAND_PAGES).filter_map(|at| access(&mut kernel, page(1, at), AccessKind::Read));
    let found = found.collect::<Vec<_>>();
    assert_eq!(found.len(), COUNT as usize, "and all of its frames are free");
    assert!(
        found.into_iter().all(|(_, frame)| bytes(&kernel, frame) == [0].into()),
        "the former life has left nothing"
    );
}

/// Regions by their first page: how many pages, and the frames of those that were touched.
type Regions = BTreeMap<u32, (u32, BTreeMap<u32, u32>)>;

#[test]
fn any_history_shows_each_frame_once_and_only_clear_or_own_ones() {
    for seed in 1..=30 {
        let mut random = Rng::new(seed);
        let mut kernel = ready();
        let mut regions = Regions::new();
        for _ in 0..300 {
            let number = random.below(u64::from(DEMAND_PAGES) + 1) as u32;
            match random.below(8) {
                0 | 1 => {
                    let (pages, cuts) = (1 + random.below(6) as u32, random.below(4) as u32);
                    let meets = |(at, (count, _)): (&u32, &(u32, _))| number < at + count && *at < number + pages;
                    let told = region(&mut kernel, number, pages, cuts);
                    let error = if number + pages > DEMAND_PAGES {
                        Some(Error::BadAddress)
                    } else {
                        regions.iter().any(meets).then_some(Error::BadState)
                    };
                    assert_eq!(told, error.map_or(OK, refused));
                    if error.is_none() {
                        let mut cut: BTreeSet<u32> = [number].into();
                        cut.extend((cuts & 1 != 0 && pages > 1).then_some(number + 1));
                        cut.extend((cuts & 2 != 0).then_some(number + pages - 1));
                        let ends = cut.iter().skip(1).copied().chain([number + pages]).collect::<Vec<_>>();
                        regions.extend(cut.iter().zip(ends).map(|(at, end)| (*at, (end - at, BTreeMap::new()))));
                    }
                }
                2 => {
                    let count = 1 + random.below(3) as u32;
                    let ends = (0..count).try_fold(number, |at, _| Some(at + regions.get(&at)?.0));
                    let told = free(&mut kernel, number, count);
                    assert_eq!(told == OK, ends.is_some(), "{told:?}");
                    regions.retain(|at, _| !(number..ends.unwrap_or(number)).contains(at));
                }
                _ => {
                    let used = regions.values().map(|(_, touched)| touched.len()).sum::<usize>();
                    let found = access(&mut kernel, page(0, number), AccessKind::Write).map(|(_, found)| found);
                    let of = regions.range_mut(..=number).next_back().filter(|(at, (count, _))| number - **at < *count);
                    match of {
                        Some((_, (_, touched))) if touched.contains_key(&number) => {
                            assert_eq!(found, touched.get(&number).copied())
                        }
                        Some((_, (_, touched))) if used < COUNT as usize => {
                            let found = found.expect("a frame is free");
                            assert!(!bytes(&kernel, found).contains(&GARBAGE));
                            touched.insert(number, found);
                        }
                        _ => assert_eq!(found, None),
                    }
                }
            }
            let all: Vec<u32> = regions.values().flat_map(|(_, touched)| touched.values().copied()).collect();
            assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "no frame is in two places");
            for at in 0..DEMAND_PAGES {
                let known = regions.values().find_map(|(_, touched)| touched.get(&at).copied());
                assert_eq!(kernel.arch.kind.translate(page(0, at), AccessKind::Read), known, "page {at}");
            }
        }
        release(kernel);
    }
}

// The words of these tests are those of the sample, so they must agree.
const _: () = assert!(BASE == 1 << 31 && WORD != PEER);
