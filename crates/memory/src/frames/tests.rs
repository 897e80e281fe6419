//! The table against one record for every granule.

use super::*;
use crate::testing::Rng;
use std::vec;
use std::vec::Vec;
use units::{Bytes, PhysAddr};

const GRANULE: u64 = 32;
const GRANULES: u64 = 48;
const ORIGIN: u64 = 0x2000_0000;

fn range(first: u64, past: u64) -> PhysRange {
    PhysRange::from_bounds(PhysAddr(ORIGIN + first * GRANULE), PhysAddr(ORIGIN + past * GRANULE)).unwrap()
}

fn granules(range: PhysRange) -> core::ops::Range<usize> {
    ((range.base().0 - ORIGIN) / GRANULE) as usize..((range.end().0 - ORIGIN) / GRANULE) as usize
}

/// Type and use of each granule, and whether its bytes were cleared since they were last in use.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Granule {
    kind: FrameType,
    uses: u8,
    clear: bool,
}

struct World {
    table: FrameTable<'static>,
    model: Vec<Granule>,
    maps: Vec<(PhysRange, Domain)>,
    objects: Vec<PhysRange>,
    /// Mappings on their way in, or out.
    moving: Vec<(Counting, PhysRange, Domain, bool)>,
    rng: Rng,
    granted: [u32; 6],
    full: u32,
}

/// A table of so many chunks.
fn table(chunks: usize) -> FrameTable<'static> {
    FrameTable::new(vec![Chunk::EMPTY; chunks].leak(), vec![Place::EMPTY; chunks].leak()).unwrap()
}

impl World {
    fn new(seed: u64, chunks: usize) -> Self {
        let mut table = table(chunks);
        table.add(range(0, GRANULES), false).unwrap();
        let model = vec![Granule { kind: FrameType::Dirty, uses: 0, clear: false }; GRANULES as usize];
        Self {
            table,
            model,
            maps: Vec::new(),
            objects: Vec::new(),
            moving: Vec::new(),
            rng: Rng::new(seed),
            granted: [0; 6],
            full: 0,
        }
    }

    fn some_range(&mut self) -> PhysRange {
        let first = self.rng.below(GRANULES);
        let len = 1 + self.rng.below(12).min(GRANULES - first - 1);
        range(first, first + len)
    }

    /// Returns true if the table's answer is the one that the model gives; a table that is full may
    /// refuse what would be right, if the marks really are used up.
    fn agrees(&mut self, expected: bool, told: Result<(), FrameError>, op: usize) -> bool {
        if let Err(FrameError::Full { limit }) = told {
            assert!(limit == self.table.limit() && self.table.marks() + 2 > limit, "marks are left");
            self.full += 1;
            return false;
        }
        assert_eq!(told.is_ok(), expected, "{told:?}");
        self.granted[op] += u32::from(expected);
        expected
    }

    /// A granule with the uses that are being counted.
    fn now(&self, at: usize) -> Granule {
        let addr = PhysAddr(ORIGIN + at as u64 * GRANULE);
        let moving = self.moving.iter().filter(|moving| moving.0.counts(addr)).count();
        let granule = self.model[at];
        Granule { uses: granule.uses + moving as u8, ..granule }
    }

    fn all(&self, range: PhysRange, holds: impl Fn(&Granule) -> bool) -> bool {
        granules(range).all(|at| holds(&self.now(at)))
    }

    /// Returns true if nothing in a range is in use, or about to be.
    fn idle(&self, range: PhysRange) -> bool {
        let mut ends = self.moving.iter().flat_map(|moving| [moving.1.base(), moving.1.end()]);
        self.all(range, |g| g.uses == 0) && !ends.any(|end| range.base() < end && end < range.end())
    }

