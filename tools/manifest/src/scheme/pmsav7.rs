//! Boards whose accesses are checked by region registers (PMSAv7).

use protect::pmsav7::{REGIONS, SUBREGION_MIN_LOG2, placement::placement_for};
use serde::Deserialize;
use spec::{Hardware, Regions};

use crate::check::Fixed;
use crate::core::Core;
use crate::diagnostic::{Diagnostic, Refusal};
use crate::quantity::Size;
use crate::rules::{Kept, require};
use crate::schema::Replacement;

/// The smallest region of a table of paged memory.
pub(crate) const LEAST_PAGE_BYTES: u64 = 1 << SUBREGION_MIN_LOG2;

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
        Hardware::Regions(Regions::new(REGIONS as u8, self.l1_cycles, self.l2_cycles))
    }
}

pub(super) fn core(core: &Core) -> Kept {
    require(core.regions.is_some(), || "regions: a core with region registers says how many".into())
}

/// Refuses another number of region registers than the kernel divides.
pub(super) fn divides(core: &Core) -> Result<(), Diagnostic> {
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

/// One register expresses exactly the range.
pub(super) fn expresses(fixed: &Fixed) -> Option<Refusal> {
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

impl Replacement {
    /// Its number in the system's tables.
    pub const fn number(self) -> u32 {
        use protect::pmsav7::slots::Replacement as Slots;
        let known = match self {
            Self::BitPlru => Slots::BitPlru,
            Self::RoundRobin => Slots::RoundRobin,
            Self::Random => Slots::Random,
        };
        known as u32
    }
}
