//! The request to the observer: one JSON document, written by the starter of a run.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Architecture;

/// How the guest's clock is advanced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Every `quantum_cycles`; fast, a timer is late by at most a quantum and a block.
    #[default]
    Quantum,
    /// Before the instruction at which a timer expires; one instruction to a block, so that an interrupt is taken at the
    /// first instruction boundary after its cycle. For figures of latency; several times slower.
    Exact,
}

/// The request. Addresses are the guest's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// The timing profile.
    pub profile: ProfileSource,
    /// Cores that run, from the first on; 0: the default, one. The emulator may have more, which stay off. More than one: with constant costs only.
    #[serde(default)]
    pub cores: u8,
    /// How the clock is advanced.
    pub mode: Mode,
    /// Cycles between two advances in quantum mode; 0: the default, 1000.
    #[serde(default)]
    pub quantum_cycles: u64,
    /// The image, an ELF file: what memory holds at first. Needed where translation tables are followed.
    #[serde(default)]
    pub image: PathBuf,
    /// File of the events.
    pub events: PathBuf,
    /// File of the summary. It appears complete or not at all.
    pub summary: PathBuf,
    /// A file of [`Progress::BYTES`] bytes that is kept up to date, if any.
    #[serde(default)]
    pub progress: Option<PathBuf>,
    /// Address of the trace port, if the image has one.
    #[serde(default)]
    pub trace_port: Option<u32>,
    /// Address of the word that holds the address of the running thread's saved registers, if the context of faults is to be kept.
    #[serde(default)]
    pub saved: Option<u32>,
    /// Code that runs privileged. Empty: everything does, and nothing is checked against the shadowed MPU.
    #[serde(default)]
    pub kernel_text: Vec<Range>,
    /// Devices and system registers that the kernel uses, on processors with region registers. Empty: its accesses to devices, and whether it looks for
    /// stores that failed late, are not checked.
    #[serde(default)]
    pub kernel_devices: Vec<Range>,
    /// The kernel's stack, below which there is nothing that the board would deny. Absent: not checked.
    #[serde(default)]
    pub kernel_stack: Option<Range>,
    /// The kernel's clock, whose rate is measured.
    #[serde(default)]
    pub clock: Option<ClockWatch>,
    /// How much the kernel divides among domains; the observer refuses to run with a model of another number. Absent: not compared.
    #[serde(default)]
    pub protection: Option<ProtectionWatch>,
    /// The chip's opinion on which addresses are Secure, where the architecture has security states. Absent: it has none.
    #[serde(default)]
    pub attribution: Option<AttributionWatch>,
    /// Handlers that interrupts reach without the kernel, if there are any.
    #[serde(default)]
    pub handlers: Option<HandlersWatch>,
    /// Registers of devices: each store to one is recorded (`observed::STORED`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<OutputWatch>,
    /// An application core's interrupt controller and second-level cache; needed there.
    #[serde(default)]
    pub cluster: Option<ClusterWatch>,
    /// First instructions of the exception handlers (bit 0 clear), thread mode's reset handler not included.
    #[serde(default)]
    pub vectors: Vec<u32>,
    /// Also write a record for every exception entry and return.
    #[serde(default)]
    pub exception_events: bool,
    /// Write a record for every stretch in which a domain or the kernel ran, and who it was.
    #[serde(default)]
    pub meter: Option<MeterWatch>,
    /// The domains, for the witness.
    #[serde(default)]
    pub domains: Vec<DomainWatch>,
    /// Check every n-th slice of hostile domains by hash; 0: the default, each.
    #[serde(default)]
    pub witness_every: u32,
    /// Pairs of addresses to measure between.
    #[serde(default)]
    pub probes: Vec<ProbeWatch>,
    /// Parts of domains' address spaces whose translation is counted by itself.
    #[serde(default)]
    pub areas: Vec<AreaWatch>,
    /// The kernel's mappings of physical memory, on processors that translate addresses: the witness reads it there. Memory that no window
    /// covers is read at its physical address.
    #[serde(default)]
    pub windows: Vec<MemoryWindow>,
    /// Memory of domains by address space, on a simulator that sees every physical access: each that is not to memory of the domain's is a violation.
    /// Empty: they are not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<FrameWatch>,
    /// Another program's effect on caches and TLBs, if it is to be had.
    #[serde(default)]
    pub interference: Option<Interference>,
    /// At each entry to the kernel from a domain or from idling, caches, TLBs, predictor and flash buffers are made as bad as others can leave
    /// them: full of changed lines of somebody else, empty, wrong. Locked lines and entries stay. Changes modelled cycles and nothing else.
    #[serde(default)]
    pub adverse: bool,
    /// A waveform of all signals in these cycles, on a simulator that has signals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waves: Option<WavesWatch>,
    /// End the run at this many cycles; 0: no limit.
    #[serde(default)]
    pub cycle_limit: u64,
    /// End the run at this many instructions; 0: no limit.
    #[serde(default)]
    pub instruction_limit: u64,
    /// End the run when it has slept for this many cycles on end; 0: the default, 20 s.
    #[serde(default)]
    pub sleep_limit_cycles: u64,
    /// A debugger may stop the guest: sleeping without a timer does not end the run.
    #[serde(default)]
    pub debugger: bool,
}

