//! `boards/NAME/board.toml`: addresses, devices and limits of a board, as data.

use std::path::PathBuf;

use ::spec::{AccessLevel, TemporalSpec};
use board_facts::{Foreign, Named};
use indexmap::IndexMap;
use sched::switching::Switching;
use serde::Deserialize;

use crate::core::{Chip, Core, Setup};
use crate::diagnostic::Diagnostic;
use crate::scheme::Scheme;
use crate::spec::Spec;

/// What a memory can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// Readable, writable.
    Ram,
    /// Read-only at run time; code and constants.
    Rom,
    /// Readable, writable, and filled before the kernel starts: code and constants, too.
    Loaded,
    /// The kernel's own; domains get none of it.
    Kernel,
}

impl MemoryKind {
    /// For people.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Ram => "RAM",
            Self::Rom => "read-only",
            Self::Loaded => "RAM, loaded",
            Self::Kernel => "the kernel's",
        }
    }
}

/// A memory of the board as the chip of the profile has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// First address.
    pub base: u32,
    /// Bytes that the board has there.
    pub bytes: u32,
    /// Bytes of these that the chip has, too.
    #[serde(skip)]
    pub usable: u32,
    /// What it holds.
    pub kind: MemoryKind,
    /// Bytes at its start that the kernel keeps.
    #[serde(default)]
    pub reserved: u32,
    /// Names of other boards' memories in whose place it is given.
    #[serde(default)]
    pub stands_in_for: Vec<String>,
    /// How near it is to the processor, for memory that can hold data.
    #[serde(default, deserialize_with = "class")]
    pub class: Option<::spec::MemoryClass>,
}

fn class<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<::spec::MemoryClass>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let known = (1..=3).filter_map(::spec::MemoryClass::from_number);
    let found = known.into_iter().find(|class| class.text().strip_prefix("data-") == Some(text.as_str()));
    found.map(Some).ok_or_else(|| serde::de::Error::custom("a class is tcm, on-chip or off-chip"))
}

/// A device that can be given to a domain.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// First address of its registers.
    pub base: u32,
    /// Size of its window: only its own registers lie in it.
    pub bytes: u32,
    /// Interrupt lines by name.
    #[serde(default)]
    pub lines: IndexMap<String, u32>,
    /// Names of other boards' devices in whose place it is given.
    #[serde(default)]
    pub stands_in_for: Vec<String>,
    /// The kernel's own: no domain can have it.
    #[serde(default)]
    pub kernel: bool,
    /// Which registers it has, by the name of their design, not of the board: programs choose a driver by it.
    pub kind: Option<String>,
    /// What it is, in a few words.
    #[serde(default)]
    pub about: String,
}

/// The kernel's clock, as it is on the board.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// Name of the device.
    pub device: String,
    /// Cycles of its input in a tick, where the kernel sets that.
    #[serde(default = "one")]
    pub divider: u32,
    /// Shortest time for which the timer can be armed.
    pub shortest_ticks: u32,
    /// Ticks from arming the timer to the start of its count, at most.
    pub start_ticks: u32,
}

fn one() -> u32 {
    1
}

/// Bounds of the kernel's paths that admission assumes, in cycles of the processor.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelCosts {
    /// S of docs/time.md: a path that ends in a switch across domains, from the exception to the next thread's first instruction.
    pub switch_cycles: u64,
    /// E: its part up to where the kernel reads the clock.
    pub entry_cycles: u64,
    /// Y: a timer interrupt after which the same thread goes on.
    pub early_cycles: u64,
    /// One paged-region miss.
    pub miss_cycles: u64,
    /// The longest path with interrupts masked, of systems in which nobody holds frames.
    pub masked_cycles: u64,
    /// The same where somebody does: one step of a change of what is mapped.
    pub masked_frames_cycles: u64,
}

impl KernelCosts {
    /// X of docs/time.md: the part of a switch behind the kernel's read of the clock.
    pub fn exit_cycles(&self) -> u64 {
        self.switch_cycles.saturating_sub(self.entry_cycles)
    }

    /// The longest path with interrupts masked in a system in which somebody holds frames, or nobody.
    pub fn masked_in(&self, holds_frames: bool) -> u64 {
        if holds_frames { self.masked_frames_cycles } else { self.masked_cycles }
    }
}

/// A board as its file describes it; [`BoardFile::supported`] makes a [`Board`] of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardFile {
    /// Where the file is.
    #[serde(skip)]
    pub path: PathBuf,
    /// Name, equal to the directory's below `boards`.
    pub name: String,
    /// One line about it.
    pub about: String,
    /// Machine name for QEMU.
    pub machine: String,
    /// QEMU's option for the size of its memory, on boards with dynamic memory: it begins where the chip's does.
    pub machine_memory: Option<String>,
    /// Its chip: the profile when the manifest names none.
    pub chip: String,
    /// Rate of the kernel's clock.
    pub ticks_per_second: u32,
    /// Its register.
    pub clock: Clock,
    /// How accesses are checked: the table that the core's scheme has.
    pub(crate) protection: toml::Table,
    /// What the kernel's paths cost at most; absent as long as the kernel does not run on the board.
    pub kernel: Option<KernelCosts>,
    /// Memories by name.
    pub memory: IndexMap<String, Memory>,
    /// Devices by name.
    pub device: IndexMap<String, Device>,
    /// Addresses that suites try; absent as long as they do not run on the board.
    pub foreign: Option<Foreign>,
}

