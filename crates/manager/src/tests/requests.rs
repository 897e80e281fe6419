//! Memory of one client, and hostile requests.

use super::machine::{POOL, Type};
use super::*;
use crate::rule::{EXISTS, RECORDS};
use crate::{SCRUB_STEPS, SUPERVISOR};

#[test]
fn granted_memory_is_clean_mapped_and_known() {
    let mut world = World::new();
    let granted = world.granted(0, grant(1000, PLAIN));
    assert_eq!((granted.bytes, granted.level, granted.cycles), (1024, 1, 3));
    let mapping = world.machine.mapping(0, granted.base).unwrap();
    assert!(mapping.write && !mapping.pinned);
    for address in [granted.base, granted.base + 1023] {
        assert_eq!(world.granted(0, Request::new(Operation::Query).about(address)), granted);
    }
    for (badge, address) in [(0, granted.base + 1024), (1, granted.base)] {
        assert_eq!(world.refused(badge, Request::new(Operation::Query).about(address)).rule, EXISTS);
    }
}

#[test]
fn released_memory_is_granted_again_only_when_it_is_clean() {
    let mut world = World::new();
    let all = world.granted(0, grant(POOL_BYTES, PLAIN));
    world.machine.scribble(0);
    assert_eq!(world.left(0, release(all.base)), POOL_BYTES);
    assert_eq!(world.machine.mapped(), 0);
    assert_eq!(world.refused(1, grant(256, PLAIN)).rule, 2, "dirty frames are charged to who made them so");
    let step = world.left(0, Request::new(Operation::Scrub).about(all.base));
    assert_eq!(step, POOL_BYTES - SCRUB_STEPS * abi::CLEAN_BYTES);
    assert_eq!(world.refused(1, grant(256, PLAIN)).rule, 2);
    world.scrub(0, all.base);
    let next = world.granted(1, grant(POOL_BYTES, PLAIN));
    assert!(world.machine.is_clear(1, next.base, next.bytes));
}

#[test]
fn nobody_releases_scrubs_or_sees_what_another_holds() {
    let mut world = World::new();
    let granted = world.granted(0, grant(512, PLAIN));
    for operation in [Operation::Release, Operation::Scrub, Operation::Query] {
        assert_eq!(world.refused(1, Request::new(operation).about(granted.base)).rule, EXISTS);
    }
    assert_eq!(world.refused(0, Request::new(Operation::Scrub).about(granted.base)).rule, EXISTS, "not released yet");
    world.left(0, release(granted.base));
    assert_eq!(world.refused(0, release(granted.base)).rule, EXISTS, "released already");
}

#[test]
fn a_client_can_use_up_only_its_own_records() {
    let mut world = World::new();
    for _ in 0..EACH {
        world.granted(0, grant(256, PLAIN));
    }
    assert_eq!(world.refused(0, grant(256, PLAIN)).rule, RECORDS);
    world.granted(1, grant(256, PLAIN));
}

#[test]
fn badges_that_are_no_clients_get_nothing() {
    let mut world = World::new();
    for badge in [3, 4, 31, 255, u32::MAX, SUPERVISOR | 4] {
        assert_eq!(world.send(badge, grant(256, PLAIN)), Err(Error::BadArgument), "{badge:#x}");
        assert_eq!(
            world.send(badge, Request::new(Operation::Reclaim).about(if badge == u32::MAX { 3 } else { 77 })),
            Err(Error::BadArgument)
        );
    }
    assert_eq!(world.machine.frames_of(Type::Shared), 0);
}

#[test]
fn only_the_supervisor_reclaims_what_others_hold() {
    let mut world = World::new();
    for bytes in [256, 2048, 5000] {
        world.granted(0, grant(bytes, PLAIN));
    }
    assert_eq!(world.left(1, Request::new(Operation::Reclaim).about(0)), 0, "a client reclaims its own");
    assert_eq!(world.machine.mapped(), 3);
    assert!(world.left(SUPERVISOR, Request::new(Operation::Reclaim).with("control")) > 0);
    assert_eq!(world.send(SUPERVISOR, Request::new(Operation::Reclaim).with("nobody")), Err(Error::BadArgument));
    let mut steps = 0;
    while world.left(SUPERVISOR, Request::new(Operation::Reclaim).about(0)) > 0 {
        steps += 1;
        assert!(steps < 100);
    }
    assert_eq!((world.machine.mapped(), world.manager.account.free_bytes()), (0, POOL_BYTES));
    assert_eq!(world.manager.account.charged, [0; CLIENTS]);
}

#[test]
fn what_the_kernel_refuses_is_given_to_nobody_and_can_be_cleaned() {
    for fail_at in 1..=2 {
        let mut world = World::new();
        world.machine.fail_at = Some(fail_at);
        assert_eq!(world.send(0, grant(4096, PINNED)), Err(Error::Full));
        world.machine.fail_at = None;
        assert_eq!(world.manager.account.pinned[0], 0);
        while world.left(0, Request::new(Operation::Reclaim)) > 0 {}
        assert_eq!(world.manager.account.free_bytes(), POOL_BYTES);
        world.granted(0, grant(4096, PINNED));
    }
}

#[test]
fn sizes_at_the_border_are_refused_and_change_nothing() {
    let mut world = World::new();
    for bytes in [0, POOL_BYTES + 1, 0x8000_0000, 0x8000_0001, u32::MAX] {
        world.refused(0, grant(bytes, PLAIN));
    }
    world.refused(0, Request { address: POOL + 1, ..grant(256, PLAIN) });
    assert_eq!((world.manager.account.free_bytes(), world.manager.account.entries), (POOL_BYTES, [0; CLIENTS]));
}

#[test]
fn every_refusal_reads_as_a_sentence() {
    use std::string::ToString;
    let pinned = Refused { rule: 5, asked: 1, left: 0, change: 1, value: 3 };
    let text = "refused by rule 5: pinned memory is in region registers of its own whenever the domain runs; asked 1 region \
                registers, left 0 region registers; would be admitted: ask for `l1`";
    assert_eq!(pinned.to_string(), text);
    let shared =
        Refused { rule: crate::rule::SPEC_AGREES, asked: 3, left: 10, change: crate::rule::change::SPEC, value: 10 };
    let text = "refused by rule 66: memory is shared only where the specifications agree; asked `l1`, left `l2 independent`; would \
                be admitted: ask for `l2 independent`";
    assert_eq!(shared.to_string(), text);
    for number in (1..16).chain(17..21).chain(crate::rule::FIRST..76).filter(|number| ![3, 65, 71].contains(number)) {
        assert!(!crate::sentence(number).is_empty(), "{number}");
    }
    assert_eq!(crate::sentence(3), "");
}
