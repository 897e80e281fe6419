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

use super::class::{CLASSES, class_for, class_of};
use super::records::CHUNK;
use super::{Error, HEADER, Heap, MIN_BLOCK, PIECE_OVERHEAD, RECORD, Storage, Word, record_bytes};

/// A place: its address, its piece, and the index of its first word there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    at: u32,
    piece: usize,
    index: usize,
}

/// Address of the memory that was given for records: above every piece.
const RECORDS: u32 = 0x7000_0000;

/// Disjoint pieces at made-up addresses; the last of them may be for records.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    pub pieces: Vec<(u32, Vec<u32>)>,
    /// Accesses to records.
    pub loads: Cell<u32>,
    pub stores: u32,
    /// Accesses to headers.
    pub header_loads: Cell<u32>,
    pub header_stores: u32,
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

    /// Loads and stores of records, then of headers.
    pub fn accesses(&self) -> [u32; 4] {
        [self.loads.get(), self.stores, self.header_loads.get(), self.header_stores]
    }

    pub fn forget_accesses(&mut self) {
        self.loads.set(0);
        self.header_loads.set(0);
        (self.stores, self.header_stores) = (0, 0);
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
        let words = RECORD as usize / 4;
        (at.is_multiple_of(8) && index + words <= self.pieces[piece].1.len()).then_some(Place { at, piece, index })
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

    fn header(&self, block: u32) -> Option<u32> {
        self.header_loads.set(self.header_loads.get() + 1);
        let (piece, index) = self.find(block.checked_sub(8)?)?;
        let words = &self.pieces[piece].1;
        (block.is_multiple_of(8) && index + 4 <= words.len()).then(|| words[index + 1])
    }

    fn set_header(&mut self, block: u32, value: u32) {
        if self.header(block).is_some() {
            self.header_loads.set(self.header_loads.get() - 1);
            self.header_stores += 1;
            *self.word(block - HEADER) = value;
        }
    }

    fn copy(&mut self, from: u32, to: u32, bytes: u32) -> Option<()> {
        let last = bytes.checked_sub(4)?;
        let end = |at: u32| at.checked_add(last).and_then(|end| self.find(end));
        let ends = [self.find(from)?, end(from)?, self.find(to)?, end(to)?];
        if ends[0].0 != ends[1].0 || ends[2].0 != ends[3].0 {
            return None;
        }
        (0..bytes).step_by(4).for_each(|offset| *self.word(to + offset) = self.peek(from + offset));
        Some(())
    }
}

/// A heap over pieces of these sizes, with as many records as blocks of at least 32 bytes fit in.
pub(super) fn heap(sizes: &[u32]) -> Heap<Pieces> {
    heap_for(sizes, sizes.iter().sum::<u32>() / 32)
}

/// A heap over pieces of these sizes with records, beside them, for so many live blocks.
pub(super) fn heap_for(sizes: &[u32], blocks: u32) -> Heap<Pieces> {
    let bytes = record_bytes(blocks, sizes.len() as u32) as u32;
    let mut pieces = Pieces::new(sizes);
    pieces.pieces.push((RECORDS, vec![0xA5A5_A5A5; bytes as usize / 4]));
    let mut heap = Heap::new(pieces);
    heap.add_records(RECORDS, bytes).expect("records");
    add_all(heap)
}

/// A heap over pieces of these sizes that takes its records from them.
pub(super) fn heap_alone(sizes: &[u32]) -> Heap<Pieces> {
    add_all(Heap::new(Pieces::new(sizes)))
}

fn add_all(mut heap: Heap<Pieces>) -> Heap<Pieces> {
    let bounds: Vec<(u32, u32)> =
        heap.memory().pieces.iter().map(|(base, words)| (*base, words.len() as u32 * 4)).collect();
    bounds.iter().filter(|piece| piece.0 != RECORDS).for_each(|&(base, bytes)| heap.add(base, bytes).expect("a piece"));
    heap
}

impl Heap<Pieces> {
    /// Writes the header of the live block at `address` anew, after something wrote over it.
    pub(super) fn mend(&mut self, address: u32) {
        let records = (RECORDS..).step_by(RECORD as usize);
        let record = records.take(1000).find(|record| self.storage.peek(*record) == address);
        *self.storage.word(address - HEADER) = record.expect("a record of the block");
    }
}

