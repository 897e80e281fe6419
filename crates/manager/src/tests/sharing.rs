//! Shared memory.

use super::*;
use crate::rule::{ALONE, EXISTS, ONE_OWNER, PERMITTED, SHARES as SHARE_RECORDS, SIZE_AGREES, SPEC_AGREES};
use crate::wire::access::{ALL_READ, ALL_WRITE, READ, WRITE};

fn permit(id: u32, name: &str, access: u32) -> Request {
    Request { access, ..Request::new(Operation::Permit).about(id).with(name) }
}

#[test]
fn whoever_is_permitted_maps_the_same_memory() {
    let mut world = World::new();
    let own = world.granted(0, share(7, 1000, READ | WRITE));
    assert_eq!(world.granted(0, share(7, 1000, READ | WRITE)), own, "asking again changes nothing");
    world.left(0, permit(7, "store", READ));
    let joined = world.granted(1, share(7, 1000, READ));
    assert_eq!((joined.base, joined.bytes, joined.spec), (own.base, own.bytes, own.spec));
    assert!(!world.machine.mapping(1, own.base).unwrap().write);
    assert_eq!(world.granted(1, share(7, 1000, READ)), joined);
    let mine = world.granted(2, share(7, 1000, READ));
    assert_ne!(mine.base, own.base, "without a permission the id is the client's own");
}

#[test]
fn read_only_shares_stay_read_only() {
    let mut world = World::new();
    world.granted(0, share(7, 256, READ | WRITE | ALL_READ));
    let refused = world.refused(1, share(7, 256, READ | WRITE));
    assert_eq!((refused.rule, refused.left, refused.value), (PERMITTED, READ, READ));
    world.granted(1, share(7, 256, READ));
    world.left(0, permit(7, "store", READ | WRITE));
    assert_eq!(world.refused(1, share(7, 256, READ | WRITE)).rule, PERMITTED, "a mapping is not widened");
}

#[test]
fn specifications_and_sizes_have_to_agree() {
    let mut world = World::new();
    let own = world.granted(0, Request { spec: PINNED, ..share(7, 256, READ | WRITE | ALL_WRITE) });
    let refused = world.refused(1, share(7, 256, READ));
    assert_eq!((refused.rule, refused.asked, refused.left, refused.value), (SPEC_AGREES, PLAIN, PINNED, PINNED));
    let larger = Request { spec: PINNED, ..share(7, 257, READ) };
    assert_eq!(world.refused(1, larger).rule, SIZE_AGREES);
    assert_eq!(world.refused(0, share(7, 256, READ)).rule, SPEC_AGREES, "the owner too");
    assert_eq!(world.machine.mapped(), 1);
    assert_eq!(world.granted(1, Request { spec: PINNED, ..share(7, 256, READ) }).base, own.base);
}

#[test]
fn each_client_pays_for_its_own_entry() {
    let mut world = World::new();
    world.granted(1, grant(256, PINNED));
    world.granted(0, Request { spec: PINNED, ..share(7, 256, READ | ALL_READ) });
    assert_eq!(world.refused(1, Request { spec: PINNED, ..share(7, 256, READ) }).rule, 1);
    assert_eq!(world.manager.client(0).unwrap().shares[0].members, 0);
}

#[test]
fn revoked_memory_is_nobodys_but_the_owners() {
    let mut world = World::new();
    let own = world.granted(0, share(7, 256, READ | WRITE | ALL_READ));
    for client in 1..3 {
        world.granted(client, share(7, 256, READ));
    }
    assert_eq!(world.refused(0, release(own.base)).left, 2);
    assert_eq!(world.left(0, Request::new(Operation::Revoke).about(7)), 0);
    assert_eq!((world.machine.mapped(), world.manager.account.entries), (1, [1, 0, 0, 0]));
    assert_eq!(world.refused(1, share(7, 256, READ).with("control")).rule, PERMITTED);
    assert_eq!(world.left(0, release(own.base)), 256);
    assert_eq!(world.refused(1, share(7, 256, READ).with("control")).rule, EXISTS);
    world.scrub(0, own.base);
}

#[test]
fn an_owner_gives_back_last() {
    let mut world = World::new();
    let own = world.granted(0, share(7, 256, READ | ALL_READ));
    world.granted(1, share(7, 256, READ));
    assert_eq!(world.refused(0, release(own.base)).rule, ALONE);
    assert_eq!(world.left(1, release(own.base)), 0);
    assert_eq!(world.left(0, release(own.base)), 256);
}

#[test]
fn nobody_can_slip_memory_under_anothers_id() {
    let mut world = World::new();
    world.granted(2, share(7, 256, READ | ALL_WRITE));
    let own = world.granted(0, share(7, 256, READ | WRITE).with("control"));
    world.left(0, permit(7, "store", READ));
    let refused = world.refused(1, share(7, 256, READ));
    assert_eq!((refused.rule, refused.left), (ONE_OWNER, 2));
    assert_eq!(world.granted(1, share(7, 256, READ).with("control")).base, own.base);
}

#[test]
fn only_owners_permit_and_revoke() {
    let mut world = World::new();
    world.granted(0, share(7, 256, READ | ALL_READ));
    world.granted(1, share(7, 256, READ));
    assert_eq!(world.refused(1, permit(7, "script", READ)).rule, EXISTS);
    assert_eq!(world.refused(1, Request::new(Operation::Revoke).about(7)).rule, EXISTS);
    assert_eq!(world.refused(0, permit(7, "nobody", READ)).rule, EXISTS);
    assert_eq!(world.machine.mapped(), 2);
}

#[test]
fn a_client_has_so_many_shares_and_no_more() {
    let mut world = World::new();
    for id in 0..SHARES as u32 {
        world.granted(0, share(id, 256, READ));
    }
    assert_eq!(world.refused(0, share(99, 256, READ)).rule, SHARE_RECORDS);
    assert_eq!(world.refused(0, share(0, 256, WRITE)).rule, PERMITTED, "every mapping reads");
}

#[test]
fn reclaiming_an_owner_takes_its_memory_from_everybody() {
    let mut world = World::new();
    world.granted(0, share(7, 4096, READ | ALL_READ));
    world.granted(1, share(7, 4096, READ));
    while world.left(0, Request::new(Operation::Reclaim)) > 0 {}
    assert_eq!((world.machine.mapped(), world.manager.account.free_bytes()), (0, POOL_BYTES));
    assert_eq!(world.manager.account.entries, [0; CLIENTS]);
}
