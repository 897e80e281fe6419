//! The memory system of an application core: MMU, level-1 caches, prefetcher, level-2 cache and memories, and its clock.
//!
//! Whoever executes the program tells it each fetch of a line, each data access, and each write to the system control
//! coprocessor or to the level-2 controller, in order. It answers with the cycles that each adds to those of the
//! instruction, and says what is wrong with the translation in use.
//!
//! From an observer of QEMU: virtual and physical address come with a memory callback; an MCR is seen as an instruction and
//! decoded by [`crate::cp15::Mcr`], with the value of its register; stores to the controller's page go through
//! [`crate::pl310::Operation::decode`]; stores to tables update the observer's [`crate::vmsa::Tables`].

mod core;
mod data;
mod operate;

pub use self::core::{Application, Exception, System};
pub use data::{Access, Charge, Violation};

use alloc::vec::Vec;

use crate::below::Below;
use crate::bus::{Memory, StoreBuffer};
use crate::counters::Counters;
use crate::level1::Level1;
use crate::mmu::{Mmu, MmuCounters};
use crate::pl310::Pl310;
use crate::prefetch::Prefetcher;
use crate::profile::{Profile, ProfileError};
use crate::side::DataSide;

/// State of one core's memory system.
#[derive(Clone, Debug)]
pub struct MemorySystem {
    now: u64,
    mmu: Mmu,
    icache: Level1,
    side: DataSide,
    /// Memory found last by a fetch.
    fetch_memory: usize,
    prefetcher: Prefetcher,
    /// ACTLR.SMP: shareable memory is held in the level-1 caches.
    coherent: bool,
    unaligned_load: u32,
    maintenance: u32,
    /// When background operations of the level-2 controller are done.
    controller_done: u64,
    counters: Counters,
}

impl MemorySystem {
    /// A memory system at time 0: caches and TLBs empty, translation off.
    ///
    /// # Errors
    /// Everything that [`Profile::validate`] finds, and a profile of another model.
    pub fn new(profile: &Profile) -> Result<Self, Vec<ProfileError>> {
        let errors = profile.validate();
        if !errors.is_empty() {
            return Err(errors);
        }
        Self::build(profile).map_err(|error| alloc::vec![error])
    }

    fn build(profile: &Profile) -> Result<Self, ProfileError> {
        let Some(core) = &profile.application else {
            let rule = "the memory system is for cores of the model `armv7-a`".into();
            return Err(ProfileError { path: "model".into(), rule });
        };
        let line_log2 = profile.line_bytes().trailing_zeros();
        let memories = profile.memory.iter().map(Memory::new).collect();
        Ok(Self {
            now: 0,
            mmu: Mmu::new(&core.mmu)?,
            icache: Level1::new(profile.icache.as_ref(), "icache")?,
            side: DataSide {
                l1: Level1::new(profile.dcache.as_ref(), "dcache")?,
                stores: StoreBuffer::new(profile.bus.store_buffer.value),
                below: Below { memories, l2: Some(Pl310::new(&core.l2)?), line_log2 },
            },
            fetch_memory: 0,
            prefetcher: Prefetcher::new(&core.prefetch, line_log2),
            coherent: false,
            unaligned_load: profile.bus.unaligned_load.value,
            maintenance: profile.bus.maintenance.as_ref().map_or(0, |cycles| cycles.value),
            controller_done: 0,
            counters: Counters::default(),
        })
    }

    /// Cycles since the start.
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Lets `cycles` pass in which nothing is accessed.
    pub const fn idle(&mut self, cycles: u64) {
        self.now += cycles;
    }

    /// The MMU.
    pub const fn mmu(&self) -> &Mmu {
        &self.mmu
    }

    /// Events in caches and memories; walks are among the data cache's hits and misses.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// Events in the MMU.
    pub const fn mmu_counters(&self) -> MmuCounters {
        self.mmu.counters()
    }

    /// Another program has filled all caches and TLBs and left: no line in the level-1 caches, none in ways of the level-2
    /// cache that data may fill, no entry in the TLBs; what is locked stays. It takes no time here, and changed lines are as if written back.
    pub fn disturb(&mut self) {
        self.mmu.disturb();
        self.prefetcher.stop();
        self.icache.cache.invalidate_all();
        self.side.l1.cache.invalidate_all();
        if let Some(l2) = &mut self.side.below.l2 {
            l2.disturb();
        }
    }

    /// The worst that others can leave behind: as [`MemorySystem::disturb`], but the caches are full of lines of somebody else, changed
    /// where they can be, so that each line that is brought in makes one be written back. Locked lines and entries stay. It takes no time here.
    pub fn spoil(&mut self) {
        self.mmu.disturb();
        self.prefetcher.stop();
        self.icache.spoil(false);
        self.side.spoil();
    }

    fn spend(&mut self, cycles: u32) -> u32 {
        self.now += u64::from(cycles);
        cycles
    }
}

#[cfg(test)]
mod tests;
