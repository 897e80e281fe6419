//! The two numbers of MxU 5.1, the states that they belong to, and what of them is of the measurement.

use super::{Access, DATA, Rig, VIRT};
use crate::below::Served;
use crate::mmu::Found;
use crate::pipeline::{CostTable, Scoreboard};
use crate::profile::tests::xc7z020;
use crate::thumb::classify;

/// Cycles that the paper's figures hold besides the load: 6 for a hit, of which 4 are the load's (7-cpu.com). A single load is timed
/// between two reads of a counter, which wait for it; a chain of loads is not.
const AROUND: u32 = 2;

/// Cycles from a load to one whose address it loads (`ldr r0, [r0]`), everything hitting.
fn load_to_load() -> u32 {
    let table = CostTable::new(&xc7z020().pipeline);
    let insn = classify(&0x6800u16.to_le_bytes());
    let mut board = Scoreboard::new();
    board.issue(&table, &insn);
    board.issue(&table, &insn)
}

/// A hit: the page in the micro-TLB, the line in the level-1 data cache. 4 cycles and the measurement's 2, none added by the memory system.
#[test]
fn a_load_that_hits_costs_six_cycles() {
    let mut rig = Rig::ddr();
    rig.load(VIRT);
    let hit = rig.access(VIRT, 4, false);
    assert_eq!((hit.cycles, hit.found), (0, Found::Micro));
    assert_eq!(load_to_load() + hit.cycles, 4);
    assert_eq!(load_to_load() + hit.cycles + AROUND, 6);
}

/// A miss: no TLB has the page, neither cache has a line of either descriptor, DRAM has other rows open than theirs and is
/// idle, and the data is in the level-1 cache. 6 + 7 for the main TLB + 1 + 2 levels of (3 + 19 through the level-2 cache +
/// 168 + 20 for the row) = 434.
#[test]
fn a_load_that_misses_both_tlbs_costs_434_cycles() {
    let mut rig = Rig::ddr();
    rig.load(VIRT);
    for addr in rig.descriptors() {
        rig.evict(addr);
    }
    rig.flush_tlb();
    rig.system.idle(100_000);
    let access = Access { virt: VIRT, phys: Some(DATA), beyond: None, size: 4, store: false };
    let hits = rig.system.counters().dcache_hits;
    let miss = rig.system.data(access, &rig.tables);
    assert_eq!(miss.found, Found::Walk { levels: 2, slowest: Served::Memory });
    assert_eq!(rig.system.counters().dcache_hits, hits + 1, "the data is in the level-1 cache");
    assert_eq!((miss.cycles, miss.translation, miss.violation), (428, 428, None));
    assert_eq!(load_to_load() + miss.cycles + AROUND, 434);
}

/// The profile is frozen: its bytes are those that the README records. Whoever changes a parameter has to say so there,
/// with the date, before a figure is run again.
#[test]
fn the_profile_is_the_one_on_record() {
    let fnv = |text: &str| {
        text.bytes()
            .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
    };
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../timing/README.md")).unwrap();
    let hash = std::format!("{:016x}", fnv(&crate::profile::tests::application_text()));
    assert!(readme.contains(&hash), "the hash of the profile xc7z020 is now {hash}");
}
