//! Boards whose accesses are translated and checked by page tables (VMSAv7, short descriptors).

use protect::vmsav7::{LOCK_SLOTS, Split, lockdown};
use record::{FIRST_LINE, ProtectionWatch};
use serde::Deserialize;
use spec::{Costs, Hardware, Linear, Method, Pages, Sizes, Work};

use std::sync::Arc;

use super::described::{Facts, Fixed, Scheme, SchemeOfCore};
use crate::board_file::{BoardFile, Device, MemoryKind};
use crate::core::{Chip, Core, Setup};
use crate::diagnostic::{Diagnostic, Refusal};
use crate::rules::{Kept, MOST_CYCLES, require};

/// The kernel's half of the address space begins here: the only split that there are tables for.
const KERNELS_HALF: u32 = SPLIT.end() as u32;
/// Bytes of a domain's window.
const WINDOW_BYTES: u64 = 1 << Pages::WINDOW_LOG2;
/// Bytes of a domain's first-level table.
const ROOT_BYTES: u64 = SPLIT.table_bytes() as u64;
const SPLIT: Split = Split::Half;

/// The scheme.
pub(crate) struct Tables;

impl SchemeOfCore for Tables {
    fn core(&self, core: &Core) -> Kept {
        require(core.exceptions.timer_has_line(), || {
            format!("exceptions.timer = {}: the timer's interrupt line and {FIRST_LINE}", core.exceptions.timer)
        })?;
        require(core.regions.is_none(), || {
            format!("regions = {}: a core with page tables has none", core.regions.unwrap_or_default())
        })
    }

    fn sets_up(&self, _: &Setup) -> bool {
        true
    }

    fn read(&self, file: &BoardFile) -> Result<Arc<dyn Scheme>, toml::de::Error> {
        let pages: Translation = toml::Value::Table(file.protection.clone()).try_into()?;
        Ok(Arc::new(pages))
    }
}

/// Places for tables of domains, and addresses of memory and devices in domains.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Translation {
    /// Name of the memory on the chip of which tables of domains take what areas leave.
    tables: String,
    /// Devices, and memory in the kernel's half of the address space, are in domains at their physical addresses less this.
    device_offset: u32,
    /// The kernel has the memories of domains mapped at their physical addresses and this, unless they lie in its half of the address space.
    kernel_offset: u32,
    /// Ways of the second-level cache in which the kernel's image stays, where its memory is off the chip.
    #[serde(default)]
    kernel_ways: u32,
    /// First address of the windows in which domains map memory while they run; there is no memory in them.
    windows: u32,
    /// Largest cost of mapping, in all steps together: cycles, and cycles for each descriptor.
    map_cycles: [u32; 2],
    /// Largest cost of unmapping.
    unmap_cycles: [u32; 2],
    /// Whether these four are largest observed times; otherwise they follow from the description.
    cycles_observed: bool,
}

impl Translation {
    fn is_kernels_half(&self, physical: u32) -> bool {
        physical >= self.kernel_offset
    }

    /// In the windows of as many domains as have their first-level tables on the chip there is neither memory nor a device.
    fn windows(&self, file: &BoardFile) -> Kept {
        let tables = file.memory.get(&self.tables).map_or(0, |memory| u64::from(memory.bytes));
        let bytes = WINDOW_BYTES * (tables / ROOT_BYTES).min(manager::MAX_CLIENTS as u64);
        let windows = u64::from(self.windows)..u64::from(self.windows) + bytes;
        let fits = windows.start.is_multiple_of(WINDOW_BYTES) && windows.end <= KERNELS_HALF.into();
        require(fits, || {
            format!(
                "protection.windows = {:#x}: a multiple of 32 MiB, and {bytes:#x} bytes below {KERNELS_HALF:#x}",
                self.windows
            )
        })?;
        let memories = file.memory.iter().filter(|(_, memory)| memory.kind != MemoryKind::Kernel);
        let memories = memories.map(|(name, memory)| (name, memory.base - self.lower(memory.base), memory.bytes));
        let devices = file.device.iter().filter(|(_, device)| !device.kernel);
        let devices = devices.map(|(name, device)| (name, device.base.wrapping_sub(self.device_offset), device.bytes));
        for (name, base, size) in memories.chain(devices) {
            let meets = u64::from(base) < windows.end && u64::from(base) + u64::from(size) > windows.start;
            require(!meets, || format!("protection.windows = {:#x}: `{name}` lies in them", self.windows))?;
        }
        Ok(())
    }
}

impl Scheme for Translation {
    fn facts(&self) -> Facts {
        Facts { translated: true, walked: true, shared_slots: true, loaded_slots: None, eighths: false }
    }

