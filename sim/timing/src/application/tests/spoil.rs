//! Caches and TLBs as bad as others can leave them.

use super::{DATA, Rig, VIRT};
use crate::mmu::Found;
use crate::pl310::{self, Master};

/// A load that misses everywhere walks, and each line that comes in throws a changed one out of the level-1 cache, which throws one out
/// of the level-2 cache.
#[test]
fn every_line_that_comes_in_writes_one_back() {
    // In another set than the descriptors.
    let at = VIRT + 0x40;
    let mut rig = Rig::ddr();
    rig.load(at);
    rig.load(at + 32);
    let emptied = {
        let mut other = Rig::ddr();
        other.load(at);
        other.system.disturb();
        other.access(at, 4, false).cycles + other.access(at + 32, 4, false).cycles
    };
    rig.system.idle(100_000);
    let before = rig.system.counters().write_backs;
    rig.system.spoil();
    let first = rig.access(at, 4, false);
    assert!(matches!(first.found, Found::Walk { levels: 2, .. }), "{:?}", first.found);
    let second = rig.access(at + 32, 4, false);
    assert!(first.cycles + second.cycles > emptied, "{first:?} {second:?} {emptied}");
    // Two descriptors and two lines.
    assert_eq!(rig.system.counters().write_backs - before, 4);
    assert_eq!(rig.load(at), 0, "what was loaded since is there");
}

/// Lines in ways that data may not fill stay.
#[test]
fn locked_ways_stay() {
    let mut rig = Rig::ddr();
    rig.load(VIRT);
    rig.system.control_l2(pl310::Operation::Lockdown { master: Master::Data, mask: 0xFF });
    rig.system.spoil();
    assert!(rig.system.side.below.l2.as_ref().unwrap().cache().probe(u64::from(DATA >> 5)).is_some());
}
