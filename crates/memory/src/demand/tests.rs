//! The heap over memory that panics where no region is, beside a model of every page.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::vec;
use std::vec::Vec;

use testing::Rng;

use super::{Below, Deferred, DemandHeap, KeptHeap, Layout, Made, PAGE, Refused, Regions};
use crate::heap::{Error, HEADER, Storage, Word};

const BASE: u32 = 0x9000_0000;

/// The regions that there are: the first page of each, and how many it has.
type Table = Rc<RefCell<BTreeMap<u32, u32>>>;

/// Pages that the kernel has made regions. An access to another one panics.
struct Paged {
    fixed: Vec<u32>,
    piece: Vec<u32>,
    regions: Table,
}

impl Paged {
    fn word(&self, at: u32) -> Option<(bool, usize)> {
        let index = (at.checked_sub(BASE)? / 4) as usize;
        if !at.is_multiple_of(4) {
            return None;
        }
        let Some(index) = index.checked_sub(self.fixed.len()) else { return Some((false, index)) };
        (index < self.piece.len()).then_some((true, index))
    }

    fn touch(&self, index: usize) {
        let page = index as u32 * 4 / PAGE;
        let regions = self.regions.borrow();
        let within = regions.range(..=page).next_back().is_some_and(|(first, pages)| page - first < *pages);
        assert!(within, "page {page} is accessed and part of no region");
    }
}

impl Storage for Paged {
    /// The index of a record's first word.
    type Place = usize;

    fn place(&self, at: u32) -> Option<usize> {
        let (in_piece, index) = self.word(at)?;
        (!in_piece && at.is_multiple_of(8) && index + 6 <= self.fixed.len()).then_some(index)
    }

    fn address(place: usize) -> u32 {
        BASE + 4 * place as u32
    }

    fn load(&self, place: usize, word: Word) -> u32 {
        self.fixed[place + word as usize]
    }

    fn store(&mut self, place: usize, word: Word, value: u32) {
        self.fixed[place + word as usize] = value;
    }

    fn header(&self, block: u32) -> Option<u32> {
        let (in_piece, index) = self.word(block.checked_sub(HEADER)?)?;
        in_piece.then(|| {
            self.touch(index);
            self.piece[index]
        })
    }

    fn set_header(&mut self, block: u32, value: u32) {
        let (_, index) = self.word(block - HEADER).unwrap();
        self.touch(index);
        self.piece[index] = value;
    }

    fn copy(&mut self, _: u32, _: u32, _: u32) -> Option<()> {
        panic!("the heap copies nothing")
    }
}

/// The kernel's rules: regions are made of free pages, and freed as they were made.
struct Kernel {
    regions: Table,
    pages: u32,
    /// It refuses the next one.
    refuses: Rc<RefCell<bool>>,
}

impl Regions for Kernel {
    fn map(&mut self, made: Made) -> Result<(), Refused> {
        if self.refuses.replace(false) {
            return Err(Refused);
        }
        let Made { first, pages, first_alone, last_alone } = made;
        assert!(pages > 0 && first + pages <= self.pages, "{made:?}");
        let mut regions = self.regions.borrow_mut();
        let before = regions.range(..first + pages).next_back();
        assert!(before.is_none_or(|(at, count)| at + count <= first), "{made:?} is not free: {before:?}");
        let mut cuts: BTreeSet<u32> = [first].into();
        cuts.extend([first + 1].into_iter().filter(|at| first_alone && *at < first + pages));
        cuts.extend(last_alone.then_some(first + pages - 1));
        let ends = cuts.iter().skip(1).copied().chain([first + pages]);
        regions.extend(cuts.iter().zip(ends).map(|(at, end)| (*at, end - at)));
        Ok(())
    }

    fn unmap(&mut self, first: u32, count: u32) -> Result<(), Refused> {
        assert!((1..=3).contains(&count));
        let mut at = first;
        for _ in 0..count {
            at += self.regions.borrow_mut().remove(&at).expect("a region begins here");
        }
        Ok(())
    }
}

struct Rig {
    heap: DemandHeap<Paged, &'static mut [u16], Kernel>,
    regions: Table,
    refuses: Rc<RefCell<bool>>,
    layout: Layout,
    /// Bytes that each live block holds.
    live: BTreeMap<u32, u32>,
}

