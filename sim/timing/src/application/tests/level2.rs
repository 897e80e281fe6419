//! Level-2 lockdown by way, and the prefetcher.

use super::{DATA, DDR_PAGES, DDR_ROOT, OUTER_WALKS, Rig, VIRT};
use crate::below::Served;
use crate::cp15::Operation;
use crate::mmu::Found;
use crate::pl310::{self, Master};

fn lock(rig: &mut Rig, master: Master, mask: u32) {
    rig.system.control_l2(pl310::Operation::Lockdown { master, mask });
}

fn in_level2(rig: &Rig, addr: u32) -> bool {
    let l2 = rig.system.side.below.l2.as_ref().unwrap();
    l2.cache().probe(u64::from(addr >> 5)).is_some()
}

/// A way is 64 KiB, so lines 64 KiB apart share a set. Of eight that were loaded with `mask` locked, how many are kept?
fn kept(mask: u32) -> usize {
    let mut rig = Rig::ddr();
    lock(&mut rig, Master::Data, mask);
    let lines = (0..8).map(|n| 0x1000_0040 + n * 0x1_0000);
    for addr in lines.clone() {
        rig.load(addr);
    }
    lines.filter(|&addr| in_level2(&rig, addr)).count()
}

/// As many lines of a set stay as ways are open; with all locked nothing is kept, and everything still works.
#[test]
fn locked_ways_take_nothing_from_zero_to_eight() {
    for locked in 0..=8u32 {
        let mask = (1 << locked) - 1;
        assert_eq!(kept(mask), 8 - locked as usize, "{locked}");
    }
}

/// With all ways locked each load goes past the cache: 19 for the look-up, 168 and the row.
#[test]
fn with_all_ways_locked_every_access_bypasses() {
    let mut rig = Rig::ddr();
    rig.load(VIRT);
    lock(&mut rig, Master::Data, 0xFF);
    for n in 1..5 {
        assert_eq!(rig.load(VIRT + n * 32), 19 + 168, "in the open row");
    }
    rig.evict_level1(DATA + 32);
    assert_eq!(rig.load(VIRT + 32), 19 + 168, "not kept");
    rig.evict_level1(DATA);
    assert_eq!(rig.load(VIRT), 19, "what was there before is served");
}

/// Instruction fetches have their own register: locked for data, a way still takes instructions.
#[test]
fn masters_are_locked_apart() {
    let mut rig = Rig::ddr();
    lock(&mut rig, Master::Data, 0xFF);
    rig.load(VIRT);
    rig.system.fetch(VIRT + 0x800, None, &rig.tables);
    assert!(!in_level2(&rig, DATA) && in_level2(&rig, DATA + 0x800));
    lock(&mut rig, Master::Instruction, 0xFF);
    rig.system.fetch(VIRT + 0x820, None, &rig.tables);
    assert!(!in_level2(&rig, DATA + 0x820));
}

/// The recipe for tables in locked ways (UG585 3.4.3): lock all ways but 0, read the tables, lock way 0 and open the rest.
/// Then no traffic reaches them: a walk costs 14 + 2 x 19, from a locked way. Without the last step they are evicted.
#[test]
fn tables_in_a_locked_way_survive_any_traffic() {
    for (mask, expected, cycles) in [(0x01, Served::LockedWay, 14 + 2 * 19), (0x00, Served::Memory, 14 + 2 * 207)] {
        let mut rig = Rig::new(DDR_ROOT, DDR_PAGES, OUTER_WALKS);
        lock(&mut rig, Master::Data, 0xFE);
        // The load that makes the walk goes to a line of another set: one at DATA would take the place of the table.
        rig.load(VIRT + 0x800);
        lock(&mut rig, Master::Data, mask);
        // Every line of a megabyte, twice the cache: sections, so that these loads' own walks are few.
        for line in 0..0x8000 {
            rig.load(0x1000_0000 + line * 32);
        }
        rig.load(VIRT);
        if mask == 0 {
            // The walk of the load brought them in again.
            rig.descriptors().into_iter().for_each(|addr| rig.evict(addr));
        }
        rig.flush_tlb();
        rig.system.idle(100_000);
        let charge = rig.access(VIRT, 4, false);
        assert_eq!(charge.found, Found::Walk { levels: 2, slowest: expected });
        assert_eq!(charge.cycles, cycles);
    }
}

