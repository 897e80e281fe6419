//! Programs that misuse their heap.

use std::vec::Vec;

use super::super::{Error, HEADER, Storage};
use super::{Pieces, heap, walk};
use crate::testing::Rng;

#[test]
fn a_second_free_is_refused_whatever_the_first_one_joined() {
    let mut heap = heap(&[4096]);
    let blocks: Vec<u32> = (0..5).map(|_| heap.alloc(40).unwrap()).collect();
    for (first, what) in [(1, "between live blocks"), (3, "likewise"), (2, "joined on both sides"), (0, "joined after")]
    {
        heap.free(blocks[first]).unwrap();
        let before = heap.storage.pieces.clone();
        assert_eq!(heap.free(blocks[first]), Err(Error::DoubleFree), "{what}");
        assert_eq!(heap.realloc(blocks[first], 80), Err(Error::DoubleFree), "{what}");
        assert_eq!(heap.storage.pieces, before, "{what}: nothing has changed");
        walk(&heap);
    }
}

#[test]
fn what_is_no_block_is_refused() {
    let mut heap = heap(&[4096, 4096]);
    let a = heap.alloc(64).unwrap();
    (a..a + 64).step_by(4).for_each(|at| *heap.storage.word(at) = 0);
    for wrong in [0, 4, 7, 8, a + 1, a + 4, a + 8, a - 8, a + 4096, 0x5FFF_FFF8, u32::MAX, u32::MAX - 7] {
        let refusal = heap.free(wrong).unwrap_err();
        assert!(matches!(refusal, Error::NotABlock | Error::Corrupt | Error::DoubleFree), "{wrong:#x}: {refusal:?}");
    }
    walk(&heap);
    assert_eq!(heap.free(a), Ok(()));
}

#[test]
fn writing_beyond_a_block_is_noticed_when_it_or_its_neighbour_is_freed() {
    let mut heap = heap(&[4096]);
    let (a, b, c) = (heap.alloc(40).unwrap(), heap.alloc(40).unwrap(), heap.alloc(40).unwrap());
    for (word, freed) in [(a + 40, a), (a + 40, b), (a + 44, a), (a + 44, b), (b + 40, c), (b + 44, b)] {
        let kept = core::mem::replace(heap.storage.word(word), 0x4141_4141);
        let before = heap.storage.pieces.clone();
        let refusal = heap.free(freed).unwrap_err();
        assert!(matches!(refusal, Error::Corrupt | Error::NotABlock | Error::DoubleFree), "{refusal:?}");
        assert_eq!(heap.storage.pieces, before, "nothing has changed");
        *heap.storage.word(word) = kept;
    }
    walk(&heap);
}

#[test]
fn writing_into_a_freed_block_is_noticed_before_its_links_are_followed() {
    let made = || {
        let mut heap = heap(&[4096]);
        let blocks: Vec<u32> = (0..6).map(|_| heap.alloc(40).unwrap()).collect();
        [1, 3].iter().for_each(|index| heap.free(blocks[*index]).unwrap());
        (heap, blocks)
    };
    for link in [0, 4] {
        for forged in [1, 0xFFFF_FFF8, 0x6000_0001, 0x6000_0008, 0x6000_0100, 0x6000_0F00] {
            let (mut heap, blocks) = made();
            *heap.storage.word(blocks[3] + link) = forged;
            let before = heap.storage.pieces.clone();
            // Taking the first block of a list follows the first link only.
            assert!(link == 4 || heap.alloc(40) == Err(Error::Corrupt), "link {link} to {forged:#x}");
            assert_eq!(heap.storage.pieces, before, "nothing has changed");
            assert_eq!(heap.free(blocks[2]), Err(Error::Corrupt), "link {link} to {forged:#x}");
            assert_eq!(heap.size(blocks[2]), Ok(40), "the block is still live");
            assert_eq!(heap.free(blocks[0]).is_ok(), link == 4, "the other block of the list was put back into it");
        }
    }
    let (mut heap, blocks) = made();
    assert_eq!(heap.alloc(40), Ok(blocks[3]));
    walk(&heap);
}

/// Random words of the heap are overwritten with random, plausible and boundary values: no operation panics, loops, or reaches
/// outside the pieces (a store there is refused by the memory, and the heap reports it).
#[test]
fn random_corruption_never_leads_outside() {
    let mut rng = Rng::new(9);
    for _ in 0..400 {
        let mut heap = heap(&[2048, 1024]);
        let mut live: Vec<u32> = Vec::new();
        for step in 0..300 {
            let address = match rng.below(12) {
                0 if step > 30 => {
                    let Pieces { pieces, .. } = &heap.storage;
                    let (base, words) = &pieces[rng.below(2) as usize];
                    let at = base + 4 * rng.below(words.len() as u64) as u32;
                    let value = forged(&mut rng, *heap.storage.word(at));
                    *heap.storage.word(at) = value;
                    continue;
                }
                1 => forged(&mut rng, 0x6000_0000),
                _ if live.is_empty() => 0,
                _ => live[rng.below(live.len() as u64) as usize],
            };
            heap.storage.loads.set(0);
            match rng.below(4) {
                0 => drop(heap.free(address)),
                1 => live.extend(heap.realloc(address, rng.below(200) as u32)),
                2 => live.extend(heap.alloc_aligned(rng.below(200) as u32, 1 << rng.below(8))),
                _ => live.extend(heap.alloc(rng.below(200) as u32)),
            }
            assert!(heap.storage.loads.get() < 2000, "an operation without end");
        }
        assert!(
            live.iter().all(|address| heap.storage.place(*address - HEADER).is_some()),
            "a block outside the pieces"
        );
    }
}

/// A value that might pass for a size, a link, or anything.
fn forged(rng: &mut Rng, old: u32) -> u32 {
    match rng.below(6) {
        0 => 0,
        1 => u32::MAX - rng.below(16) as u32,
        2 => old ^ (1 << rng.below(32)),
        3 => old.wrapping_add(8 * rng.below(64) as u32).wrapping_sub(256),
        4 => 0x6000_0000 + 8 * rng.below(800) as u32,
        _ => rng.next() as u32,
    }
}
