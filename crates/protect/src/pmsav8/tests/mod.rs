//! The compiler, leaves, and the trie over regions of any length.

use super::*;
use crate::regions::pctrie::{NODE_WORDS, PcTrie, TrieError};
use crate::regions::{Key, LEAST_PAGED_LOG2, Placement as _, Registers, Unit};
use crate::testing::Rng;
use crate::{Access, AccessKind, Data, MemType, Span};
use std::collections::BTreeMap;
use std::vec;
use std::vec::Vec;

fn random_span(rng: &mut Rng, spread_log2: u32, least: u64) -> Span {
    let area = [0u32, 0x1000_0000, 0x3800_0000, 0xfff0_0000][rng.below(4) as usize];
    let base = (u64::from(area) + (rng.below(1 << spread_log2) & !31)).min((1 << 32) - least);
    let most = 1 << rng.below(spread_log2.into());
    let len = (least + rng.below(most)) & !31;
    Span::new(base as u32, len.min((1 << 32) - base))
}

#[test]
fn a_region_is_what_was_asked_or_nothing() {
    let mut rng = Rng::new(1);
    for _ in 0..20_000 {
        let span = random_span(&mut rng, 20, 32);
        for access in [Access::NONE, Access::RO, Access::RW, Access::RX, Access::RWX] {
            for memory in [MemType::WriteBack, MemType::NonCacheable, MemType::Device, MemType::StronglyOrdered] {
                let Some(regs) = exact(span, access, memory) else {
                    assert!(access.exec && matches!(memory, MemType::Device | MemType::StronglyOrdered));
                    continue;
                };
                assert!(regs.is_enabled() && regs.is_well_formed());
                assert_eq!(regs.runs().collect::<Vec<_>>(), [span]);
                assert_eq!(regs.is_normal(), matches!(memory, MemType::WriteBack | MemType::NonCacheable));
                assert_eq!(regs.grants(AccessKind::Read), access.data != Data::None);
                assert_eq!(regs.grants(AccessKind::Write), access.data == Data::Rw);
                assert_eq!(regs.grants(AccessKind::Exec), access.exec);
                for slot in 0..8 {
                    let kept = regs.at_slot(slot);
                    assert_eq!((kept.slot(), kept.stored(), kept.plain()), (slot, regs, regs));
                    assert_eq!(kept.at_slot(7 - slot).slot(), 7 - slot);
                    let edges = [span.base, span.base.wrapping_sub(1), (span.end() - 1) as u32, span.end() as u32];
                    assert!(edges.into_iter().all(|at| kept.contains(at) == span.contains(at)));
                }
            }
        }
    }
    for (base, len) in [(0, 0), (16, 32), (0, 16), (0xffff_ffe0, 64), (32, 33)] {
        assert_eq!(exact(Span::new(base, len), Access::RW, MemType::WriteBack), None, "{base:#x} {len}");
    }
    assert!([0, 0xffff_ffff].into_iter().all(|at| !RegionRegs::NOWHERE.contains(at)));
}

#[test]
fn encodings_are_those_of_the_manual() {
    let regs = exact(Span::new(0x3800_0020, 0x60), Access::RW, MemType::WriteBack);
    assert_eq!(regs, Some(RegionRegs { rbar: 0x3800_0023, rlar: 0x3800_0061 }));
    let code = exact(Span::new(0x1000_0000, 0x9d800), Access::RX, MemType::WriteThrough);
    assert_eq!(code, Some(RegionRegs { rbar: 0x1000_0006, rlar: 0x1009_d7e3 }));
    let device = exact(Span::new(0x5020_0000, 0x1000), Access::RW, MemType::Device);
    assert_eq!(device, Some(RegionRegs { rbar: 0x5020_0003, rlar: 0x5020_0fe7 }));
    let all = exact(Span::new(0, 1 << 32), Access::RO, MemType::WriteBack);
    assert_eq!(all, Some(RegionRegs { rbar: 7, rlar: 0xffff_ffe1 }));
}

#[test]
fn any_length_stands_at_any_granule() {
    assert_eq!(placement_for(0, 1), None);
    let placement = placement_for(33, 1).unwrap();
    assert_eq!((placement.bytes(), placement.next_base(1), placement.fits_at(32)), (64, Some(32), true));
    assert_eq!(placement.next_base(0xffff_ffc0), Some(0xffff_ffc0));
    assert_eq!(placement.next_base(0xffff_ffc1), None);
    assert_eq!(Pmsav8::without(RegionRegs::DISABLED, 1), None);
    let page = placement_for(0x1000, 0x400).unwrap();
    assert_eq!((page.next_base(0x20), page.fits_at(0x420), page.fits_at(0x800)), (Some(0x400), false, true));
}

