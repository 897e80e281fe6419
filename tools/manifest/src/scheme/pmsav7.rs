//! Boards whose accesses are checked by region registers (PMSAv7).

use protect::pmsav7::{REGIONS, SUBREGION_MIN_LOG2, placement::placement_for};
use record::ProtectionWatch;
use serde::Deserialize;
use spec::Hardware;

use std::sync::Arc;

use super::described::{Facts, Fixed, Scheme, SchemeOfCore};
use crate::board_file::{BoardFile, Device};
use crate::core::{Chip, Core, Setup};
use crate::diagnostic::{Diagnostic, Refusal};
use crate::quantity::Size;
use crate::rules::{Kept, require};
use crate::schema::Replacement;

/// The smallest region of a table of paged memory.
pub(crate) const LEAST_PAGE_BYTES: u64 = 1 << SUBREGION_MIN_LOG2;

/// The scheme.
pub(crate) struct Regions;

impl SchemeOfCore for Regions {
    fn core(&self, core: &Core) -> Kept {
        require(core.regions.is_some(), || "regions: a core with region registers says how many".into())
    }

    /// Refuses another number of region registers than the kernel divides.
    fn divides(&self, core: &Core) -> Result<(), Diagnostic> {
        let known = REGIONS as u32;
        let Some(count) = core.regions.filter(|count| *count != known) else { return Ok(()) };
        Err(Diagnostic::new(
            "CF0202",
            format!("the core `{}` has another number of region registers than the kernel", core.name),
        )
        .value(format!("regions = {count}"))
        .limit(known.to_string())
        .rule("the kernel is compiled for one number of region registers")
        .remedy("correct the core's file, or choose a board of another core"))
    }

    fn sets_up(&self, setup: &Setup) -> bool {
        *setup == Setup::default()
    }

    fn read(&self, file: &BoardFile) -> Result<Arc<dyn Scheme>, toml::de::Error> {
        let unit: Protection = toml::Value::Table(file.protection.clone()).try_into()?;
        Ok(Arc::new(unit))
    }
}

/// A protection unit with region registers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Protection {
    /// Cycles that a miss adds to one access at most, from the access that faults to the one that is restarted, with the nodes of
    /// the domain's table in TCM. The benchmark compares it with the largest observed time.
    l1_cycles: u32,
    /// The same with the nodes in on-chip SRAM.
    l2_cycles: u32,
}

impl Scheme for Protection {
    fn facts(&self) -> Facts {
        Facts { translated: false, walked: false, shared_slots: false, loaded_slots: Some(REGIONS as u32) }
    }

    fn check(&self, _: &BoardFile, _: &Chip) -> Kept {
        require(self.l1_cycles > 0 && self.l1_cycles <= self.l2_cycles, || {
            format!("protection.l1_cycles = {}: more than 0, and at most l2_cycles", self.l1_cycles)
        })
    }

    fn covers(&self, device: &Device) -> bool {
        device.bytes.is_power_of_two() && device.base.is_multiple_of(device.bytes)
    }

    fn hardware(&self, _: &Chip) -> Hardware {
        Hardware::Regions(spec::Regions::new(REGIONS as u8, self.l1_cycles, self.l2_cycles))
    }

    fn divided(&self, core: &Core) -> Option<ProtectionWatch> {
        core.regions.map(ProtectionWatch::Regions)
    }

    /// One register expresses exactly the range.
    fn expresses(&self, fixed: &Fixed) -> Option<Refusal> {
        let placement = placement_for(fixed.bytes)?;
        let exact = placement.size_bytes == fixed.bytes;
        if exact && placement.fits_at(fixed.base) {
            return None;
        }
        let base = placement.next_base(fixed.base).unwrap_or(0);
        let asked = format!("{} at {:#010x}", Size(fixed.bytes), fixed.base);
        let remedy = format!("write `size = \"{}\"` and `at = \"{base:#010x}\"`", Size(placement.size_bytes));
        Some(
            Refusal::at(
                "CF0301",
                format!("{}.at", fixed.place),
                format!("no region register can express {} exactly", fixed.name),
            )
            .value(asked)
            .limit(format!("{} at {base:#010x} is the next that one register expresses", Size(placement.size_bytes)))
            .rule("a region is a power of two aligned to its size, of which whole eighths can be left out")
            .remedy(remedy),
        )
    }

    fn area_bytes(&self, bytes: u64) -> Option<u64> {
        placement_for(bytes).map(|placement| placement.size_bytes)
    }

    fn miss_cycles(&self) -> Option<[u32; 2]> {
        Some([self.l1_cycles, self.l2_cycles])
    }
}

impl Replacement {
    /// Its number in the system's tables.
    pub const fn number(self) -> u32 {
        use protect::regions::slots::Replacement as Slots;
        let known = match self {
            Self::BitPlru => Slots::BitPlru,
            Self::RoundRobin => Slots::RoundRobin,
            Self::Random => Slots::Random,
        };
        known as u32
    }
}
