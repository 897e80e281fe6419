//! Memory that is given back: parts of what is mapped, and all of it when a domain is restarted.

use std::panic::{AssertUnwindSafe, catch_unwind};

use abi::{Call, Error};
use system::{Area, Cap, Frames, area, frames};

use super::super::refused;
use super::super::sim::{Machine, Pager, boot_with};
use super::{Chip, FRAMES, NEAR, OK, PINNED, POOL, POOL_BYTES, READ, VIRT, WRITE};
use super::{call, call_by_other, check, finds, map, ready, restart, run, system, unmap};
use crate::objects::Life;

/// Checks that frames are in no use: only then can they be cleared.
fn unused(kernel: &mut Chip, bytes: u32) {
    for _ in 0..bytes / 512 {
        assert!(call(kernel, Call::FramesClean, [FRAMES, 0, bytes, 0]).is_some_and(|told| told.0 == 0));
    }
}

#[test]
fn parts_and_unions_of_mappings_are_given_back() {
    let mut kernel = ready();
    let marks = kernel.frames.marks();
    assert_eq!(map(&mut kernel, WRITE, VIRT, 2, 0), OK);
    assert_eq!(map(&mut kernel, WRITE, VIRT + 0x2000, 2, 0x2000), OK);
    assert_eq!(unmap(&mut kernel, WRITE, VIRT + 0x1000, 2, 0x1000), OK, "a half of each");
    assert_eq!(map(&mut kernel, WRITE, VIRT + 0x1000, 2, 0x1000), OK);
    assert_eq!(unmap(&mut kernel, WRITE, VIRT, 4, 0), OK, "three in one");
    // Another mapping ends where a part does: its end stays.
    assert_eq!(map(&mut kernel, WRITE, VIRT, 4, 0), OK);
    assert_eq!(map(&mut kernel, READ, VIRT + 0x10_0000, 1, 0x1000), OK);
    assert_eq!(kernel.frames.marks(), marks + 3);
    assert_eq!(unmap(&mut kernel, WRITE, VIRT + 0x1000, 2, 0x1000), OK);
    assert_eq!(kernel.frames.marks(), marks + 4, "at each page");
    assert_eq!(restart(&mut kernel), OK);
    assert_eq!(kernel.frames.marks(), marks);
    unused(&mut kernel, 0x4000);
}

#[test]
fn neighbours_that_lie_apart_in_memory_are_not_one() {
    let mut kernel = ready();
    let marks = kernel.frames.marks();
    let pages = [(VIRT, 0x5000), (VIRT + 0x1000, 0x9000), (VIRT + 0x2000, 0x6000)];
    for (virt, offset) in pages {
        assert_eq!(map(&mut kernel, WRITE, virt, 1, offset), OK);
    }
    // The first and the last touch in memory, but not where the domain has them.
    assert_eq!(kernel.frames.marks(), marks + 5);
    for (virt, offset) in pages {
        assert_eq!(unmap(&mut kernel, WRITE, virt, 1, offset), OK);
    }
    assert_eq!(kernel.frames.marks(), marks);
    unused(&mut kernel, 0xa000);
}

#[test]
fn a_full_frame_table_keeps_nothing_from_being_given_back() {
    let mut kernel = ready();
    assert_eq!(map(&mut kernel, WRITE, VIRT, 4, 0), OK);
    let far = POOL_BYTES / 2;
    // Every second granule of frames that nobody maps: cleared frames are of another type.
    let clears = |kernel: &mut Chip, at: u32| call(kernel, Call::FramesClean, [FRAMES, far + at * 64, 32, 0]);
    let cleared = (0..1000).take_while(|at| clears(&mut kernel, *at).is_some_and(|told| told.0 == 0)).count();
    assert!(cleared > 200, "{cleared}");
    assert_eq!(clears(&mut kernel, cleared as u32), refused(Error::Full));
    assert_eq!(unmap(&mut kernel, WRITE, VIRT + 0x1000, 1, 0x1000), refused(Error::Full), "two ends more");
    assert_eq!(finds(&mut kernel, VIRT + 0x1000), Some(POOL + 0x1000), "nothing has changed");
    assert_eq!(restart(&mut kernel), OK);
    assert_eq!(finds(&mut kernel, VIRT + 0x1000), None);
    unused(&mut kernel, 0x4000);
}

#[test]
fn a_restart_leaves_nothing_of_the_former_life() {
    let mut kernel = ready();
    for index in 0..20 {
        assert_eq!(map(&mut kernel, WRITE, VIRT + index * 0x3000, 2, index * 0x2000), OK);
    }
    assert_eq!(map(&mut kernel, WRITE, VIRT + 0x20_0000, 256, 0x20_0000), OK);
    assert_eq!(finds(&mut kernel, VIRT + 0x20_1234), Some(POOL + 0x20_1234));
    let marks = kernel.frames.marks();
    assert_eq!(restart(&mut kernel), OK);
    assert_eq!(kernel.domain(1).life, Life::Running);
    assert!(kernel.frames.marks() < marks);
    assert_eq!(finds(&mut kernel, VIRT), None);
    assert_eq!(finds(&mut kernel, VIRT + 0x20_1234), None);
    assert!(finds(&mut kernel, 0x2002_1000).is_some(), "its own memory is still there");
    assert_eq!(map(&mut kernel, WRITE, VIRT, 1, 0), OK);
}

