//! Boards whose accesses are translated and checked by RTMMU, or by an MMU that it is compared with.
//!
//! In the ledger such a chip has page tables that are uniform ([`Pages::uniform`]): every check takes the same time, and ends in tables of the domain's own. A
//! constant time of mapping and releasing is kept where pages are mapped at their first touch: in the arena of an envelope. All pages of other areas are
//! mapped at once.

use record::{FIRST_LINE, ProtectionWatch};
use serde::Deserialize;
use spec::{Hardware, Linear, Method, Pages, TemporalSpec, Work};
use system::rtmmu::{BASE, MOST_PAGES_LOG2, Mmu, PAGE};

use std::sync::Arc;

use super::described::{Facts, Fixed, Scheme, SchemeOfCore};
use crate::board_file::{BoardFile, Device, MemoryKind};
use crate::core::{Chip, Core, Setup};
use crate::diagnostic::Refusal;
use crate::rules::{Kept, MOST_CYCLES, require};

/// Base-two logarithm of the bytes of a domain's window.
const WINDOW_LOG2: u8 = 22;

/// The scheme.
pub(crate) struct Spaces;

impl SchemeOfCore for Spaces {
    fn core(&self, core: &Core) -> Kept {
        require(core.exceptions.timer_has_line(), || {
            format!("exceptions.timer = {}: the timer's interrupt line and {FIRST_LINE}", core.exceptions.timer)
        })?;
        require(core.regions.is_none(), || {
            format!("regions = {}: a core behind RTMMU has none", core.regions.unwrap_or_default())
        })?;
        let linked = core.targets.linked_at.unwrap_or_default();
        let inside = |address: u32| address >= BASE && address.is_multiple_of(PAGE);
        require(linked.into_iter().all(inside) && linked[0] < linked[1], || {
            format!("targets.linked_at = {linked:#x?}: pages from {BASE:#x} on, for code and behind it for data")
        })
    }

    fn is_modelled(&self) -> bool {
        false
    }

    fn sets_up(&self, setup: &Setup) -> bool {
        *setup == Setup::default()
    }

    fn read(&self, file: &BoardFile) -> Result<Arc<dyn Scheme>, toml::de::Error> {
        let tables: TableMemory = toml::Value::Table(file.protection.clone()).try_into()?;
        let entries = file.device.get(&tables.entries).map_or(0, |device| device.base);
        Ok(Arc::new(TableMemory { entries_at: entries, ..tables }))
    }
}

/// An MMU of `rtl/mmu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum MmuName {
    Rtmmu,
    Direct,
    Sv32,
}

impl MmuName {
    fn mmu(self) -> Mmu {
        match self {
            Self::Rtmmu => Mmu::Rtmmu,
            Self::Direct => Mmu::Direct,
            Self::Sv32 => Mmu::Sv32,
        }
    }
}

/// The hardware's tables, and what changes of them cost.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableMemory {
    /// The MMU.
    mmu: MmuName,
    /// Name of the memory on the chip in which trees of domains lie.
    tables: String,
    /// Name of the device with `d`, or with the entries of other MMUs.
    entries: String,
    /// Its address.
    #[serde(skip)]
    entries_at: u32,
    /// Base-two logarithm of the entries of each table, all domains together.
    entries_log2: u32,
    /// Cycles that a look-up adds to an access.
    check_cycles: u32,
    /// First address of the windows in which domains map memory while they run.
    windows: u32,
    /// Largest cost of mapping, in all steps together: cycles, and cycles for each page.
    map_cycles: [u32; 2],
    /// Largest cost of unmapping.
    unmap_cycles: [u32; 2],
    /// Whether these four are largest observed times; otherwise they follow from the description.
    cycles_observed: bool,
}

impl Scheme for TableMemory {
    fn facts(&self) -> Facts {
        Facts { translated: true, walked: true, shared_slots: false, loaded_slots: None, eighths: false }
    }

    fn check(&self, file: &BoardFile, _: &Chip) -> Kept {
        require(self.entries_log2 <= MOST_PAGES_LOG2 + 1, || {
            format!("protection.entries_log2 = {}: 0 to {}", self.entries_log2, MOST_PAGES_LOG2 + 1)
        })?;
        require(file.device.contains_key(&self.entries), || {
            format!("protection.entries: there is no device `{}`", self.entries)
        })?;
        require((1..=1000).contains(&self.check_cycles), || {
            format!("protection.check_cycles = {}: 1 to 1000", self.check_cycles)
        })?;
        require(self.windows >= BASE && self.windows.is_multiple_of(1 << WINDOW_LOG2), || {
            format!("protection.windows = {:#x}: a multiple of 4 MiB from {BASE:#x} on", self.windows)
        })?;
        let shown = file.memory.iter().filter(|(_, memory)| memory.kind != MemoryKind::Kernel);
        let mut shown = shown.map(|(name, memory)| (name, memory.base, memory.bytes));
        let beyond = shown.find(|(_, base, bytes)| u64::from(*base) + u64::from(*bytes) > u64::from(BASE));
        require(beyond.is_none(), || {
            format!("memory.{}: it ends above {BASE:#x}, where frames do", beyond.map_or("", |(name, ..)| name))
        })?;
        for (key, [fixed, each]) in [("map_cycles", self.map_cycles), ("unmap_cycles", self.unmap_cycles)] {
            let sound = [fixed, each].iter().all(|cycles| (1..=MOST_CYCLES).contains(&u64::from(*cycles)));
            require(sound, || format!("protection.{key} = [{fixed}, {each}]: each 1 to {MOST_CYCLES}"))?;
        }
        Ok(())
    }

    fn covers(&self, device: &Device) -> bool {
        (device.base | device.bytes).is_multiple_of(PAGE)
    }

    fn hardware(&self, _: &Chip) -> Hardware {
        let linear = |[base, each]: [u32; 2]| Linear { base, each };
        let method = if self.cycles_observed { Method::Observed } else { Method::Derived };
        let work = Work { method, map: linear(self.map_cycles), release: linear(self.unmap_cycles) };
        Hardware::Pages(Pages::uniform(self.check_cycles, work, self.windows, WINDOW_LOG2))
    }

    /// Nothing: the hardware has no slots.
    fn divided(&self, _: &Core) -> Option<ProtectionWatch> {
        None
    }

    /// Domains have their own addresses, which the tool chooses.
    fn expresses(&self, fixed: &Fixed) -> Option<Refusal> {
        Some(
            Refusal::at(
                "CF0301",
                format!("{}.at", fixed.place),
                format!("no address can be chosen for {}", fixed.name),
            )
            .value(format!("{:#010x}", fixed.base))
            .limit("none")
            .rule("each domain has an address space of its own here, in which the tool chooses addresses")
            .remedy("remove `at`"),
        )
    }

    fn area_bytes(&self, bytes: u64) -> Option<u64> {
        bytes.checked_next_multiple_of(PAGE.into())
    }

    fn is_on_demand(&self, spec: TemporalSpec, asked: bool) -> bool {
        // Otherwise nothing is constant, so that the ledger refuses it.
        asked || spec.constant_time && self.mmu == MmuName::Rtmmu
    }

    fn tables(&self) -> Option<&str> {
        Some(&self.tables)
    }

    fn table_memory(&self) -> Option<system::rtmmu::Hardware> {
        Some(system::rtmmu::Hardware {
            entries_log2: self.entries_log2,
            mmu: self.mmu.mmu() as u32,
            entries: self.entries_at,
        })
    }
}
