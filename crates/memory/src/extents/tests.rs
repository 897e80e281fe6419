use std::vec;
use std::vec::Vec;

use super::{Extent, ExtentError, Extents, words_for};
use crate::testing::Rng;

const WORDS: usize = words_for(10);
type Pool = Extents<WORDS>;

/// The state of a granule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    Live,
    Dirty,
}

/// A pool beside a record of every granule.
struct Shadow {
    pool: Pool,
    base: u32,
    granule_log2: u8,
    granules: Vec<State>,
    live: Vec<Extent>,
    dirty: Vec<Extent>,
}

impl Shadow {
    fn new(base: u32, bytes: u32, granule_log2: u8) -> Self {
        let pool = Pool::new(base, bytes, granule_log2).unwrap();
        let granules = vec![State::Free; (bytes >> granule_log2) as usize];
        Shadow { pool, base, granule_log2, granules, live: Vec::new(), dirty: Vec::new() }
    }

    fn of(&mut self, extent: Extent) -> &mut [State] {
        let first = ((extent.base() - self.base) >> self.granule_log2) as usize;
        &mut self.granules[first..first + (extent.bytes() >> self.granule_log2) as usize]
    }

    /// The extent is one region register's, large enough, not much larger, and of free memory only.
    fn granted(&mut self, extent: Extent, bytes: u32) {
        let size = 1u32 << extent.size_log2();
        assert_eq!(extent.base() % size, 0);
        assert!(extent.bytes() >= bytes && extent.bytes() <= size);
        let step = (1 << self.granule_log2).max(if size < 256 { size } else { size / 8 });
        assert!(extent.bytes() - bytes < step, "{extent:?} for {bytes}");
        let open = (0..8).filter(|eighth| extent.srd() >> eighth & 1 == 0).count() as u32;
        assert_eq!(extent.bytes(), open * (size / 8));
        assert!(extent.srd() == 0 || size >= 256, "no sub-regions below 256 bytes");
        assert!(self.of(extent).iter().all(|state| *state == State::Free));
        self.of(extent).fill(State::Live);
        self.live.push(extent);
    }

    fn is_free(&self, base: u64, bytes: u64) -> bool {
        let first = (base.wrapping_sub(u64::from(self.base)) >> self.granule_log2) as usize;
        let range = first..first.saturating_add((bytes >> self.granule_log2) as usize);
        base >= u64::from(self.base)
            && self.granules.get(range).is_some_and(|all| all.iter().all(|s| *s == State::Free))
    }

    /// Returns true if an aligned free block of the size exists anywhere.
    fn has_block(&self, bytes: u64) -> bool {
        let first = u64::from(self.base).next_multiple_of(bytes);
        let end = u64::from(self.base) + ((self.granules.len() as u64) << self.granule_log2);
        (first..end).step_by(bytes as usize).any(|base| self.is_free(base, bytes))
    }

    fn step(&mut self, rng: &mut Rng) {
        let top = 5 + rng.below(9);
        let bytes = 1 + rng.below(1 << top) as u32;
        match rng.below(6) {
            0 | 1 => {
                let align = 1u32 << rng.below(14);
                let power = bytes.next_power_of_two().max(align).max(1 << self.granule_log2);
                match self.pool.reserve_aligned(bytes, align) {
                    Ok(extent) => {
                        assert_eq!(extent.base() % align, 0);
                        self.granted(extent, bytes);
                    }
                    Err(ExtentError::Full { asked, .. }) => {
                        assert!(asked >= bytes && !self.has_block(u64::from(power)), "{bytes} refused");
                    }
                    Err(other) => panic!("{other:?}"),
                }
            }
            2 => {
                let base = self.base + (rng.below(self.granules.len() as u64) as u32) * (1 << self.granule_log2);
                match (self.pool.reserve_at(base, bytes), Extent::new(base, bytes, self.granule_log2)) {
                    (Ok(extent), Some(expected)) => {
                        assert_eq!(extent, expected);
                        self.granted(extent, bytes);
                    }
                    (Err(ExtentError::Taken), Some(extent)) => {
                        assert!(!self.is_free(u64::from(base), u64::from(extent.bytes())));
                    }
                    (Err(ExtentError::Place), Some(extent)) => {
                        let end = u64::from(base) + u64::from(extent.bytes());
                        assert!(end > u64::from(self.base) + ((self.granules.len() as u64) << self.granule_log2));
                    }
                    (outcome, expected) => assert_eq!((outcome, expected), (Err(ExtentError::Place), None)),
                }
            }
            3 | 4 if !self.live.is_empty() => {
                let extent = self.live.swap_remove(rng.below(self.live.len() as u64) as usize);
                if rng.chance(4) {
                    self.pool.release(extent).unwrap();
                    self.of(extent).fill(State::Free);
                    assert_eq!(self.pool.release(extent), Err(ExtentError::NotTaken));
                } else {
                    self.pool.soil(extent).unwrap();
                    self.of(extent).fill(State::Dirty);
                    self.dirty.push(extent);
                }
            }
            _ if !self.dirty.is_empty() => {
                let extent = self.dirty.swap_remove(rng.below(self.dirty.len() as u64) as usize);
                self.pool.cleaned(extent).unwrap();
                self.of(extent).fill(State::Free);
            }
            _ => {}
        }
    }