impl BoardFile {
    /// Parses the text of a board file, which is at `path`.
    ///
    /// # Errors
    /// CF0605 with the parser's message: board files belong to the installation.
    pub fn parse(text: &str, path: PathBuf) -> Result<BoardFile, Diagnostic> {
        let file: Result<BoardFile, _> = toml::from_str(text);
        file.map(|file| BoardFile { path, ..file }).map_err(|error| {
            Diagnostic::new("CF0605", format!("the board file is wrong: {}", error.message()))
                .rule("a board file follows the schema of tools/manifest/src/board.rs")
                .remedy("correct the board file")
        })
    }

    /// What it says of the check of accesses.
    ///
    /// # Errors
    /// CF0605 when it is not what the core's scheme has, or names no memory.
    pub fn scheme(&self, core: &Core) -> Result<Scheme, Diagnostic> {
        core.protection.read(self).map_err(|why| self.wrong(&why))
    }

    pub(crate) fn wrong(&self, why: &str) -> Diagnostic {
        Diagnostic::new("CF0605", format!("the file of the board `{}` is wrong: {why}", self.name))
            .rule("board.toml follows the schema of tools/manifest/src/board.rs, and names what is in it")
            .remedy("correct the board file")
    }

    /// The board with its core and chip, if systems can be admitted and run on it.
    ///
    /// # Errors
    /// CF0202 when the kernel does not run there, because its paths have no bounds or it is made for another chip. CF0605 when a name in it
    /// names nothing.
    pub fn supported(
        self,
        core: Core,
        chip: impl FnOnce(Option<&Memory>) -> Chip,
        setup: Setup,
    ) -> Result<Board, Diagnostic> {
        let protection = self.scheme(&core)?;
        let chip = chip(protection.tables().and_then(|name| self.memory.get(name)));
        check_foreign(self.foreign.as_ref(), &self.memory, &self.device)?;
        let Some(kernel) = self.kernel else {
            return Err(Diagnostic::new("CF0202", format!("no system can run on the board `{}` yet", self.name))
                .rule("a system is admitted by the bounds of the kernel's paths on its board")
                .remedy("choose a board that `cofferdam boards` does not mark so"));
        };
        self.check(&core, &chip, &protection).map_err(|why| self.wrong(&why))?;
        protection.divides(&chip)?;
        let late = u64::from(self.clock.shortest_ticks) + u64::from(self.clock.start_ticks);
        let enforcement_ns = (late * 1_000_000_000).div_ceil(self.ticks_per_second.into());
        let BoardFile { name, about, machine, machine_memory, ticks_per_second, clock, .. } = self;
        let BoardFile { path, mut memory, device, .. } = self;
        memory.values_mut().for_each(|memory| memory.usable = memory.bytes);
        Ok(Board {
            path,
            name,
            about,
            machine,
            machine_memory,
            core,
            chip,
            setup,
            ticks_per_second,
            clock,
            enforcement_ns,
            protection,
            kernel,
            memory,
            device,
        })
    }
}

/// Whether what suites try on the board is there.
///
/// # Errors
/// CF0605 when a name in the table names nothing.
fn check_foreign(
    foreign: Option<&Foreign>,
    memory: &IndexMap<String, Memory>,
    device: &IndexMap<String, Device>,
) -> Result<(), Diagnostic> {
    let bytes = |named: Named| match named {
        Named::Memory(name) => memory.get(name).map(|memory| memory.bytes),
        Named::Device(name) => device.get(name).map(|device| device.bytes),
        Named::Address(_) => None,
    };
    foreign.map_or(Ok(()), |foreign| foreign.check(bytes)).map_err(|why| {
        Diagnostic::new("CF0605", format!("the board file is wrong: {why}"))
            .rule("each name of `[foreign]` is a place in a memory or a device of the board, or an address")
            .remedy("correct the board file")
    })
}

/// A board on which systems can run.
#[derive(Clone, Debug)]
pub struct Board {
    /// Where its file is.
    pub path: PathBuf,
    /// Name.
    pub name: String,
    /// One line about it.
    pub about: String,
    /// Machine name for QEMU.
    pub machine: String,
    /// QEMU's option for the size of its memory, if it needs one.
    pub machine_memory: Option<String>,
    /// Its processor's core.
    pub core: Core,
    /// Its chip.
    pub chip: Chip,
    /// What start-up writes to the chip.
    pub setup: Setup,
    /// Rate of the kernel's clock.
    pub ticks_per_second: u32,
    /// Its register.
    pub clock: Clock,
    /// Shortest interval after which the timer can enforce a budget, in nanoseconds: as long as it takes to start, and is armed for.
    pub enforcement_ns: u64,
    /// How accesses are checked.
    pub protection: Scheme,
    /// What the kernel's paths cost at most.
    pub kernel: KernelCosts,
    /// Memories by name.
    pub memory: IndexMap<String, Memory>,
    /// Devices by name.
    pub device: IndexMap<String, Device>,
}

impl Board {
    /// What the kernel charges for switches, in ticks rounded up.
    pub fn switching(&self) -> Switching {
        let ticks = |cycles: u64| (cycles * u64::from(self.ticks_per_second)).div_ceil(self.chip.cpu_hz) as u32;
        let KernelCosts { entry_cycles, early_cycles, .. } = self.kernel;
        Switching { entry: ticks(entry_cycles), exit: ticks(self.kernel.exit_cycles()), early: ticks(early_cycles) }
    }

    /// Physical address of the clock's register.
    pub fn clock_register(&self) -> u32 {
        self.device.get(&self.clock.device).map_or(0, |device| device.base + self.core.image.clock.offset)
    }

    /// What an area asks of the check on this board: what was written. What was not written, but is pinned where that takes a region
    /// register, takes no locked entry: its tables stay on the chip.
    pub fn asked(&self, spec: &Spec) -> TemporalSpec {
        let unwritten = !spec.written && spec.pinned();
        if unwritten && self.protection.walks() { TemporalSpec::level(AccessLevel::L2) } else { spec.value }
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
