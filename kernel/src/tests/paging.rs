//! Regions mapped and pinned at run time, memory for tables, budgets of misses, and what a restart leaves.

use abi::trace::Event;
use abi::{Call, Error, Kind};
use protect::regions::slots::Replacement;
use system::build::Builder;
use system::{Area, Cap, Frames, area, frames};

use super::frames::{BASE, FRAMES, region};
use super::sim::{CALLER, PEER, PERIOD, SERVANT, Sim, WORD, boot, sample};
use super::{OK, refused};
use crate::Kernel;
use crate::objects::Life;
use crate::regions::Resolution;
use units::VirtAddr;

const POOL: u32 = 0x8_0000;
const HEAP: u32 = BASE + POOL;
const PAGE: u32 = 0x1000;

const READ: u32 = PEER | 1 << 16;
const WRITE: u32 = PEER | 3 << 16;
const PINNED: u32 = PEER | 11 << 16;

/// The sample, where domain 0 holds 512 KiB of frames, and each domain has 64 KiB of paged memory in pages of 4 KiB.
fn system() -> Builder {
    let mut builder = sample();
    builder.frames.insert(0, Frames { base: BASE, bytes: POOL, kind: frames::USER, marks: 200 });
    builder.frames.push(Frames { base: HEAP, bytes: 0x2_0000, kind: frames::USER, marks: 0 });
    let heap = |domain| Area {
        domain,
        base: HEAP + domain * 0x1_0000,
        bytes: 0x1_0000,
        flags: area::READ | area::WRITE,
        memory: area::NORMAL,
        physical: 0,
    };
    builder.areas.insert(2, heap(0));
    builder.areas.push(heap(1));
    [2, 5].into_iter().for_each(|area| builder.shape(area).page_log2 = 12);
    builder.domains[0].areas = 3;
    builder.domains[1].first_area = 3;
    builder.domains[1].areas = 3;
    builder.caps.push(Cap { domain: 0, slot: FRAMES, kind: 7, object: 0, rights: 7, badge: 0 });
    builder
}

fn call(kernel: &mut Kernel<Sim>, call: Call, args: [u32; 4]) -> Option<(u32, [u32; 2])> {
    kernel.asks(call as u32, args)
}

fn ready() -> Kernel<Sim> {
    let mut kernel = boot(&system());
    assert_eq!(call(&mut kernel, Call::FramesRetype, [FRAMES, 0, POOL, 0]), OK);
    kernel
}

fn uses(kernel: &Kernel<Sim>, address: u32) -> u8 {
    kernel.frames.at(units::PhysAddr(u64::from(address))).unwrap().uses
}

#[test]
fn a_run_of_eighths_is_mapped_without_the_others() {
    let mut kernel = ready();
    let (first, last) = (region(WRITE, BASE, 0xa000), region(READ, BASE + 0xa000, 0x6000));
    assert_eq!(call(&mut kernel, Call::FramesMap, first), OK);
    assert_eq!(call(&mut kernel, Call::FramesMap, region(READ, BASE + 0x8000, 0x8000)), refused(Error::BadState));
    assert_eq!(call(&mut kernel, Call::FramesMap, last), OK);
    assert_eq!([0, 0x8000, 0xe000].map(|at| uses(&kernel, BASE + at)), [1; 3]);
    assert_eq!(call(&mut kernel, Call::FramesUnmap, region(WRITE, BASE + 0xa000, 0x6000)), refused(Error::BadState));
    assert_eq!(call(&mut kernel, Call::FramesUnmap, last), OK);
    kernel.loads(1);
    assert_eq!(kernel.on_miss(VirtAddr(BASE + 0x9ffc)), Resolution::Retry);
    assert_eq!(kernel.on_miss(VirtAddr(BASE + 0xa000)), Resolution::Denied);
    for eighth in 0..8 {
        assert_eq!(uses(&kernel, BASE + eighth * 0x2000), u8::from(eighth < 5));
    }
    kernel.loads(0);
    assert_eq!(call(&mut kernel, Call::FramesClean, [FRAMES, 0, 0x2000, 0]), refused(Error::BadState));
    assert_eq!(call(&mut kernel, Call::FramesClean, [FRAMES, 0xa000, 0x2000, 0]), Some((0, [0x1f00, 0])));
}