/// The source of the timing profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileSource {
    /// The TOML text.
    Text(String),
    /// No chip's model: every instruction takes `cycles_per_instruction`, every access `cycles_per_access` more. Of the M profile alone.
    Constant {
        /// The architecture.
        #[serde(default)]
        architecture: Architecture,
        /// Clock of the core, Hz.
        cpu_hz: u64,
        /// At least 1.
        cycles_per_instruction: u32,
        /// May be 0.
        cycles_per_access: u32,
    },
}

impl Default for ProfileSource {
    fn default() -> Self {
        let architecture = Architecture::default();
        Self::Constant { architecture, cpu_hz: 216_000_000, cycles_per_instruction: 1, cycles_per_access: 1 }
    }
}

/// Addresses from `start` up to, not including, `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// First address.
    pub start: u32,
    /// First address behind it.
    pub end: u32,
}

impl Range {
    /// Whether the `len` bytes from `address` are all inside.
    pub const fn holds(self, address: u32, len: u32) -> bool {
        address >= self.start && address as u64 + len as u64 <= self.end as u64
    }
}

/// The register of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockWatch {
    /// Physical address of its 32 bits.
    pub register: u32,
    /// It counts down.
    pub down: bool,
}

/// How much a processor has of what its kernel divides among domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProtectionWatch {
    /// Region registers.
    Regions(u32),
    /// Entries of the main TLB that can be locked.
    LockEntries(u32),
}

impl fmt::Display for ProtectionWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Regions(count) => write!(f, "{count} region registers"),
            Self::LockEntries(count) => write!(f, "{count} lock entries"),
        }
    }
}

/// The attribution of addresses that a chip's own unit gives (ARM DDI 0553 B8, IDAU).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttributionWatch {
    /// An address in which one of these bits is set is Secure.
    pub secure: u32,
    /// Sixteenths of the address space in which Secure addresses may be entered from Non-secure code: bit `n` for those from `n << 28` on.
    #[serde(default)]
    pub callable: u16,
}

/// Handlers that interrupts reach without the kernel, in Non-secure state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandlersWatch {
    /// The domains whose they are.
    pub owners: Vec<HandlersOwner>,
    /// Kernel code that they may enter, and that does nothing but note it.
    pub way_in: Range,
    /// Kernel code at which an exception that came to their state is served as if it had come to the thread that they have interrupted; 0:
    /// there is none.
    #[serde(default)]
    pub served: u32,
    /// Exceptions that they do not interrupt.
    pub above: Vec<u16>,
    /// Their exceptions.
    #[serde(default)]
    pub exceptions: Vec<u16>,
    /// The counter of their cycles, if the machine is to have one.
    #[serde(default)]
    pub counter: Option<CounterWatch>,
}

/// A register whose stores are recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputWatch {
    /// Its addresses, as programs have them.
    pub addresses: Vec<u32>,
}

/// A domain with handlers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandlersOwner {
    /// Its number.
    pub domain: u8,
    /// All that they may execute.
    pub code: Range,
    /// Their first instructions.
    pub entries: Vec<u32>,
}

impl HandlersWatch {
    /// Whether a handler begins there.
    pub fn begins(&self, pc: u32) -> bool {
        self.owners.iter().any(|owner| owner.entries.contains(&pc))
    }

    /// The domain whose handlers' code is there.
    pub fn owner(&self, pc: u32) -> Option<u8> {
        self.owners.iter().find(|owner| owner.code.holds(pc, 1)).map(|owner| owner.domain)
    }

    /// The one domain with handlers, if no other has some.
    pub fn only_owner(&self) -> Option<u8> {
        if let [owner] = &self.owners[..] { Some(owner.domain) } else { None }
    }
}

/// A counter of the cycles of Non-secure state that the simulator does not have: registers of debug (ARM DDI 0553, DWT and DEMCR) in its memory, where
/// the kernel alone finds them, and a match as a byte for the receiver of a UART.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CounterWatch {
    /// Address, as the kernel sees it, of the words that stand for those from [`DEBUG_REGISTERS`] on.
    pub registers: u32,
    /// First address of the memory that holds them.
    pub memory: u32,
    /// The simulator's number of the UART.
    pub serial: u8,
    /// File of the memory's content; the starter of the run fills it in, and the simulator maps it.
    #[serde(default)]
    pub share: PathBuf,
    /// FIFO to the UART's receiver; the same.
    #[serde(default)]
    pub receiver: PathBuf,
}

/// Address of the registers that a [`CounterWatch`] has elsewhere, [`DEBUG_BYTES`] of them.
pub const DEBUG_REGISTERS: u32 = 0xe000_0000;
/// Bytes of them.
pub const DEBUG_BYTES: u32 = 0x1_0000;

