//! The model that cycles come from.

use protect::pmsav7::Attr;
use record::ProfileSource;

use crate::block::RawInsn;

/// What the model keeps about a block.
pub enum BlockShape {
    /// Nothing.
    Constant,
}

/// Counters of the model at one moment.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    /// Instruction cache hits.
    pub icache_hits: u64,
    /// Instruction cache misses.
    pub icache_misses: u64,
    /// Data cache hits.
    pub dcache_hits: u64,
    /// Data cache misses.
    pub dcache_misses: u64,
}

/// Kinds of exception sequence that cost time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// Entry from running code; `fp`: with room for floating-point state.
    Entry { fp: bool },
    /// From one handler straight to the next.
    TailChain,
    /// Return to what was interrupted.
    Exit { fp: bool },
    /// Floating-point state is stored late.
    LazyStore,
}

/// The model.
pub enum Model {
    /// The same cost for every instruction and every access.
    Constant {
        /// Hz.
        cpu_hz: u64,
        /// Per instruction.
        instruction: u32,
        /// Per access.
        access: u32,
    },
}

impl Model {
    /// Loads what `source` names.
    ///
    /// # Errors
    /// A text that says what is wrong with the profile.
    pub fn load(source: &ProfileSource) -> Result<Self, String> {
        match source {
            ProfileSource::Constant { cpu_hz, cycles_per_instruction, cycles_per_access } => {
                if *cpu_hz == 0 || *cycles_per_instruction == 0 {
                    return Err("a constant profile needs a clock and at least one cycle per instruction".into());
                }
                Ok(Self::Constant { cpu_hz: *cpu_hz, instruction: *cycles_per_instruction, access: *cycles_per_access })
            }
            ProfileSource::Path(_) | ProfileSource::Text(_) => Err("chip profiles are not connected yet".into()),
        }
    }

    /// Clock of the core, Hz.
    pub fn cpu_hz(&self) -> u64 {
        match self {
            Self::Constant { cpu_hz, .. } => *cpu_hz,
        }
    }

    /// Name in the summary.
    pub fn name(&self) -> &str {
        match self {
            Self::Constant { .. } => "constant",
        }
    }

    /// Cycles of each instruction without data accesses, and what the model keeps about the block.
    pub fn describe(&self, raw: &[RawInsn]) -> (Vec<u32>, BlockShape) {
        match self {
            Self::Constant { instruction, .. } => (vec![*instruction; raw.len()], BlockShape::Constant),
        }
    }

    /// Cycles that running the block takes beyond its static cost.
    #[inline]
    pub fn fetch(&mut self, _shape: &BlockShape) -> u64 {
        0
    }

    /// Cycles of a data access.
    #[inline]
    pub fn data(&mut self, _address: u32, _len: u32, _store: bool, _attr: Attr) -> u64 {
        match self {
            Self::Constant { access, .. } => u64::from(*access),
        }
    }

    /// Cycles of an exception sequence.
    pub fn sequence(&mut self, sequence: Sequence) -> u64 {
        match (self, sequence) {
            (Self::Constant { .. }, Sequence::Entry { fp: false } | Sequence::Exit { fp: false }) => 12,
            (Self::Constant { .. }, Sequence::Entry { fp: true }) => 12,
            (Self::Constant { .. }, Sequence::Exit { fp: true }) => 29,
            (Self::Constant { .. }, Sequence::TailChain) => 6,
            (Self::Constant { .. }, Sequence::LazyStore) => 17,
        }
    }

    /// The caches' counters.
    pub fn counts(&self) -> Counts {
        Counts::default()
    }
}
