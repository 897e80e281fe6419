//! How accesses are checked on a board, and what follows from it for whoever prepares and observes a system. Code outside of the schemes asks
//! for what follows, never for the scheme.

mod pmsav7;
mod vmsav7;

use protect::pmsav7::placement::placement_for;
use record::ProtectionWatch;
use serde::Deserialize;
use spec::Platform;

use crate::board::{Board, BoardFile, Device, MemoryKind};
use crate::check::Fixed;
use crate::core::{Chip, Core, Setup};
use crate::diagnostic::{Diagnostic, Refusal};
use crate::rules::{Kept, require};

pub(crate) use pmsav7::LEAST_PAGE_BYTES;
pub use pmsav7::Protection;
pub use vmsav7::Translation;

/// How a core checks accesses, by the name of the architecture's scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SchemeName {
    /// Region registers.
    Pmsav7,
    /// Page tables with short descriptors.
    Vmsav7,
}

impl SchemeName {
    /// Whether a core states what the scheme has, and nothing else.
    pub(crate) fn core(self, core: &Core) -> Kept {
        match self {
            Self::Pmsav7 => pmsav7::core(core),
            Self::Vmsav7 => vmsav7::core(core),
        }
    }

    /// Refuses a core that the kernel cannot divide among domains.
    pub(crate) fn divides(self, core: &Core) -> Result<(), Diagnostic> {
        match self {
            Self::Pmsav7 => pmsav7::divides(core),
            Self::Vmsav7 => Ok(()),
        }
    }

    /// Whether the kernel's image writes to the chip what `setup` says before anything else runs.
    pub fn sets_up(self, setup: &Setup) -> bool {
        self == Self::Vmsav7 || *setup == Setup::default()
    }

    /// Reads the table `protection` of a board's file.
    ///
    /// # Errors
    /// The parser's message, or the name that names nothing.
    pub(crate) fn read(self, file: &BoardFile) -> Result<Scheme, String> {
        let table = toml::Value::Table(file.protection.clone());
        let scheme = match self {
            Self::Pmsav7 => table.try_into().map(Scheme::Pmsav7),
            Self::Vmsav7 => table.try_into().map(Scheme::Vmsav7),
        };
        let scheme = scheme.map_err(|error| format!("protection: {}", error.message()))?;
        let tables = scheme.tables();
        let is_ram = |name: &str| file.memory.get(name).is_some_and(|memory| memory.kind == MemoryKind::Ram);
        require(tables.is_none_or(is_ram), || {
            format!("protection.tables: `{}` is no memory of kind \"ram\"", tables.unwrap_or_default())
        })?;
        Ok(scheme)
    }
}

/// How accesses are checked, with what the board's file says of it.
#[derive(Clone, Debug)]
pub enum Scheme {
    /// Region registers.
    Pmsav7(Protection),
    /// Page tables.
    Vmsav7(Translation),
}

impl Scheme {
    /// Name of the memory on the chip of which tables of domains take what areas leave, if they lie there.
    pub fn tables(&self) -> Option<&str> {
        self.translation().map(|pages| pages.tables.as_str())
    }

    /// Whether a board's file keeps the rules of the scheme.
    pub(crate) fn check(&self, file: &BoardFile, chip: &Chip) -> Kept {
        match self {
            Self::Pmsav7(unit) => unit.check(),
            Self::Vmsav7(pages) => pages.check(file, chip),
        }
    }

    /// Whether the window of a device is exactly what a domain can be given.
    pub(crate) fn covers(&self, device: &Device) -> bool {
        match self {
            Self::Pmsav7(_) => device.bytes.is_power_of_two() && device.base.is_multiple_of(device.bytes),
            Self::Vmsav7(_) => (device.base | device.bytes).is_multiple_of(spec::PAGE_BYTES),
        }
    }

    /// Refuses a chip that the kernel cannot divide among domains.
    pub(crate) fn divides(&self, chip: &Chip) -> Result<(), Diagnostic> {
        match self {
            Self::Pmsav7(_) => Ok(()),
            Self::Vmsav7(_) => vmsav7::divides(chip),
        }
    }

