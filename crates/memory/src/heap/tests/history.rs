//! Random histories against a shadow model.

use std::collections::BTreeMap;
use std::vec::Vec;

use super::super::class::found_from;
use super::super::records::CHUNK_BLOCK;
use super::super::{Error, GRANULE, HEADER, Heap, MAX_REQUEST, MIN_BLOCK, block_for};
use super::{Pieces, heap, heap_alone, heap_for, largest_free, walk};
use crate::testing::Rng;

/// A live block: the bytes asked for and the pattern that it was filled with.
#[derive(Clone, Copy)]
struct Live {
    bytes: u32,
    pattern: u32,
}

/// A heap beside a model of what it should hold.
struct Shadow {
    heap: Heap<Pieces>,
    live: BTreeMap<u32, Live>,
    next: u32,
}

impl Shadow {
    fn fill(&mut self, address: u32, bytes: u32) {
        let pattern = self.next.wrapping_mul(0x9E37_79B9);
        self.next += 1;
        let words = self.heap.storage.words(address, bytes / 4);
        words.iter_mut().enumerate().for_each(|(index, word)| *word = pattern ^ index as u32);
        self.live.insert(address, Live { bytes, pattern });
    }

    /// Nobody else wrote into the first `bytes` bytes.
    fn check(&mut self, address: u32, live: Live, bytes: u32) {
        let words = self.heap.storage.words(address, bytes / 4);
        let sound = words.iter().enumerate().all(|(index, word)| *word == live.pattern ^ index as u32);
        assert!(sound, "somebody wrote into {address:#x}");
    }

    /// A new block overlaps no other, lies in one piece, and is aligned.
    fn place(&mut self, address: u32, bytes: u32, align: u32) {
        assert_eq!(address % align.max(GRANULE), 0);
        if let Some((before, live)) = self.live.range(..=address).next_back() {
            assert!(before + live.bytes + HEADER <= address, "{address:#x} overlaps the block at {before:#x}");
        }
        if let Some((after, _)) = self.live.range(address..).next() {
            assert!(address + bytes + HEADER <= *after, "{address:#x} runs into the block at {after:#x}");
        }
        let size = self.heap.size(address).unwrap();
        // Without records, `realloc` makes nothing smaller.
        assert!(size >= bytes && (size < block_for(bytes) + GRANULE || self.heap.spares == 0));
        assert_eq!(self.heap.storage.words(address, size / 4).len() as u32, size / 4);
        self.fill(address, bytes);
    }

    /// A refusal is only allowed when no free block is as large as the search needs. The lists are asked, which every walk compares with
    /// the pieces: a walk at each refusal takes fifty times as long.
    fn refused(&self, error: Error, needed: u32) {
        assert_eq!(error, Error::Full);
        // Without records, one as large as records need.
        let needed = if self.heap.spares < 2 { needed.max(CHUNK_BLOCK + MIN_BLOCK) } else { needed };
        let largest = largest_free(&self.heap);
        assert!(largest < found_from(needed), "refused {needed} although {largest} are free");
    }

    fn alloc(&mut self, bytes: u32, align: u32) {
        match self.heap.alloc_aligned(bytes, align) {
            Ok(address) => self.place(address, bytes, align),
            Err(error) if align <= GRANULE => self.refused(error, block_for(bytes)),
            Err(error) => self.refused(error, block_for(bytes) + align + GRANULE),
        }
    }

    fn free(&mut self, rng: &mut Rng) {
        let Some(address) = self.pick(rng) else { return };
        let live = self.live.remove(&address).unwrap();
        self.check(address, live, live.bytes);
        assert_eq!(self.heap.free(address), Ok(()));
        assert!(self.heap.free(address).is_err(), "freed twice");
    }

    fn realloc(&mut self, rng: &mut Rng, bytes: u32) {
        let Some(address) = self.pick(rng) else { return };
        let live = self.live[&address];
        match self.heap.realloc(address, bytes) {
            Ok(moved) => {
                self.live.remove(&address);
                self.check(moved, live, live.bytes.min(bytes));
                self.place(moved, bytes, 1);
            }
            Err(error) => {
                self.refused(error, block_for(bytes));
                self.check(address, live, live.bytes);
            }
        }
    }

    fn pick(&self, rng: &mut Rng) -> Option<u32> {
        let (first, _) = self.live.first_key_value()?;
        let (last, _) = self.live.last_key_value()?;
        let from = first + rng.below(u64::from(last - first + 1)) as u32;
        self.live.range(from..).next().map(|(address, _)| *address)
    }
}

/// Sizes that have each power of two alike often.
fn size(rng: &mut Rng, most_log2: u64) -> u32 {
    let top = 1 << rng.below(most_log2 + 1);
    rng.below(top + 1) as u32
}

/// Plays `steps` operations and then frees everything; live memory swings between little and more than there is. Returns the free
/// blocks that remain.
fn play(heap: Heap<Pieces>, seed: u64, steps: u32, most_log2: u64) -> usize {
    let mut rng = Rng::new(seed);
    let mut shadow = Shadow { heap, live: BTreeMap::new(), next: 0 };
    for step in 0..steps {
        let grow = (step / 2000) % 2 == 0;
        match rng.below(10) {
            0 => {
                let bytes = size(&mut rng, most_log2);
                shadow.realloc(&mut rng, bytes);
            }
            1 => {
                let align = 1 << rng.below(10);
                shadow.alloc(size(&mut rng, most_log2), align);
            }
            choice => {
                if (choice < 7) == grow {
                    shadow.alloc(size(&mut rng, most_log2), 1);
                } else {
                    shadow.free(&mut rng);
                }
            }
        }
        if step % 1009 == 0 {
            let found = walk(&shadow.heap);
            assert!(found.live.iter().map(|block| &block.0).eq(shadow.live.keys()));
        }
    }
    while let Some((address, live)) = shadow.live.pop_first() {
        shadow.check(address, live, live.bytes);
        shadow.heap.free(address).unwrap();
    }
    walk(&shadow.heap).free.len()
}

