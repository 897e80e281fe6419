//! Accesses that the emulator lets through and hardware would not are found, and so are those of a hostile domain.

mod support;

use record::{DomainWatch, Range, ViolationKind};
use runner::Watch;
use support::Guest;

#[test]
fn a_load_across_the_end_of_a_region_is_flagged() {
    let guest = Guest::build("straddle", "straddle");
    let summary = guest.run(guest.watch()).summary;
    assert_eq!(summary.end.status, Some(5), "the emulator is expected to let it through");
    assert_eq!(summary.violations_total, 1);
    let violation = &summary.violations[0];
    assert_eq!(violation.kind, ViolationKind::Read);
    assert_eq!(violation.pc, guest.symbol("straddling"));
    assert_eq!(violation.domain, 3);
    assert!(violation.address + violation.len > guest.symbol("own") + 256);
    assert!(!summary.is_clean());
}

fn hostile_watch(guest: &Guest) -> Watch {
    let range = |name: &str, len: u32| Range { start: guest.symbol(name), end: guest.symbol(name) + len };
    let victim = DomainWatch { domain: 1, ram: vec![range("victim", 64)], ..DomainWatch::default() };
    let own = Range { start: guest.symbol("own"), end: guest.symbol("user_stack_end") };
    let hostile = DomainWatch { domain: 2, hostile: true, ram: vec![own], may_store: Vec::new() };
    Watch { domains: vec![victim, hostile], ..guest.watch() }
}

#[test]
fn a_hostile_store_is_seen_twice_over() {
    let guest = Guest::build("hostile", "hostile");
    let summary = guest.run(hostile_watch(&guest)).summary;
    assert_eq!(summary.end.status, Some(0));
    let witness = summary.witness;
    assert_eq!((witness.slices, witness.checked_slices, witness.changed_slices), (2, 2, 1));
    assert_eq!((witness.stores, witness.stores_outside), (2, 1));
    assert_eq!(witness.hashed_bytes, 4 * 64);
    let [store, change] = &summary.violations[..] else { panic!("{:?}", summary.violations) };
    assert_eq!((store.kind, store.pc), (ViolationKind::HostileStore, guest.symbol("hostile_store")));
    assert_eq!(store.address, guest.symbol("victim") + 40);
    assert_eq!((change.kind, change.victim), (ViolationKind::MemoryChanged, Some(1)));
    assert_eq!((change.domain, change.address), (2, guest.symbol("victim")));
}

#[test]
fn a_harmless_domain_gives_the_witness_nothing() {
    let guest = Guest::build("hostile", "harmless");
    let mut watch = hostile_watch(&guest);
    watch.domains[0].ram[0] = Range { start: guest.symbol("victim"), end: guest.symbol("victim") + 32 };
    watch.domains[1].may_store = vec![Range { start: guest.symbol("victim") + 40, end: guest.symbol("victim") + 41 }];
    let summary = guest.run(watch).summary;
    assert!(summary.is_clean(), "{:?}", summary.violations);
    assert_eq!((summary.witness.checked_slices, summary.witness.stores), (2, 2));
}

#[test]
fn kernel_text_is_entered_by_exceptions_only() {
    let guest = Guest::build("straddle", "entry");
    let mut watch = guest.watch();
    // A kernel that ends where the system call's handler begins: going on there is then no exception entry.
    watch.vectors.retain(|vector| *vector != guest.symbol("on_svc"));
    let summary = guest.run(watch).summary;
    let entry = summary.violations.iter().find(|violation| violation.kind == ViolationKind::KernelEntry);
    assert_eq!(entry.map(|violation| violation.address), Some(guest.symbol("on_svc")));
}

#[test]
fn a_kernel_that_does_not_look_before_a_switch_is_blamed_and_so_is_one_that_strays() {
    let guest = Guest::build("switch", "switch");
    let watch = Watch { kernel_devices: vec![Range { start: 0xe000_e000, end: 0xe000_f000 }], ..guest.watch() };
    let summary = guest.run(watch).summary;
    assert_eq!(summary.end.status, Some(0));
    let [late, device] = &summary.violations[..] else { panic!("{:?}", summary.violations) };
    assert_eq!((late.kind, late.domain), (ViolationKind::LateFault, 4));
    assert_eq!((device.kind, device.pc), (ViolationKind::KernelDevice, guest.symbol("straying")));
    assert_eq!(device.address, 0xe000_1004);
    assert!(guest.run(guest.watch()).summary.is_clean(), "nothing is said about a kernel whose devices are not known");
}
