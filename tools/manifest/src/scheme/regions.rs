//! Boards whose accesses are checked by region registers.

use protect::pmsav7::Pmsav7;
use protect::pmsav8::Pmsav8;
use protect::regions::{LEAST_PAGED_LOG2, Placement, REGIONS, Unit};
use protect::{Access, MemType, Span};
use record::{AttributionWatch, ProtectionWatch};
use serde::Deserialize;
use spec::{Hardware, MemoryClass};

use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use super::described::{Facts, Fixed, Scheme, SchemeOfCore};
use crate::board_file::{BoardFile, Device};
use crate::core::{Chip, Core, Setup};
use crate::diagnostic::{Diagnostic, Refusal};
use crate::quantity::Size;
use crate::rules::{Kept, require};
use crate::schema::Replacement;

/// The smallest region of a table of paged memory.
pub(crate) const LEAST_PAGE_BYTES: u64 = 1 << LEAST_PAGED_LOG2;

/// A scheme with region registers.
pub(crate) struct Regions<U>(PhantomData<U>);

impl<U> Regions<U> {
    /// The scheme.
    pub(crate) const NEW: Self = Regions(PhantomData);
}

/// A scheme in words.
pub(crate) trait Worded: Unit + Send + Sync {
    /// Ranges that a region can be.
    const RULE: &str;
    /// Its processors have security states.
    const STATES: bool;
}

impl Worded for Pmsav7 {
    const RULE: &str = "a region is a power of two aligned to its size, of which whole eighths can be left out";
    const STATES: bool = false;
}

impl Worded for Pmsav8 {
    const RULE: &str = "base and size of a region are multiples of 32 bytes";
    const STATES: bool = true;
}

impl<U: Worded> SchemeOfCore for Regions<U> {
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
        let cycles: Cycles = toml::Value::Table(file.protection.clone()).try_into()?;
        Ok(Arc::new(Protection::<U> { cycles, unit: PhantomData }))
    }
}

/// The table `protection` of a board's file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cycles {
    /// Cycles that a miss adds to one access at most, from the access that faults to the one that is restarted, with the nodes of
    /// the domain's table in TCM. The benchmark compares it with the largest observed time. A board without TCM does not state it.
    l1_cycles: Option<u32>,
    /// The same with the nodes in on-chip SRAM.
    l2_cycles: u32,
    /// An address in which one of these bits is set is Secure, where the processor has security states and the chip decides by bits of the address.
    secure: Option<u32>,
    /// The part of Secure addresses that may be callable from the other state, and what allows it.
    callable: Option<Callable>,
}

/// Secure code that may be callable.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Callable {
    /// Address and bit of the register that allows it: for the kernel.
    #[serde(rename = "register")]
    _register: [u32; 2],
    /// Sixteenths of the address space in which it is: bit `n` for addresses from `n << 28` on.
    sixteenths: u16,
}

impl Cycles {
    /// With the nodes in TCM, and in on-chip SRAM; twice the latter where there is no TCM.
    fn both(&self) -> [u32; 2] {
        [self.l1_cycles.unwrap_or(self.l2_cycles), self.l2_cycles]
    }
}

/// A protection unit with region registers.
#[derive(Debug)]
struct Protection<U> {
    cycles: Cycles,
    unit: PhantomData<U>,
}

impl<U: Worded> Scheme for Protection<U> {
    fn facts(&self) -> Facts {
        let loaded_slots = Some(REGIONS as u32);
        Facts { translated: false, walked: false, shared_slots: false, loaded_slots, eighths: U::has_eighths() }
    }

    fn check(&self, file: &BoardFile, _: &Chip) -> Kept {
        let has_tcm = file.memory.values().any(|memory| memory.class == Some(MemoryClass::Tcm));
        require(has_tcm == self.cycles.l1_cycles.is_some(), || {
            "protection.l1_cycles: a board with memory of class \"tcm\" states it, another one does not".into()
        })?;
        require(self.cycles.secure.is_some() == U::STATES, || {
            "protection.secure: the bits of Secure addresses, on boards whose processor has security states".into()
        })?;
        let [first, second] = self.cycles.both();
        require(first > 0 && first <= second, || {
            format!("protection.l1_cycles = {first}: more than 0, and at most l2_cycles")
        })
    }

    fn covers(&self, device: &Device) -> bool {
        U::exact(Span::new(device.base, device.bytes.into()), Access::RW, MemType::Device).is_some()
    }

    fn hardware(&self, _: &Chip) -> Hardware {
        Hardware::Regions(spec::Regions::new(REGIONS as u8, self.cycles.l1_cycles, self.cycles.l2_cycles))
    }

    fn divided(&self, core: &Core) -> Option<ProtectionWatch> {
        core.regions.map(ProtectionWatch::Regions)
    }

    /// One register expresses exactly the range.
    fn expresses(&self, fixed: &Fixed) -> Option<Refusal> {
        let placement = U::placement(fixed.bytes, 1)?;
        let exact = placement.bytes() == fixed.bytes;
        if exact && placement.fits_at(fixed.base) {
            return None;
        }
        let base = placement.next_base(fixed.base).unwrap_or(0);
        let asked = format!("{} at {:#010x}", Size(fixed.bytes), fixed.base);
        let remedy = format!("write `size = \"{}\"` and `at = \"{base:#010x}\"`", Size(placement.bytes()));
        Some(
            Refusal::at(
                "CF0301",
                format!("{}.at", fixed.place),
                format!("no region register can express {} exactly", fixed.name),
            )
            .value(asked)
            .limit(format!("{} at {base:#010x} is the next that one register expresses", Size(placement.bytes())))
            .rule(U::RULE)
            .remedy(remedy),
        )
    }

    fn area_bytes(&self, bytes: u64) -> Option<u64> {
        U::placement(bytes, 1).map(|placement| placement.bytes())
    }

    fn attribution(&self) -> Option<AttributionWatch> {
        let callable = self.cycles.callable.map_or(0, |callable| callable.sixteenths);
        self.cycles.secure.map(|secure| AttributionWatch { secure, callable })
    }

    fn miss_cycles(&self) -> Option<[u32; 2]> {
        Some(self.cycles.both())
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