/// Records for as many blocks as there can be; in the end each piece is one free block again.
fn play_in(sizes: &[u32], seed: u64, steps: u32, most_log2: u64) {
    let heap = heap_for(sizes, sizes.iter().sum::<u32>() / MIN_BLOCK);
    assert_eq!(play(heap, seed, steps, most_log2), sizes.len());
}

#[test]
fn a_million_random_operations_in_one_piece() {
    play_in(&[96 * 1024], 1, 700_000, 11);
    play_in(&[1024], 2, 300_000, 6);
}

#[test]
fn a_million_random_operations_in_several_pieces() {
    play_in(&[64 * 1024, 256, 4096, 64 * 1024, 32], 3, 700_000, 11);
    play_in(&[64; 20], 4, 300_000, 6);
}

#[test]
fn a_million_random_operations_with_records_in_the_pieces() {
    assert!(play(heap_alone(&[96 * 1024]), 6, 300_000, 11) > 1, "blocks became records");
    play(heap_alone(&[2048, 64, 1024, 32]), 7, 300_000, 6);
    play(heap_for(&[16 * 1024, 4096], 3), 8, 400_000, 8);
}

/// Least and most loads and stores of records, and of headers, in `free` and in `alloc`.
fn extreme_accesses(mut heap: Heap<Pieces>) -> [[[u32; 4]; 2]; 2] {
    let mut rng = Rng::new(5);
    let mut live = Vec::new();
    let (mut least, mut most) = ([[u32::MAX; 4]; 2], [[0; 4]; 2]);
    for step in 0..400_000 {
        heap.storage.forget_accesses();
        let grow = (step / 3000) % 2 == 0;
        let which = usize::from(live.is_empty() || (rng.below(3) > 0) == grow);
        if which == 1 {
            let block = heap.alloc_aligned(size(&mut rng, 12), 1 << rng.below(6));
            live.extend(block);
            if block.is_err() {
                continue;
            }
        } else {
            let index = rng.below(live.len() as u64) as usize;
            heap.free(live.swap_remove(index)).unwrap();
        }
        let now = heap.storage.accesses();
        least[which] = core::array::from_fn(|index| least[which][index].min(now[index]));
        most[which] = core::array::from_fn(|index| most[which][index].max(now[index]));
    }
    [least, most]
}

#[test]
fn every_operation_has_a_fixed_number_of_accesses() {
    let [least, most] = extreme_accesses(heap_for(&[256 * 1024, 64 * 1024], 20_000));
    assert_eq!(least, [[31, 24, 1, 1], [8, 13, 0, 1]], "`free`, `alloc`");
    assert_eq!(most, [[31, 24, 1, 1], [9, 21, 0, 1]], "`free`, `alloc`");
    let [_, grown] = extreme_accesses(heap_alone(&[256 * 1024, 64 * 1024]));
    assert_eq!(grown, [most[0], [25, 40, 0, 1]], "`alloc` after it took records from a piece");
}

#[test]
fn realloc_stays_in_place_where_it_can() {
    let mut heap = heap(&[4096]);
    let (a, b) = (heap.alloc(100).unwrap(), heap.alloc(100).unwrap());
    assert_eq!(heap.realloc(b, 2000), Ok(b), "the rest of the piece follows");
    assert_eq!(heap.realloc(b, 50), Ok(b));
    assert_eq!(heap.realloc(a, 60), Ok(a));
    assert_eq!(heap.realloc(a, 100), Ok(a), "into what it gave up");
    assert_ne!(heap.realloc(a, 101 + 8).unwrap(), a, "b is in the way");
    walk(&heap);
}

#[test]
fn what_cannot_be_asked_for_is_refused() {
    let mut heap = heap(&[4096]);
    assert_eq!(heap.alloc(MAX_REQUEST + 1), Err(Error::TooLarge));
    assert_eq!(heap.alloc(u32::MAX), Err(Error::TooLarge));
    assert_eq!(heap.alloc(MAX_REQUEST), Err(Error::Full));
    assert_eq!(heap.alloc_aligned(8, 24), Err(Error::Alignment));
    assert_eq!(heap.alloc_aligned(8, 0), Err(Error::Alignment));
    assert_eq!(heap.alloc_aligned(u32::MAX, 16), Err(Error::TooLarge));
    assert_eq!(heap.alloc_aligned(MAX_REQUEST, 1 << 31), Err(Error::TooLarge));
    let block = heap.alloc(8).unwrap();
    assert_eq!(heap.realloc(block, MAX_REQUEST), Err(Error::Full));
    assert_eq!(heap.realloc(block, u32::MAX), Err(Error::TooLarge));
    assert_eq!(heap.largest_request(), heap.largest_request().filter(|bytes| heap.alloc(*bytes).is_ok()));
}
