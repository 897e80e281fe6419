use std::vec::Vec;

use proptest::prelude::*;

use super::{Cache, Evicted, Fill, Geometry, GeometryError, Replacement, is_foreign};

const SMALL: Geometry = Geometry { size_bytes: 4 * 2 * 32, ways: 4, line_bytes: 32 };
const POLICIES: [Replacement; 3] = [Replacement::Lru, Replacement::TreePlru, Replacement::Random { seed: 7 }];

fn small(replacement: Replacement) -> Cache {
    Cache::new(SMALL, replacement).unwrap()
}

/// Fills `line` and gives the line that went.
fn fill(cache: &mut Cache, line: u64) -> Option<u64> {
    gone(cache.fill(line, false))
}

fn gone(fill: Fill) -> Option<u64> {
    match fill {
        Fill::Placed { evicted, .. } => evicted.map(|old| old.line),
        Fill::Bypassed => panic!("a way is open"),
    }
}

/// Two sets: even lines in set 0, odd ones in set 1. Set 0 gets 0, 2, 4, 6; then 0 is used, so 2 is the oldest; 8 throws
/// out 2, 10 throws out 4.
#[test]
fn lru_evicts_the_one_unused_for_longest() {
    let mut cache = small(Replacement::Lru);
    for line in [0, 2, 4, 6] {
        assert_eq!(fill(&mut cache, line), None);
    }
    assert!(cache.access(0, false));
    assert_eq!(fill(&mut cache, 8), Some(2));
    assert_eq!(fill(&mut cache, 10), Some(4));
    assert!(cache.access(0, false) && !cache.access(2, false));
    assert_eq!(fill(&mut cache, 1), None, "the other set is empty");
}

/// Tree of 4 ways: root 1, left 2 (ways 0, 1), right 3 (ways 2, 3). Filling ways 0 to 3 in turn leaves root -> left,
/// node 2 -> way 0, node 3 -> way 2. Using way 0 turns root -> right, node 2 -> way 1. Victim: right, way 2 = line 4.
/// Filling way 2 turns root -> left, node 3 -> way 3. Victim: left, way 1 = line 2.
#[test]
fn tree_plru_follows_its_bits() {
    let mut cache = small(Replacement::TreePlru);
    for line in [0, 2, 4, 6] {
        fill(&mut cache, line);
    }
    assert!(cache.access(0, false));
    assert_eq!(fill(&mut cache, 8), Some(4));
    assert_eq!(fill(&mut cache, 10), Some(2));
}

/// xorshift32 from 7: x ^= x << 13 gives 0xE007; x ^= x >> 17 changes nothing (0xE007 < 2^17); x ^= x << 5 gives
/// 0xE007 ^ 0x1C00E0 = 0x1CE0E7. Modulo 4 open ways: 3, which holds line 6.
#[test]
fn random_follows_its_seed() {
    let mut cache = small(Replacement::Random { seed: 7 });
    for line in [0, 2, 4, 6] {
        fill(&mut cache, line);
    }
    assert_eq!(fill(&mut cache, 8), Some(6));
}

#[test]
fn locked_ways_serve_hits_and_take_nothing() {
    for policy in POLICIES {
        let mut cache = small(policy);
        for line in [0, 2, 4, 6] {
            fill(&mut cache, line);
        }
        for line in (8..200).step_by(2) {
            let gone = gone(cache.fill_outside(line, false, 0b0101));
            assert!(gone != Some(0) && gone != Some(4), "{policy:?}");
        }
        assert!(cache.access(0, false) && cache.access(4, false), "{policy:?}");
        assert_eq!(cache.fill_outside(300, true, 0b1111), Fill::Bypassed);
        assert!(!cache.access(300, false));
    }
}

