//! `boards/NAME/board.toml`: addresses, devices and limits of a board, as data.

use std::path::PathBuf;

use board_facts::Foreign;
use indexmap::IndexMap;
use serde::Deserialize;

use crate::diagnostic::Diagnostic;

/// Kind of a memory, by its possible contents.
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
    /// Kind of its contents.
    pub kind: MemoryKind,
    /// Bytes at its start that the kernel keeps.
    #[serde(default)]
    pub reserved: u32,
    /// Areas of code in it are whole pages of so many bytes, a power of two. No chip needs it: the simulator keeps translated code only for pages
    /// that one region covers, and translates any other code anew each time it runs.
    #[serde(default = "one")]
    pub code_page: u32,
    /// Controllers that say which of its blocks are Non-secure: what handlers use that interrupts reach without the kernel.
    #[serde(default)]
    pub gates: Vec<Gate>,
    /// A chip of the board may lack it; domains then have none of it.
    #[serde(default)]
    pub optional: bool,
    /// Names of other boards' memories in whose place it is given. Of several memories with the same name the first is given that the chip has.
    #[serde(default)]
    pub stands_in_for: Vec<String>,
    /// How near it is to the processor, for memory that can hold data.
    #[serde(default, deserialize_with = "class")]
    pub class: Option<::spec::MemoryClass>,
}

impl Memory {
    /// Bytes of its largest block that a controller makes Non-secure, if controllers cover all of it.
    pub fn block(&self) -> Option<u32> {
        let end = |base: u32, bytes: u32| u64::from(base) + u64::from(bytes);
        let mut gates: Vec<&Gate> = self.gates.iter().collect();
        gates.sort_by_key(|gate| gate.base);
        let covered = gates.iter().fold(u64::from(self.base), |until, gate| {
            if u64::from(gate.base) <= until { until.max(end(gate.base, gate.bytes)) } else { until }
        });
        self.gates.iter().map(|gate| gate.block).max().filter(|_| covered >= end(self.base, self.usable))
    }
}

fn class<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<::spec::MemoryClass>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let known = (1..=3).filter_map(::spec::MemoryClass::from_number);
    let found = known.into_iter().find(|class| class.text().strip_prefix("data-") == Some(text.as_str()));
    found.map(Some).ok_or_else(|| serde::de::Error::custom("a class is tcm, on-chip or off-chip"))
}

/// A controller that says which blocks of a range of memory are Non-secure.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// First address of the range.
    pub base: u32,
    /// Its bytes.
    pub bytes: u32,
    /// Address of the controller's registers.
    pub controller: u32,
    /// Bytes of a block, a power of two from 32 on.
    pub block: u32,
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
    /// Address and bit of the register that lets unprivileged code access it, where a controller decides that beside the protection of domains.
    pub unprivileged: Option<[u32; 2]>,
    /// Addresses and bits of the register that makes it Non-secure, and of the one that lets unprivileged code access it then.
    pub open: Option<[[u32; 2]; 2]>,
    /// Kind of its registers, by the name of their design, not of the board: programs choose a driver by it.
    pub kind: Option<String>,
    /// Description in a few words.
    #[serde(default)]
    pub about: String,
}

/// The timer that samples handlers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampler {
    /// Name of the device.
    pub device: String,
    /// Name of its line.
    pub line: String,
}