fn nothing() -> (Deferred<Paged, &'static mut [u16]>, Kernel) {
    let memory = Paged { fixed: Vec::new(), piece: Vec::new(), regions: Table::default() };
    (
        Deferred::new(memory, Default::default(), 0, 0),
        Kernel { regions: Table::default(), pages: 0, refuses: Rc::default() },
    )
}

fn closed() -> DemandHeap<Paged, &'static mut [u16], Kernel> {
    let (memory, regions) = nothing();
    DemandHeap::closed(memory, regions)
}

impl Rig {
    fn new(live: u32, largest: u32, count: u32) -> Self {
        let layout = Layout::new(live, largest, count).unwrap();
        let (regions, refuses): (Table, Rc<RefCell<bool>>) = Default::default();
        let words = |pages: u32| vec![0xa5a5_a5a5; (pages * PAGE / 4) as usize];
        let memory = Paged { fixed: words(layout.fixed), piece: words(layout.piece), regions: regions.clone() };
        let counts: &'static mut [u16] = vec![0; layout.piece as usize].leak();
        let piece = BASE + layout.fixed * PAGE;
        let memory = Deferred::new(memory, counts, piece, layout.piece);
        let kernel = Kernel { regions: regions.clone(), pages: layout.piece, refuses: refuses.clone() };
        let mut heap = closed();
        assert_eq!(heap.alloc(1), Err(Error::Full), "there is no memory yet");
        heap.open((memory, kernel), &layout, BASE, count).unwrap();
        Rig { heap, regions, refuses, layout, live: BTreeMap::new() }
    }

    fn got(&mut self, at: Result<u32, Error>) -> Result<u32, Error> {
        let at = at?;
        self.live.insert(at, self.heap.size(at)?);
        Ok(at)
    }

    fn alloc(&mut self, bytes: u32) -> Result<u32, Error> {
        let at = self.heap.alloc(bytes);
        self.got(at)
    }

    fn free(&mut self, at: u32) -> Result<(), Error> {
        self.live.remove(&at);
        self.heap.free(at)
    }

    /// Pages that live blocks meet.
    fn met(&self) -> BTreeSet<u32> {
        let piece = BASE + self.layout.fixed * PAGE;
        let pages = |(at, holds): (&u32, &u32)| (at - HEADER - piece) / PAGE..=(at + holds - 1 - piece) / PAGE;
        self.live.iter().flat_map(pages).collect()
    }

    /// Exactly the pages of live blocks are in use, in regions that none is divided for.
    fn check(&self) {
        let met = self.met();
        let regions = self.regions.borrow();
        let used: BTreeSet<u32> = regions.iter().flat_map(|(first, pages)| *first..first + pages).collect();
        assert_eq!(used, met, "pages in use are those of live blocks");
        assert_eq!(self.heap.pages().0, met.len() as u32);
    }
}

#[test]
fn small_blocks_share_a_page_that_the_last_one_frees() {
    let mut rig = Rig::new(64 << 10, 16 << 10, 64);
    let [a, b] = [100, 200].map(|bytes| rig.alloc(bytes).unwrap());
    rig.check();
    assert_eq!((rig.heap.pages().0, rig.regions.borrow().len()), (1, 1));
    assert_eq!(rig.free(a), Ok(()));
    rig.check();
    assert_eq!(rig.heap.free(a), Err(Error::DoubleFree));
    assert_eq!(rig.free(b), Ok(()));
    rig.check();
    assert_eq!(rig.heap.pages(), (0, 1));
    assert_eq!(rig.heap.free(b), Err(Error::NotABlock), "its page is gone");
}

#[test]
fn a_large_block_is_three_regions_whatever_its_size() {
    let mut rig = Rig::new(1 << 20, 512 << 10, 8);
    let small = rig.alloc(64).unwrap();
    let large = rig.alloc(500_000).unwrap();
    rig.check();
    assert_eq!(rig.regions.borrow().len(), 3, "the first page is the small block's, too");
    assert_eq!(rig.free(small), Ok(()));
    rig.check();
    assert_eq!(rig.free(large), Ok(()));
    rig.check();
    assert!(rig.regions.borrow().is_empty());
}

