//! Memory in several pieces that counts its accesses, a walk that checks every invariant, and the tests.

mod bound;
mod classes;
mod history;
mod hostile;
mod spans;

use core::cell::Cell;
use std::collections::BTreeSet;
use std::vec;
use std::vec::Vec;

use super::class::{CLASSES, class_of};
use super::{Error, HEADER, Heap, MIN_BLOCK, PIECE_OVERHEAD, Storage, Word};

/// Where a place is: its address, its piece, and the index of its first word there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    at: u32,
    piece: usize,
    index: usize,
}

/// Disjoint pieces at made-up addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    pub pieces: Vec<(u32, Vec<u32>)>,
    pub loads: Cell<u32>,
    pub stores: u32,
}

impl Pieces {
    /// Pieces of these sizes in bytes, 4 KiB apart and more.
    pub fn new(sizes: &[u32]) -> Self {
        let mut base = 0x6000_0000;
        let mut pieces = Vec::new();
        for &bytes in sizes {
            pieces.push((base, vec![0xA5A5_A5A5; bytes as usize / 4]));
            base += bytes.next_multiple_of(4096) + 4096;
        }
        Pieces { pieces, ..Pieces::default() }
    }

    fn find(&self, at: u32) -> Option<(usize, usize)> {
        let which = self.pieces.iter().rposition(|(base, _)| *base <= at)?;
        let (base, words) = &self.pieces[which];
        let index = (at - base) as usize / 4;
        (at.is_multiple_of(4) && index < words.len()).then_some((which, index))
    }

    pub fn peek(&self, at: u32) -> u32 {
        let (piece, index) = self.find(at).expect("an address of a piece");
        self.pieces[piece].1[index]
    }

    pub fn word(&mut self, at: u32) -> &mut u32 {
        &mut self.words(at, 1)[0]
    }

    pub fn words(&mut self, at: u32, count: u32) -> &mut [u32] {
        let (piece, index) = self.find(at).expect("an address of a piece");
        &mut self.pieces[piece].1[index..index + count as usize]
    }
}

impl Storage for Pieces {
    type Place = Place;

    fn place(&self, at: u32) -> Option<Place> {
        let (piece, index) = self.find(at)?;
        (at.is_multiple_of(8) && index + 4 <= self.pieces[piece].1.len()).then_some(Place { at, piece, index })
    }

    fn address(place: Place) -> u32 {
        place.at
    }

    fn load(&self, place: Place, word: Word) -> u32 {
        self.loads.set(self.loads.get() + 1);
        self.pieces[place.piece].1[place.index + word as usize]
    }

    fn store(&mut self, place: Place, word: Word, value: u32) {
        self.stores += 1;
        self.pieces[place.piece].1[place.index + word as usize] = value;
    }

    fn copy(&mut self, from: u32, to: u32, bytes: u32) -> Option<()> {
        let ends = [self.find(from)?, self.find(from + bytes - 4)?, self.find(to)?, self.find(to + bytes - 4)?];
        if ends[0].0 != ends[1].0 || ends[2].0 != ends[3].0 {
            return None;
        }
        (0..bytes).step_by(4).for_each(|offset| *self.word(to + offset) = self.peek(from + offset));
        Some(())
    }
}

/// A heap over pieces of these sizes.
pub(super) fn heap(sizes: &[u32]) -> Heap<Pieces> {
    let mut heap = Heap::new(Pieces::new(sizes));
    let bounds: Vec<(u32, u32)> =
        heap.memory().pieces.iter().map(|(base, words)| (*base, words.len() as u32 * 4)).collect();
    bounds.iter().for_each(|&(base, bytes)| heap.add(base, bytes).expect("a piece"));
    heap
}

/// What a walk through the headers found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Walk {
    /// Headers and sizes of the free blocks, in order.
    pub free: Vec<(u32, u32)>,
    /// Headers and sizes of the live blocks, in order.
    pub live: Vec<(u32, u32)>,
}

/// Walks every piece and every list; panics where an invariant does not hold.
pub(super) fn walk(heap: &Heap<Pieces>) -> Walk {
    let mut found = Walk::default();
    for (base, words) in &heap.memory().pieces {
        let end = base + words.len() as u32 * 4 - PIECE_OVERHEAD;
        let (mut at, mut before, mut was_free) = (*base, 0, false);
        while at < end {
            let (header, previous) = (heap.storage.peek(at), heap.storage.peek(at + 4));
            let (size, is_free) = (header & !7, header & 7 == 1);
            assert_eq!(previous, before, "the size of the block before {at:#x}");
            assert!(header & 6 == 0 && size >= MIN_BLOCK, "header {header:#x} at {at:#x}");
            assert!(!(is_free && was_free), "two free blocks meet at {at:#x}");
            if is_free { &mut found.free } else { &mut found.live }.push((at, size));
            (at, before, was_free) = (at + size, size, is_free);
        }
        assert_eq!((at, heap.storage.peek(at), heap.storage.peek(at + 4)), (end, 2, before), "the end");
    }
    check_lists(heap, &found);
    let usage = heap.usage();
    assert_eq!(usage.used, found.live.iter().map(|block| block.1).sum::<u32>());
    assert_eq!(usage.blocks as usize, found.live.len());
    assert_eq!(usage.capacity, usage.used + found.free.iter().map(|block| block.1).sum::<u32>());
    found
}

/// Every free block is in exactly the list of its class, and the bits say which lists are not empty.
fn check_lists(heap: &Heap<Pieces>, found: &Walk) {
    let mut free: BTreeSet<(u32, u32)> = found.free.iter().copied().collect();
    for class in 0..CLASSES as u32 {
        let (mut at, mut previous) = (heap.head(class).map_or(0, |place| place.at), 0);
        assert_eq!(heap.find(class) == Some(class), at != 0, "the bit of class {class}");
        while at != 0 {
            let size = heap.storage.peek(at) & !7;
            assert!(free.remove(&(at, size)), "{at:#x} is listed but not free, or twice");
            assert_eq!(class_of(size), class);
            assert_eq!(heap.storage.peek(at + HEADER + 4), previous);
            (previous, at) = (at, heap.storage.peek(at + HEADER));
        }
    }
    assert!(free.is_empty(), "free but in no list: {free:?}");
}

#[test]
fn a_piece_is_refused_when_it_is_too_small_too_large_or_elsewhere() {
    let mut heap = Heap::new(Pieces::new(&[64]));
    for (base, bytes) in [(0x6000_0000, 24), (0x6000_0000, 1 << 27), (0x5000_0000, 64), (0x6000_0000, 72), (0, 64)] {
        assert_eq!(heap.add(base, bytes), Err(Error::Piece), "{base:#x} {bytes}");
    }
    assert_eq!(heap.add(0x6000_0004, 60), Ok(()), "a piece is cut to whole granules");
    assert_eq!(heap.usage().capacity, 64 - 8 - PIECE_OVERHEAD);
}

#[test]
fn the_slice_of_words_is_a_memory_too() {
    let mut words = [0; 64];
    let mut heap = Heap::new(super::Words::new(0x1000, &mut words));
    heap.add(0x1000, 256).unwrap();
    let (a, b) = (heap.alloc(40).unwrap(), heap.alloc(1).unwrap());
    assert_eq!((a, b), (0x1008, 0x1008 + 48));
    let moved = heap.realloc(a, 60).unwrap();
    assert_ne!(moved, a);
    heap.free(moved).unwrap();
    heap.free(b).unwrap();
    assert_eq!(heap.largest_request(), Some(256 - PIECE_OVERHEAD - HEADER), "everything is one block again");
}
