//! Parameters of an Armv7-A core beyond a microcontroller's: MMU, level-2 cache, data prefetcher.

use super::memory::LatencyParams;
use super::params::{CacheParams, Param};
use crate::cache::Replacement;

/// Parameters of an application core.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct ApplicationParams {
    /// TLBs and translation table walks.
    pub mmu: MmuParams,
    /// The level-2 cache and its controller.
    pub l2: Level2Params,
    /// Prefetcher of the level-1 data cache.
    pub prefetch: PrefetchParams,
}

/// TLBs and translation table walks.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct MmuParams {
    /// Entries of the micro-TLB for instructions.
    pub micro_instruction: Param<u32>,
    /// Entries of the micro-TLB for data.
    pub micro_data: Param<u32>,
    /// Entries of the associative part of the main TLB.
    pub main_entries: Param<u32>,
    /// Its ways.
    pub main_ways: Param<u32>,
    /// Its replacement policy.
    pub main_replacement: Param<Replacement>,
    /// Further entries of the main TLB that can be locked.
    pub lock_entries: Param<u32>,
    /// Extra cycles when the micro-TLB misses and the main TLB hits.
    pub main_hit: Param<u32>,
    /// Extra cycles of a walk before its first read, the look-up in the main TLB excluded.
    pub walk_start: Param<u32>,
    /// Extra cycles of each level of a walk when its descriptor is in the level-1 data cache.
    pub walk_level: Param<u32>,
}

/// The level-2 cache.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Level2Params {
    /// Its shape.
    pub cache: CacheParams,
    /// Cycles of a hit beyond those of a level-1 hit; a miss pays them too, before its memory.
    pub latency: LatencyParams,
}

/// The prefetcher of the level-1 data cache.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct PrefetchParams {
    /// Streams that it follows, 1 to 16.
    pub streams: Param<u32>,
    /// Misses at one stride, after the first two, until it starts.
    pub confirm: Param<u32>,
    /// Largest stride, lines.
    pub stride: Param<u32>,
    /// Bytes of the block of memory that no stream leaves, a power of two.
    pub block: Param<u32>,
    /// Whether it is on when the first instruction executes.
    pub enabled: Param<bool>,
}
