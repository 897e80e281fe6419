//! A chip's parameters, each with its unit and its source, and the mapping of the board's addresses to its memories.
//!
//! A profile is data. It is read by a serde format (TOML: a file of `chips/` with its core's of `cores/`), where unknown keys are errors, and
//! then checked by [`Profile::validate`]; a machine is only built from what passed.

mod application;
mod check;
mod listed;
mod memory;
mod params;
mod place;
#[cfg(feature = "text")]
mod text;

pub use application::{ApplicationParams, Level2Params, MmuParams, PrefetchParams};
pub use check::ProfileError;
pub use listed::Listed;
pub use memory::{ArtParams, Interface, LatencyParams, MemoryKind, MemoryParams, RowParams};
pub use params::{
    BranchParams, BusParams, CacheParams, ClassCost, ExceptionParams, Pairing, Param, PipelineParams, Unit,
};
pub use place::MemoryId;
#[cfg(feature = "text")]
pub use text::{Text, read_text};

use alloc::string::String;
use alloc::vec::Vec;

/// The models of cores, as a core's file names them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Model {
    /// [`crate::Machine`].
    Armv7M,
    /// [`crate::Machine`], of a core with security states.
    Armv8M,
    /// [`crate::application::Application`].
    Armv7A,
}

/// One chip on one board.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Profile {
    /// Short name, as the manifest writes it.
    pub name: String,
    /// The modelled chip in one line, for a report.
    pub title: String,
    /// The model of its core.
    pub model: Model,
    /// The declared part.
    pub part: String,
    /// The QEMU machine whose addresses the memories' board windows use.
    pub board: String,
    /// Limits of the model that the reader of a figure has to know: printed with every report.
    pub caveats: Vec<String>,
    /// Core clock.
    pub core_clock: Param<u64>,
    /// Instruction cache, of a core that has one.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub icache: Option<CacheParams>,
    /// Data cache, of a core that has one.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub dcache: Option<CacheParams>,
    /// Extra cycles for an access check by the MPU; of a core that has one.
    pub mpu_check: Option<Param<u32>>,
    /// MMU, level-2 cache and prefetcher; of [`Model::Armv7A`] alone.
    pub application: Option<ApplicationParams>,
    /// Bus and load/store unit.
    pub bus: BusParams,
    /// Issue and latency per instruction class.
    pub pipeline: PipelineParams,
    /// Branch prediction.
    pub branch: BranchParams,
    /// Exceptions.
    pub exception: ExceptionParams,
    /// Memories and device windows.
    pub memory: Vec<MemoryParams>,
}

impl Profile {
    /// Bytes in which code is fetched: a line of the caches, or of what stands in for them.
    pub fn line_bytes(&self) -> u32 {
        let cached = self.dcache.as_ref().or(self.icache.as_ref()).map(|cache| &cache.line);
        // The profile's check has made sure that one of them is there.
        cached.or(self.bus.line.as_ref()).map_or(MOST_LINE, |line| line.value)
    }
}

/// Bytes of a line, at most.
pub(crate) const MOST_LINE: u32 = 128;

#[cfg(test)]
pub(crate) mod tests;
