//! The table against one record for every granule.

use super::*;
use crate::scrub::Scrub;
use crate::testing::Rng;
use std::vec;
use std::vec::Vec;
use units::{Bytes, PhysAddr};

const GRANULE: u64 = 64;
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
    clear: bool,
}

struct World {
    table: FrameTable<16>,
    model: Vec<Granule>,
    maps: Vec<(PhysRange, Domain)>,
    objects: Vec<PhysRange>,
    scrubs: Vec<Scrub>,
    rng: Rng,
    granted: [u32; 6],
}

impl World {
    fn new(seed: u64) -> Self {
        let mut table = FrameTable::new();
        table.add(range(0, GRANULES), false).unwrap();
        let model = vec![Granule { kind: FrameType::Dirty, clear: false }; GRANULES as usize];
        let (maps, objects, scrubs) = (Vec::new(), Vec::new(), Vec::new());
        Self { table, model, maps, objects, scrubs, rng: Rng::new(seed), granted: [0; 6] }
    }

    /// Anything, or something inside one entry.
    fn some_range(&mut self) -> PhysRange {
        if self.rng.chance(2) {
            let entries: Vec<Entry> = self.table.entries().collect();
            let within = granules(entries[self.rng.below(entries.len() as u64) as usize].range);
            let first = within.start as u64 + self.rng.below(within.len() as u64);
            return range(first, first + 1 + self.rng.below(within.end as u64 - first));
        }
        let first = self.rng.below(GRANULES);
        let len = 1 + self.rng.below(12).min(GRANULES - first - 1);
        range(first, first + len)
    }

    /// The one type of a range, if all of it has one.
    fn kind(&self, range: PhysRange) -> Option<FrameType> {
        let all = &self.model[granules(range)];
        all.iter().all(|g| g.kind == all[0].kind).then_some(all[0].kind)
    }

    fn used(&self, range: PhysRange) -> bool {
        let by_map = self.maps.iter().any(|(map, _)| map.overlaps(range));
        by_map || self.objects.iter().any(|object| object.overlaps(range))
    }

    fn set(&mut self, range: PhysRange, kind: FrameType) {
        self.model[granules(range)].iter_mut().for_each(|g| g.kind = kind);
    }

    fn retype(&mut self) {
        let range = self.some_range();
        let purpose = [Purpose::User(Domain(1)), Purpose::User(Domain(2)), Purpose::Shared, Purpose::Kernel]
            [self.rng.below(4) as usize];
        if self.table.retype(range, purpose).is_ok() {
            assert_eq!(self.kind(range), Some(FrameType::Untyped));
            assert!(self.model[granules(range)].iter().all(|g| g.clear), "used again before it was cleared");
            self.set(range, FrameType::Typed(purpose));
            self.model[granules(range)].iter_mut().for_each(|g| g.clear = false);
            self.granted[0] += 1;
        }
    }

    fn release(&mut self) {
        let range = self.some_range();
        if self.table.release(range).is_ok() {
            assert!(matches!(self.kind(range), Some(FrameType::Typed(_))) && !self.used(range));
            self.set(range, FrameType::Dirty);
            self.granted[1] += 1;
        }
    }

    fn scrub(&mut self) {
        let range = self.some_range();
        if let Ok(scrub) = self.table.begin_scrub(range) {
            assert_eq!(self.kind(range), Some(FrameType::Dirty));
            self.set(range, FrameType::Scrubbing);
            self.scrubs.push(scrub);
        }
        if self.scrubs.is_empty() {
            return;
        }
        let mut scrub = self.scrubs.swap_remove(self.rng.below(self.scrubs.len() as u64) as usize);
        for _ in 0..self.rng.below(8) {
            let piece = scrub.piece(Bytes(GRANULE));
            assert_eq!(piece, scrub.piece(Bytes(GRANULE)));
            self.model[granules(piece)].iter_mut().for_each(|g| g.clear = true);
            scrub.cleared(piece);
        }
        let range = scrub.range();
        if self.rng.chance(6) {
            assert!(self.table.abandon_scrub(scrub).is_ok());
            self.set(range, FrameType::Dirty);
            self.granted[2] += 1;
            return;
        }
        match self.table.finish_scrub(scrub) {
            Ok(()) => {
                self.set(range, FrameType::Untyped);
                self.granted[3] += 1;
            }
            Err((FrameError::NotClear, scrub)) => self.scrubs.push(scrub),
            // Splitting is never needed here: the whole entry changes.
            Err((other, _)) => panic!("{other:?}"),
        }
    }

    fn map(&mut self) {
        let (range, domain) = (self.some_range(), Domain(1 + self.rng.below(2) as u16));
        if self.table.map(range, domain).is_ok() {
            let kind = self.kind(range).unwrap();
            let legal = [FrameType::Typed(Purpose::Shared), FrameType::Typed(Purpose::User(domain))];
            assert!(legal.contains(&kind), "{kind:?} mapped");
            self.maps.push((range, domain));
            self.granted[4] += 1;
        }
        if !self.maps.is_empty() && self.rng.chance(2) {
            let (range, domain) = self.maps.swap_remove(self.rng.below(self.maps.len() as u64) as usize);
            assert_eq!(self.table.unmap(range, domain), Ok(()));
        }
    }