    /// Begins to map memory, or goes on with it or with what ends, one mark at a time.
    fn move_on(&mut self) {
        let legal = |g: Granule, domain| {
            g.kind == FrameType::Typed(Purpose::Shared) || g.kind == FrameType::Typed(Purpose::User(domain))
        };
        if self.moving.len() < 3 && self.rng.chance(3) {
            let (range, domain) = (self.some_range(), Domain(1 + self.rng.below(2) as u16));
            let told = self.table.count(range, Some(domain));
            if self.agrees(legal(self.now(granules(range).start), domain), told.map(|_| ()), 5) {
                self.moving.push((told.unwrap(), range, domain, true));
            }
        }
        if self.moving.is_empty() {
            return;
        }
        let index = self.rng.below(self.moving.len() as u64) as usize;
        let (mut counting, range, domain, up) = self.moving.swap_remove(index);
        let next = granules(range).find(|at| !counting.counts(PhysAddr(ORIGIN + *at as u64 * GRANULE)));
        let up = up && !self.rng.chance(12);
        if !up {
            if !self.table.uncount_step(&mut counting, 1) {
                self.moving.push((counting, range, domain, false));
            }
            return;
        }
        let expected = next.is_none_or(|at| legal(self.now(at), domain));
        match self.table.count_step(&mut counting, 1) {
            Ok(true) => {
                assert!(expected);
                self.each(range, |g| g.uses += 1);
                self.maps.push((range, domain));
            }
            Ok(false) => self.moving.push((counting, range, domain, true)),
            Err(_) => {
                assert!(!expected);
                self.moving.push((counting, range, domain, false));
            }
        }
    }

    fn each(&mut self, range: PhysRange, change: impl Fn(&mut Granule)) {
        self.model[granules(range)].iter_mut().for_each(change);
    }

    fn retype(&mut self) {
        let range = self.some_range();
        let purpose = [Purpose::User(Domain(1)), Purpose::User(Domain(2)), Purpose::Shared, Purpose::Kernel]
            [self.rng.below(4) as usize];
        let expected = self.all(range, |g| g.kind == FrameType::Untyped) && self.idle(range);
        let told = self.table.retype(range, purpose);
        if self.agrees(expected, told, 0) {
            assert!(self.all(range, |g| g.clear), "used again before it was cleared");
            self.each(range, |g| *g = Granule { kind: FrameType::Typed(purpose), uses: 0, clear: false });
        }
    }

    fn release(&mut self) {
        let range = self.some_range();
        let expected = self.all(range, |g| matches!(g.kind, FrameType::Typed(_))) && self.idle(range);
        let told = self.table.release(range);
        if self.agrees(expected, told, 1) {
            self.each(range, |g| g.kind = FrameType::Dirty);
        }
    }

    /// Steps of clearing a range until something in it is in the way.
    fn clean(&mut self) {
        let range = self.some_range();
        for _ in 0..self.rng.below(20) {
            let most = Bytes(GRANULE * (1 + self.rng.below(4)));
            let first = granules(range).find(|at| self.model[*at].kind != FrameType::Untyped);
            let piece = match self.table.dirty(range, most) {
                Ok(None) => return assert_eq!(first, None),
                Ok(Some(piece)) => piece,
                Err(_) => {
                    let in_the_way = self.now(first.unwrap());
                    return assert!(in_the_way.uses > 0 || in_the_way.kind == FrameType::Typed(Purpose::Kernel));
                }
            };
            assert_eq!(granules(piece).start, first.unwrap());
            assert!(
                range.base() <= piece.base() && piece.end() <= range.end() && !piece.is_empty() && piece.size() <= most
            );
            let (told, idle) = (self.table.cleared(piece), self.idle(piece));
            if self.agrees(idle, told, 2) {
                self.each(piece, |g| *g = Granule { kind: FrameType::Untyped, uses: 0, clear: true });
            }
        }
    }

    fn map(&mut self) {
        let (mut range, domain) = (self.some_range(), Domain(1 + self.rng.below(2) as u16));
        if let Some((last, _)) = self.maps.last().filter(|_| self.rng.below(3) == 0) {
            // Right behind another mapping.
            range = PhysRange::from_bounds(last.end(), self::range(0, GRANULES).end()).unwrap();
            let most = (range.size().0 / GRANULE).min(4);
            if most == 0 {
                return;
            }
            let past = PhysAddr(range.base().0 + most * GRANULE);
            range = PhysRange::from_bounds(range.base(), past).unwrap();
        }
        let legal = [FrameType::Typed(Purpose::Shared), FrameType::Typed(Purpose::User(domain))];
        let told = self.table.map(range, domain);
        if self.agrees(self.all(range, |g| legal.contains(&g.kind)), told, 3) {
            self.each(range, |g| g.uses += 1);
            self.maps.push((range, domain));
        }
        if !self.maps.is_empty() && self.rng.chance(2) {
            let at = self.rng.below(self.maps.len() as u64) as usize;
            let (range, domain) = self.maps[at];
            assert_eq!(self.table.unmap(range, domain), Ok(()), "however full the table is");
            self.each(range, |g| g.uses -= 1);
            self.maps.swap_remove(at);
        }
        if self.all(range, |g| g.uses == 0) {
            assert!(self.table.unmap(range, domain).is_err());
        }
    }