    /// What the ledger knows of it.
    pub(crate) fn hardware(&self, chip: &Chip) -> spec::Hardware {
        match self {
            Self::Pmsav7(unit) => unit.hardware(),
            Self::Vmsav7(pages) => pages.hardware(chip),
        }
    }

    /// How much of what checks accesses the kernel divides: of a core's region registers, and of lock entries as many as it was compiled for.
    pub fn divided(&self, core: &Core) -> Option<ProtectionWatch> {
        match self {
            Self::Pmsav7(_) => core.regions.map(ProtectionWatch::Regions),
            Self::Vmsav7(_) => Some(ProtectionWatch::LockEntries(protect::vmsav7::LOCK_SLOTS as u32)),
        }
    }

    /// Refuses a range that the scheme cannot express exactly.
    pub(crate) fn expresses(&self, fixed: &Fixed) -> Option<Refusal> {
        match self {
            Self::Pmsav7(_) => pmsav7::expresses(fixed),
            Self::Vmsav7(_) => vmsav7::expresses(fixed),
        }
    }

    /// Bytes of the smallest area that holds so many; `None` if there is none.
    pub fn area_bytes(&self, bytes: u64) -> Option<u64> {
        match self {
            Self::Pmsav7(_) => placement_for(bytes).map(|placement| placement.size_bytes),
            Self::Vmsav7(_) => bytes.checked_next_multiple_of(spec::PAGE_BYTES.into()),
        }
    }

    /// Most cycles of a miss that software answers, with the nodes of the domain's table in TCM and in on-chip RAM.
    pub fn miss_cycles(&self) -> Option<[u32; 2]> {
        if let Self::Pmsav7(unit) = self { Some([unit.l1_cycles, unit.l2_cycles]) } else { None }
    }

    fn translation(&self) -> Option<&Translation> {
        if let Self::Vmsav7(pages) = self { Some(pages) } else { None }
    }

    /// The address at which the kernel has physical memory.
    pub fn seen(&self, physical: u32) -> u32 {
        self.translation().map_or(physical, |pages| pages.seen(physical))
    }

    /// Domains have memory that begins at this physical address lower by so much.
    pub fn lower(&self, physical: u32) -> u32 {
        self.translation().map_or(0, |pages| pages.lower(physical))
    }

    /// Domains have devices lower by so much.
    pub fn device_offset(&self) -> u32 {
        self.translation().map_or(0, |pages| pages.device_offset)
    }

    /// Whether addresses of domains are translated; otherwise they are physical.
    pub const fn translates(&self) -> bool {
        matches!(self, Self::Vmsav7(_))
    }

    /// How many slots that check a domain's accesses software loads, if it does: a domain can be told how many of them serve paged memory,
    /// and heaps of domains may alternate in them.
    pub const fn loaded_slots(&self) -> Option<u32> {
        match self {
            Self::Pmsav7(_) => Some(protect::pmsav7::REGIONS as u32),
            Self::Vmsav7(_) => None,
        }
    }

    /// Whether the processor saves registers on a domain's stack when an exception comes; that must not miss.
    pub const fn saves_on_stacks(&self) -> bool {
        matches!(self, Self::Pmsav7(_))
    }

    /// Whether what is pinned shares slots: one entry of the TLB holds several areas with the same rights.
    pub const fn shares_slots(&self) -> bool {
        matches!(self, Self::Vmsav7(_))
    }

    /// Whether hardware walks tables, so that an area can be found in time without a slot of its own.
    pub const fn walks(&self) -> bool {
        matches!(self, Self::Vmsav7(_))
    }
}

/// The platform of a board: its processor and its memories, with the bounds that their descriptions state.
pub fn platform(board: &Board) -> Platform {
    let classes: Vec<_> =
        board.memory.values().filter(|m| m.kind != MemoryKind::Kernel).filter_map(|m| m.class).collect();
    Platform::new(board.protection.hardware(&board.chip), &classes)
}
