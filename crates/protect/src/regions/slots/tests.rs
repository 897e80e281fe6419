//! Slots: what is pinned stays, what is paged makes progress, and what no region cures is reported.

use super::*;
use crate::pmsav7::{RegionRegs, Shadow, encode_one};
use crate::regions::pctrie::{NODE_WORDS, PcTrie};
use crate::testing::Rng;
use crate::{Access, AccessKind, MemType, Span};
use std::vec::Vec;

const POLICIES: [Replacement; 3] = [Replacement::BitPlru, Replacement::RoundRobin, Replacement::Random];

fn frame(number: u32) -> RegionRegs {
    encode_one(Span::new(0x6000_0000 + number * 0x1_0000, 0x1_0000), Access::RW, MemType::WriteBack).unwrap()
}

fn address(number: u32) -> u32 {
    0x6000_0000 + number * 0x1_0000 + 0x42
}

fn pinned(count: usize) -> Vec<RegionRegs> {
    (0..count as u32)
        .map(|i| encode_one(Span::new(0x2000_0000 + i * 0x1000, 0x1000), Access::RW, MemType::WriteBack).unwrap())
        .collect()
}

/// Runs `test` with `slots` paged slots and `frames` frames in the trie.
fn with(slots: usize, frames: u32, policy: Replacement, test: impl FnOnce(Slots<RegionRegs>, PcTrie<'_, RegionRegs>)) {
    let mut nodes = [[0; NODE_WORDS]; 4];
    let mut leaves = [RegionRegs::DISABLED; 64];
    let mut trie = PcTrie::new(&mut nodes, &mut leaves);
    (0..frames).for_each(|number| assert!(trie.insert(frame(number)).is_ok()));
    test(Slots::new(&pinned(REGIONS - slots), 1, policy).unwrap(), trie);
}

fn present(slots: &Slots<RegionRegs>, number: u32) -> bool {
    slots.image().regs.iter().any(|regs| regs.is_enabled() && regs.contains(address(number)))
}

#[test]
fn the_image_is_in_store_order_and_loads_what_is_pinned() {
    with(3, 1, Replacement::BitPlru, |slots, _| {
        let words: Vec<u32> = slots.image().regs.iter().flat_map(|regs| [regs.rbar, regs.rasr]).collect();
        assert_eq!(words.len(), 16);
        let mut shadow = Shadow::new();
        // Two block stores of eight words to RBAR, RASR and the three alias pairs.
        for (i, word) in words.iter().enumerate() {
            shadow.write(0x0c + 4 * (i as u32 % 8), *word).unwrap();
        }
        shadow.write(0x04, 0b101).unwrap();
        for i in 0..5 {
            let attr = shadow.permits(0x2000_0000 + i * 0x1000, 0x1000, false, AccessKind::Write).unwrap();
            assert_eq!(attr.region, Some(i as u8));
        }
        assert!(shadow.permits(0x2000_5000, 1, false, AccessKind::Read).is_err());
        assert_eq!((slots.paged_mask(), core::mem::size_of::<RegionImage<RegionRegs>>()), (0xe0, 64));
    });
}

#[test]
fn a_fill_writes_one_paged_slot_and_nothing_else() {
    for policy in POLICIES {
        with(3, 16, policy, |mut slots, mut trie| {
            let mut rng = Rng::new(40);
            for _ in 0..2_000 {
                let number = rng.below(16) as u32;
                let (before, victim) = (*slots.image(), slots.victim().unwrap());
                if present(&slots, number) {
                    assert_eq!(slots.fill(&mut trie, address(number)), Err(Miss::Present));
                    assert_eq!(*slots.image(), before);
                    continue;
                }
                let regs = slots.fill(&mut trie, address(number)).unwrap();
                let victim = if policy == Replacement::Random { regs.rbar as usize & 7 } else { victim };
                assert_eq!(regs, frame(number).at_slot(victim as u32));
                assert!(victim >= 5);
                for slot in 0..REGIONS {
                    let expected = if slot == victim { regs } else { before.regs[slot] };
                    assert_eq!(slots.image().regs[slot], expected);
                }
            }
            assert_eq!(slots.fill(&mut trie, 0x7000_0000), Err(Miss::Unmapped));
            assert_eq!(slots.fill(&mut trie, 0x2000_0000), Err(Miss::Unmapped));
        });
    }
}

#[test]
fn victims_follow_the_policy() {
    for (policy, order) in POLICIES.into_iter().zip([[5, 6, 7, 5, 6, 5, 7, 5, 6, 5], [5, 6, 7, 5, 6, 7, 5, 6, 7, 5]]) {
        with(3, 10, policy, |mut slots, mut trie| {
            let seen = core::array::from_fn(|i| slots.fill(&mut trie, address(i as u32)).unwrap().rbar & 7);
            assert_eq!(seen, order, "{policy:?}");
        });
    }
}

#[test]
fn random_victims_come_in_every_order_and_depend_on_the_seed() {
    let order = |seed| {
        let mut orders = [0; 8];
        with(3, 16, Replacement::Random, |slots, mut trie| {
            let mut slots = slots.seeded(seed);
            orders = core::array::from_fn(|i| slots.fill(&mut trie, address(i as u32)).unwrap().rbar & 7);
        });
        orders
    };
    let orders: Vec<_> = (0..40).map(order).collect();
    assert!(orders.iter().flatten().all(|slot| (5..8).contains(slot)));
    for first in 5..8 {
        for second in (5..8).filter(|second| *second != first) {
            assert!(orders.iter().any(|order| order[..2] == [first, second]), "never {first} {second}");
        }
    }
    assert_eq!(order(7), order(7));
}

/// Pinning and unpinning at run time against a plain list, with misses in between.
#[test]
fn what_is_pinned_at_run_time_stays_until_it_is_unpinned() {
    let mut rng = Rng::new(43);
    for limit in [8, 4, 3] {
        let mut nodes = [[0; NODE_WORDS]; 4];
        let mut leaves = [RegionRegs::DISABLED; 64];
        let mut trie = PcTrie::new(&mut nodes, &mut leaves);
        (0..20).for_each(|number| assert!(trie.insert(frame(number)).is_ok()));
        let mut slots = Slots::new(&pinned(2), 2, Replacement::BitPlru).unwrap().limited(limit, 2).unwrap();
        let mut held: Vec<RegionRegs> = Vec::new();
        let (mut full, mut most) = (0, 0);
        for _ in 0..5_000 {
            let regs = frame(100 + rng.below(40) as u32);
            match rng.below(4) {
                0 if !held.contains(&regs) => match slots.pin(regs, 2) {
                    Ok(_) => held.push(regs),
                    Err(error) => {
                        assert_eq!((error, held.len()), (SlotError::TooFewPaged { left: 1, needed: 2 }, 4));
                        full += 1;
                    }
                },
                1 if !held.is_empty() => {
                    let regs = held.swap_remove(rng.below(held.len() as u64) as usize);
                    assert!(slots.unpin(regs) && !slots.unpin(regs));
                }
                _ => {
                    let _ = slots.fill(&mut trie, address(rng.below(20) as u32));
                }
            }
            most = most.max(held.len());
            let paged = slots.paged_mask();
            assert_eq!(paged.count_ones() as usize, (6 - held.len()).min(limit));
            let on = |regs: &RegionRegs| slots.pinned().any(|other| other.base() == regs.base());
            assert!(held.iter().all(on) && pinned(2).iter().all(on));
            assert_eq!(slots.pinned().count(), held.len() + 2);
            for (slot, regs) in slots.image().regs.iter().enumerate() {
                assert_eq!(regs.rbar & 31, 16 | slot as u32);
                let known = slots.pinned().any(|other| other == *regs) || paged >> slot & 1 != 0;
                assert!(known || !regs.is_enabled(), "slot {slot} grants what nobody asked for");
            }
        }
        assert!(full > 20 && most == 4);
        let later: Vec<_> = slots.pinned_later().collect();
        later.into_iter().for_each(|regs| assert!(slots.unpin(regs)));
        assert_eq!(slots.pinned().count(), 2, "what was there from the start stays");
    }
}

/// Returns true if the kernel may access a byte on the domain's behalf, byte by byte.
fn permits(slots: &Slots<RegionRegs>, trie: &PcTrie<'_, RegionRegs>, base: u32, len: u32, kind: AccessKind) -> bool {
    (0..len).all(|offset| {
        let Some(addr) = base.checked_add(offset) else { return false };
        let regs = slots.pinned().find(|regs| regs.contains(addr)).or_else(|| trie.lookup(addr));
        regs.is_some_and(|regs| regs.grants(kind) && regs.is_normal())
    })
}

#[test]
fn pointers_are_checked_to_the_last_byte() {
    let mut rng = Rng::new(44);
    let mut nodes = [[0; NODE_WORDS]; 16];
    let mut leaves = [RegionRegs::DISABLED; 64];
    let mut trie = PcTrie::new(&mut nodes, &mut leaves);
    let region = |base, size_log2: u32, srd: u32, rasr: u32| RegionRegs {
        rbar: base,
        rasr: rasr | srd << 8 | (size_log2 - 1) << 1 | 1,
    };
    const RW: u32 = 0x130b_0000;
    const RO: u32 = 0x120b_0000;
    const DEVICE: u32 = 0x1301_0000;
    let own = [
        region(0x2000_0000, 5, 0, RW),
        region(0x2000_0020, 5, 0, RO),
        region(0x2000_0040, 6, 0, DEVICE),
        region(0x2000_0100, 8, 0x5a, RW),
        region(0xffff_ff00, 8, 0, RW),
    ];
    let slots = Slots::new(&own, 2, Replacement::BitPlru).unwrap();
    for (base, size_log2, srd, rasr) in
        [(0x2000_0200, 8, 0xa5, RW), (0x2000_0200, 8, 0x5a, RO), (0x2000_0300, 8, 0, RW), (0x2000_0400, 9, 0x0f, RO)]
    {
        trie.insert(region(base, size_log2, srd, rasr)).unwrap();
    }
    let mut granted = 0;
    for _ in 0..200_000 {
        let base = 0x2000_0000 + rng.below(0x640) as u32;
        let base = if rng.chance(10) { 0xffff_fff0 + rng.below(16) as u32 } else { base };
        let len = rng.below(65) as u32;
        for kind in [AccessKind::Read, AccessKind::Write, AccessKind::Exec] {
            let expected = permits(&slots, &trie, base, len, kind);
            assert_eq!(slots.permits(&trie, base, len, kind), expected, "{base:#x} {len} {kind:?}");
            granted += u32::from(expected && len > 32);
        }
    }
    assert!(granted > 1_000, "{granted}");
}

/// An instruction that touches `needs` in order, from the first again after each miss: its misses until it completes.
fn misses_of(slots: &mut Slots<RegionRegs>, trie: &mut PcTrie<'_, RegionRegs>, needs: &[u32]) -> u32 {
    let mut misses = 0;
    while let Some(&absent) = needs.iter().find(|&&number| !present(slots, number)) {
        slots.fill(trie, address(absent)).unwrap();
        misses += 1;
        assert!(misses < 100, "no progress");
    }
    misses
}

#[test]
fn an_instruction_that_needs_every_paged_slot_completes_within_the_bound() {
    for policy in POLICIES {
        for paged in 1..=REGIONS {
            let mut worst = 0;
            with(paged, 20, policy, |mut slots, mut trie| {
                let mut rng = Rng::new(41);
                for _ in 0..1_000 {
                    // Any history, then an instruction with 1..=paged different regions.
                    for _ in 0..rng.below(4) {
                        let _ = slots.fill(&mut trie, address(rng.below(20) as u32));
                    }
                    let mut needs: Vec<u32> = (0..20).collect();
                    (0..20).for_each(|i| needs.swap(i, rng.below(20) as usize));
                    needs.truncate(1 + rng.below(paged as u64) as usize);
                    worst = worst.max(misses_of(&mut slots, &mut trie, &needs));
                }
            });
            assert!(worst <= most_misses(policy, paged as u32), "{policy:?} {paged}: {worst}");
            assert!(worst as usize >= paged, "{policy:?} {paged}: the test saw no hard case");
        }
    }
}

#[test]
fn a_limit_takes_the_upper_slots_away_from_paging() {
    with(5, 8, Replacement::BitPlru, |slots, mut trie| {
        let most = |slots: &Slots<RegionRegs>, most| slots.clone().limited(most, 2);
        assert_eq!(most(&slots, 1).unwrap_err(), SlotError::TooFewPaged { left: 1, needed: 2 });
        assert_eq!(most(&slots, 5).unwrap().paged_mask(), 0b1111_1000);
        assert_eq!(most(&slots, 8).unwrap().paged_mask(), 0b1111_1000);
        let mut slots = slots.limited(2, 2).unwrap();
        assert_eq!(slots.paged_mask(), 0b0001_1000);
        for number in 0..8 {
            assert!(slots.fill(&mut trie, address(number)).is_ok());
        }
        assert_eq!((0..8).filter(|number| present(&slots, *number)).collect::<Vec<_>>(), [6, 7]);
    });
}

#[test]
fn a_region_evicted_and_loaded_elsewhere_is_present_once() {
    with(2, 8, Replacement::BitPlru, |mut slots, mut trie| {
        let mut rng = Rng::new(42);
        for _ in 0..500 {
            let _ = slots.fill(&mut trie, address(rng.below(8) as u32));
            for number in 0..8 {
                let copies =
                    slots.image().regs.iter().filter(|r| r.is_enabled() && r.contains(address(number))).count();
                assert!(copies <= 1);
            }
        }
    });
}

#[test]
fn what_is_unmapped_leaves_its_slot_and_cannot_come_back() {
    with(2, 4, Replacement::BitPlru, |mut slots, mut trie| {
        let regs = slots.fill(&mut trie, address(1)).unwrap();
        let off = slots.unmap(&mut trie, frame(1)).unwrap().unwrap();
        assert_eq!(off, RegionRegs::DISABLED.at_slot(regs.rbar & 7));
        assert!(!present(&slots, 1));
        assert_eq!(slots.fill(&mut trie, address(1)), Err(Miss::Unmapped));
        assert_eq!(slots.unmap(&mut trie, frame(2)), Ok(None));
        assert_eq!(slots.unmap(&mut trie, frame(2)), Err(TrieError::NotMapped));
        // Loaded, evicted by two others, then unmapped: the others stay.
        trie.insert(frame(5)).unwrap();
        [5, 0, 3].into_iter().for_each(|number| assert!(slots.fill(&mut trie, address(number)).is_ok()));
        assert!(!present(&slots, 5));
        assert_eq!(slots.unmap(&mut trie, frame(5)), Ok(None));
        assert!(present(&slots, 0) && present(&slots, 3));
    });
}

#[test]
fn a_restart_empties_the_paged_slots_and_keeps_the_pinned_ones() {
    with(4, 8, Replacement::BitPlru, |mut slots, mut trie| {
        let fresh = *slots.image();
        (0..6).for_each(|number| assert!(slots.fill(&mut trie, address(number)).is_ok()));
        slots.evict_all();
        assert_eq!(*slots.image(), fresh);
        assert!(slots.fill(&mut trie, address(5)).is_ok(), "a stale slot number must not pass for presence");
    });
}

#[test]
fn set_up_is_refused_with_the_numbers() {
    let new = |count, needed| Slots::new(&pinned(count), needed, Replacement::BitPlru).map(|slots| slots.paged_mask());
    assert_eq!(new(9, 0), Err(SlotError::TooManyPinned { asked: 9, limit: 8 }));
    assert_eq!(new(5, min_paged_slots(true, true)), Err(SlotError::TooFewPaged { left: 3, needed: 4 }));
    assert_eq!((new(4, 4), new(8, 0), new(2, 0)), (Ok(0xf0), Ok(0), Ok(0)));
    assert_eq!([(false, false), (true, false), (false, true)].map(|(c, d)| min_paged_slots(c, d)), [0, 2, 2]);
    let bad = Slots::new(&[frame(0), RegionRegs::DISABLED], 0, Replacement::BitPlru);
    assert!(matches!(bad, Err(SlotError::Malformed { position: 1 })));
    with(1, 4, Replacement::BitPlru, |_, mut trie| {
        let mut none = Slots::<RegionRegs>::new(&[], 0, Replacement::BitPlru).unwrap();
        assert_eq!((none.victim(), none.fill(&mut trie, address(0))), (None, Err(Miss::Unmapped)));
    });
}