#[test]
fn a_refusal_changes_nothing() {
    let mut rig = Rig::new(64 << 10, 16 << 10, 4);
    let first = rig.alloc(5000).unwrap();
    rig.refuses.replace(true);
    assert_eq!(rig.alloc(9000), Err(Error::Full));
    rig.check();
    let usage = rig.heap.usage();
    assert_eq!((usage.blocks, rig.heap.pages().0), (1, 2));
    let more: Vec<u32> = (0..3).map(|_| rig.alloc(9000).unwrap()).collect();
    assert_eq!(rig.alloc(8), Err(Error::Full), "there are records for four blocks");
    rig.check();
    for block in more.into_iter().chain([first]) {
        assert_eq!(rig.free(block), Ok(()));
        rig.check();
    }
}

#[test]
fn more_than_the_envelope_is_refused_before_there_is_no_frame() {
    // The blocks meet far fewer pages than the piece has.
    let mut rig = Rig::new(256 << 10, 128 << 10, 16);
    assert!(rig.layout.in_piece() * 4 < rig.layout.piece, "{:?}", rig.layout);
    let got: Vec<u32> = (0..16).map_while(|_| rig.alloc(128 << 10).ok()).collect();
    assert!((2..16).contains(&got.len()), "{}", got.len());
    rig.check();
    assert!(rig.heap.pages().0 <= rig.layout.in_piece());
}

#[test]
fn an_arena_that_no_block_describes_is_refused() {
    assert!(Layout::new(512 << 10, 304 << 10, 160).is_some());
    assert_eq!(Layout::new(512 << 10, 304 << 10, 256), None, "its piece has 64 MiB and more");
    assert_eq!(Layout::new(1 << 31, 1 << 30, 4), None);
}

#[test]
fn frames_are_for_blocks_at_the_worst_places() {
    // Each of the smallest blocks begins four bytes before the end of a page.
    let layout = Layout::new(64 << 10, 32 << 10, 20).unwrap();
    assert!(layout.piece > 60 && layout.in_piece() >= 40, "{layout:?}");
    // So do larger ones, of a page each.
    let layout = Layout::new(20 * 4096, 64 << 10, 20).unwrap();
    assert!(layout.piece > 80 && layout.in_piece() >= 60, "{layout:?}");
}

#[test]
fn a_rest_that_stays_with_a_block_counts() {
    // At one of these sizes 16 free bytes lie over the end of a page, of which 8 are asked for and none can be left over.
    for less in (0..96).step_by(8) {
        let mut rig = Rig::new(64 << 10, 32 << 10, 8);
        let block = rig.alloc(PAGE - less).unwrap();
        let (gap, next) = (rig.alloc(8).unwrap(), rig.alloc(64).unwrap());
        assert_eq!(rig.free(gap), Ok(()));
        let held = rig.heap.size(block).unwrap();
        let _ = rig.heap.resize(block, held + 8);
        rig.live.insert(block, rig.heap.size(block).unwrap());
        rig.check();
        assert_eq!(rig.free(next), Ok(()));
        rig.check();
    }
}

#[test]
fn a_heap_gets_its_memory_once() {
    let mut rig = Rig::new(4096, 1024, 4);
    let at = rig.alloc(100).unwrap();
    assert_eq!(rig.heap.open(nothing(), &rig.layout, BASE, 4), Err(Error::Piece));
    assert!(rig.heap.size(at).is_ok_and(|size| size >= 100), "it has the memory that it had");
}

#[test]
fn a_size_changes_in_place_within_the_same_pages() {
    let mut rig = Rig::new(64 << 10, 32 << 10, 8);
    let block = rig.alloc(1000).unwrap();
    for (bytes, told) in [(2000, Ok(())), (900, Ok(())), (4096, Err(Error::Full)), (3000, Ok(()))] {
        assert_eq!(rig.heap.resize(block, bytes), told, "{bytes}");
        rig.live.insert(block, rig.heap.size(block).unwrap());
        rig.check();
        assert!(told.is_err() || rig.heap.size(block).unwrap() >= bytes);
    }
    let large = rig.alloc(20_000).unwrap();
    assert_eq!(rig.heap.resize(large, 100), Err(Error::Full), "pages between cannot be given back in part");
    rig.check();
}