    fn check(&self, file: &BoardFile, chip: &Chip) -> Kept {
        require(self.kernel_offset == KERNELS_HALF, || {
            format!("protection.kernel_offset = {:#x}: only {KERNELS_HALF:#x}", self.kernel_offset)
        })?;
        require(self.device_offset == 0 || self.device_offset == KERNELS_HALF, || {
            format!("protection.device_offset = {:#x}: 0 or kernel_offset", self.device_offset)
        })?;
        require(self.kernel_ways < chip.ways.max(1), || {
            format!("protection.kernel_ways = {}: fewer than {}", self.kernel_ways, chip.ways)
        })?;
        self.windows(file)?;
        for (key, [fixed, each]) in [("map_cycles", self.map_cycles), ("unmap_cycles", self.unmap_cycles)] {
            let sound = [fixed, each].iter().all(|cycles| (1..=MOST_CYCLES).contains(&u64::from(*cycles)));
            require(sound, || format!("protection.{key} = [{fixed}, {each}]: each 1 to {MOST_CYCLES}"))?;
        }
        Ok(())
    }

    fn covers(&self, device: &Device) -> bool {
        (device.base | device.bytes).is_multiple_of(spec::PAGE_BYTES)
    }

    /// Refuses a chip whose entries and ways the kernel cannot divide among domains.
    fn divides(&self, chip: &Chip) -> Result<(), Diagnostic> {
        let facts = [
            ("application.mmu.lock_entries", chip.lock_entries, LOCK_SLOTS as u32),
            ("bytes of a way of application.l2.cache", chip.way_bytes, lockdown::WAY_BYTES),
            ("bytes of a line", chip.line_bytes, lockdown::LINE_BYTES),
            ("application.l2.cache.ways", chip.ways, chip.ways.min(lockdown::WAYS)),
        ];
        let Some((key, found, known)) = facts.into_iter().find(|(_, found, known)| found != known) else {
            return Ok(());
        };
        Err(Diagnostic::new("CF0202", "the chip is another than the kernel can divide")
            .value(format!("{key} = {found}"))
            .limit(known.to_string())
            .rule("the kernel for a core knows how many entries and ways of it can be locked")
            .remedy("choose a profile of the board's processor, or correct this one"))
    }

    fn hardware(&self, chip: &Chip) -> Hardware {
        let costs = Costs {
            main_tlb: chip.main_tlb_cycles,
            walk_on_chip: chip.walk_on_chip_cycles,
            walk_locked_ways: chip.walk_locked_ways_cycles,
        };
        let linear = |[base, each]: [u32; 2]| Linear { base, each };
        let method = if self.cycles_observed { Method::Observed } else { Method::Derived };
        let work = Work { method, map: linear(self.map_cycles), release: linear(self.unmap_cycles) };
        let sizes = Sizes {
            lock_slots: chip.lock_entries as u8,
            // The kernel's own are nobody else's.
            ways: chip.ways.saturating_sub(self.kernel_ways) as u8,
            way_bytes: chip.way_bytes,
            window_base: self.windows,
        };
        Hardware::Pages(Pages::new(costs, work, sizes))
    }

    fn divided(&self, _: &Core) -> Option<ProtectionWatch> {
        Some(ProtectionWatch::LockEntries(LOCK_SLOTS as u32))
    }

    /// Page tables express any whole pages.
    fn expresses(&self, fixed: &Fixed) -> Option<Refusal> {
        const PAGE: u64 = spec::PAGE_BYTES as u64;
        (!fixed.base.is_multiple_of(PAGE)).then(|| {
            Refusal::at("CF0301", format!("{}.at", fixed.place), format!("no page begins where {} would", fixed.name))
                .value(format!("{:#010x}", fixed.base))
                .limit(format!("{:#010x} is the next", fixed.base.next_multiple_of(PAGE)))
                .rule("page tables map whole pages of 4 KiB")
                .remedy(format!("write `at = \"{:#010x}\"`", fixed.base.next_multiple_of(PAGE)))
        })
    }

    fn area_bytes(&self, bytes: u64) -> Option<u64> {
        bytes.checked_next_multiple_of(spec::PAGE_BYTES.into())
    }

    fn tables(&self) -> Option<&str> {
        Some(&self.tables)
    }

    fn seen(&self, physical: u32) -> u32 {
        if self.is_kernels_half(physical) { physical } else { physical + self.kernel_offset }
    }

    fn lower(&self, physical: u32) -> u32 {
        if self.is_kernels_half(physical) { self.device_offset } else { 0 }
    }

    fn device_offset(&self) -> u32 {
        self.device_offset
    }
}
