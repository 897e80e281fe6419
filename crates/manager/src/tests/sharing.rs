//! Shared memory.

use super::*;
use crate::rule::{ALONE, DECLARED as NOT_DECLARED, MADE, PERMITTED, SIZE_AGREES, SPEC_AGREES, change};
use crate::wire::access::{ALL_READ, ALL_WRITE, READ, WRITE};

fn permit(share: &str, name: &str, access: u32) -> Request {
    Request { access, ..Request::new(Operation::Permit).of(share).with(name) }
}

fn revoke(share: &str) -> Request {
    Request::new(Operation::Revoke).of(share)
}

#[test]
fn whoever_is_permitted_maps_the_same_memory() {
    let mut world = World::new();
    let own = world.granted(0, share("samples", 1000, READ | WRITE));
    assert_eq!(world.granted(0, share("samples", 1000, READ | WRITE)), own, "asking again changes nothing");
    assert_eq!(world.refused(1, join("control", "samples", 1000, READ)).rule, PERMITTED, "not yet");
    world.left(0, permit("samples", "store", READ));
    let joined = world.granted(1, join("control", "samples", 1000, READ));
    assert_eq!((joined.base, joined.bytes, joined.spec), (own.base, own.bytes, own.spec));
    assert!(!world.machine.mapping(1, own.base).unwrap().write);
    assert_eq!(world.granted(1, join("control", "samples", 1000, READ)), joined);
    assert_eq!(world.refused(2, join("control", "samples", 1000, READ)).rule, PERMITTED, "only the one that was named");
}

#[test]
fn a_name_is_its_owners_whoever_used_it_first() {
    let mut world = World::new();
    // Another domain is there first, under the same name, and invites everybody.
    let other = world.granted(1, share("samples", 256, READ | WRITE | ALL_READ | ALL_WRITE));
    let own = world.granted(0, share("samples", 256, READ | WRITE));
    assert_ne!(own.base, other.base, "one's own memory, not somebody's who was first");
    world.left(0, permit("samples", "script", READ));
    assert_eq!(world.granted(2, join("control", "samples", 256, READ)).base, own.base);
    assert_eq!(world.granted(2, join("store", "samples", 256, READ)).base, other.base);
}

#[test]
fn only_declared_names_can_be_shared_or_joined() {
    let mut world = World::new();
    for request in [
        share("series", 256, READ),
        share("", 256, READ),
        share("samples\0x", 256, READ),
        join("", "samples", 256, READ),
        join("nobody", "samples", 256, READ),
        join("script", "samples", 256, READ),
        permit("log", "control", READ),
        revoke("log"),
    ] {
        let refused = world.refused(1, request);
        assert_eq!((refused.rule, refused.asked, refused.left, refused.change), (NOT_DECLARED, 1, 0, change::DECLARE));
    }
    assert_eq!(world.machine.mapped(), 0);
    for name in ["samples", "series"] {
        assert_eq!(world.refused(1, join("control", name, 256, READ)).rule, MADE, "declared, and not there yet");
    }
}

#[test]
fn nobody_is_permitted_more_than_the_manifest_says() {
    let mut world = World::new();
    world.granted(0, share("samples", 256, READ | WRITE | ALL_READ | ALL_WRITE));
    let refused = world.refused(2, join("control", "samples", 256, READ | WRITE));
    assert_eq!((refused.rule, refused.left, refused.change, refused.value), (PERMITTED, READ, change::ACCESS, READ));
    world.granted(1, join("control", "samples", 256, READ | WRITE));
    let refused = world.refused(0, permit("samples", "script", READ | WRITE));
    assert_eq!((refused.rule, refused.left, refused.value), (PERMITTED, READ, READ));
    world.granted(0, share("series", 256, READ | ALL_WRITE));
    let refused = world.refused(0, permit("samples", "control", READ));
    assert_eq!((refused.rule, refused.left, refused.change), (PERMITTED, 0, change::DECLARE), "nobody joins himself");
    assert_eq!(world.refused(0, join("control", "series", 256, READ)).rule, PERMITTED);
    world.left(0, permit("series", "", READ | WRITE));
    assert_eq!(world.refused(1, join("control", "series", 256, READ | WRITE)).left, READ, "not with everybody either");
    world.granted(2, join("control", "series", 256, READ | WRITE));
}

#[test]
fn read_only_shares_stay_read_only() {
    let mut world = World::new();
    world.granted(0, share("samples", 256, READ | WRITE | ALL_READ));
    let refused = world.refused(1, join("control", "samples", 256, READ | WRITE));
    assert_eq!((refused.rule, refused.left, refused.value), (PERMITTED, READ, READ));
    world.granted(1, join("control", "samples", 256, READ));
    world.left(0, permit("samples", "store", READ | WRITE));
    assert_eq!(
        world.refused(1, join("control", "samples", 256, READ | WRITE)).rule,
        PERMITTED,
        "a mapping is not widened"
    );
}

#[test]
fn specifications_and_sizes_have_to_agree() {
    let mut world = World::new();
    let pinned = |request: Request| Request { spec: PINNED, ..request };
    let own = world.granted(0, pinned(share("samples", 256, READ | WRITE | ALL_WRITE)));
    let refused = world.refused(1, join("control", "samples", 256, READ));
    assert_eq!((refused.rule, refused.asked, refused.left, refused.value), (SPEC_AGREES, PLAIN, PINNED, PINNED));
    assert_eq!(world.refused(1, pinned(join("control", "samples", 257, READ))).rule, SIZE_AGREES);
    assert_eq!(world.refused(0, share("samples", 256, READ)).rule, SPEC_AGREES, "the owner too");
    assert_eq!(world.machine.mapped(), 1);
    assert_eq!(world.granted(1, pinned(join("control", "samples", 256, READ))).base, own.base);
}

