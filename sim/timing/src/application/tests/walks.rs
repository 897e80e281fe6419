//! Walks: what they cost by where the tables are, and what they must not read.

use super::{
    Access, CACHED_WALKS, DATA, DDR_PAGES, DDR_ROOT, OCM_PAGES, OCM_ROOT, OUTER_WALKS, Rig, UNCACHED_WALKS, VIRT,
};
use crate::application::Violation;
use crate::below::Served;
use crate::cp15::{CacheOperation, Operation, TlbOperation};
use crate::mmu::Found;
use crate::pl310;
use crate::tlb::Part;

/// Cycles and slowest answer of a walk for VIRT, whose data is in the level-1 cache.
fn walk(rig: &mut Rig) -> (u32, Served) {
    rig.flush_tlb();
    rig.system.idle(100_000);
    let charge = rig.access(VIRT, 4, false);
    let Found::Walk { slowest, .. } = charge.found else { panic!("{:?}", charge.found) };
    (charge.cycles, slowest)
}

/// The main TLB 7, start 1, two levels of 3: 14. From level 2 and on-chip RAM 19 for each level more, from DRAM 187, or 207
/// where a row has to be opened.
#[test]
fn a_walk_costs_what_its_tables_cost() {
    // After a first walk both descriptors are in the level-1 cache.
    let mut rig = Rig::ddr();
    rig.load(VIRT);
    assert_eq!(walk(&mut rig), (14, Served::Level1));
    for addr in rig.descriptors() {
        rig.evict_level1(addr);
    }
    assert_eq!(walk(&mut rig), (14 + 2 * 19, Served::Level2));
    // One descriptor from DRAM, one from level 2, as the other walks of this test left it in level 1: 14 + 207.
    rig.evict(DDR_PAGES);
    assert_eq!(walk(&mut rig), (14 + 207, Served::Memory));

    let mut rig = Rig::new(DDR_ROOT, DDR_PAGES, OUTER_WALKS);
    rig.load(VIRT);
    for _ in 0..3 {
        assert_eq!(walk(&mut rig), (14 + 2 * 19, Served::Level2), "level 1 is not asked");
    }
    // Past both caches: no look-up in level 2. The walk before opened the row of the second descriptor: both rows change.
    let mut rig = Rig::new(DDR_ROOT, DDR_PAGES, UNCACHED_WALKS);
    rig.load(VIRT);
    for _ in 0..3 {
        assert_eq!(walk(&mut rig), (14 + 2 * 188, Served::Memory));
    }
}

/// On-chip RAM is not behind the level-2 cache: whatever is cached, locked or evicted there, 19 for each level.
#[test]
fn tables_in_on_chip_ram_need_no_other_level() {
    for walks in [OUTER_WALKS, UNCACHED_WALKS] {
        let mut rig = Rig::new(OCM_ROOT, OCM_PAGES, walks);
        rig.load(VIRT);
        rig.system.control_l2(pl310::Operation::Lockdown { master: pl310::Master::Data, mask: 0xFF });
        for _ in 0..3 {
            assert_eq!(walk(&mut rig), (14 + 2 * 19, Served::BesideL2));
        }
    }
    // With cacheable walks the level-1 cache keeps them.
    let mut rig = Rig::new(OCM_ROOT, OCM_PAGES, CACHED_WALKS);
    rig.load(VIRT);
    assert_eq!(walk(&mut rig), (14, Served::Level1));
}

/// A section is one descriptor: 7 + 1 + 3 + 207. Data comes after it: 19 + 168, and another row 20.
#[test]
fn a_section_is_one_read() {
    let mut rig = Rig::ddr();
    assert_eq!(rig.load(0x0500_0000), 11 + 207 + 207);
    assert_eq!(rig.system.mmu_counters().slowest, [0, 0, 0, 0, 1]);
}

/// A DETERMINISTIC page: locked, its walk never happens again. After a switch of the address space and everything that the
/// caches could lose: 7 cycles for the main TLB, though its tables are in DRAM.
#[test]
fn a_locked_page_costs_a_main_tlb_hit() {
    let mut rig = Rig::ddr();
    rig.operate(Operation::TlbLockdown { preserve: true, victim: 2 });
    rig.load(VIRT);
    rig.operate(Operation::TlbLockdown { preserve: false, victim: 0 });
    for addr in rig.descriptors() {
        rig.evict(addr);
    }
    rig.flush_tlb();
    for asid in [2, 1] {
        rig.operate(Operation::ContextId(asid));
    }
    let charge = rig.access(VIRT, 4, false);
    assert_eq!((charge.cycles, charge.found), (7, Found::Main(Part::Locked(2))));
    assert_eq!(rig.system.mmu().locked()[2].unwrap().mapping.phys, DATA);
}

/// Two words in two pages: two translations, and two lines.
#[test]
fn an_access_across_pages_is_translated_twice() {
    let mut rig = Rig::ddr();
    rig.load(VIRT);
    rig.load(VIRT + 0x1000);
    rig.operate(Operation::ContextId(1));
    let before = rig.system.mmu_counters().micro_misses;
    let charge = rig.access(VIRT + 0xFFC, 8, false);
    assert_eq!(rig.system.mmu_counters().micro_misses, before + 2);
    assert_eq!(charge.translation, 14);
    // The line at the end of the first page is new, in a row that is no longer open; the one at the start of the second is
    // there. 8-byte loads need word alignment only.
    assert_eq!(charge.cycles, 14 + 19 + 168 + 20);
}

