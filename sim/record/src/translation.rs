//! Address translation: its events and their cost.

use serde::{Deserialize, Serialize};
use units::CoreId;

/// Walks of the tables by the memory that answered the slowest of their descriptors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Walks {
    /// The level-1 data cache.
    pub level1: u64,
    /// A locked way of the level-2 cache.
    pub locked_way: u64,
    /// On-chip RAM.
    pub on_chip: u64,
    /// Another way of the level-2 cache, from which anybody may evict the line.
    pub level2: u64,
    /// Memory behind the caches.
    pub memory: u64,
}

impl Walks {
    /// All of them.
    pub const fn all(&self) -> u64 {
        self.level1 + self.locked_way + self.on_chip + self.beyond()
    }

    /// Those that went beyond on-chip RAM and locked ways.
    pub const fn beyond(&self) -> u64 {
        self.level2 + self.memory
    }

    fn each(&mut self) -> [&mut u64; 5] {
        [&mut self.level1, &mut self.locked_way, &mut self.on_chip, &mut self.level2, &mut self.memory]
    }
}

/// Events of translation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TranslationCounts {
    /// Accesses and fetches that the micro-TLBs did not serve.
    pub micro_misses: u64,
    /// Of these, served by a locked entry of the main TLB.
    pub locked_hits: u64,
    /// Of these, served by another entry of the main TLB.
    pub main_hits: u64,
    /// Of these, walks for data.
    pub data_walks: Walks,
    /// Of these, walks for instructions.
    pub fetch_walks: Walks,
    /// Cycles that data accesses waited for translation.
    pub data_stall_cycles: u64,
    /// Cycles that fetches waited for it.
    pub fetch_stall_cycles: u64,
}

impl TranslationCounts {
    /// Whether nothing is counted.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Walks that went beyond on-chip RAM and locked ways.
    pub const fn beyond(&self) -> u64 {
        self.data_walks.beyond() + self.fetch_walks.beyond()
    }

    /// Adds what has passed between `then` and `now`, both counted from the same start.
    pub fn add(&mut self, mut now: Self, mut then: Self) {
        for ((sum, now), then) in self.each().into_iter().zip(now.each()).zip(then.each()) {
            *sum += *now - *then;
        }
    }

    fn each(&mut self) -> [&mut u64; 15] {
        let [a, b, c, d, e] = self.data_walks.each();
        let [f, g, h, i, j] = self.fetch_walks.each();
        let (misses, locked, main) = (&mut self.micro_misses, &mut self.locked_hits, &mut self.main_hits);
        let (data, fetch) = (&mut self.data_stall_cycles, &mut self.fetch_stall_cycles);
        [misses, locked, main, a, b, c, d, e, f, g, h, i, j, data, fetch]
    }
}

/// Translation of a domain's accesses to a part of its address space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AreaCounts {
    /// The core.
    pub core: CoreId,
    /// Name of the request.
    pub name: String,
    /// The domain.
    pub domain: u8,
    /// The counts.
    pub translation: TranslationCounts,
}