/// The result of a walk through the records.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Walk {
    /// Addresses and sizes of the free blocks, in order.
    pub free: Vec<(u32, u32)>,
    /// Addresses and sizes of the live blocks, in order.
    pub live: Vec<(u32, u32)>,
    /// Records in use.
    pub records: BTreeSet<u32>,
}

/// Walks every piece and every list; panics where an invariant does not hold.
pub(super) fn walk(heap: &Heap<Pieces>) -> Walk {
    let mut found = Walk::default();
    let pieces = &heap.memory().pieces;
    let records = pieces.iter().map(|(base, _)| *base).max().filter(|base| *base == RECORDS);
    // The first records were taken for none, and in pairs for the first block and the end of each piece.
    let none = records.unwrap_or(pieces[0].0);
    assert_eq!(
        (0..6).map(|word| heap.storage.peek(none + 4 * word)).collect::<Vec<_>>(),
        [1, 0, none, none, none, none]
    );
    for (index, (base, words)) in pieces.iter().filter(|piece| piece.0 != RECORDS).enumerate() {
        let own = if records.is_none() && index == 0 { CHUNK } else { 0 };
        let end = base + words.len() as u32 * 4;
        walk_piece(heap, none, none + (1 + index as u32 * 2) * RECORD, (base + own + PIECE_OVERHEAD, end), &mut found);
    }
    check_lists(heap, none, &found);
    check_spares(heap, &found);
    let usage = heap.usage();
    assert_eq!(usage.used, found.live.iter().map(|block| block.1).sum::<u32>());
    assert_eq!(usage.blocks as usize, found.live.len());
    assert_eq!(usage.capacity, usage.used + found.free.iter().map(|block| block.1).sum::<u32>());
    found
}

/// The size of the largest free block, by the lists that [`walk`] checks: 0 when there is none.
pub(super) fn largest_free(heap: &Heap<Pieces>) -> u32 {
    let Some(none) = heap.none else { return 0 };
    let last = (1..CLASSES as u32).rev().map(|class| heap.head(class, none).at).find(|record| *record != none.at);
    let mut record = last.unwrap_or(none.at);
    let mut largest = 0;
    while record != none.at {
        largest = largest.max(heap.storage.peek(record + 4));
        record = heap.storage.peek(record + 16);
    }
    largest
}

/// Walks one piece from the record of the block that was once its first.
fn walk_piece(heap: &Heap<Pieces>, none: u32, first: u32, (begin, end): (u32, u32), found: &mut Walk) {
    let word = |record: u32, word: Word| heap.storage.peek(record + 4 * word as u32);
    let mut record = first;
    while word(record, Word::Before) != none {
        record = word(record, Word::Before);
    }
    let (mut at, mut before, mut was_free) = (begin, none, false);
    loop {
        assert!(found.records.insert(record), "{record:#x} describes two blocks");
        assert_eq!(word(record, Word::Before), before, "the way back from {record:#x}");
        assert_eq!(word(record, Word::At) & !7, at, "blocks follow each other");
        if at == end {
            break;
        }
        let (size, flags) = (word(record, Word::Size), word(record, Word::At) & 7);
        assert!(size >= MIN_BLOCK && size % 8 == 0, "size {size:#x} at {at:#x}");
        assert!(!(flags == 1 && was_free), "two free blocks meet at {at:#x}");
        match flags {
            0 => {
                assert_eq!(heap.storage.peek(at - HEADER), record, "the header of {at:#x}");
                found.live.push((at, size));
            }
            1 => found.free.push((at, size)),
            _ => assert_eq!((flags, record), (2, at), "records describe themselves"),
        }
        (before, was_free, at) = (record, flags == 1, at + size);
        record = word(record, Word::After);
    }
    assert_eq!(word(record, Word::At) & 7, 2, "the end");
}

/// Every free block is in exactly the list of its class, and the bits say which lists are not empty.
fn check_lists(heap: &Heap<Pieces>, none: u32, found: &Walk) {
    let mut free: BTreeSet<(u32, u32)> = found.free.iter().copied().collect();
    let head = |class| heap.head(class, heap.none.unwrap()).at;
    assert_eq!((heap.none.unwrap().at, head(0)), (none, none));
    assert!(class_for(MIN_BLOCK) > 0, "none is not to be found");
    for class in 1..CLASSES as u32 {
        let (mut record, mut previous) = (head(class), none);
        assert_eq!(heap.find(class) == Some(class), record != none, "the bit of class {class}");
        while record != none {
            let (at, size) = (heap.storage.peek(record) ^ 1, heap.storage.peek(record + 4));
            assert!(free.remove(&(at, size)), "{at:#x} is listed but not free, or twice");
            assert_eq!(class_of(size), class);
            assert_eq!(heap.storage.peek(record + 20), previous);
            (previous, record) = (record, heap.storage.peek(record + 16));
        }
    }
    assert!(free.is_empty(), "free but in no list: {free:?}");
}