    fn object(&mut self) {
        let range = self.some_range();
        let told = self.table.place_object(range);
        if self.agrees(self.all(range, |g| g.kind == FrameType::Typed(Purpose::Kernel)), told, 4) {
            self.each(range, |g| g.uses += 1);
            self.objects.push(range);
        }
        if !self.objects.is_empty() && self.rng.chance(2) {
            let at = self.rng.below(self.objects.len() as u64) as usize;
            let range = self.objects[at];
            assert_eq!(self.table.uncount_all(range, None), Ok(()));
            self.each(range, |g| g.uses -= 1);
            self.objects.swap_remove(at);
        }
    }

    /// Every granule is what the table says, and no two neighbours could be one.
    fn check(&self) {
        self.table.check();
        let entries: Vec<Entry> = self.table.entries().collect();
        assert_eq!(entries[0].range.base(), range(0, 1).base());
        for entry in &entries {
            for granule in &self.model[granules(entry.range)] {
                assert_eq!(granule.kind, entry.kind);
            }
        }
        for pair in entries.windows(2) {
            assert_eq!(pair[0].range.end(), pair[1].range.base());
            let between = pair[1].range.base();
            let used = self.maps.iter().map(|(range, _)| range).chain(&self.objects);
            let used = used.chain(self.moving.iter().map(|moving| &moving.1));
            let edge = used.into_iter().any(|range| range.base() == between || range.end() == between);
            let cursor = self.moving.iter().any(|moving| {
                let counts = |at: PhysAddr| moving.0.counts(at);
                counts(pair[0].range.base()) != counts(between)
            });
            assert!(
                edge || cursor || (pair[0].kind, pair[0].uses) != (pair[1].kind, pair[1].uses),
                "could be one: {pair:?}"
            );
        }
        for used in self.maps.iter().map(|(range, _)| range).chain(&self.objects) {
            let begins = |entry: &Entry| entry.range.base() == used.base();
            let ends = |entry: &Entry| entry.range.end() == used.end();
            assert!(entries.iter().any(begins) && entries.iter().any(ends), "no mark at an edge of {used:?}");
        }
        assert_eq!(entries.last().unwrap().range.end(), range(0, GRANULES).end());
        for at in 0..self.model.len() {
            let granule = self.now(at);
            let entry = self.table.at(PhysAddr(ORIGIN + at as u64 * GRANULE + 31)).unwrap();
            assert_eq!((entry.kind, entry.uses), (granule.kind, granule.uses));
        }
    }
}

fn run(chunks: usize, seed: u64, steps: u32) -> ([u32; 6], u32) {
    let mut world = World::new(seed, chunks);
    for _ in 0..steps {
        // Often fewer marks than there is room for.
        world.table.allow(if world.rng.chance(4) { world.rng.below(3) as usize } else { usize::MAX });
        let before = world.table.marks();
        match world.rng.below(11) {
            0 | 1 => world.retype(),
            2 => world.release(),
            3 | 4 => world.clean(),
            5 | 6 => world.map(),
            7..=9 => world.move_on(),
            _ => world.object(),
        }
        assert!(world.table.marks() <= world.table.limit().max(before), "more than were allowed");
        world.check();
    }
    (world.granted, world.full)
}

#[test]
fn random_histories_agree_with_a_record_for_every_granule() {
    let (granted, full) = run(16, 50, 60_000);
    assert!(granted.iter().all(|count| *count > 90) && full > 500, "{granted:?} {full}");
    // So few marks that many histories end in a refusal, which must change nothing.
    let (granted, full) = run(1, 51, 40_000);
    assert!(granted.iter().all(|count| *count > 15) && full > 500, "{granted:?} {full}");
}