#[test]
fn emptied_ways_are_empty_and_the_others_are_not_however_much_was_filled() {
    for filled in [3, 7, 200_u64] {
        let mut cache = Cache::new(Geometry { size_bytes: 4096, ways: 4, line_bytes: 32 }, Replacement::Lru).unwrap();
        for round in 0..3 {
            for line in (0..filled).map(|line| line * 5 + round) {
                if !cache.access(line, false) {
                    cache.fill(line, true);
                }
            }
            let kept = |cache: &Cache, way| {
                (0..32).filter(|set| cache.clone().by_set_way(*set, way, false, false).is_some()).count()
            };
            let before = [kept(&cache, 0), kept(&cache, 2)];
            let open = kept(&cache, 1) + kept(&cache, 3);
            assert_eq!(cache.empty_ways(0b1010) as usize, open, "{filled}");
            assert_eq!([kept(&cache, 0), kept(&cache, 2)], before, "{filled}");
            assert_eq!([kept(&cache, 1), kept(&cache, 3)], [0, 0], "{filled}");
        }
        cache.invalidate_all();
        assert_eq!(cache.lines().count(), 0, "{filled}");
    }
}

#[test]
fn an_empty_locked_way_is_not_filled() {
    for policy in POLICIES {
        let mut cache = small(policy);
        for line in [0, 2, 4] {
            assert!(matches!(cache.fill_outside(line, false, 0b1110), Fill::Placed { way: 0, .. }), "{policy:?}");
        }
    }
}

#[test]
fn dirty_lines_are_reported_when_they_go() {
    let mut cache = small(Replacement::Lru);
    cache.fill(0, true);
    cache.fill(2, false);
    assert!(cache.access(2, true));
    assert!(cache.is_dirty(0) && cache.is_dirty(2));
    assert!(cache.clean_line(0) && !cache.clean_line(0));
    assert!(cache.invalidate_line(2) && cache.probe(2).is_none());
    assert!(!cache.invalidate_line(2));
    for line in [2, 4, 6] {
        cache.fill(line, true);
    }
    assert_eq!(cache.fill(8, false), Fill::Placed { way: 0, evicted: Some(Evicted { line: 0, dirty: false }) });
    assert_eq!([2, 4, 6, 8].map(|line| cache.clean_line(line)), [true, true, true, false]);
    cache.access(8, true);
    assert_eq!(cache.invalidate_all(), 1);
    assert_eq!(cache.lines().count(), 0);
    assert!(!cache.access(8, false), "the line used last is gone too");
}

#[test]
fn set_and_way_reach_the_same_line() {
    let mut cache = small(Replacement::Lru);
    cache.fill(0, false);
    cache.fill(3, true);
    assert_eq!(cache.by_set_way(1, 0, true, false), Some(Evicted { line: 3, dirty: true }));
    assert_eq!(cache.by_set_way(1, 0, false, true), Some(Evicted { line: 3, dirty: false }));
    assert_eq!(cache.probe(3), None);
    assert_eq!(cache.by_set_way(2, 0, true, true), None, "there are two sets");
    assert_eq!(cache.by_set_way(0, 4, true, true), None, "there are four ways");
}

#[test]
fn impossible_shapes_are_refused() {
    let check = |size_bytes, ways, line_bytes, policy| Geometry { size_bytes, ways, line_bytes }.sets(policy);
    assert_eq!(check(16384, 4, 32, Replacement::Lru), Ok(128));
    assert_eq!(check(16384, 4, 33, Replacement::Lru), Err(GeometryError::Line));
    assert_eq!(check(16384, 4, 1, Replacement::Lru), Err(GeometryError::Line));
    assert_eq!(check(16384, 0, 32, Replacement::Lru), Err(GeometryError::Ways));
    assert_eq!(check(16384, 33, 32, Replacement::Lru), Err(GeometryError::Ways));
    assert_eq!(check(96 * 3, 3, 32, Replacement::TreePlru), Err(GeometryError::Ways));
    assert_eq!(check(96 * 3, 3, 32, Replacement::Lru), Err(GeometryError::Sets));
    assert_eq!(check(96 * 4, 3, 32, Replacement::Lru), Ok(4));
    assert_eq!(check(100, 1, 32, Replacement::Lru), Err(GeometryError::Sets));
    assert_eq!(check(0, 1, 32, Replacement::Lru), Err(GeometryError::Sets));
}

/// A cache without its data structures: per set a list of (line, dirty), most recently used first.
struct Shadow {
    sets: Vec<Vec<(u64, bool)>>,
    ways: usize,
}

