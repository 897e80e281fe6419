//! Boards whose accesses are checked by region registers (PMSAv7).

use serde::Deserialize;
use spec::{Hardware, Regions};

use crate::core::Core;
use crate::rules::{Kept, require};

/// A protection unit with region registers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protection {
    /// Cycles that a miss adds to one access at most, from the access that faults to the one that is restarted, with the nodes of
    /// the domain's table in TCM. The benchmark compares it with the largest observed time.
    pub l1_cycles: u32,
    /// The same with the nodes in on-chip SRAM.
    pub l2_cycles: u32,
}

impl Protection {
    pub(super) fn check(&self) -> Kept {
        require(self.l1_cycles > 0 && self.l1_cycles <= self.l2_cycles, || {
            format!("protection.l1_cycles = {}: more than 0, and at most l2_cycles", self.l1_cycles)
        })
    }

    pub(super) fn hardware(&self) -> Hardware {
        Hardware::Regions(Regions::new(protect::pmsav7::REGIONS as u8, self.l1_cycles, self.l2_cycles))
    }
}

pub(super) fn core(core: &Core) -> Kept {
    require(core.regions.is_some(), || "regions: a core with region registers says how many".into())
}
