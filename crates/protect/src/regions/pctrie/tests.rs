//! The trie against a plain map of granules, over long random sequences.

use super::*;
use crate::pmsav7::{RegionRegs, encode_one, span_of};
use crate::testing::Rng;
use crate::{Access, MemType, Span};
use std::collections::BTreeMap;
use std::vec;
use std::vec::Vec;

/// The most nodes on a path when no granule is smaller than `2^granule_log2` bytes.
fn depth_bound(granule_log2: u32) -> usize {
    (1..MAX_DEPTH).find(|&depth| SHIFTS[depth - 1] <= granule_log2).unwrap_or(MAX_DEPTH)
}

/// Every mapped granule and the region that holds it.
struct Model {
    granule: u32,
    map: BTreeMap<u32, RegionRegs>,
    regions: Vec<RegionRegs>,
}

impl Model {
    fn granules(&self, regs: RegionRegs) -> Vec<u32> {
        let size = 1u64 << regs.size_log2();
        (0..size / u64::from(self.granule))
            .map(|i| (u64::from(regs.base()) + i * u64::from(self.granule)) as u32)
            .filter(|&addr| regs.contains(addr))
            .collect()
    }

    fn overlaps(&self, regs: RegionRegs) -> bool {
        self.granules(regs).iter().any(|addr| self.map.contains_key(addr))
    }
}

/// A region of some size in one of a few areas, with any sub-regions on, whose granule is at least `granule`.
fn random_region(rng: &mut Rng, granule_log2: u32, spread_log2: u32) -> RegionRegs {
    const AREAS: [u32; 4] = [0, 0x2000_0000, 0x6000_0000, 0xc000_0000];
    let size_log2 = (granule_log2 + rng.below(6) as u32).max(8);
    let area = AREAS[rng.below(4) as usize];
    let base = area + ((rng.below(1 << spread_log2) as u32) & !((1 << size_log2) - 1));
    let srd = if size_log2 >= granule_log2 + 3 && !rng.chance(3) { rng.below(255) as u32 } else { 0 };
    RegionRegs { rbar: base, rasr: 0x130b_0000 | srd << 8 | (size_log2 - 1) << 1 | 1 }
}

/// Checks the invariants of every node: entries that hold leaves tell the truth, prefixes are right, nothing is superfluous.
fn assert_canonical(trie: &PcTrie<'_, RegionRegs>, granule_log2: u32) {
    fn walk(trie: &PcTrie<'_, RegionRegs>, entry: u32, above: Option<u32>, depth: usize, nodes: &mut usize) {
        if entry & LEAF != 0 {
            assert!(entry == trie.nothing() || trie.store.leaf(entry - LEAF).is_enabled());
            return;
        }
        *nodes += 1;
        let shift = entry & LOW;
        assert!(SHIFTS.contains(&shift) && above.is_none_or(|above| shift < above), "shifts decrease");
        assert!(depth < MAX_DEPTH);
        let mut seen: Vec<u32> = trie.words(entry).filter(|&e| e != trie.nothing()).collect();
        seen.dedup();
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.len() > 1, "a node that tells nothing apart: {seen:x?}");
        for below in seen {
            walk(trie, below, Some(shift), depth + 1, nodes);
        }
    }
    let mut nodes = 0;
    walk(trie, trie.root, None, 0, &mut nodes);
    assert_eq!(nodes + trie.free_nodes(), trie.store.nodes(), "no node is lost");
    let deepest = trie.iter().flat_map(|r| Registers::keys(r).map(|k| k.base)).map(|a| trie.depth_of(a)).max();
    assert!(deepest.unwrap_or(0) <= depth_bound(granule_log2));
}