    fn object(&mut self) {
        let range = self.some_range();
        if self.table.place_object(range).is_ok() {
            assert_eq!(self.kind(range), Some(FrameType::Typed(Purpose::Kernel)));
            self.objects.push(range);
            self.granted[5] += 1;
        }
        if !self.objects.is_empty() && self.rng.chance(2) {
            let range = self.objects.swap_remove(self.rng.below(self.objects.len() as u64) as usize);
            assert_eq!(self.table.remove_object(range), Ok(()));
        }
    }

    fn assert_consistent(&self) {
        let mut at = range(0, 1).base();
        let mut uses = 0;
        for entry in self.table.entries() {
            assert_eq!(entry.range.base(), at, "no gap, no overlap");
            assert!(granules(entry.range).all(|g| self.model[g].kind == entry.kind));
            uses += entry.uses as usize;
            at = entry.range.end();
        }
        assert_eq!((at, uses), (range(0, GRANULES).end(), self.maps.len() + self.objects.len()));
    }
}

#[test]
fn random_histories_keep_every_rule() {
    let mut totals = [0; 6];
    for seed in 0..8 {
        let mut world = World::new(seed);
        for _ in 0..2_500 {
            match world.rng.below(5) {
                0 => world.retype(),
                1 => world.release(),
                2 => world.scrub(),
                3 => world.map(),
                _ => world.object(),
            }
            world.assert_consistent();
        }
        totals.iter_mut().zip(world.granted).for_each(|(total, n)| *total += n);
    }
    assert!(totals.iter().all(|&n| n > 50), "some operation was hardly ever granted: {totals:?}");
}

fn clear(table: &mut FrameTable<4>, range: PhysRange) {
    let mut scrub = table.begin_scrub(range).unwrap();
    scrub.cleared(scrub.piece(Bytes(u64::MAX)));
    assert!(table.finish_scrub(scrub).is_ok());
}

#[test]
fn refusals_say_what_is_in_the_way() {
    let mut table = FrameTable::<4>::new();
    table.add(range(0, 8), true).unwrap();
    let with = table.at(range(0, 1).base()).unwrap();
    assert_eq!(table.add(range(7, 9), true), Err(FrameError::Overlap { with }));
    assert_eq!(table.add(range(3, 3), true), Err(FrameError::Empty));
    assert_eq!(table.retype(range(8, 9), Purpose::Shared), Err(FrameError::Unknown));
    assert_eq!(table.retype(range(7, 9), Purpose::Shared), Err(FrameError::Straddles { entry: with }));
    table.retype(range(2, 4), Purpose::Kernel).unwrap();
    let kernel = table.at(range(2, 3).base()).unwrap();
    assert_eq!(table.map(range(2, 3), Domain(1)), Err(FrameError::WrongType { entry: kernel }));
    assert_eq!(table.retype(range(2, 3), Purpose::Shared), Err(FrameError::WrongType { entry: kernel }));
    assert_eq!(table.remove_object(range(2, 3)), Err(FrameError::NotInUse { entry: kernel }));
    table.place_object(range(2, 3)).unwrap();
    let in_use = Entry { uses: 1, ..kernel };
    assert_eq!(table.release(range(3, 4)), Err(FrameError::InUse { entry: in_use }));
    // Three entries; splitting the last in three would make five.
    assert_eq!(table.retype(range(5, 6), Purpose::Shared), Err(FrameError::Full { limit: 4 }));
    table.retype(range(4, 5), Purpose::User(Domain(3))).unwrap();
    assert_eq!(table.map(range(4, 5), Domain(4)), Err(FrameError::WrongDomain { owner: Domain(3) }));
    assert_eq!(table.add(range(20, 21), true), Err(FrameError::Full { limit: 4 }));
}

#[test]
fn memory_comes_back_only_clear_and_a_scrub_vouches_once() {
    let mut table = FrameTable::<4>::new();
    table.add(range(0, 4), false).unwrap();
    let dirty = table.at(range(0, 1).base()).unwrap();
    assert_eq!(table.retype(range(0, 4), Purpose::Shared), Err(FrameError::WrongType { entry: dirty }));
    let mut scrub = table.begin_scrub(range(0, 4)).unwrap();
    assert!(matches!(table.begin_scrub(range(0, 4)), Err(FrameError::WrongType { .. })), "only one at a time");
    // A piece that is not where the cursor stands does not count.
    scrub.cleared(range(1, 4));
    assert!(!scrub.is_done());
    scrub.cleared(scrub.piece(Bytes(GRANULE)));
    let (error, mut scrub) = table.finish_scrub(scrub).unwrap_err();
    assert_eq!((error, scrub.piece(Bytes(u64::MAX))), (FrameError::NotClear, range(1, 4)));
    scrub.cleared(range(1, 4));
    assert!(scrub.piece(Bytes(GRANULE)).is_empty());
    assert!(table.finish_scrub(scrub).is_ok());
    table.retype(range(1, 3), Purpose::Shared).unwrap();
    table.map(range(1, 2), Domain(1)).unwrap();
    table.unmap(range(1, 2), Domain(1)).unwrap();
    table.release(range(1, 3)).unwrap();
    clear(&mut table, range(1, 3));
    assert_eq!(table.entries().count(), 1, "what is alike again is one entry again");
}