#[test]
fn whatever_is_done_between_fences_puts_marks_in_only_there() {
    let mut table = table(16);
    table.add(range(0, GRANULES), true).unwrap();
    let parts = [range(8, 20), range(20, 40)];
    parts.iter().for_each(|part| table.fence(*part).unwrap());
    let inside = |table: &FrameTable, part: PhysRange| {
        table.entries().filter(|entry| part.base() < entry.range.base() && entry.range.base() < part.end()).count()
    };
    let mut rng = Rng::new(53);
    let mut changed = 0;
    for _ in 0..20_000 {
        let which = rng.below(2) as usize;
        let (from, past) = (granules(parts[which]).start as u64, granules(parts[which]).end as u64);
        let first = from + rng.below(past - from);
        let piece = range(first, first + 1 + rng.below(past - first));
        let (before, other) = (table.marks(), inside(&table, parts[1 - which]));
        let own = inside(&table, parts[which]);
        let told = match rng.below(5) {
            0 => table.retype(piece, Purpose::Shared),
            1 => table.release(piece),
            2 => table.cleared(piece),
            3 => table.map(piece, Domain(which as u16)),
            _ => table.unmap(piece, Domain(which as u16)),
        };
        changed += u32::from(told.is_ok());
        assert_eq!(inside(&table, parts[1 - which]), other);
        assert_eq!(table.marks() - before.min(table.marks()), inside(&table, parts[which]).saturating_sub(own));
        for end in [8, 20, 40] {
            assert!(table.entries().any(|entry| entry.range.base() == range(end, end + 1).base()), "no fence at {end}");
        }
    }
    assert!(changed > 1000, "{changed}");
}

#[test]
fn clearing_upwards_moves_one_mark() {
    let mut table = table(1);
    table.add(range(0, 36), false).unwrap();
    table.add(range(36, 48), true).unwrap();
    for granule in [36, 38, 40, 42, 47] {
        table.retype(range(granule, granule + 1), Purpose::Kernel).unwrap();
    }
    let full = table.limit();
    assert_eq!(table.marks(), full, "the table is full: absent, dirty, kernel, untyped and so on, absent");
    assert_eq!(table.cleared(range(2, 3)), Err(FrameError::Full { limit: full }));
    assert_eq!(table.cleared(range(0, 1)), Err(FrameError::Full { limit: full }));
    assert_eq!(table.dirty(range(0, 36), Bytes(64)), Ok(Some(range(0, 2))));
    assert_eq!(table.cleared(range(0, 36)), Ok(()), "that needs no more marks");
}

/// The mappings of two domains: the granule at each virtual page.
struct Spaces {
    table: FrameTable<'static>,
    pages: [Vec<Option<u64>>; 2],
    most: u32,
}

impl Spaces {
    /// At which ends of a run a domain goes on having what lies next to it.
    fn goes_on(&self, domain: usize, virt: usize, granule: u64, len: usize) -> [bool; 2] {
        let pages = &self.pages[domain];
        let before = virt.checked_sub(1).and_then(|at| pages[at]).is_some_and(|at| at + 1 == granule);
        [before, pages.get(virt + len).copied().flatten() == Some(granule + len as u64)]
    }

    fn map(&mut self, domain: usize, virt: usize, granule: u64, len: usize) {
        let memory = range(granule, granule + len as u64);
        if self.pages[domain][virt..virt + len].iter().any(Option::is_some) {
            return;
        }
        match self.table.map(memory, Domain(domain as u16)) {
            Ok(()) => {}
            Err(FrameError::Full { .. }) => return,
            Err(error) => panic!("{error:?}"),
        }
        let goes_on = self.goes_on(domain, virt, granule, len);
        for (at, _) in [memory.base(), memory.end()].into_iter().zip(goes_on).filter(|end| end.1) {
            self.table.join(at);
        }
        (0..len).for_each(|at| self.pages[domain][virt + at] = Some(granule + at as u64));
    }

    /// Takes out some pages that follow one another; `all` takes out everything, and must not need more than is kept back.
    fn unmap(&mut self, domain: usize, virt: usize, most: usize, all: bool) {
        let Some(granule) = self.pages[domain][virt] else { return };
        let follows = |at: &usize| self.pages[domain].get(virt + at) == Some(&Some(granule + *at as u64));
        let len = (1..most).take_while(follows).count() + 1;
        let memory = range(granule, granule + len as u64);
        let goes_on = self.goes_on(domain, virt, granule, len);
        if !all && self.table.room_for_part(memory, goes_on).is_err() {
            return;
        }
        let mut counting = self.table.counted(memory, Some(Domain(domain as u16)), goes_on).unwrap();
        while !self.table.uncount_step(&mut counting, 1) {}
        self.pages[domain][virt..virt + len].fill(None);
    }