#[test]
fn pinning_leaves_the_slots_that_paging_needs() {
    let mut kernel = ready();
    // Two slots are pinned by the tables and two are kept for paged data.
    for index in 0..4 {
        assert_eq!(call(&mut kernel, Call::FramesMap, region(PINNED, BASE + index * 64, 0x20)), OK);
    }
    assert_eq!(call(&mut kernel, Call::FramesMap, region(PINNED, BASE + 256, 0x20)), refused(Error::Full));
    assert_eq!(uses(&kernel, BASE + 256), 0, "what is refused changes nothing");
    assert_eq!(call(&mut kernel, Call::FramesMap, region(WRITE, BASE, 0x1000)), refused(Error::BadState));
    let code = PEER | 5 << 16;
    assert_eq!(call(&mut kernel, Call::FramesMap, region(code, BASE + PAGE, 0x1000)), refused(Error::Full));
    kernel.loads(1);
    let holds = |kernel: &Kernel<Sim>, base| kernel.arch.kind.holds(base);
    assert!(holds(&kernel, BASE + 192), "no miss is needed");
    kernel.loads(0);
    assert_eq!(call(&mut kernel, Call::FramesUnmap, region(PINNED, BASE + 192, 0x20)), OK);
    assert_eq!(call(&mut kernel, Call::FramesUnmap, region(PINNED, BASE + 192, 0x20)), refused(Error::BadState));
    kernel.loads(1);
    assert!(!holds(&kernel, BASE + 192));
    assert_eq!(kernel.on_miss(VirtAddr(BASE + 192)), Resolution::Denied);
}

#[test]
fn nothing_is_mapped_over_what_is_pinned() {
    let mut kernel = ready();
    assert_eq!(call(&mut kernel, Call::FramesMap, region(PINNED, BASE + 64, 0x20)), OK);
    for over in [region(WRITE, BASE, 0x1000), region(READ, BASE, 0x100), region(PINNED, BASE + 64, 0x20)] {
        assert_eq!(call(&mut kernel, Call::FramesMap, over), refused(Error::BadState));
    }
}

#[test]
fn what_the_tables_pinned_cannot_be_unpinned() {
    let mut builder = system();
    builder.frames[0] = Frames { base: 0x2002_8000, bytes: 0x1000, kind: frames::USER, marks: 0 };
    builder.frames[3].bytes = 0x8000;
    builder.areas[1].base = 0x2002_8000;
    builder.domains[0].data_base = 0x2002_8c00;
    builder.threads[0].stack_base = 0x2002_8000;
    builder.threads[1].stack_base = 0x2002_8400;
    builder.caps.retain(|cap| (cap.domain, cap.slot) != (0, PEER));
    builder.caps.push(Cap { domain: 0, slot: PEER, kind: 1, object: 0, rights: 7, badge: 0 });
    let mut kernel = boot(&builder);
    let own = abi::Mapping { offset: 0, ..abi::Mapping::of(region(PINNED, 0x2002_8000, 0x1000)) };
    assert_eq!(call(&mut kernel, Call::FramesUnmap, own.words()), refused(Error::BadState));
    assert!(kernel.domain(0).protection.slots.pinned_at(0x2002_8000).is_some());
}