#[test]
fn any_history_within_the_envelope_has_its_frames() {
    const COUNT: u32 = 24;
    for seed in 1..=60_u64 {
        let mut random = Rng::new(seed);
        let (live, largest) = (96 << 10, 40 << 10);
        let mut rig = Rig::new(live, largest, COUNT);
        let mut asked: BTreeMap<u32, u32> = BTreeMap::new();
        for step in 0..400 {
            let sum: u32 = asked.values().sum();
            let bytes = match random.below(4) {
                0 => 1 + random.below(64) as u32,
                1 => 1 + random.below(5000) as u32,
                2 => 4096 * (1 + random.below(4) as u32) - 4 + random.below(16) as u32,
                _ => 1 + random.below(u64::from(largest)) as u32,
            };
            if asked.len() < COUNT as usize && sum + bytes <= live && random.below(5) < 3 {
                let at = rig.alloc(bytes).unwrap_or_else(|error| panic!("seed {seed}, step {step}: {error:?}"));
                asked.insert(at, bytes);
            } else if let Some(at) = asked.keys().copied().nth(random.below(asked.len().max(1) as u64) as usize) {
                if random.below(4) == 0 && sum + bytes <= live && rig.heap.resize(at, bytes).is_ok() {
                    rig.live.insert(at, rig.heap.size(at).unwrap());
                    asked.insert(at, bytes);
                } else {
                    assert_eq!(rig.free(at), Ok(()), "seed {seed}, step {step}");
                    asked.remove(&at);
                }
            }
            rig.check();
        }
        assert!(rig.heap.pages().1 <= rig.layout.in_piece());
    }
}

/// The heap that keeps its pages: they are those up to the last block, and a region goes as soon as no block meets it or lies behind it.
#[test]
fn the_kept_heap_shrinks_at_its_end_alone() {
    const COUNT: u32 = 64;
    let layout = Layout::new(1 << 20, 64 << 10, COUNT).unwrap();
    let (regions, refuses): (Table, Rc<RefCell<bool>>) = Default::default();
    let words = |pages: u32| vec![0xa5a5_a5a5; (pages * PAGE / 4) as usize];
    let memory = Paged { fixed: words(layout.fixed), piece: words(layout.piece), regions: regions.clone() };
    let piece = BASE + layout.fixed * PAGE;
    let memory = Deferred::new(memory, Below::default(), piece, layout.piece);
    let kernel = Kernel { regions: regions.clone(), pages: layout.piece, refuses: refuses.clone() };
    let mut grown = [0; 400];
    let mut heap = KeptHeap::new(memory, &layout, BASE, kernel, &mut grown).unwrap();
    let (mut live, mut rng, mut most) = (Vec::new(), Rng::new(1), 0);
    for round in 0..20_000 {
        if live.len() < COUNT as usize && rng.below(100) < if round % 2_000 < 1_000 { 60 } else { 30 } {
            refuses.replace(rng.chance(50));
            let bytes = 1 + rng.below(rng.clone().below(16 << 10) + 1) as u32;
            match heap.alloc(bytes) {
                Ok(at) => live.push((at, heap.size(at).unwrap())),
                Err(error) => assert_eq!(error, Error::Full),
            }
            refuses.replace(false);
        } else if !live.is_empty() {
            let (at, _) = live.swap_remove(rng.below(live.len() as u64) as usize);
            assert_eq!(heap.free(at), Ok(()));
        }
        let last = live.iter().map(|(at, bytes)| (at + bytes - 1 - piece) / PAGE + 1).max().unwrap_or(0);
        let regions = regions.borrow();
        let end = regions.last_key_value().map_or(0, |(first, pages)| first + pages);
        let all: u32 = regions.values().sum();
        assert_eq!((heap.pages(), all), (end, end), "one behind the other, from the first page on");
        assert!(end >= last && regions.last_key_value().is_none_or(|(first, _)| *first < last), "{end} {last}");
        most = most.max(end);
    }
    assert!(most > 60, "{most}");
    live.into_iter().for_each(|(at, _)| assert_eq!(heap.free(at), Ok(())));
    assert_eq!((heap.pages(), regions.borrow().len(), heap.usage().used), (0, 0, 0));
}