#[test]
fn each_client_pays_for_its_own_entry() {
    let mut world = World::new();
    world.granted(1, grant(256, PINNED));
    world.granted(0, Request { spec: PINNED, ..share("samples", 256, READ | ALL_READ) });
    assert_eq!(world.refused(1, Request { spec: PINNED, ..join("control", "samples", 256, READ) }).rule, 1);
    assert_eq!(world.manager.client(0).unwrap().shares[0].members, 0);
}

#[test]
fn revoked_memory_is_nobodys_but_the_owners() {
    let mut world = World::new();
    let own = world.granted(0, share("samples", 256, READ | WRITE | ALL_READ));
    for client in 1..3 {
        world.granted(client, join("control", "samples", 256, READ));
    }
    assert_eq!(world.refused(0, release(own.base)).left, 2);
    assert_eq!(world.left(0, revoke("samples")), 0);
    assert_eq!((world.machine.mapped(), world.manager.account.entries), (1, [1, 0, 0, 0]));
    assert_eq!(world.refused(1, join("control", "samples", 256, READ)).rule, PERMITTED);
    assert_eq!(world.left(0, release(own.base)), 256);
    assert_eq!(world.refused(1, join("control", "samples", 256, READ)).rule, MADE);
    world.scrub(0, own.base);
}

#[test]
fn an_owner_gives_back_last() {
    let mut world = World::new();
    let own = world.granted(0, share("samples", 256, READ | ALL_READ));
    world.granted(1, join("control", "samples", 256, READ));
    assert_eq!(world.refused(0, release(own.base)).rule, ALONE);
    assert_eq!(world.left(1, release(own.base)), 0);
    assert_eq!(world.left(0, release(own.base)), 256);
}

#[test]
fn only_owners_permit_and_revoke() {
    let mut world = World::new();
    world.granted(0, share("series", 256, READ | ALL_READ));
    world.granted(1, join("control", "series", 256, READ));
    assert_eq!(world.refused(1, permit("series", "script", READ)).rule, NOT_DECLARED);
    assert_eq!(world.refused(1, revoke("series")).rule, NOT_DECLARED);
    assert_eq!(world.refused(1, revoke("samples")).rule, MADE, "one's own of that name is not there");
    assert_eq!(world.refused(0, permit("series", "nobody", READ)).rule, NOT_DECLARED);
    assert_eq!(world.machine.mapped(), 2);
}

#[test]
fn a_client_declares_so_many_shares_and_no_more() {
    let mut world = World::new();
    let who = Who { readers: 1, writers: 0 };
    assert!(!world.manager.declare(0, padded("third"), who), "there is room for {SHARES}");
    assert!(!world.manager.declare(1, padded(""), who));
    assert!(!world.manager.declare(CLIENTS, padded("far"), who));
    assert_eq!(world.refused(0, share("samples", 256, WRITE)).rule, PERMITTED, "every mapping reads");
}

#[test]
fn reclaiming_an_owner_takes_its_memory_from_everybody() {
    let mut world = World::new();
    world.granted(0, share("samples", 4096, READ | ALL_READ));
    world.granted(1, join("control", "samples", 4096, READ));
    while world.left(0, Request::new(Operation::Reclaim)) > 0 {}
    assert_eq!((world.machine.mapped(), world.manager.account.free_bytes()), (0, POOL_BYTES));
    assert_eq!(world.manager.account.entries, [0; CLIENTS]);
}

/// The same request, in the second life of its client.
fn again(request: Request) -> Request {
    Request { life: 1, ..request }
}

#[test]
fn a_restarted_client_has_nothing_of_its_former_life() {
    let mut world = World::new();
    let own = world.granted(1, share("samples", 4096, READ | WRITE | ALL_READ));
    world.granted(0, share("samples", 256, READ | ALL_READ));
    for client in [0, 2] {
        world.granted(client, join("store", "samples", 4096, READ));
    }
    world.granted(1, join("control", "samples", 256, READ));
    world.granted(1, grant(8192, PINNED));
    world.machine.scribble(1);
    world.machine.restart(1);
    // It asks for what it had: it is there again, clean, and mapped, and the others have nothing of the old one.
    let mut steps = 0;
    let again = loop {
        match world.send(1, again(share("samples", 4096, READ | WRITE | ALL_READ))) {
            Err(Error::Busy) => steps += 1,
            answer => break answer.unwrap(),
        }
        assert!(steps < 100);
    };
    let Answer::Granted(again) = again else { panic!("{again:?}") };
    assert!(steps > 2 && world.machine.is_clear(1, again.base, again.bytes), "{steps}");
    assert_eq!(world.machine.mapped(), 2, "its own memory anew, and what belongs to another");
    assert_eq!(world.manager.client(0).unwrap().shares[0].members, 0);
    assert_eq!((world.manager.account.charged[1], world.manager.account.pinned[1]), (own.bytes, 0));
    assert_eq!(world.left(0, release(world.manager.client(0).unwrap().holdings[0].region.base)), 256, "alone again");
}
