//! A board on which systems can run.

use std::path::PathBuf;
use std::sync::Arc;

use ::spec::{AccessLevel, Platform, TemporalSpec};
use indexmap::IndexMap;
use sched::switching::Switching;
use units::Rate;

use crate::board_file::{Clock, Device, KernelCosts, Memory, MemoryKind};
use crate::core::{Chip, Core, Setup};
use crate::scheme::Scheme;
use crate::spec::Spec;

/// A board on which systems can run.
#[derive(Clone, Debug)]
pub struct Board {
    /// Path of its file.
    pub path: PathBuf,
    /// Name.
    pub name: String,
    /// One line about it.
    pub about: String,
    /// The simulator that executes its images.
    pub simulator: String,
    /// Machine name for QEMU.
    pub machine: String,
    /// Model of the machine, of a simulator that has several.
    pub model: Option<String>,
    /// QEMU's option for the size of its memory, if it needs one.
    pub machine_memory: Option<String>,
    /// Its processor's core.
    pub core: Core,
    /// Its chip.
    pub chip: Chip,
    /// Settings that start-up writes to the chip.
    pub setup: Setup,
    /// Rate of the kernel's clock.
    pub ticks_per_second: u32,
    /// Its register.
    pub clock: Clock,
    /// Shortest interval after which the timer can enforce a budget, in nanoseconds: as long as it takes to start, and is armed for.
    pub enforcement_ns: u64,
    /// How accesses are checked.
    pub protection: Arc<dyn Scheme>,
    /// Largest costs of the kernel's paths.
    pub kernel: KernelCosts,
    /// Memories by name.
    pub memory: IndexMap<String, Memory>,
    /// Devices by name.
    pub device: IndexMap<String, Device>,
    /// Line of the timer that samples handlers, where there is one.
    pub sampler: Option<u32>,
    /// The counter of handlers' cycles, where there is one.
    pub counter: Option<Counter>,
}

/// The counter of handlers' cycles.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// Line by which its interrupt comes.
    pub line: u32,
    /// The simulator's number of the UART whose line that is.
    pub serial: u8,
    /// Address of the words that stand for registers from 0xE000_0000 on.
    pub registers: u32,
    /// First address of their memory.
    pub memory: u32,
    /// Cycles for which handlers can go on behind its match.
    pub beyond_cycles: u64,
}

impl Board {
    /// The kernel's charges for switches, in ticks rounded up.
    pub fn switching(&self) -> Switching {
        let ticks = |cycles| self.ticks_in(cycles) as u32;
        let KernelCosts { entry_cycles, early_cycles, .. } = self.kernel;
        Switching { entry: ticks(entry_cycles), exit: ticks(self.kernel.exit_cycles()), early: ticks(early_cycles) }
    }

    /// Rate of the kernel's clock.
    pub fn rate(&self) -> Rate {
        Rate::hz(self.ticks_per_second.into())
    }

    /// Ticks of the kernel's clock in so many cycles, rounded up.
    pub fn ticks_in(&self, cycles: u64) -> u64 {
        self.rate().counts_of(cycles, Rate::hz(self.chip.cpu_hz)).ceil()
    }

    /// Physical address of the clock's register.
    pub fn clock_register(&self) -> u32 {
        self.device.get(&self.clock.device).map_or(0, |device| device.base + self.core.image.clock.offset)
    }

    /// The bit of an address that says Secure, where the processor has a second security state.
    pub fn secure(&self) -> Option<u32> {
        self.protection.attribution().map(|watch| watch.secure)
    }

    /// Whether handlers can use a device: a controller makes it Non-secure, or it is so for good.
    pub fn can_open(&self, device: &Device) -> bool {
        device.open.is_some() || !device.kernel && self.secure().is_some_and(|bit| device.base & bit == 0)
    }

    /// Specification that an area asks of the check on this board: the written one. A default that is pinned where that takes a region
    /// register takes no locked entry: its tables stay on the chip.
    pub fn asked(&self, spec: &Spec) -> TemporalSpec {
        let unwritten = !spec.written && spec.pinned();
        if unwritten && self.protection.facts().walked { TemporalSpec::level(AccessLevel::L2) } else { spec.value }
    }

    /// The memory that is given for a name, with its own name, if domains can be given it.
    pub fn memory_for(&self, name: &str) -> Option<(&str, &Memory)> {
        let stands_in = |memory: &Memory| memory.stands_in_for.iter().any(|other| other == name);
        let own = self.memory.get_key_value(name);
        let found = own.or_else(|| self.memory.iter().find(|(_, memory)| stands_in(memory)));
        found.map(|(own, memory)| (own.as_str(), memory)).filter(|(_, memory)| memory.kind != MemoryKind::Kernel)
    }

    /// The memory that is given for a name, if domains can be given it.
    pub fn memory(&self, name: &str) -> Option<&Memory> {
        self.memory_for(name).map(|(_, memory)| memory)
    }

    /// The device that is given for a name.
    pub fn device(&self, name: &str) -> Option<&Device> {
        let stands_in = |device: &&Device| device.stands_in_for.iter().any(|other| other == name);
        self.device.get(name).or_else(|| self.device.values().find(stands_in))
    }

    /// Names of the memories that domains can be given.
    pub fn memory_names(&self) -> String {
        let names = self.memory.iter().filter(|(_, m)| m.kind != MemoryKind::Kernel).map(|(n, _)| n.as_str());
        names.collect::<Vec<_>>().join(", ")
    }
}

/// The platform of a board: its processor and its memories, with the bounds that their descriptions state.
pub fn platform(board: &Board) -> Platform {
    let classes: Vec<_> =
        board.memory.values().filter(|m| m.kind != MemoryKind::Kernel).filter_map(|m| m.class).collect();
    Platform::new(board.protection.hardware(&board.chip), &classes)
}
