//! Replacement: the line of a set that has to go.

use alloc::vec;
use alloc::vec::Vec;

/// Replacement policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Replacement {
    /// The one unused for longest.
    Lru,
    /// The one that a binary tree of "other side" bits points to; a power of two of ways.
    TreePlru,
    /// One way after the other, counted for each set.
    RoundRobin,
    /// Pseudo-random by xorshift from this seed (0 is taken as 1); the sequence is part of the machine's state.
    Random {
        /// Start of the sequence.
        seed: u32,
    },
}

/// State that the policy needs.
#[derive(Clone, Debug)]
pub(super) enum Victims {
    /// Time of last use of each place, and the clock.
    Lru { used: Vec<u64>, clock: u64 },
    /// One word of tree bits per set. Node 1 is the root, the children of node n are 2n and 2n + 1; a set bit points
    /// to the upper half.
    Tree { bits: Vec<u32> },
    /// The way of each set to look at first for the next victim.
    RoundRobin { next: Vec<u8> },
    /// State of the generator.
    Random { state: u32 },
}

impl Victims {
    pub(super) fn new(replacement: Replacement, sets: usize, ways: usize) -> Self {
        match replacement {
            Replacement::Lru => Self::Lru { used: vec![0; sets * ways], clock: 0 },
            Replacement::TreePlru => Self::Tree { bits: vec![0; sets] },
            Replacement::RoundRobin => Self::RoundRobin { next: vec![0; sets] },
            Replacement::Random { seed } => Self::Random { state: seed.max(1) },
        }
    }

    /// Notes a use of place `at`, if the policy asks for uses.
    #[inline(always)]
    pub(super) fn touch(&mut self, at: usize, ways: usize) {
        if !matches!(self, Self::Random { .. } | Self::RoundRobin { .. }) {
            self.note_use(at, ways);
        }
    }

    #[inline(never)]
    fn note_use(&mut self, at: usize, ways: usize) {
        match self {
            Self::Random { .. } | Self::RoundRobin { .. } => {}
            Self::Lru { used, clock } => {
                *clock += 1;
                used[at] = *clock;
            }
            Self::Tree { bits } => {
                let (set, way) = (at / ways, at % ways);
                bits[set] = tree_away_from(bits[set], way, ways);
            }
        }
    }

    /// The way to replace in the full set at `base`; `None` when all its ways are locked.
    pub(super) fn choose(&mut self, base: usize, ways: usize, locked: u32) -> Option<usize> {
        let open = !locked & way_mask(ways);
        if open == 0 {
            return None;
        }
        Some(match self {
            Self::Lru { used, .. } => {
                let free = (0..ways).filter(|way| open & 1 << way != 0);
                free.min_by_key(|way| used[base + way])?
            }
            Self::Tree { bits } => tree_victim(bits[base / ways], ways, open),
            Self::RoundRobin { next } => {
                let first = &mut next[base / ways];
                let way = next_open(open, usize::from(*first));
                *first = (way + 1) as u8;
                way
            }
            Self::Random { state } => {
                let pick = next_random(state) % open.count_ones();
                nth_set_bit(open, pick)
            }
        })
    }
}

const fn way_mask(ways: usize) -> u32 {
    if ways >= 32 { u32::MAX } else { (1 << ways) - 1 }
}

/// The lowest open way from `first` on, or the lowest of all; one is open.
fn next_open(open: u32, first: usize) -> usize {
    let from = open & !way_mask(first);
    (if from == 0 { open } else { from }).trailing_zeros() as usize
}

/// Marsaglia's 32-bit xorshift with shifts 13, 17, 5; never zero from a state that is not.
fn next_random(state: &mut u32) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    *state
}

/// Position of the `n`th set bit of `mask`, which has more than `n`.
fn nth_set_bit(mask: u32, n: u32) -> usize {
    let mut rest = mask;
    for _ in 0..n {
        rest &= rest - 1;
    }
    rest.trailing_zeros() as usize
}

/// Tree bits after a use of `way`: every node on its path points to the other side.
fn tree_away_from(mut bits: u32, way: usize, ways: usize) -> u32 {
    let (mut node, mut half) = (1, ways / 2);
    while half > 0 {
        let upper = way & half != 0;
        if upper {
            bits &= !(1 << node);
        } else {
            bits |= 1 << node;
        }
        node = node * 2 + usize::from(upper);
        half /= 2;
    }
    bits
}

/// The way the tree points to, turning aside where a whole side is not open.
fn tree_victim(bits: u32, ways: usize, open: u32) -> usize {
    let (mut node, mut half, mut first) = (1, ways / 2, 0);
    while half > 0 {
        let side = |start: usize| open >> start & way_mask(half) != 0;
        let wanted = bits & 1 << node != 0;
        let upper = if wanted { side(first + half) } else { !side(first) };
        if upper {
            first += half;
        }
        node = node * 2 + usize::from(upper);
        half /= 2;
    }
    first
}