    fn check(&self) {
        let count =
            |wanted| (self.granules.iter().filter(|state| **state == wanted).count() as u32) << self.granule_log2;
        assert_eq!(self.pool.free_bytes(), count(State::Free));
        assert_eq!(self.pool.dirty_bytes(), count(State::Dirty));
        assert_eq!(self.pool.live_bytes(), count(State::Live));
        let largest = self.pool.largest();
        assert!(largest == 0 || self.has_block(u64::from(largest)));
        assert!(!self.has_block(u64::from(largest).max(1 << (self.granule_log2 - 1)) * 2));
    }
}

#[test]
fn random_histories_agree_with_a_record_of_every_granule() {
    for (seed, base, bytes, granule_log2) in [
        (1, 0x6000_0000, 32 * 1024, 5),
        (2, 0x2002_0000 + 96, 20_000 / 32 * 32, 5),
        (3, 0x6001_0000, 0x9_1000, 10),
        (4, 0xFFFF_8000, 0x8000 - 512, 9),
        (5, 0, 512, 9),
    ] {
        let mut rng = Rng::new(seed);
        let mut shadow = Shadow::new(base, bytes, granule_log2);
        for step in 0..200_000 {
            shadow.step(&mut rng);
            if step % 997 == 0 {
                shadow.check();
            }
        }
        let fresh = Pool::new(base, bytes, granule_log2).unwrap();
        for extent in core::mem::take(&mut shadow.live) {
            shadow.pool.release(extent).unwrap();
        }
        for extent in core::mem::take(&mut shadow.dirty) {
            shadow.pool.cleaned(extent).unwrap();
        }
        assert_eq!(shadow.pool.free_bytes(), bytes);
        assert_eq!(shadow.pool.largest(), fresh.largest(), "everything has been joined again");
    }
}

#[test]
fn an_extent_leaves_the_rest_of_its_block_to_others() {
    let mut pool = Pool::new(0x6000_0000, 1024, 5).unwrap();
    let five_eighths = pool.reserve(600).unwrap();
    assert_eq!((five_eighths.bytes(), five_eighths.size_log2(), five_eighths.srd()), (640, 10, 0b1110_0000));
    assert_eq!(pool.reserve(256).unwrap().base(), 0x6000_0300);
    assert_eq!(pool.reserve(128).unwrap().base(), 0x6000_0280);
    assert_eq!(pool.reserve(1), Err(ExtentError::Full { asked: 32, free: 0, largest: 0 }));
}

#[test]
fn the_smallest_sufficient_block_is_taken_and_of_these_the_lowest() {
    let mut pool = Pool::new(0x6000_0000, 4096, 5).unwrap();
    let held: Vec<Extent> = (0..16).map(|_| pool.reserve(256).unwrap()).collect();
    assert!(held.windows(2).all(|pair| pair[0].base() + 256 == pair[1].base()));
    for index in [12, 13, 5, 3] {
        pool.release(held[index]).unwrap();
    }
    assert_eq!(pool.reserve(200).unwrap().base(), held[3].base());
    assert_eq!(pool.reserve(200).unwrap().base(), held[5].base());
    assert_eq!(pool.largest(), 512);
}