#[test]
fn a_table_grows_by_frames_that_are_the_kernels_from_then_on() {
    let mut kernel = ready();
    for left in [256, 0] {
        assert_eq!(call(&mut kernel, Call::FramesClean, [FRAMES, 0, 512, 0]), Some((0, [left, 0])));
    }
    let map = |kernel: &mut Kernel<Sim>, at: u32| call(kernel, Call::FramesMap, region(READ, BASE + at, 0x100));
    // Single regions far apart need nodes of their own.
    let mut mapped = (1..).take_while(|index| map(&mut kernel, index * 0x1100) == OK).count() as u32;
    assert!(mapped > 0 && mapped * 0x1100 < POOL);
    assert_eq!(map(&mut kernel, (mapped + 1) * 0x1100), refused(Error::Full));
    for [offset, bytes] in [[32, 224], [0, 287], [0, 0], [16, 288], [POOL, 288]] {
        let told = call(&mut kernel, Call::NodesGive, [PEER, FRAMES, offset, bytes]);
        assert_eq!(told, refused(Error::BadArgument), "{offset} {bytes}");
    }
    let typed = call(&mut kernel, Call::NodesGive, [PEER, FRAMES, 1024, 512]);
    assert_eq!(typed, refused(Error::BadState), "only untyped memory");
    assert_eq!(call(&mut kernel, Call::NodesGive, [PEER, FRAMES, 0, 512]), Some((0, [512, 36])));
    let more = (mapped + 1..).take_while(|index| map(&mut kernel, index * 0x1100) == OK).count() as u32;
    assert!(more > 0, "the memory given is used");
    mapped += more;
    kernel.loads(1);
    (1..=mapped).for_each(|index| assert_eq!(kernel.on_miss(VirtAddr(BASE + index * 0x1100)), Resolution::Retry));
    kernel.loads(0);
    for told in [
        call(&mut kernel, Call::FramesMap, region(READ, BASE, 0x100)),
        call(&mut kernel, Call::FramesMap, region(PINNED, BASE, 0x20)),
        call(&mut kernel, Call::FramesRetype, [FRAMES, 0, 32, 0]),
        call(&mut kernel, Call::FramesClean, [FRAMES, 0, 32, 0]),
        call(&mut kernel, Call::NodesGive, [PEER, FRAMES, 0, 512]),
    ] {
        assert_eq!(told, refused(Error::BadState));
    }
}

/// The slots that a domain's misses fill, one page after the other, while another domain misses in between or not.
fn fills(policy: Replacement, disturbed: bool) -> Vec<u32> {
    let mut builder = system();
    (0..2).for_each(|domain| builder.paging(domain).replacement = policy as u32);
    let mut kernel = boot(&builder);
    let mut seen = Vec::new();
    for round in 0..60 {
        if disturbed {
            let before = *kernel.domain(1).protection.slots.image();
            kernel.loads(0);
            for page in 0..round % 5 {
                kernel.on_miss(VirtAddr(HEAP + (round + page) % 16 * PAGE));
            }
            assert_eq!(*kernel.domain(1).protection.slots.image(), before, "another domain's miss changed a slot");
        }
        kernel.loads(1);
        kernel.arch.trace.clear();
        kernel.on_miss(VirtAddr(HEAP + 0x1_0000 + round * 7 % 16 * PAGE));
        seen.extend(kernel.arch.trace.iter().filter(|(head, _)| *head as u8 == Event::Miss as u8).map(|r| r.0 >> 16));
    }
    seen
}

#[test]
fn the_misses_of_one_domain_change_nothing_for_another() {
    for policy in [Replacement::BitPlru, Replacement::RoundRobin, Replacement::Random] {
        let alone = fills(policy, false);
        assert!(alone.len() > 40);
        assert_eq!(fills(policy, true), alone, "policy {policy:?}");
    }
}

#[test]
fn a_thread_without_misses_left_waits_for_its_budget() {
    let mut builder = system();
    builder.budgets[1].misses = 3;
    builder.threads[2].priority = 1;
    let mut kernel = boot(&builder);
    assert_eq!(kernel.current(), SERVANT);
    let miss = |kernel: &mut Kernel<Sim>, page| kernel.on_miss(VirtAddr(HEAP + 0x1_0000 + page * PAGE));
    for page in 0..3 {
        assert_eq!(kernel.current(), SERVANT);
        assert_eq!(miss(&mut kernel, page), Resolution::Counted);
        kernel.on_counted();
    }
    assert_eq!(kernel.current(), CALLER, "three misses are used up");
    assert_eq!(kernel.traced(Event::BudgetOut).len(), 1);
    assert_eq!(kernel.on_miss(VirtAddr(HEAP)), Resolution::Counted, "OTHER, of the same domain, shares the budget");
    kernel.on_counted();
    assert_eq!(kernel.current(), CALLER, "a thread whose budget has no limit goes on");
    kernel.passes(u64::from(PERIOD));
    assert_eq!(kernel.current(), SERVANT);
    for page in 3..5 {
        assert_eq!(miss(&mut kernel, page), Resolution::Counted);
        kernel.on_counted();
    }
    assert_eq!(kernel.current(), SERVANT, "a new period brings new misses");
}