fn run(seed: u64, granule_log2: u32, spread_log2: u32, nodes: usize, leaves: usize, steps: usize) -> [usize; 5] {
    let mut rng = Rng::new(seed);
    let mut node_arena = vec![[0xdead_beef; NODE_WORDS]; nodes];
    let mut leaf_arena = vec![RegionRegs { rbar: 0xffff_ffff, rasr: 0xffff_ffff }; leaves];
    let mut trie = PcTrie::new(&mut node_arena, &mut leaf_arena);
    let mut model = Model { granule: 1 << granule_log2, map: BTreeMap::new(), regions: Vec::new() };
    let mut seen = [0; 5];
    for step in 0..steps {
        if rng.below(100) < 55 {
            let regs = random_region(&mut rng, granule_log2, spread_log2);
            let free = trie.free_nodes();
            match trie.insert(regs) {
                Ok(_) => {
                    assert!(!model.overlaps(regs));
                    model.granules(regs).into_iter().for_each(|addr| assert!(model.map.insert(addr, regs).is_none()));
                    model.regions.push(regs);
                    seen[0] += 1;
                }
                Err(TrieError::Overlap { with }) => {
                    assert!(model.overlaps(regs) && model.regions.contains(&with));
                    seen[1] += 1;
                }
                Err(TrieError::NoLeaves { capacity }) => {
                    assert!(capacity == leaves && model.regions.len() == leaves);
                    seen[2] += 1;
                }
                Err(TrieError::NoNodes { available }) => {
                    assert!(available == free && trie.free_nodes() == free && !model.overlaps(regs));
                    seen[3] += 1;
                }
                Err(other) => panic!("{other:?}"),
            }
        } else if !model.regions.is_empty() {
            let regs = model.regions.swap_remove(rng.below(model.regions.len() as u64) as usize);
            assert_eq!(trie.remove(regs), Ok(regs));
            assert_eq!(trie.remove(regs), Err(TrieError::NotMapped));
            model.map.retain(|_, owner| *owner != regs);
            seen[4] += 1;
        }
        for _ in 0..20 {
            let near = random_region(&mut rng, granule_log2, spread_log2).base();
            let addr = near.wrapping_add(rng.below(1 << (granule_log2 + 3)) as u32);
            let expected = model.map.get(&(addr >> granule_log2 << granule_log2)).copied();
            assert_eq!(trie.lookup(addr), expected, "{addr:#x}");
        }
        assert_eq!(trie.len(), model.regions.len());
        let from = random_region(&mut rng, granule_log2, spread_log2).base() ^ (1 << granule_log2);
        let next = model.map.range(from..).next().map(|(&addr, &regs)| (addr, regs));
        assert_eq!(trie.next(from), next, "{from:#x}");
        if step % 32 == 0 {
            assert_canonical(&trie, granule_log2);
            let mut listed: Vec<_> = trie.iter().map(|regs| (regs.rbar, regs.rasr)).collect();
            let mut known: Vec<_> = model.regions.iter().map(|regs| (regs.rbar, regs.rasr)).collect();
            listed.sort_unstable();
            known.sort_unstable();
            assert_eq!(listed, known);
            for (&addr, &regs) in &model.map {
                assert_eq!(trie.lookup(addr + rng.below(1 << granule_log2) as u32), Some(regs));
            }
        }
    }
    seen
}

#[test]
fn long_random_sequences_agree_with_a_plain_map() {
    // Frames of 64 KiB over 4 MiB and 64 MiB areas; granules of 32 bytes; and tiny arenas that run out.
    let [inserted, overlaps, _, _, removed] = run(30, 16, 22, 64, 200, 3_000);
    assert!(inserted > 200 && overlaps > 200 && removed > 200, "{inserted} {overlaps} {removed}");
    run(31, 16, 26, 200, 200, 800);
    run(32, 5, 12, 300, 300, 1_000);
    run(33, 5, 24, 600, 300, 500);
    let [.., no_leaves, no_nodes, removed] = run(34, 16, 26, 5, 12, 5_000);
    assert!(no_leaves > 20 && no_nodes > 50 && removed > 100, "{no_leaves} {no_nodes}");
}

#[test]
fn the_depth_is_what_the_documentation_says() {
    assert_eq!([5, 9, 10, 15, 16, 21, 22, 25, 26].map(depth_bound), [5, 5, 4, 4, 3, 3, 2, 2, 1]);
    let frame = |base| encode_one(Span::new(base, 0x1_0000), Access::RW, MemType::WriteBack).unwrap();
    let mut nodes = [[0; NODE_WORDS]; 4];
    let mut leaves = [RegionRegs::DISABLED; 80];
    let mut trie = PcTrie::new(&mut nodes, &mut leaves);
    trie.insert(frame(0x6000_0000)).unwrap();
    assert_eq!(trie.depth_of(0x6000_0000), 0);
    for i in 1..64 {
        trie.insert(frame(0x6000_0000 + i * 0x1_0000)).unwrap();
    }
    assert_eq!((trie.depth_of(0x6012_3456), trie.free_nodes()), (1, 3));
    trie.insert(frame(0)).unwrap();
    assert_eq!((trie.depth_of(0x6012_3456), trie.free_nodes()), (2, 2));
    trie.insert(frame(0x6040_0000)).unwrap();
    assert_eq!((trie.depth_of(0x6012_3456), trie.free_nodes()), (3, 1));
}