/// Physical addresses of an application core's own devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterWatch {
    /// `PERIPHBASE` (ARM DDI 0407, 1.5): snoop control unit, interrupt controller, timers.
    pub private: u32,
    /// Controller of the second-level cache (PL310).
    pub controller: u32,
}

/// How the observer tells whose code runs without asking the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeterWatch {
    /// The domains.
    pub contexts: Vec<ContextWatch>,
    /// The stacks of threads and gates.
    pub stacks: Vec<StackWatch>,
    /// Registers of the kernel's clock: its reads of them are recorded. Physical addresses.
    #[serde(default)]
    pub clock: Vec<Range>,
}

/// The processor's state while a domain's code runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextWatch {
    /// The domain's number in trace records.
    pub domain: u8,
    /// The number by which the processor tells its address space, on processors that translate addresses: an identifier, or the first entry of its
    /// tables. It decides there.
    #[serde(default)]
    pub space: Option<u32>,
    /// Its code, which no other domain may execute. It decides elsewhere.
    #[serde(default)]
    pub code: Vec<Range>,
}

/// A stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StackWatch {
    /// The domain whose memory it is.
    pub domain: u8,
    /// The thread that it belongs to; none: a gate's, which any thread may be on.
    pub thread: Option<u16>,
    /// Its bytes. A stack that is empty is at its end.
    pub range: Range,
}

/// A domain, for the witness.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DomainWatch {
    /// Its number in trace records.
    pub domain: u8,
    /// Whether it is watched: its stores, and the memory of all others while it runs.
    #[serde(default)]
    pub hostile: bool,
    /// RAM that is its own: hashed while a hostile domain runs. Memory shared with a hostile domain does not belong here.
    pub ram: Vec<Range>,
    /// Further ranges that it may store to (shared memory, devices).
    #[serde(default)]
    pub may_store: Vec<Range>,
}

/// A pair of addresses to measure between.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeWatch {
    /// Name in the summary.
    pub name: String,
    /// The stretch starts before this instruction executes (before exception entry when it is a handler's first).
    pub start: u32,
    /// The stretch ends before this instruction executes.
    pub end: u32,
    /// Count only starts that are reached in this domain.
    #[serde(default)]
    pub start_domain: Option<u8>,
    /// Count only ends that are reached in this domain.
    #[serde(default)]
    pub end_domain: Option<u8>,
}

/// A stretch of a run whose signals are written to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WavesWatch {
    /// The first cycle.
    pub from: u64,
    /// The cycle behind the last one.
    pub to: u64,
    /// The file.
    #[serde(default)]
    pub file: PathBuf,
}

/// A part of a domain's address space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AreaWatch {
    /// Name in the summary.
    pub name: String,
    /// The domain's number in trace records.
    pub domain: u8,
    /// Its virtual addresses.
    pub range: Range,
}

/// Physical memory that a domain may access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameWatch {
    /// The number of its address space ([`ContextWatch::space`]).
    pub space: u32,
    /// Physical addresses.
    pub range: Range,
    /// The domain's own address of the first of them; 0 where each page has one of its own.
    #[serde(default)]
    pub at: u32,
    /// It may be written.
    pub write: bool,
    /// It may be executed.
    pub execute: bool,
}

/// Physical memory and the addresses at which the kernel reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryWindow {
    /// Physical addresses.
    pub range: Range,
    /// Virtual address of the first of them.
    pub at: u32,
}

/// Interference as another program causes it that fills caches and TLBs and then leaves: what is not locked is gone from the level-1
/// caches, the level-2 cache and the TLBs, all at once and without taking time. On processors that translate addresses only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interference {
    /// Cycles between two times that it comes; 0: it comes with marks alone.
    #[serde(default)]
    pub every_cycles: u64,
    /// It comes with each mark of this number in the record of the run, too.
    #[serde(default)]
    pub mark: Option<u16>,
    /// Count only cycles while this domain is the current one, and interfere only with it.
    #[serde(default)]
    pub domain: Option<u8>,
}

/// How far a run is, as the progress file holds it: five little-endian u64 (cycles, instructions, events, last trace
/// event's header, 1 when the run is over).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Cycles so far.
    pub cycles: u64,
    /// Instructions so far.
    pub instructions: u64,
    /// Records so far.
    pub events: u64,
    /// Header of the last trace record.
    pub last: u64,
    /// Whether the observer has finished.
    pub over: bool,
}

impl Progress {
    /// Size of the file.
    pub const BYTES: usize = 40;

    /// Reads the file's content; `None` when it is too short.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let word = |index: usize| Some(u64::from_le_bytes(bytes.get(index * 8..index * 8 + 8)?.try_into().ok()?));
        Some(Self { cycles: word(0)?, instructions: word(1)?, events: word(2)?, last: word(3)?, over: word(4)? != 0 })
    }
}