/// Every record that is not in use is spare, once, and they are counted.
fn check_spares(heap: &Heap<Pieces>, found: &Walk) {
    let mut spares: BTreeSet<u32> = (0..heap.unused).map(|index| heap.next_unused + index * RECORD).collect();
    let mut record = heap.spare;
    while record != 0 {
        assert!(spares.insert(record), "{record:#x} is spare twice");
        record = heap.storage.peek(record + 16);
    }
    assert!(spares.is_disjoint(&found.records), "a record in use is spare");
    assert_eq!(spares.len() as u32, heap.spares);
}

#[test]
fn a_piece_is_refused_when_it_is_too_small_too_large_or_elsewhere() {
    let mut heap = Heap::new(Pieces::new(&[64, 1024]));
    let (first, second) = (0x6000_0000, 0x6000_2000);
    for (base, bytes) in
        [(second, 0), (second, 23), (second + 1, 30), (0x5000_0000, 512), (second + 1000, 48), (first, 96)]
    {
        assert_eq!(heap.add_records(base, bytes), Err(Error::Piece), "{base:#x} {bytes}");
    }
    assert_eq!(heap.add_records(second + 512, 256), Ok(()));
    for (base, bytes) in [(first, 16), (first, 1 << 27), (0x5000_0000, 64), (first, 72), (0, 64)] {
        assert_eq!(heap.add(base, bytes), Err(Error::Piece), "{base:#x} {bytes}");
    }
    assert_eq!(heap.add(first + 4, 60), Ok(()), "a piece is cut to whole granules");
    assert_eq!(heap.usage().capacity, 64 - 8 - PIECE_OVERHEAD);
}

#[test]
fn the_slice_of_words_is_a_memory_too() {
    let mut words = [0; 256];
    let mut heap = Heap::new(super::Words::new(0x1000, &mut words));
    heap.add(0x1000, 1024).unwrap();
    let (a, b) = (heap.alloc(40).unwrap(), heap.alloc(1).unwrap());
    assert_eq!((a, b), (0x1000 + CHUNK + 8, 0x1000 + CHUNK + 8 + 48));
    let moved = heap.realloc(a, 60).unwrap();
    assert_ne!(moved, a);
    heap.free(moved).unwrap();
    heap.free(b).unwrap();
    assert_eq!(heap.free(b), Err(Error::DoubleFree));
    assert_eq!(heap.largest_request(), Some(1024 - CHUNK - PIECE_OVERHEAD - HEADER), "everything is one block again");
}

#[test]
fn a_heap_takes_records_from_its_pieces_as_blocks_become_more() {
    let mut heap = heap_alone(&[64 * 1024, 4096]);
    let capacity = heap.usage().capacity;
    let blocks: Vec<u32> = core::iter::from_fn(|| heap.alloc(20).ok()).collect();
    // 24 bytes of block and 24 of record each; what is left are less than three chunks.
    assert!(blocks.len() as u32 * 48 > capacity - 3 * CHUNK, "{} blocks", blocks.len());
    let full = walk(&heap);
    for block in blocks {
        heap.free(block).unwrap();
    }
    assert!(walk(&heap).records.len() < full.records.len());
    let again = core::iter::from_fn(|| heap.alloc(20).ok()).count();
    assert!(again as u32 * 48 > capacity - 4 * CHUNK, "{again} blocks: records are used again");
}

#[test]
fn without_a_record_nothing_is_cut() {
    let mut heap = heap_for(&[4096], 1);
    let a = heap.alloc(2000).unwrap();
    assert_eq!(heap.spares, 1);
    let b = heap.alloc(200).unwrap();
    let used = heap.usage().used;
    assert_eq!(heap.resize(a, 100), Ok(()), "it stays as large as it is");
    assert_eq!((heap.usage().used, heap.size(a)), (used, Ok(2004)));
    heap.free(b).unwrap();
    assert_eq!(heap.resize(a, 100), Ok(()));
    assert_eq!(heap.size(a), Ok(100));
    walk(&heap);
}