#[test]
fn keys_are_the_region_and_each_is_a_run_of_one_node() {
    let mut rng = Rng::new(2);
    let mut most = 0;
    let all = core::iter::once(Span::new(0x20, (1 << 32) - 0x40));
    let spans = (0..20_000).map(|_| random_span(&mut rng, 28, 256)).collect::<Vec<_>>();
    for span in all.chain(spans) {
        let keys: Vec<Key> = exact(span, Access::RW, MemType::WriteBack).unwrap().keys().collect();
        let mut at = u64::from(span.base);
        for key in &keys {
            assert_eq!(u64::from(key.base), at);
            at = u64::from(key.last) + 1;
            let shift = crate::regions::pctrie::SHIFTS.into_iter().find(|shift| *shift <= key.block_log2()).unwrap();
            let window = crate::regions::pctrie::window_log2(shift);
            assert_eq!(u64::from(key.base) >> window, u64::from(key.last) >> window, "{span:x?} {key:x?}");
        }
        assert_eq!(at, span.end());
        most = most.max(keys.len());
    }
    assert_eq!(most, 9);
}

/// Mapped regions by first address.
type Model = BTreeMap<u32, RegionRegs>;

fn holder(model: &Model, at: u32) -> Option<RegionRegs> {
    model.range(..=at).next_back().map(|(_, regs)| *regs).filter(|regs| regs.contains(at))
}

fn run(seed: u64, spread_log2: u32, nodes: usize, leaves: usize, steps: usize) -> [usize; 4] {
    let mut rng = Rng::new(seed);
    let mut node_arena = vec![[0xffff_ffff; NODE_WORDS]; nodes];
    let mut leaf_arena = vec![RegionRegs { rbar: 0xffff_ffff, rlar: 0xffff_ffff }; leaves];
    let mut trie = PcTrie::new(&mut node_arena, &mut leaf_arena);
    let mut model = Model::new();
    let mut seen = [0; 4];
    for step in 0..steps {
        let span = random_span(&mut rng, spread_log2, 1 << LEAST_PAGED_LOG2);
        let regs = exact(span, [Access::RW, Access::RX][rng.below(2) as usize], MemType::WriteBack).unwrap();
        if rng.chance(3) && !model.is_empty() {
            let at = *model.keys().nth(rng.below(model.len() as u64) as usize).unwrap();
            let regs = model.remove(&at).unwrap();
            assert_eq!(trie.remove(regs).map(Registers::plain), Ok(regs));
            assert_eq!(trie.remove(regs), Err(TrieError::NotMapped));
            seen[3] += 1;
        } else {
            let before = trie.free_nodes();
            let overlaps = model.values().any(|other| regs.meets(*other));
            match trie.insert(regs) {
                Ok(_) => {
                    assert!(!overlaps, "{regs:x?}");
                    model.insert(regs.base(), regs);
                    seen[0] += 1;
                }
                Err(TrieError::Overlap { with }) => {
                    assert!(overlaps && regs.meets(with));
                    seen[1] += 1;
                }
                Err(TrieError::NoNodes { .. } | TrieError::NoLeaves { .. }) => {
                    assert_eq!(trie.free_nodes(), before);
                    seen[2] += 1;
                }
                Err(error) => panic!("{error:?}"),
            }
        }
        let edges =
            |regs: &RegionRegs| [regs.base(), regs.base().wrapping_sub(1), regs.last(), regs.last().wrapping_add(1)];
        for at in model.values().flat_map(edges).chain(edges(&regs)) {
            assert_eq!(trie.lookup(at), holder(&model, at), "{at:#x} after {step}");
        }
        let from = span.base;
        let next = holder(&model, from).map(|regs| (from, regs));
        let next = next.or_else(|| model.range(from..).next().map(|(at, regs)| (*at, *regs)));
        assert_eq!(trie.next(from), next, "{from:#x}");
        assert_eq!(trie.iter().collect::<Vec<_>>(), model.values().copied().collect::<Vec<_>>());
    }
    let all: Vec<RegionRegs> = model.into_values().collect();
    all.into_iter().for_each(|regs| assert!(trie.remove(regs).is_ok()));
    assert_eq!(trie.free_nodes(), nodes, "an empty trie has no node");
    seen
}

#[test]
fn long_random_sequences_agree_with_a_plain_map() {
    let seen = run(3, 22, 400, 60, 2_000);
    assert!(seen[0] > 100 && seen[1] > 100 && seen[3] > 100, "{seen:?}");
    run(4, 27, 400, 60, 1_000);
    run(5, 12, 100, 60, 2_000);
    let seen = run(6, 24, 6, 12, 3_000);
    assert!(seen[2] > 100, "{seen:?}");
}

mod shadow;