#[test]
fn dirty_memory_is_not_granted() {
    let mut pool = Pool::new(0x6000_0000, 1024, 5).unwrap();
    let extent = pool.reserve(1024).unwrap();
    assert_eq!(pool.cleaned(extent), Err(ExtentError::NotTaken), "not dirty");
    pool.soil(extent).unwrap();
    assert_eq!(pool.soil(extent), Err(ExtentError::NotTaken), "dirty already");
    assert!(pool.reserve(32).is_err() && pool.reserve_at(0x6000_0000, 32) == Err(ExtentError::Taken));
    assert_eq!((pool.free_bytes(), pool.dirty_bytes(), pool.live_bytes()), (0, 1024, 0));
    pool.cleaned(extent).unwrap();
    assert_eq!(pool.reserve_at(0x6000_0000, 1000).unwrap(), extent);
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |base, bytes, granule| Pool::new(base, bytes, granule).map(|_| ()).unwrap_err();
    for (base, bytes, granule) in [(0, 0, 5), (16, 32, 5), (0, 48, 5), (0, 64, 4), (0, 64, 32), (0xFFFF_FFE0, 64, 5)] {
        assert_eq!(refused(base, bytes, granule), ExtentError::Pool);
    }
    assert_eq!(refused(0x6000_0000, 64 * 1024, 5), ExtentError::Pool, "too many granules");
    let mut pool = Pool::new(0x6000_0000, 1024, 5).unwrap();
    assert_eq!(pool.reserve(0), Err(ExtentError::Size));
    assert_eq!(pool.reserve((1 << 31) + 1), Err(ExtentError::Size));
    assert_eq!(pool.reserve_aligned(32, 3), Err(ExtentError::Size));
    assert!(matches!(pool.reserve_aligned(32, 1 << 31), Err(ExtentError::Full { .. }) | Ok(_)));
    assert_eq!(pool.reserve_at(0x6000_0020, 64), Err(ExtentError::Place), "not aligned");
    assert_eq!(pool.reserve_at(0x6000_0400, 32), Err(ExtentError::Place), "outside");
    assert_eq!(pool.release(Extent::new(0x6000_0400, 32, 5).unwrap()), Err(ExtentError::Place));
    assert_eq!(pool.release(Extent::new(0x5FFF_FC00, 1024, 5).unwrap()), Err(ExtentError::Place));
}

#[test]
fn the_words_for_a_pool_are_enough() {
    for granules_log2 in 0..=10 {
        let words = words_for(granules_log2);
        assert!(words <= WORDS);
        assert!(Pool::new(0x6000_0000, 32 << granules_log2, 5).is_ok());
    }
    assert!(Extents::<{ words_for(4) }>::new(0, 32 << 4, 5).is_ok());
    assert!(Extents::<{ words_for(9) }>::new(0, 32 << 9, 5).is_ok());
    assert!(Extents::<{ words_for(9) - 1 }>::new(0, 32 << 9, 5).is_err());
    assert_eq!(words_for(13), 512 + 16 + 1, "32 MiB in granules of 4 KiB: 2.1 KiB");
}

#[test]
fn what_fits_into_so_many_bytes_is_the_largest_extent_of_no_more() {
    for granule_log2 in [5, 8, 12] {
        let sizes: Vec<u32> =
            (1..70_000).step_by(7).map(|bytes| Extent::new(0, bytes, granule_log2).unwrap().bytes()).collect();
        for bytes in (0..60_000).step_by(13) {
            let largest = sizes.iter().copied().filter(|size| *size <= bytes).max().unwrap_or(0);
            assert_eq!(Extent::within(bytes, granule_log2), largest, "{bytes} {granule_log2}");
        }
    }
    assert_eq!((Extent::within(u32::MAX, 8), Extent::within(0, 8), Extent::within(100, 33)), (1 << 31, 0, 0));
}