    /// Marks stand at the ends of memory and of what a domain has in one piece, and nowhere else.
    fn check(&mut self) {
        let mut ends = std::collections::BTreeSet::from([0, GRANULES]);
        for pages in &self.pages {
            for (virt, granule) in pages.iter().enumerate().filter_map(|(virt, granule)| Some((virt, (*granule)?))) {
                if virt == 0 || pages[virt - 1].is_none_or(|at| at + 1 != granule) {
                    ends.insert(granule);
                }
                if pages.get(virt + 1).copied().flatten() != Some(granule + 1) {
                    ends.insert(granule + 1);
                }
            }
        }
        // The first mark stands for what lies below all memory.
        assert_eq!(self.table.marks(), ends.len() + 1, "{ends:?}");
        self.most = self.most.max(ends.len() as u32 + 1);
        for granule in 0..GRANULES {
            let uses = self.pages.iter().flatten().filter(|page| **page == Some(granule)).count();
            let entry = self.table.at(PhysAddr(ORIGIN + granule * GRANULE)).unwrap();
            assert_eq!(usize::from(entry.uses), uses);
        }
    }
}

#[test]
fn parts_are_taken_out_with_ends_of_their_own_and_all_of_it_always() {
    let mut rng = Rng::new(52);
    for round in 0..60 {
        let mut table = table(1 + round % 3);
        table.add(range(0, GRANULES), true).unwrap();
        table.retype(range(0, GRANULES), Purpose::Shared).unwrap();
        let (limit, marks) = (table.limit() as u32, table.marks());
        let mut spaces = Spaces { table, pages: [vec![None; 64], vec![None; 64]], most: 0 };
        for _ in 0..300 {
            let (domain, virt, len) = (rng.below(2) as usize, rng.below(56) as usize, 1 + rng.below(8) as usize);
            // Often where it joins what lies before it.
            let after = virt.checked_sub(1).and_then(|at| spaces.pages[domain][at]).map_or(0, |at| at + 1);
            let granule = if rng.chance(2) && after > 0 { after } else { rng.below(GRANULES) };
            if rng.chance(2) {
                spaces.map(domain, virt, granule.min(GRANULES - len as u64), len);
            } else {
                spaces.unmap(domain, virt, len, false);
            }
            spaces.check();
        }
        assert!(spaces.most > limit - 3 || round % 3 == 2, "{} of {limit}", spaces.most);
        // As a restart does: page by page, upwards.
        for (domain, virt) in (0..2).flat_map(|domain| (0..64).map(move |virt| (domain, virt))) {
            spaces.unmap(domain, virt, 1, true);
            spaces.check();
        }
        assert_eq!(spaces.table.marks(), marks);
    }
}

#[test]
fn what_is_outside_or_not_whole_is_refused() {
    let mut table = table(2);
    table.add(range(4, 8), true).unwrap();
    let odd = PhysRange::from_bounds(PhysAddr(ORIGIN + 1), PhysAddr(ORIGIN + 64)).unwrap();
    assert_eq!(table.retype(odd, Purpose::Shared), Err(FrameError::Malformed));
    assert_eq!(table.retype(range(5, 5), Purpose::Shared), Err(FrameError::Malformed));
    for outside in [range(3, 5), range(7, 9), range(0, 2), range(9, 10)] {
        assert_eq!(table.retype(outside, Purpose::Shared), Err(FrameError::Unknown));
    }
    assert!(matches!(table.add(range(0, 5), true), Err(FrameError::Overlap { .. })));
    assert!(matches!(table.add(range(7, 9), true), Err(FrameError::Overlap { .. })));
    assert_eq!(table.add(range(8, 12), true), Ok(()));
    assert_eq!(table.entries().count(), 1, "adjacent untyped memory is one entry");
    let end = 1u64 << 37;
    let beyond = PhysRange::from_bounds(PhysAddr(end - 64), PhysAddr(end)).unwrap();
    assert_eq!(table.add(beyond, true), Err(FrameError::Malformed));
}