fn restart(kernel: &mut Kernel<Sim>, handle: u32) {
    let mut steps = 0;
    while call(kernel, Call::DomainRestart, [handle, 0, 0, 0]) == refused(Error::Again) {
        steps += 1;
        assert!(steps < 200);
    }
}

#[test]
fn a_restart_takes_away_what_was_mapped_at_run_time_and_no_more() {
    let mut kernel = ready();
    for [target, base, bytes] in
        [[WRITE, BASE, 0xe000], [READ, BASE + 0x1_0000, 0x1000], [PINNED, BASE + 0x2_0000, 0x200]]
    {
        assert_eq!(call(&mut kernel, Call::FramesMap, region(target, base, bytes)), OK);
    }
    let (regions, marks) = (kernel.domain(1).protection.trie.len(), kernel.frames.marks());
    assert!(marks > 8);
    call(&mut kernel, Call::DomainStop, [PEER, 0, 0, 0]);
    restart(&mut kernel, PEER);
    assert_eq!(kernel.domain(1).life, Life::Running);
    assert_eq!(kernel.domain(1).protection.trie.len(), regions - 2);
    assert!([0, 0x4000, 0x1_0000, 0x2_0000].map(|at| uses(&kernel, BASE + at)) == [0; 4]);
    assert_eq!(call(&mut kernel, Call::FramesUnmap, region(READ, BASE + 0x1_0000, 0x1000)), refused(Error::BadState));
    kernel.loads(1);
    assert_eq!(kernel.on_miss(VirtAddr(BASE)), Resolution::Denied);
    assert_eq!(kernel.on_miss(VirtAddr(HEAP + 0x1_0000)), Resolution::Retry, "its own memory is still there");
}

#[test]
fn a_revocation_outlives_the_restart_of_whoever_it_hit() {
    let mut kernel = boot(&sample());
    assert_eq!(kernel.domain(1).caps[WORD as usize].kind, Kind::Notification);
    assert_eq!(call(&mut kernel, Call::Revoke, [WORD, 0, 0, 0]), OK);
    call(&mut kernel, Call::DomainStop, [PEER, 0, 0, 0]);
    restart(&mut kernel, PEER);
    assert_eq!(kernel.domain(1).caps[WORD as usize].kind, Kind::Empty);
    assert_eq!(kernel.domain(1).caps[PEER as usize].kind, Kind::Domain, "the others come back");
    // The domain that revoked keeps its own capability, over a restart, too.
    kernel.stop_domain(0);
    kernel.dispatch();
    assert_eq!(kernel.current(), SERVANT);
    restart(&mut kernel, PEER);
    assert_eq!(kernel.current(), CALLER);
    assert_eq!(call(&mut kernel, Call::Poll, [WORD, 1, 0, 0]), OK);
}

#[test]
fn a_restart_gives_no_more_rights_than_there_were_after_a_revocation() {
    let mut kernel = boot(&sample());
    call(&mut kernel, Call::Revoke, [WORD, 0, 0, 0]);
    kernel.domain_mut(1).caps[WORD as usize] = crate::objects::Cap::EMPTY;
    assert_eq!(call(&mut kernel, Call::CapGrant, [PEER, WORD, WORD, 1]), OK);
    call(&mut kernel, Call::DomainStop, [PEER, 0, 0, 0]);
    restart(&mut kernel, PEER);
    let cap = kernel.domain(1).caps[WORD as usize];
    assert_eq!((cap.kind, cap.rights), (Kind::Notification, 1));
}
