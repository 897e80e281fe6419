//! The Armv7-M machine: caches, flash accelerator, memories, pipeline and exceptions put together, and the clock.
//!
//! Whoever executes the program tells it what happens, in order: each block or instruction that executes, each data
//! access, each exception. Every call advances [`Machine::now`] by the cycles that it returns. A hit takes constant
//! time and nothing is allocated after construction.

mod core;
mod data;
mod exception;
mod fetch;
mod maintain;

pub use self::core::{Access, Exception};
pub use exception::{EntryKind, FpFrame, Frame};
pub use maintain::Maintenance;

use alloc::vec::Vec;

use crate::art::Art;
use crate::below::Below;
use crate::bus::{Memory, StoreBuffer};
use crate::counters::Counters;
use crate::front::Front;
use crate::level1::Level1;
use crate::pipeline::CostTable;
use crate::profile::{MemoryKind, Model, Param, Profile, ProfileError};
use crate::side::DataSide;

/// State of one Armv7-M core with its memories.
#[derive(Clone, Debug)]
pub struct Machine {
    now: u64,
    line_log2: u32,
    icache: Level1,
    side: DataSide,
    /// Memory found last by a data access and by a fetch.
    data_memory: usize,
    fetch_memory: usize,
    /// Tightly coupled memory that most data goes to: base and size.
    tcm: (u32, u32),
    art: Option<Art>,
    /// Fetch, prediction and issue.
    pub front: Front,
    params: Params,
    counters: Counters,
}

/// Plain numbers of the profile that are needed at run time.
#[derive(Clone, Copy, Debug)]
struct Params {
    mpu_check: u32,
    unaligned_load: u32,
    maintenance: u32,
    entry: u32,
    exit: u32,
    tail_chain: u32,
    lazy_fp: u32,
    fp_frame: u32,
}

impl Machine {
    /// A machine at time 0 with empty caches, predictor and buffers.
    ///
    /// # Errors
    /// Everything that [`Profile::validate`] finds, and a profile of another model.
    pub fn new(profile: &Profile) -> Result<Self, Vec<ProfileError>> {
        let errors = profile.validate();
        if !errors.is_empty() {
            return Err(errors);
        }
        if !matches!(profile.model, Model::Armv7M | Model::Armv8M) {
            let rule = "the machine is for cores of the models `armv7-m` and `armv8-m`".into();
            return Err(alloc::vec![ProfileError { path: "model".into(), rule }]);
        }
        let level1 = |p, path| Level1::new(p, path).map_err(|error| alloc::vec![error]);
        let memories: Vec<Memory> = profile.memory.iter().map(Memory::new).collect();
        let tcm = memories.iter().filter(|m| m.kind == MemoryKind::Tcm).max_by_key(|m| m.size);
        let line_log2 = profile.dcache.line.value.trailing_zeros();
        Ok(Self {
            now: 0,
            line_log2,
            icache: level1(&profile.icache, "icache")?,
            tcm: tcm.map_or((0, 0), |m| (m.base, m.size)),
            art: accelerator(profile, &memories),
            side: DataSide {
                l1: level1(&profile.dcache, "dcache")?,
                stores: StoreBuffer::new(profile.bus.store_buffer.value),
                below: Below { memories, l2: None, line_log2 },
            },
            data_memory: 0,
            fetch_memory: 0,
            front: Front::new(profile),
            params: Params::new(profile),
            counters: Counters::default(),
        })
    }

    /// Cycles since the start.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Lets `cycles` pass in which the core sleeps.
    pub fn idle(&mut self, cycles: u64) {
        self.now += cycles;
        self.counters.idle_cycles += cycles;
    }

    /// Events so far.
    pub fn counters(&self) -> Counters {
        Counters { cycles: self.now, ..self.counters }
    }

    /// Cost table for [`crate::BlockCost::new`] and for own analyses.
    pub fn costs(&self) -> &CostTable {
        &self.front.costs
    }

    /// Adds cycles to the clock and returns them.
    fn spend(&mut self, cycles: u32) -> u32 {
        self.now += u64::from(cycles);
        cycles
    }
}

impl Params {
    fn new(profile: &Profile) -> Self {
        let e = &profile.exception;
        // The profile's check has made sure that these are there.
        let value = |param: &Option<Param<u32>>| param.as_ref().map_or(0, |param| param.value);
        Self {
            mpu_check: value(&profile.mpu_check),
            unaligned_load: profile.bus.unaligned_load.value,
            maintenance: profile.bus.maintenance.value,
            entry: e.entry.value,
            exit: e.exit.value,
            tail_chain: value(&e.tail_chain),
            lazy_fp: value(&e.lazy_fp),
            fp_frame: value(&e.fp_frame),
        }
    }
}

/// The accelerator of the first flash that has one.
fn accelerator(profile: &Profile, memories: &[Memory]) -> Option<Art> {
    let (params, memory) = profile.memory.iter().zip(memories).find(|(p, _)| p.art.is_some())?;
    let art = params.art.as_ref()?;
    let kept = u8::try_from(art.lines.value).ok()?;
    let lines = (memory.size >> profile.dcache.line.value.trailing_zeros()) as usize;
    Some(Art::new(lines, kept, memory.read_first(), art.prefetch.value))
}

#[cfg(test)]
mod tests;
