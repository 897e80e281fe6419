//! Variations of a system of `eval/systems/mxu`.

use crate::chip::Geometry;

/// How the workload's heap is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heap {
    /// As the manifest says.
    AsWritten,
    /// By pinned registers alone.
    Pinned,
    /// In another size, where accesses are checked by page tables.
    Sized(String),
    /// By so many paged slots.
    Paged {
        /// Slots.
        slots: u32,
        /// How the memory is cut.
        geometry: Geometry,
        /// Policy, as the manifest names it.
        replacement: &'static str,
        /// Size of a pinned area that is used before the heap.
        fixed: Option<String>,
    },
}

/// The thread that interferes with the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adversary {
    /// Nobody.
    Nobody,
    /// A thread of the same domain, this many microseconds after its last turn; it loads, or only lets its turn pass.
    Inside(u32, bool),
    /// The same of another domain.
    Across(u32, bool),
    /// The other domain after each signal of the workload.
    Signalled(bool),
}

/// The storage that keeps the checks of all of a workload's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// In locked entries of the TLB.
    Tlb,
    /// By tables in on-chip RAM.
    OnChip,
    /// By tables in locked ways of the second-level cache.
    LockedWays,
    /// By tables in memory.
    Memory,
}

/// When caches and TLBs are emptied of what is not locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emptied {
    /// Never.
    Never,
    /// After so many cycles of the workload.
    Every(u64),
    /// When the workload asks for it.
    Marked,
}

/// How a chip with page tables is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Ways of the second-level cache that are locked.
    pub ways: u32,
    /// The storage that keeps translation.
    pub kept: Kept,
    /// When caches and TLBs are emptied.
    pub emptied: Emptied,
    /// Whether the data prefetcher is on.
    pub prefetch: bool,
}

/// One run's parameters.
#[derive(Clone, Debug)]
pub struct Variation {
    /// Name of the run's directory.
    pub name: String,
    /// Name of its manifest in `eval/systems/mxu`.
    pub system: String,
    /// Argument of the workload.
    pub argument: u32,
    /// Its heap.
    pub heap: Heap,
    /// Areas that are paged beside the heap, as the manifest names them.
    pub paged_too: Vec<String>,
    /// The thread that interferes.
    pub adversary: Adversary,
    /// How a chip with page tables is used, on a board that has one.
    pub usage: Option<Usage>,
    /// Pairs of functions to measure between.
    pub probes: Vec<(&'static str, &'static str)>,
}

impl Variation {
    /// A system as its manifest is written, with this argument of its workload and nothing measured in it.
    pub fn new(name: impl Into<String>, system: impl Into<String>, argument: u32) -> Self {
        Self {
            name: name.into(),
            system: system.into(),
            argument,
            heap: Heap::AsWritten,
            paged_too: Vec::new(),
            adversary: Adversary::Nobody,
            usage: None,
            probes: Vec::new(),
        }
    }
}