impl Shadow {
    fn set(&mut self, line: u64) -> &mut Vec<(u64, bool)> {
        let count = self.sets.len() as u64;
        &mut self.sets[(line % count) as usize]
    }

    fn access(&mut self, line: u64, dirty: bool) -> bool {
        let set = self.set(line);
        let Some(at) = set.iter().position(|held| held.0 == line) else { return false };
        let (_, was) = set.remove(at);
        set.insert(0, (line, was || dirty));
        true
    }

    fn fill(&mut self, line: u64, dirty: bool) -> Option<(u64, bool)> {
        let ways = self.ways;
        let set = self.set(line);
        set.insert(0, (line, dirty));
        if set.len() > ways { set.pop() } else { None }
    }

    fn drop_line(&mut self, line: u64) -> bool {
        let set = self.set(line);
        match set.iter().position(|held| held.0 == line) {
            Some(at) => set.remove(at).1,
            None => false,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Use(u64, bool),
    Clean(u64),
    Invalidate(u64),
    InvalidateAll,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let line = 0u64..40;
    let step = prop_oneof![
        20 => (line.clone(), any::<bool>()).prop_map(|(l, d)| Step::Use(l, d)),
        2 => line.clone().prop_map(Step::Clean),
        2 => line.prop_map(Step::Invalidate),
        1 => Just(Step::InvalidateAll),
    ];
    prop::collection::vec(step, 1..300)
}

proptest! {
    /// The LRU cache does what the list model does, step by step.
    #[test]
    fn lru_agrees_with_the_shadow(ways in 1u32..6, sets_log2 in 0u32..4, steps in steps()) {
        let sets = 1 << sets_log2;
        let shape = Geometry { size_bytes: sets * ways * 32, ways, line_bytes: 32 };
        let mut cache = Cache::new(shape, Replacement::Lru).unwrap();
        let mut shadow = Shadow { sets: std::vec![Vec::new(); sets as usize], ways: ways as usize };
        for step in steps {
            match step {
                Step::Use(line, dirty) => {
                    let hit = cache.access(line, dirty);
                    prop_assert_eq!(hit, shadow.access(line, dirty));
                    if !hit {
                        let Fill::Placed { evicted, .. } = cache.fill(line, dirty) else { panic!("nothing is locked") };
                        prop_assert_eq!(evicted.map(|old| (old.line, old.dirty)), shadow.fill(line, dirty));
                    }
                }
                Step::Clean(line) => {
                    let dirty = shadow.set(line).iter_mut().find(|held| held.0 == line).map(|held| &mut held.1);
                    let expected = dirty.is_some_and(core::mem::take);
                    prop_assert_eq!(cache.clean_line(line), expected);
                }
                Step::Invalidate(line) => prop_assert_eq!(cache.invalidate_line(line), shadow.drop_line(line)),
                Step::InvalidateAll => {
                    let dirty = shadow.sets.iter().flatten().filter(|held| held.1).count();
                    prop_assert_eq!(cache.invalidate_all() as usize, dirty);
                    shadow.sets.iter_mut().for_each(Vec::clear);
                }
            }
        }
        let mut held: Vec<(u64, bool)> = cache.lines().collect();
        let mut expected: Vec<(u64, bool)> = shadow.sets.concat();
        held.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(held, expected);
    }

    /// Under every policy: a line is in one place at most and in its own set, what was just filled is there, a full set
    /// stays full, and locked ways keep what they hold.
    #[test]
    fn every_policy_keeps_the_invariants(policy in 0usize..3, locked in 0u32..15, lines in prop::collection::vec(0u64..64, 1..300)) {
        let mut cache = small(POLICIES[policy]);
        for line in 0..8 {
            cache.fill(line, false);
        }
        let pinned: Vec<u64> = (0..8).filter(|line| locked & 1 << cache.probe(*line).unwrap() != 0).collect();
        for line in lines {
            if !cache.access(line, false) {
                prop_assert_ne!(cache.fill_outside(line, false, locked), Fill::Bypassed);
            }
            prop_assert!(cache.probe(line).is_some());
            let mut held: Vec<u64> = cache.lines().map(|(line, _)| line).collect();
            held.sort_unstable();
            held.dedup();
            prop_assert_eq!(held.len(), 8);
            prop_assert_eq!(held.iter().filter(|line| *line % 2 == 0).count(), 4);
            for line in &pinned {
                prop_assert!(cache.probe(*line).is_some());
            }
        }
    }

    /// The same steps give the same evictions.
    #[test]
    fn random_is_reproducible(seed in any::<u32>(), lines in prop::collection::vec(0u64..64, 1..200)) {
        let run = || {
            let mut cache = small(Replacement::Random { seed });
            let once = |line: &u64| if cache.access(*line, false) { None } else { Some(cache.fill(*line, true)) };
            lines.iter().map(once).collect::<Vec<_>>()
        };
        prop_assert_eq!(run(), run());
    }
}

/// Two sets of four ways, in turn: lines 0, 2, 4, 6 fill the even set, and the victims go round it. With ways 1 and 2 locked
/// they are passed over. The odd set has a turn of its own.
#[test]
fn round_robin_goes_round_the_open_ways() {
    let mut cache = Cache::new(Geometry { size_bytes: 256, ways: 4, line_bytes: 32 }, Replacement::RoundRobin).unwrap();
    let way = |cache: &mut Cache, line, locked| match cache.fill_outside(line, false, locked) {
        Fill::Placed { way, .. } => way,
        Fill::Bypassed => panic!("bypassed"),
    };
    assert_eq!([0, 2, 4, 6].map(|line| way(&mut cache, line, 0)), [0, 1, 2, 3]);
    assert_eq!([8, 10, 12].map(|line| way(&mut cache, line, 0)), [0, 1, 2]);
    assert!(cache.access(6, false), "a use changes nothing");
    assert_eq!([14, 16].map(|line| way(&mut cache, line, 0)), [3, 0]);
    assert_eq!([18, 20, 22].map(|line| way(&mut cache, line, 0b0110)), [3, 0, 3]);
    assert_eq!([1, 3, 5].map(|line| way(&mut cache, line, 0b0110)), [0, 3, 0], "empty ways first, then from the start");
    assert_eq!(
        cache.fill_outside(24, false, 0b1011),
        Fill::Placed { way: 2, evicted: Some(Evicted { line: 12, dirty: false }) }
    );
    assert_eq!(cache.fill_outside(26, false, 0b1111), Fill::Bypassed);
}

/// After any history, spoiled ways hold changed lines that nobody can ask for, and the others what they held. A second time it
/// is done from the list of places filled since, with the same effect.
#[test]
fn spoiled_ways_hold_changed_lines_of_nobody() {
    const LOCKED: u32 = 0b0001;
    for filled in [0, 1, 3, 40] {
        let mut cache = Cache::new(Geometry { size_bytes: 1024, ways: 4, line_bytes: 32 }, Replacement::Lru).unwrap();
        for line in 100..108 {
            cache.fill_outside(line, true, !LOCKED);
        }
        for round in 0..3 {
            cache.spoil(!LOCKED, true);
            let foreign = cache.lines().filter(|(line, dirty)| is_foreign(*line) && *dirty).count();
            assert_eq!((foreign, cache.lines().count()), (24, 32), "{filled}, {round}");
            assert!((100..108).all(|line| cache.probe(line) == Some(0)), "locked lines stay");
            for line in 0..filled {
                assert!(!cache.access(line, false), "nothing else is held");
                let Fill::Placed { evicted: Some(old), .. } = cache.fill_outside(line, true, LOCKED) else { panic!() };
                assert_eq!((is_foreign(old.line), old.dirty), (line < 24, true));
            }
        }
        cache.spoil(!LOCKED, false);
        assert!(cache.lines().all(|(line, dirty)| is_foreign(line) != dirty), "clean ones, if asked");
        assert_eq!((cache.invalidate_all(), cache.lines().count()), (8, 0), "emptied as a whole");
    }
}

/// A foreign line's address is not known: maintenance by place has nothing to do there.
#[test]
fn maintenance_by_place_passes_foreign_lines() {
    let mut cache = small(Replacement::Lru);
    cache.spoil(u32::MAX, true);
    assert_eq!(cache.by_set_way(0, 0, true, true), None);
    assert_eq!(cache.lines().count(), 4 * cache.sets() as usize);
}
