//! Event counters of a machine.

/// Events since the start. Plain data; all counts are of the modelled machine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Counters {
    /// Cycles, asleep or not.
    pub cycles: u64,
    /// Cycles asleep.
    pub idle_cycles: u64,
    /// Instructions.
    pub instructions: u64,
    /// Executions of blocks.
    pub blocks: u64,
    /// Data loads.
    pub loads: u64,
    /// Data stores.
    pub stores: u64,
    /// Instruction lines found in the instruction cache.
    pub icache_hits: u64,
    /// Instruction lines not found there.
    pub icache_misses: u64,
    /// Data accesses served by the data cache.
    pub dcache_hits: u64,
    /// Cacheable data accesses that it could not serve.
    pub dcache_misses: u64,
    /// Changed lines written back.
    pub write_backs: u64,
    /// Loads that no cache may serve.
    pub uncached: u64,
    /// Flash lines at hand in the accelerator.
    pub flash_hits: u64,
    /// Flash lines that were being read ahead.
    pub flash_prefetched: u64,
    /// Flash lines that had to be read.
    pub flash_misses: u64,
    /// Cycles that instruction fetch waited.
    pub fetch_stalls: u64,
    /// Cycles that data accesses waited.
    pub data_stalls: u64,
    /// Cycles that barriers waited for stores.
    pub drain_stalls: u64,
    /// Branches settled.
    pub branches: u64,
    /// Of these, direction right and target computed late.
    pub redirects: u64,
    /// Of these, predicted wrongly.
    pub mispredicts: u64,
    /// Exceptions entered.
    pub exceptions: u64,
    /// Of these, tail-chained.
    pub tail_chains: u64,
    /// Returns from exceptions.
    pub returns: u64,
    /// Deferred floating-point frames that had to be written.
    pub lazy_saves: u64,
    /// Cache maintenance operations.
    pub maintenance: u64,
    /// Accesses outside every memory of the profile.
    pub outside: u64,
}