#[test]
fn a_restart_tells_what_a_domain_began_with_from_what_lies_in_or_behind_it() {
    const OWN: u32 = 0x3010_0000;
    let mut builder = system();
    builder.areas.push(Area {
        domain: 1,
        base: OWN,
        bytes: 0x2000,
        flags: area::READ | area::WRITE,
        ..Area::default()
    });
    builder.domains[1].areas += 1;
    builder.frames.push(Frames { base: OWN, bytes: 0x3000, kind: frames::USER, marks: 8 });
    // Instead of the frames on the chip.
    builder.caps.last_mut().expect("the sample has capabilities").object = 7;
    for replaced in [false, true] {
        let mut kernel = boot_with(&builder, Machine::<Pager> { now: 1000, ..Machine::default() });
        for (slot, offset, bytes) in [(FRAMES, 0, 0x1000), (NEAR, 0x2000, 0x1000)] {
            assert_eq!(call(&mut kernel, Call::FramesRetype, [slot, offset, bytes, 0]), OK);
        }
        // Its second page is taken away and other memory put there; what follows lies as it would if the area went on.
        if replaced {
            assert_eq!(call(&mut kernel, Call::FramesUnmap, run(WRITE, NEAR, OWN + 0x1000, 1, 0x1000)), OK);
            assert_eq!(map(&mut kernel, WRITE, OWN + 0x1000, 1, 0), OK);
        }
        assert_eq!(call(&mut kernel, Call::FramesMap, run(WRITE, NEAR, OWN + 0x2000, 1, 0x2000)), OK);
        assert_eq!(finds(&mut kernel, OWN + 0x2000), Some(OWN + 0x2000));
        assert_eq!(restart(&mut kernel), OK);
        let second = (!replaced).then_some(OWN + 0x1000);
        let left = [OWN, OWN + 0x1000, OWN + 0x2000].map(|at| finds(&mut kernel, at));
        assert_eq!(left, [Some(OWN), second, None], "{replaced}");
    }
}

#[test]
fn a_restart_amid_the_unmapping_of_a_locked_page_does_not_lock_it_again() {
    for steps in 1..8 {
        let mut kernel = ready();
        assert_eq!(map(&mut kernel, PINNED, VIRT, 1, 0), OK);
        kernel.arch.stepwise = true;
        for _ in 0..steps {
            kernel.asks(Call::FramesUnmap as u32, run(PINNED, FRAMES, VIRT, 1, 0));
            check(&mut kernel);
        }
        kernel.arch.stepwise = false;
        assert_eq!(restart(&mut kernel), OK, "{steps}");
        assert_eq!(finds(&mut kernel, VIRT), None);
    }
}

#[test]
fn data_whose_memory_was_taken_away_is_not_restored_elsewhere() {
    let mut builder = system();
    builder.caps.push(Cap { domain: 1, slot: FRAMES, kind: 7, object: 2, rights: 7, badge: 0 });
    builder.caps.push(Cap { domain: 1, slot: NEAR, kind: 1, object: 1, rights: 7, badge: 0 });
    for read_only in [false, true] {
        let mut kernel = boot_with(&builder, Machine::<Pager> { now: 1000, ..Machine::default() });
        // Its data is where the other domain's would be.
        let words = |access: u32| run(NEAR | access << 16, FRAMES, 0x2002_1000, 1, 0);
        assert_eq!(call_by_other(&mut kernel, Call::FramesUnmap, words(3)), OK);
        if read_only {
            assert_eq!(call_by_other(&mut kernel, Call::FramesMap, words(1)), OK);
        }
        kernel.loads(0);
        kernel.arch.memory.clear();
        assert_eq!(restart(&mut kernel), refused(Error::BadState), "{read_only}");
        assert!(kernel.arch.memory.is_empty());
    }
}

/// Maps, runs, unmaps, locks, restarts.
fn life(lost: Option<u32>) -> Chip {
    let mut kernel = ready();
    kernel.arch.kind.lost = lost;
    // Not at the beginnings of tables: what a table owes when it is taken out removes those, too.
    let parts = [
        (WRITE, VIRT + 0x1_0000, 16, 0),
        (WRITE, VIRT + 0x10_0000, 256, 0x10_0000),
        (READ, VIRT + 0x20_1000, 3, 0x2_1000),
        (PINNED, VIRT + 0x30_1000, 1, 0x3_0000),
    ];
    for (target, virt, pages, offset) in parts {
        assert_eq!(map(&mut kernel, target, virt, pages, offset), OK);
    }
    finds(&mut kernel, VIRT);
    for (target, virt, pages, offset) in parts {
        assert_eq!(unmap(&mut kernel, target, virt, pages, offset), OK);
    }
    assert_eq!(restart(&mut kernel), OK);
    finds(&mut kernel, VIRT);
    kernel
}

#[test]
fn each_invalidation_of_a_page_that_a_tlb_holds_is_missed_when_it_is_lost() {
    let needed = life(None).arch.kind.needed;
    assert_eq!(needed.len(), 6, "a large page, a section, three pages and a locked one: {needed:?}");
    for number in needed {
        let lost = catch_unwind(AssertUnwindSafe(|| drop(life(Some(number)))));
        let message = lost.expect_err("a violation");
        let message = message.downcast_ref::<String>().expect("a message");
        assert!(message.contains("stale"), "{number}: {message}");
    }
}