/// The counter of handlers' cycles, as the simulator has it: in memory, and by a UART.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counter {
    /// Name of the UART, a device of the kernel's.
    pub device: String,
    /// Name of its receiver's line.
    pub line: String,
    /// The simulator's number of the UART.
    pub serial: u8,
    /// Name of the memory.
    pub memory: String,
    /// Address, in it, of the words that stand for those from 0xE000_0000 on.
    pub registers: u32,
    /// Cycles for which handlers can go on behind a match.
    pub beyond_cycles: u64,
    /// Cycles of a call of the way into the kernel, which are Secure: the kernel charges them, by the calls.
    pub way_in_cycles: u32,
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
    /// By how much a path becomes longer, at most, that begins with what a handler has done, or with a thread that goes where handlers are: in systems
    /// in which interrupts reach handlers without the kernel.
    #[serde(default)]
    pub handlers_cycles: u64,
    /// A look of the timer that samples handlers, at most, with its entry and return.
    #[serde(default)]
    pub look_cycles: u64,
    /// The same beside a counter.
    #[serde(default)]
    pub counted_look_cycles: u64,
    /// A look that meets handlers, or a boundary of their period: the sampler's.
    #[serde(default)]
    pub met_cycles: u64,
    /// The same beside a counter.
    #[serde(default)]
    pub counted_met_cycles: u64,
    /// The path of `OCCUPY`, in which another domain's handlers become reachable.
    #[serde(default)]
    pub occupy_cycles: u64,
    /// A fault of a thread in the state of handlers that a handler can have another's thread take, of which nothing tells who is to blame: the most
    /// that it takes from that thread.
    #[serde(default)]
    pub slip_cycles: u64,
    /// The least that it costs the handler, entry and return included.
    #[serde(default)]
    pub slip_least_cycles: u64,
}

impl KernelCosts {
    /// X of docs/time.md: the part of a switch behind the kernel's read of the clock.
    pub fn exit_cycles(&self) -> u64 {
        self.switch_cycles.saturating_sub(self.entry_cycles)
    }

    /// The longest path with interrupts masked in a system in which somebody holds frames, or nobody, and in which so many domains have handlers.
    pub fn masked_in(&self, holds_frames: bool, owners: usize) -> u64 {
        let own = if holds_frames { self.masked_frames_cycles } else { self.masked_cycles };
        let own = if owners > 1 { own.max(self.occupy_cycles) } else { own };
        own + if owners > 0 { self.handlers_cycles } else { 0 }
    }
}

/// A board as its file describes it; `BoardFile::supported` makes a `Board` of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardFile {
    /// Path of the file.
    #[serde(skip)]
    pub path: PathBuf,
    /// Name, equal to the directory's below `boards`.
    pub name: String,
    /// One line about it.
    pub about: String,
    /// The simulator that executes its images, by the name that `runner::find` knows.
    pub simulator: String,
    /// Machine name for QEMU; of the soft core, the top of its description (`rtl/soc`).
    pub machine: String,
    /// Model of the machine, of a simulator that has several: of `rtl/Makefile`.
    pub model: Option<String>,
    /// QEMU's option for the size of its memory, on boards with dynamic memory: it begins where the chip's does.
    pub machine_memory: Option<String>,
    /// Its chip: the profile when the manifest names none.
    pub chip: String,
    /// Rate of the kernel's clock.
    pub ticks_per_second: u32,
    /// Its register.
    pub clock: Clock,
    /// Longest time of one call of the usual console's gate, in microseconds, on a board that needs longer than others.
    #[serde(default)]
    pub console_bound_us: Option<u32>,
    /// Cycles that the longest call of a gate takes of the services that come with Cofferdam: by the gate's function, and by the profile in whose cycles
    /// it is. Observed with caches as bad as clients can leave them, and a tenth more.
    #[serde(default)]
    pub service: IndexMap<String, IndexMap<String, u64>>,
    /// How accesses are checked: the table that the core's scheme has.
    pub(crate) protection: toml::Table,
    /// The timer that looks at random times whether handlers run that interrupts reach without the kernel; absent where there are none.
    pub sampler: Option<Sampler>,
    /// The counter of handlers' cycles, where the board has one.
    pub counter: Option<Counter>,
    /// Largest costs of the kernel's paths; absent as long as the kernel does not run on the board.
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
                .rule("a board file follows the schema of tools/manifest/src/board_file.rs")
                .remedy("correct the board file")
        })
    }

    pub(crate) fn wrong(&self, why: &str) -> Diagnostic {
        Diagnostic::new("CF0605", format!("the file of the board `{}` is wrong: {why}", self.name))
            .rule("board.toml follows the schema of tools/manifest/src/board_file.rs, and names what is in it")
            .remedy("correct the board file")
    }
}
