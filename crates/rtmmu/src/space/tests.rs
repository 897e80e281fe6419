//! A space against a plain page table that is changed page by page, and the bounds of every operation.

use core::marker::PhantomData;
use std::boxed::Box;
use std::collections::BTreeSet;
use std::vec;
use std::vec::Vec;

use testing::Rng;

use super::*;
use crate::flat::{Direct, Entry, Flat, Sv32};
use crate::tables::Tables;
use crate::words::counting::{Counting, Counts};

const OWNER: Owner = Owner(3);
const FIRST_FRAME: u32 = 0x40000;

/// The plain page table: for each page its region's header, rights, frame.
struct Shadow {
    header: Vec<u32>,
    rights: Vec<Option<Rights>>,
    frame: Vec<Option<Frame>>,
}

impl Shadow {
    fn new(pages: u32) -> Self {
        let pages = pages as usize;
        Self { header: vec![0; pages], rights: vec![None; pages], frame: vec![None; pages] }
    }

    fn end(&self, first: u32) -> u32 {
        let pages = self.header.len() as u32;
        (first..pages).find(|page| self.header[*page as usize] != first).unwrap_or(pages)
    }

    fn region(&self, page: u32) -> Region {
        let first = self.header[page as usize];
        let end = self.end(first);
        let mapped = (first..end).filter(|page| self.frame[*page as usize].is_some()).count() as u32;
        Region { first: Page(first), end: Page(end), rights: self.rights[first as usize], mapped }
    }

    fn set(&mut self, first: u32, end: u32, rights: Option<Rights>) {
        for page in first..end {
            self.header[page as usize] = first;
            self.rights[page as usize] = rights;
        }
    }

    fn map_vrh(&mut self, first: u32, pages: u32, rights: Rights) -> Result<(), Error> {
        let total = self.header.len() as u32;
        if pages == 0 || first + pages > total {
            return Err(Error::Range);
        }
        let old = self.region(first);
        if (first..first + pages).any(|page| self.rights[page as usize].is_some()) {
            return Err(Error::Occupied);
        }
        self.set(first, first + pages, Some(rights));
        self.set(first + pages, old.end.0, None);
        Ok(())
    }

    fn split(&mut self, page: u32) -> Result<(), Error> {
        let old = self.region(page);
        let rights = old.rights.ok_or(Error::Free)?;
        if old.first.0 != page && old.mapped > 0 {
            return Err(Error::InUse);
        }
        self.set(page, old.end.0, Some(rights));
        Ok(())
    }

    /// At most so many pages; the frames, and where the rest begins.
    fn unmap_region(&mut self, first: u32, most: Option<u32>) -> Result<(Vec<Frame>, Option<u32>), Error> {
        let old = self.region(first);
        if old.first.0 != first || old.rights.is_none() {
            return Err(Error::NoRegion);
        }
        let rest = most.map(|most| first + most).filter(|rest| *rest < old.end.0);
        if let Some(rest) = rest {
            self.set(rest, old.end.0, old.rights);
        }
        let end = rest.unwrap_or(old.end.0);
        let frames = (first..end).filter_map(|page| self.frame[page as usize].take()).collect();
        let mut from = first;
        if first > 0 && self.rights[first as usize - 1].is_none() {
            from = self.header[first as usize - 1];
        }
        let to =
            if (end as usize) < self.header.len() && self.rights[end as usize].is_none() { self.end(end) } else { end };
        self.set(from, to, None);
        Ok((frames, rest))
    }
}

type Small<'a> = Space<Tables<Counting<'a>>, Counting<'a>>;

/// Tables that hold anything at first.
trait Kind<'a>: Translation + Sized {
    /// Made of words that are filled so.
    fn made(junk: &mut dyn FnMut() -> Counting<'a>) -> Self;

    /// Its own invariants.
    fn check(_: &Space<Self, Counting<'a>>, _: &Shadow) {}

    /// Changes the rights of a region, if it can.
    fn protect(_: &mut Space<Self, Counting<'a>>, _: Page, _: Rights) -> Option<Result<(), Error>> {
        None
    }
}

impl<'a> Kind<'a> for Tables<Counting<'a>> {
    fn made(junk: &mut dyn FnMut() -> Counting<'a>) -> Self {
        Tables { c: junk(), sp: junk(), h: junk(), s: junk(), d: junk() }
    }

    fn check(space: &Small<'a>, shadow: &Shadow) {
        check_invariants(space, shadow);
    }

    fn protect(space: &mut Small<'a>, first: Page, rights: Rights) -> Option<Result<(), Error>> {
        Some(space.protect(first, rights))
    }
}