#[test]
fn what_is_not_mapped_costs_its_walk_and_says_why() {
    let mut rig = Rig::ddr();
    rig.tables.set(DDR_PAGES, 0);
    rig.system.idle(100_000);
    let charge = rig.access(VIRT, 4, false);
    assert_eq!(charge.fault, Some(crate::vmsa::Fault::SecondLevel));
    assert_eq!((charge.cycles, charge.violation), (14 + 2 * 207, None));
    assert_eq!(rig.system.counters().dcache_hits, 0);
    // A fault is not held: the page is reached as soon as the table says so.
    rig.tables.set(DDR_PAGES, DATA | super::PAGE);
    assert_eq!(rig.access(VIRT, 4, false).fault, None);
}

/// The kernel stores a descriptor through the cache while walks do not look there: the walk reads the old one. After a clean
/// (by an address mapped where the table is) it does not.
#[test]
fn a_walk_past_a_changed_line_is_seen() {
    let mut rig = Rig::new(DDR_ROOT, DDR_PAGES, OUTER_WALKS);
    rig.access(DDR_PAGES, 4, true);
    let charge = rig.access(VIRT, 4, false);
    let expected = Violation::UncleanTable { virt: VIRT, descriptor: DDR_PAGES, cache: Served::Level1 };
    assert_eq!(charge.violation, Some(expected));
    rig.operate(Operation::Cache(CacheOperation::DataLine { addr: DDR_PAGES, clean: true, invalidate: false }));
    rig.flush_tlb();
    assert_eq!(rig.access(VIRT, 4, false).violation, None, "level 2 has it, and the walk looks there");
    // The same with walks that do not look into level 2 either.
    rig.operate(Operation::Table0(DDR_ROOT));
    rig.flush_tlb();
    let expected = Violation::UncleanTable { virt: VIRT, descriptor: DDR_PAGES, cache: Served::Level2 };
    assert_eq!(rig.access(VIRT, 4, false).violation, Some(expected));
}

#[test]
fn an_access_that_went_elsewhere_is_seen() {
    let mut rig = Rig::ddr();
    let access = |phys| Access { virt: VIRT + 4, phys: Some(phys), beyond: None, size: 4, store: false };
    for _ in 0..3 {
        assert_eq!(rig.system.data(access(DATA + 4), &rig.tables).violation, None);
    }
    let went = rig.system.data(access(DATA + 8), &rig.tables).violation;
    assert_eq!(went, Some(Violation::Elsewhere { virt: VIRT + 4, went: DATA + 8, expected: DATA + 4 }));
}

/// A page that is hit over and over is judged again as soon as its table changes; shareable memory is held in level 1 only by
/// a coherent core.
#[test]
fn a_page_in_use_is_judged_again() {
    let mut rig = Rig::ddr();
    rig.load(VIRT);
    assert_eq!([rig.load(VIRT), rig.load(VIRT + 4)], [0, 0]);
    let hits = rig.system.counters().dcache_hits;
    rig.load(VIRT + 8);
    assert_eq!(rig.system.counters().dcache_hits, hits + 1);
    rig.tables.set(DDR_PAGES, (DATA + 0x5000) | super::PAGE);
    let Some(Violation::Stale(stale)) = rig.access(VIRT + 8, 4, false).violation else { panic!("not seen") };
    assert_eq!(stale.tables.unwrap().phys, DATA + 0x5000);

    let mut rig = Rig::ddr();
    rig.tables.set(DDR_PAGES, DATA | 1 << 10 | super::PAGE);
    rig.load(VIRT);
    assert_eq!([rig.load(VIRT), rig.load(VIRT)], [19, 19], "level 2 serves it every time");
    rig.operate(Operation::AuxiliaryControl(1 << 6));
    assert_eq!([rig.load(VIRT), rig.load(VIRT)], [19, 0]);
}

/// Fetches have a micro-TLB of their own, and the same main TLB.
#[test]
fn fetches_are_translated_too() {
    let mut rig = Rig::ddr();
    rig.load(VIRT);
    rig.system.idle(100_000);
    let first = rig.system.fetch(VIRT, None, &rig.tables);
    assert_eq!(first.found, Found::Main(Part::Associative));
    // The line is in level 2, where the load left it.
    assert_eq!(first.cycles, 7 + 19);
    assert_eq!(rig.system.fetch(VIRT, Some(DATA), &rig.tables).cycles, 0);
    rig.operate(Operation::Cache(CacheOperation::InstructionLine(VIRT)));
    assert_eq!(rig.system.fetch(VIRT, None, &rig.tables).cycles, 19);
    rig.operate(Operation::Tlb(TlbOperation::Address { addr: VIRT, asid: 1 }));
    assert!(matches!(rig.system.fetch(VIRT, None, &rig.tables).found, Found::Walk { .. }));
}

/// Translation off, as at reset: addresses are what they are, data is strongly ordered.
#[test]
fn without_translation_nothing_is_looked_up() {
    let mut rig = Rig::ddr();
    rig.operate(Operation::Control(1 << 2));
    rig.system.idle(100_000);
    let charge = rig.access(0x0300_0000, 4, false);
    assert_eq!((charge.found, charge.cycles), (Found::Off, 168 + 20));
}