/// Lines 0, 1, 2 are missed (187 each in the open row); the third miss at one stride starts the stream, and line 3 is asked
/// for then. It takes 187 as well, so a load at once waits for all of it and one after 1000 cycles for nothing. The stream
/// ends with the 4 KiB.
#[test]
fn a_stream_is_read_ahead() {
    let mut rig = Rig::ddr();
    rig.load(VIRT);
    rig.operate(Operation::AuxiliaryControl(1 << 2));
    assert_eq!([1, 2, 3].map(|n| rig.load(VIRT + n * 32)), [187; 3]);
    assert_eq!([4, 5, 6].map(|n| rig.load(VIRT + n * 32)), [0; 3]);
    assert_eq!(rig.access(VIRT + 7 * 32, 4, false).cycles, 187, "asked for just now");
    for n in 8..128 {
        assert_eq!(rig.load(VIRT + n * 32), 0, "{n}");
    }
    // Next page: another translation (its descriptor is in level 1), and nothing was asked for.
    assert_eq!(rig.load(VIRT + 128 * 32), 14 + 207);
    // Off again: every line is missed.
    rig.operate(Operation::AuxiliaryControl(0));
    assert_eq!([129, 130, 131, 132].map(|n| rig.load(VIRT + n * 32)), [187; 4]);
}

/// A stride of four lines downwards is followed too; a barrier ends it; scattered lines start nothing.
#[test]
fn strides_are_recognised_and_barriers_end_them() {
    let mut rig = Rig::ddr();
    rig.operate(Operation::AuxiliaryControl(1 << 2));
    for n in [100, 96, 92] {
        rig.load(VIRT + n * 32);
    }
    assert_eq!(rig.load(VIRT + 88 * 32), 0);
    rig.operate(Operation::SyncBarrier);
    assert_eq!(rig.load(VIRT + 84 * 32), 0, "asked for before the barrier");
    assert_eq!(rig.load(VIRT + 80 * 32), 187);
    for n in [3, 50, 20, 70, 35] {
        rig.load(VIRT + n * 32);
    }
    assert_eq!([36, 38].map(|n| rig.load(VIRT + n * 32)), [187; 2]);
}

/// A changed line goes from level 1 to level 2, and to DRAM only when that lets it go or is told to.
#[test]
fn changed_lines_go_down_level_by_level() {
    let mut rig = Rig::ddr();
    rig.load(VIRT);
    rig.access(VIRT, 4, true);
    rig.evict_level1(DATA);
    let dirty = |rig: &Rig| rig.system.side.below.l2.as_ref().unwrap().cache().is_dirty(u64::from(DATA >> 5));
    assert!(dirty(&rig));
    rig.system.idle(1000);
    let began = rig.system.now();
    assert_eq!(rig.system.control_l2(pl310::Operation::Ways { mask: 0xFF, clean: true, invalidate: false }), 0);
    // One line in the open row: 10, and three further beats of 2.
    assert_eq!(rig.system.control_l2(pl310::Operation::Sync), 16);
    assert_eq!(rig.system.now(), began + 16);
    assert!(!dirty(&rig));
    assert_eq!(rig.load(VIRT), 19);
}

/// A disturbance empties both levels but for locked ways: a walk whose tables lie in a locked way stays there, data comes from memory.
#[test]
fn a_disturbance_leaves_locked_ways() {
    let mut rig = Rig::new(super::DDR_ROOT, super::DDR_PAGES, super::OUTER_WALKS);
    rig.flush_tlb();
    lock(&mut rig, Master::Data, 0xFE);
    rig.load(super::VIRT + 0x40);
    lock(&mut rig, Master::Data, 0x01);
    let tables = rig.descriptors();
    assert!(tables.iter().all(|addr| in_level2(&rig, *addr)));
    rig.load(super::VIRT + 0x1000);
    assert!(in_level2(&rig, super::DATA + 0x1000));
    rig.system.disturb();
    assert!(tables.iter().all(|addr| in_level2(&rig, *addr)));
    assert!(!in_level2(&rig, super::DATA + 0x1000));
    let before = rig.system.mmu_counters().slowest;
    let hits = rig.system.counters().dcache_hits;
    rig.load(super::VIRT + 0x40);
    let after = rig.system.mmu_counters().slowest;
    assert_eq!((after[1] - before[1], after[4] - before[4]), (1, 0), "the walk was served by the locked way");
    assert_eq!(rig.system.counters().dcache_hits, hits, "the data was gone from the level-1 cache");
}