impl<'a, E: Entry> Kind<'a> for Flat<Counting<'a>, E> {
    fn made(junk: &mut dyn FnMut() -> Counting<'a>) -> Self {
        Flat { entries: junk(), headers: junk(), entry: PhantomData }
    }
}

/// A space whose tables hold anything.
fn space<'a>(pages_log2: u8, counts: &'a Counts, rng: &mut Rng) -> Small<'a> {
    space_of(pages_log2, counts, rng)
}

fn space_of<'a, M: Kind<'a>>(pages_log2: u8, counts: &'a Counts, rng: &mut Rng) -> Space<M, Counting<'a>> {
    let mut junk = || {
        let style = rng.below(4);
        let words = (0..1_u32 << pages_log2).map(|page| match style {
            0 => 0,
            1 => page,
            2 => rng.below(1 << pages_log2) as u32,
            _ => rng.next() as u32,
        });
        Counting::new(words.collect(), counts)
    };
    let tables = M::made(&mut junk);
    let tree = Counting::new(vec![0xffff_ffff; tree::words_for(pages_log2)], counts);
    Space::new(tables, tree, pages_log2)
}

/// The invariants of the module's documentation, on a space that the shadow describes.
fn check_invariants(space: &Small<'_>, shadow: &Shadow) {
    let mut next = 0;
    let mut free_before = false;
    while next < space.pages() {
        let region = shadow.region(next);
        let (first, end) = (region.first.0, region.end.0);
        assert!(!(free_before && region.rights.is_none()), "free regions are never neighbours");
        free_before = region.rights.is_none();
        for page in first..end {
            let header = space.tables.header(Page(page));
            if page == first && region.rights.is_some() {
                check_stack(space, shadow, region, header.limit());
            } else {
                assert!(header.limit() <= page && header.rights().is_none());
            }
            if shadow.frame[page as usize].is_some() {
                let (c, h) = (space.tables.c.get(page as usize), space.tables.h.get(page as usize));
                assert_eq!(c, first);
                assert!(c <= h && h < space.tables.header(Page(c)).limit());
                assert_eq!(space.tables.s.get(h as usize), page);
            }
        }
        next = end;
    }
}

fn check_stack(space: &Small<'_>, shadow: &Shadow, region: Region, limit: u32) {
    assert!(limit >= region.first.0 && limit <= region.end.0);
    for place in region.first.0..limit {
        let mapped = space.tables.s.get(place as usize);
        assert_eq!(shadow.header[mapped as usize], region.first.0);
        assert_eq!(space.tables.h.get(mapped as usize), place);
        assert!(shadow.frame[mapped as usize].is_some());
    }
}

fn random_rights(rng: &mut Rng) -> Rights {
    [Rights::R, Rights::RW, Rights::RX, Rights::NONE][rng.below(4) as usize]
}

/// Accesses that the documentation admits: searches, updates of the tree, reads and writes of the tables.
fn within(counts: &Counts, pages_log2: u8, searches: u64, updates: u64, reads: u64, writes: u64) -> bool {
    let levels = u64::from(tree::levels(pages_log2));
    counts.reads() <= searches * (2 * levels - 1) + updates * levels + reads
        && counts.writes() <= updates * levels + writes
}

/// One random operation on both; true when it was done.
fn step<'a, M: Kind<'a>>(
    space: &mut Space<M, Counting<'a>>,
    shadow: &mut Shadow,
    frames: &mut Frames<Counting<'_>>,
    taken: &mut BTreeSet<u32>,
    counts: &Counts,
    rng: &mut Rng,
) -> bool {
    let (pages, log2) = (space.pages(), space.pages_log2);
    // A release from tables that are visited takes an update, and two reads and two writes of each
    // page.
    let visited = u64::from(M::PAGES_AT_ONCE.unwrap_or(0));
    let page = rng.below(u64::from(pages)) as u32;
    counts.reset();
    match rng.below(16) {
        0..4 => {
            let (length, rights) = (rng.below(u64::from(pages / 4 + 2)) as u32, random_rights(rng));
            let done = space.map_vrh(Page(page), length, rights);
            assert!(within(counts, log2, 2, 2, 1, 1));
            assert_eq!(done, shadow.map_vrh(page, length, rights));
            done.is_ok()
        }
        4 => {
            let done = space.split(Page(page));
            assert!(within(counts, log2, 1, 1, 1, 1));
            assert_eq!(done, shadow.split(page));
            done.is_ok()
        }
        5..8 => {
            let first = if rng.chance(4) { page } else { shadow.header[page as usize] };
            let (free, done) = (frames.free(), space.unmap_region(Page(first), frames));
            assert!(within(counts, log2, 2, 2 + visited.min(1), 8 + 2 * visited, 2 + 2 * visited));
            match shadow.unmap_region(first, M::PAGES_AT_ONCE) {
                Ok((given, rest)) => {
                    assert_eq!(done, Ok(Freed { pages: given.len() as u32, rest: rest.map(Page) }));
                    assert_eq!(frames.free(), free + given.len() as u32);
                    for frame in given {
                        assert!(taken.remove(&frame.0));
                    }
                    true
                }
                Err(error) => {
                    assert_eq!(done, Err(error));
                    false
                }
            }
        }
        8 => {
            let rights = random_rights(rng);
            let first = shadow.header[page as usize];
            let region = shadow.region(first);
            let expected = region.rights.map(|_| ()).ok_or(Error::NoRegion);
            let Some(done) = M::protect(space, Page(first), rights) else { return false };
            assert_eq!(done, expected);
            assert!(within(counts, log2, 0, 0, 1, 1));
            if expected.is_ok() {
                for page in first..region.end.0 {
                    shadow.rights[page as usize] = Some(rights);
                }
            }
            expected.is_ok()
        }
        _ => {
            let free = frames.free();
            let done = space.map_page(Page(page), OWNER, frames);
            assert!(within(counts, log2, 1, 0, 8, 6));
            let expected = if shadow.rights[page as usize].is_none() {
                Some(Error::Free)
            } else if shadow.frame[page as usize].is_some() {
                Some(Error::Mapped)
            } else {
                (free == 0).then_some(Error::NoFrame)
            };
            match (done, expected) {
                (Ok(mapped), None) => {
                    assert!(taken.insert(mapped.frame.0), "a frame is never given twice");
                    shadow.frame[page as usize] = Some(mapped.frame);
                    true
                }
                (done, expected) => {
                    assert_eq!(done.err(), expected);
                    false
                }
            }
        }
    }
}

fn check_pages<'a, M: Kind<'a>>(space: &Space<M, Counting<'a>>, shadow: &Shadow, pages: impl Iterator<Item = u32>) {
    for page in pages {
        let rights = shadow.rights[page as usize];
        for access in [Access::Load, Access::Store, Access::Fetch] {
            let expected = shadow.frame[page as usize].filter(|_| rights.is_some_and(|rights| rights.admit(access)));
            assert_eq!(space.translate(Page(page), access), expected, "page {page} {access:?}");
        }
    }
}

#[test]
fn any_history_equals_a_plain_page_table() {
    (0..48).for_each(history::<Tables<Counting<'static>>>);
}

#[test]
fn so_it_does_with_an_entry_for_each_page() {
    (0..48).for_each(history::<Flat<Counting<'static>, Direct>>);
    (0..48).for_each(history::<Flat<Counting<'static>, Sv32>>);
}

fn history<M: Kind<'static>>(seed: u64) {
    let (mut rng, counts) = (Rng::new(seed), &*Box::leak(Box::<Counts>::default()));
    let pages_log2 = [0, 2, 3, 5, 6, 7][(seed % 6) as usize];
    let mut space = space_of::<M>(pages_log2, counts, &mut rng);
    let mut shadow = Shadow::new(space.pages());
    // Frames run out now and then.
    let count = (space.pages() * 3 / 4).max(1);
    let mut frames = Frames::new(Counting::new(vec![0xffff_ffff; count as usize], counts), Frame(FIRST_FRAME), count);
    let (mut taken, mut done) = (BTreeSet::new(), 0);
    for _ in 0..1_000 {
        done += u32::from(step(&mut space, &mut shadow, &mut frames, &mut taken, counts, &mut rng));
        assert_eq!(frames.free() as usize + taken.len(), count as usize);
        check_pages(&space, &shadow, 0..space.pages());
        M::check(&space, &shadow);
        let page = rng.below(u64::from(space.pages())) as u32;
        assert_eq!(space.region(Page(page)), Ok(shadow.region(page)));
    }
    assert!(done > 100, "{done} operations were done with seed {seed}");
}

#[test]
fn the_largest_space_equals_a_plain_page_table() {
    let (counts, mut rng) = (Counts::default(), Rng::new(7));
    let mut space = space(MAX_PAGES_LOG2, &counts, &mut rng);
    let mut frames = Frames::new(Counting::new(vec![0; 4096], &counts), Frame(FIRST_FRAME), 4096);
    let rows = [(0, 5), (100, 70_000), (70_100, 1), (200_000, 324_288)];
    for (first, pages) in rows {
        space.map_vrh(Page(first), pages, Rights::RW).unwrap();
    }
    assert_eq!(space.region(Page(524_287)).unwrap().end, Page(524_288));
    for touch in 0..4096 {
        space.map_page(Page(200_000 + touch * 79), OWNER, &mut frames).unwrap();
    }
    assert_eq!(space.map_page(Page(0), OWNER, &mut frames), Err(Error::NoFrame));
    counts.reset();
    assert_eq!(space.unmap_region(Page(200_000), &mut frames), Ok(Freed { pages: 4096, rest: None }));
    assert!(within(&counts, MAX_PAGES_LOG2, 2, 2, 8, 2));
    assert!((0..4096).all(|touch| space.translate(Page(200_000 + touch * 79), Access::Load).is_none()));
    assert_eq!(space.region(Page(300_000)).unwrap().first, Page(70_101));
}

/// The cost of a release, in accesses, is the same for one page and for all pages.
#[test]
fn a_release_costs_the_same_for_one_page_and_for_4096() {
    let cost = |touched: u32| {
        let (counts, mut rng) = (Counts::default(), Rng::new(1));
        let mut space = space(16, &counts, &mut rng);
        let mut frames = Frames::new(Counting::new(vec![0; 4096], &counts), Frame(FIRST_FRAME), 4096);
        space.map_vrh(Page(1000), 4096, Rights::RW).unwrap();
        for page in 0..touched {
            space.map_page(Page(1000 + page), OWNER, &mut frames).unwrap();
        }
        counts.reset();
        space.unmap_region(Page(1000), &mut frames).unwrap();
        (counts.reads(), counts.writes())
    };
    assert_eq!(cost(1), cost(4096));
}

#[test]
fn a_frame_is_cleared_for_whoever_did_not_have_it() {
    let (counts, mut rng) = (Counts::default(), Rng::new(1));
    let mut space = space(4, &counts, &mut rng);
    let mut frames = Frames::new(Counting::new(vec![0; 2], &counts), Frame(FIRST_FRAME), 2);
    let mut touch = |owner| {
        space.map_vrh(Page(2), 3, Rights::RW).unwrap();
        let clear = [2, 4].map(|page| space.map_page(Page(page), Owner(owner), &mut frames).unwrap().clear);
        space.unmap_region(Page(2), &mut frames).unwrap();
        clear
    };
    assert_eq!(touch(1), [true, true], "nobody had them");
    assert_eq!(touch(1), [false, false]);
    assert_eq!(touch(2), [true, true]);
}

/// Section IV.A.5: all tables at most five times a page table, and the tree.
#[test]
fn tables_are_five_page_tables_and_the_tree() {
    assert_eq!(bytes_for(20), 5 * 4 * (1 << 20) + 135_300);
}

/// Frames of the caller's: the same tables, and a region that is forgotten in the same time whatever its size.
#[test]
fn a_region_of_given_frames_is_mapped_and_forgotten() {
    const PAGES_LOG2: u8 = 8;
    let (counts, mut rng) = (Counts::default(), Rng::new(7));
    let mut space = space(PAGES_LOG2, &counts, &mut rng);
    let levels = u64::from(tree::levels(PAGES_LOG2));
    let (reads, writes) = (2 * (2 * levels - 1) + 2 * levels + 3, 2 * levels + 1);
    for pages in [1, 200] {
        space.map_vrh(Page(3), pages, Rights::RW).unwrap();
        for page in 0..pages {
            space.map_to(Page(3 + page), Frame(FIRST_FRAME + 2 * page)).unwrap();
        }
        assert_eq!(space.map_to(Page(3), Frame(0)), Err(Error::Mapped));
        assert_eq!(space.map_to(Page(3 + pages), Frame(0)), Err(Error::Free));
        let last = Page(2 + pages);
        assert_eq!(space.translate(last, Access::Store), Some(Frame(FIRST_FRAME + 2 * (pages - 1))));
        assert_eq!(space.translate(last, Access::Fetch), None);
        assert_eq!(space.forget_region(Page(4)), Err(Error::NoRegion));
        counts.reset();
        assert_eq!(space.forget_region(Page(3)), Ok(Freed { pages, rest: None }));
        assert!(counts.reads() <= reads && counts.writes() <= writes, "{} {}", counts.reads(), counts.writes());
        assert!((0..1 << PAGES_LOG2).all(|page| space.translate(Page(page), Access::Load).is_none()));
        assert_eq!(space.region(Page(0)).unwrap().end, Page(1 << PAGES_LOG2), "free neighbours are joined");
    }
}