#[test]
fn a_hole_is_never_served_by_the_region_around_it() {
    let mut nodes = [[0; NODE_WORDS]; 4];
    let mut leaves = [RegionRegs::DISABLED; 4];
    let mut trie = PcTrie::new(&mut nodes, &mut leaves);
    // Every second 64 KiB frame of 512 KiB, with different rights for the odd and the even ones.
    let even = RegionRegs { rbar: 0x6000_0000, rasr: 0x130b_0000 | 0xaa << 8 | 18 << 1 | 1 };
    let odd = RegionRegs { rbar: 0x6000_0000, rasr: 0x120b_0000 | 0x55 << 8 | 18 << 1 | 1 };
    trie.insert(even).unwrap();
    assert_eq!(trie.lookup(0x6000_ffff), Some(even));
    assert_eq!((trie.lookup(0x6001_0000), trie.lookup(0x6008_0000), trie.lookup(0x5fff_ffff)), (None, None, None));
    trie.insert(odd).unwrap();
    for frame in 0..8 {
        let expected = if frame % 2 == 0 { even } else { odd };
        assert_eq!(trie.lookup(0x6000_0000 + frame * 0x1_0000 + 0x8000), Some(expected));
    }
    assert_eq!(trie.remove(even), Ok(even));
    assert_eq!((trie.lookup(0x6000_0000), trie.lookup(0x6001_0000)), (None, Some(odd)));
}

#[test]
fn malformed_regions_and_empty_arenas_are_refused() {
    let frame = encode_one(Span::new(0, 0x1_0000), Access::RW, MemType::WriteBack).unwrap();
    let mut trie = PcTrie::new(&mut [], &mut []);
    assert_eq!(trie.insert(frame), Err(TrieError::NoLeaves { capacity: 0 }));
    assert_eq!((trie.lookup(0), trie.remove(frame)), (None, Err(TrieError::NotMapped)));
    let mut leaves = [RegionRegs::DISABLED; 2];
    let mut trie = PcTrie::new(&mut [], &mut leaves);
    for bad in [
        RegionRegs { rasr: frame.rasr & !1, ..frame },
        RegionRegs { rbar: 0x8000, ..frame },
        RegionRegs { rasr: frame.rasr | 0xff00, ..frame },
        RegionRegs { rbar: 0, rasr: 3 << 1 | 1 },
        RegionRegs { rbar: 0, rasr: 5 << 1 | 1 | 1 << 8 },
        RegionRegs { rbar: 0, rasr: 6 << 1 | 1 },
    ] {
        assert_eq!(trie.insert(bad), Err(TrieError::Misaligned), "{bad:x?}");
    }
    assert_eq!(span_of(frame), Some(Span::new(0, 0x1_0000)));
    assert_eq!(trie.insert(frame), Ok(0));
    let beside = RegionRegs { rbar: 0x1_0000, ..frame };
    assert_eq!(trie.insert(beside), Err(TrieError::NoNodes { available: 0 }));
    assert_eq!(trie.insert(frame), Err(TrieError::Overlap { with: frame }));
    assert_eq!(trie.lookup(0x1234), Some(frame));
}

#[test]
fn the_whole_address_space_is_one_leaf() {
    let mut leaves = [RegionRegs::DISABLED; 1];
    let mut nodes = [[0; NODE_WORDS]; 1];
    let mut trie = PcTrie::new(&mut nodes, &mut leaves);
    let all = RegionRegs { rbar: 0, rasr: 0x130b_003f };
    trie.insert(all).unwrap();
    assert_eq!([0, u32::MAX].map(|addr| trie.lookup(addr)), [Some(all); 2]);
    trie.remove(all).unwrap();
    assert!(trie.is_empty() && trie.lookup(0).is_none());
}
