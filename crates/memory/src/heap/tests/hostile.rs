//! Programs that misuse their heap.

use std::vec::Vec;

use super::super::{Error, HEADER};
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
fn writing_beyond_a_block_is_noticed_when_the_next_one_is_freed_and_costs_no_other() {
    for written in [0, 1, 0x4141_4141, 0x6000_0008, 0x7000_0000, 0x7000_0018, u32::MAX] {
        let mut heap = heap(&[4096]);
        let (a, b, c) = (heap.alloc(40).unwrap(), heap.alloc(40).unwrap(), heap.alloc(40).unwrap());
        let kept = core::mem::replace(heap.storage.word(a + 44), written);
        let before = heap.storage.pieces.clone();
        for result in [heap.free(b), heap.resize(b, 80), heap.size(b).map(drop)] {
            assert!(matches!(result, Err(Error::NotABlock | Error::DoubleFree)), "{written:#x}: {result:?}");
        }
        assert_eq!(heap.storage.pieces, before, "nothing has changed");
        assert_eq!((heap.free(a), heap.free(c)), (Ok(()), Ok(())));
        *heap.storage.word(a + 44) = kept;
        walk(&heap);
        assert_eq!(heap.free(b), Ok(()));
        assert_eq!(walk(&heap).free.len(), 1);
    }
}

/// A program that writes whatever it likes, wherever it likes in the pieces: only its live blocks are taken back, at most the blocks
/// whose headers it destroyed are lost, no block is handed out twice, and the heap stays sound.
#[test]
fn whatever_a_program_writes_only_live_blocks_are_taken_back() {
    let mut rng = Rng::new(10);
    for _ in 0..100 {
        let mut heap = heap(&[2048, 1024]);
        let mut live: Vec<u32> = Vec::new();
        for _ in 0..400 {
            for _ in 0..rng.below(4) {
                let (base, words) = &heap.storage.pieces[rng.below(2) as usize];
                let at = base + 4 * rng.below(words.len() as u64) as u32;
                *heap.storage.word(at) = match rng.below(3) {
                    0 => 0x7000_0000 + 24 * rng.below(40) as u32,
                    1 => live.last().map_or(0, |address| heap.storage.peek(address - HEADER)),
                    _ => forged(&mut rng, at),
                };
            }
            let address = 0x6000_0000 + 8 * rng.below(300) as u32;
            match rng.below(3) {
                0 => match heap.free(address) {
                    Ok(()) => {
                        assert!(live.iter().position(|known| *known == address).map(|at| live.remove(at)).is_some())
                    }
                    Err(error) => assert_ne!(error, Error::Corrupt),
                },
                _ => live.extend(heap.alloc(rng.below(60) as u32)),
            }
        }
        for address in &live {
            heap.mend(*address);
        }
        let mut known = live.clone();
        known.sort_unstable();
        assert!(walk(&heap).live.iter().map(|block| &block.0).eq(&known));
    }
}

/// Random words, of records as well, are overwritten with random, plausible and boundary values: no operation panics, loops, or
/// reaches outside the pieces (a store there is refused by the memory, and the heap reports it).
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
                    let (base, words) = &pieces[rng.below(3) as usize];
                    let at = base + 4 * rng.below(words.len().min(150) as u64) as u32;
                    let value = forged(&mut rng, *heap.storage.word(at));
                    *heap.storage.word(at) = value;
                    continue;
                }
                1 => forged(&mut rng, 0x6000_0000),
                _ if live.is_empty() => 0,
                _ => live[rng.below(live.len() as u64) as usize],
            };
            heap.storage.forget_accesses();
            match rng.below(4) {
                0 => drop(heap.free(address)),
                1 => live.extend(heap.realloc(address, rng.below(200) as u32)),
                2 => live.extend(heap.alloc_aligned(rng.below(200) as u32, 1 << rng.below(8))),
                _ => live.extend(heap.alloc(rng.below(200) as u32)),
            }
            assert!(heap.storage.loads.get() < 2000, "an operation without end");
        }
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
