//! The summary of a run: one JSON document, versioned, strict.

use serde::{Deserialize, Serialize};
use units::CoreId;

use crate::architecture::Architecture;
use crate::fault::FaultContext;
use crate::translation::{AreaCounts, TranslationCounts};
use crate::violation::Violation;
use crate::watch::Mode;

/// Version of the document; a reader refuses any other.
pub const SUMMARY_VERSION: u32 = 8;

/// Number of the pseudo-domain that owns what belongs to nobody: kernel start-up and idling.
pub const IDLE: u8 = 0xff;

/// The counts and figures of a run. Counts are exact for the model; cycles are modelled, not measured on silicon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// [`SUMMARY_VERSION`].
    pub version: u32,
    /// Name of the timing profile; `none` when time was not modelled.
    pub profile: String,
    /// The architecture whose exceptions are counted.
    #[serde(default, skip_serializing_if = "Architecture::is_default")]
    pub architecture: Architecture,
    /// Whether cycles come from the model. When false, cycles are zero throughout and only the end is meaningful.
    pub modelled: bool,
    /// Whether these are cycles of the hardware's own description, on which it was run, and not of a model of it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub exact: bool,
    /// How time was advanced.
    pub mode: Mode,
    /// Cycles between two advances of the guest's clock; a timer is late by at most this and one block.
    pub quantum_cycles: u64,
    /// Cycles of the longest block of instructions, between whose ends no interrupt comes.
    #[serde(default)]
    pub longest_block_cycles: u64,
    /// Clock of the core, Hz.
    pub cpu_hz: u64,
    /// Cycles from reset to the end, sleep included.
    pub cycles: u64,
    /// Cycles slept (WFI).
    pub sleep_cycles: u64,
    /// Instructions completed.
    pub instructions: u64,
    /// Per core and domain, in the order of their numbers; domains that never ran are left out.
    pub domains: Vec<DomainCounters>,
    /// Exceptions taken, by core and number.
    pub exceptions: Vec<ExceptionCount>,
    /// Times during which interrupts could not be taken.
    pub masked: Masked,
    /// Accesses that hardware would have denied and similar; the first 1000.
    pub violations: Vec<Violation>,
    /// All violations, also those beyond the list. A run with any has failed.
    pub violations_total: u64,
    /// Threads at the faults of their domains: of each domain the first [`crate::CONTEXTS_PER_DOMAIN`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultContext>,
    /// The witness over the other domains' memory.
    pub witness: Witness,
    /// The probes, in the order of the request.
    pub probes: Vec<ProbeResult>,
    /// Translation in parts of address spaces, in the order of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub areas: Vec<AreaCounts>,
    /// Times that the interference asked for came.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub disturbances: u64,
    /// Stretches of time that the observer would have had to say ended before they began. Their lengths are in no figure, and a run with any has failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub broken_stretches: u64,
    /// The clock as the kernel has read it, if that was to be watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockSeen>,
    /// Region registers that the machine has, as the kernel was told when it asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regions: Option<u32>,
    /// The counter of Non-secure cycles, if the machine was to have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<Counted>,
    /// The events say for every stretch who ran (`observed::RAN`, `observed::HANDLED`).
    #[serde(default)]
    pub use_recorded: bool,
    /// Records in the events file.
    pub events: u64,
    /// Why and how the run ended.
    pub end: End,
    /// Host time of the run, seconds. Differs from run to run.
    pub host_seconds: f64,
    /// Million guest instructions per host second. Differs from run to run.
    pub mips: f64,
}

const fn is_false(value: &bool) -> bool {
    !*value
}

const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Summary {
    /// Reads a document.
    ///
    /// # Errors
    /// A text that says what is wrong with it.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let summary: Self = serde_json::from_str(text).map_err(|error| format!("run summary: {error}"))?;
        if summary.version != SUMMARY_VERSION {
            return Err(format!("run summary of version {}; this tool reads {SUMMARY_VERSION}", summary.version));
        }
        Ok(summary)
    }

    /// Writes the document, indented, with a newline at the end.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a summary holds only plain values");
        text.push('\n');
        text
    }

    /// The counters of domain `domain` on the first core on which it ran, if it did.
    pub fn domain(&self, domain: u8) -> Option<&DomainCounters> {
        self.domains.iter().find(|counters| counters.domain == domain)
    }

    /// Whether nothing hardware would have denied happened and no hostile write was seen.
    pub fn is_clean(&self) -> bool {
        self.violations_total == 0 && self.witness.changed_slices == 0
    }
}

/// Counters of one domain. The kernel's work while the domain was current is counted on its behalf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DomainCounters {
    /// The core.
    pub core: CoreId,
    /// Number of the domain; [`IDLE`]: start-up and idling.
    pub domain: u8,
    /// Instructions of the domain's own.
    pub instructions: u64,
    /// Instructions of the kernel on its behalf.
    pub kernel_instructions: u64,
    /// Cycles in the domain.
    pub cycles: u64,
    /// Cycles in the kernel on its behalf, exception entry and return included, sleep not.
    pub kernel_cycles: u64,
    /// Cycles slept while current (only [`IDLE`] sleeps).
    pub sleep_cycles: u64,
    /// Times that it became the current domain.
    pub entries: u64,
    /// Instruction cache, in the domain and on its behalf.
    pub icache: CacheCounts,
    /// Data cache, in the domain and on its behalf.
    pub dcache: CacheCounts,
    /// Loads and stores in the domain and on its behalf.
    pub data_accesses: u64,
    /// Misses of paged areas that the kernel served for it (`Miss` records).
    pub paged_misses: u64,
    /// Translation of the domain's own accesses; nothing on processors without page tables.
    #[serde(default, skip_serializing_if = "TranslationCounts::is_nothing")]
    pub translation: TranslationCounts,
    /// Translation of the kernel's accesses on its behalf.
    #[serde(default, skip_serializing_if = "TranslationCounts::is_nothing")]
    pub kernel_translation: TranslationCounts,
}

/// Counts of a counter of Non-secure cycles ([`crate::CounterWatch`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    /// Cycles.
    pub cycles: u64,
    /// Times that it was what it was compared with.
    pub matches: u64,
    /// The most cycles for which Non-secure code went on behind a match, its own alone.
    pub beyond_cycles: u64,
}

/// Hits and misses of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheCounts {
    /// Look-ups that found their line.
    pub hits: u64,
    /// Look-ups that did not.
    pub misses: u64,
}

/// How often an exception was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExceptionCount {
    /// The core.
    pub core: CoreId,
    /// Architectural number: on Armv7-M 4 MemManage, 11 SVCall, 14 PendSV, 15 SysTick, on Armv7-A the place in the vector table; 16 + n
    /// interrupt n.
    pub number: u16,
    /// Times taken.
    pub taken: u64,
    /// Of these: without return to thread mode in between.
    pub tail_chained: u64,
}

/// Times during which another interrupt of the same priority could not be taken. Counted from the first `Switch` on
/// (from reset when the image has no trace port), so that start-up is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Masked {
    /// The longest handler activation or stretch with PRIMASK or BASEPRI set.
    pub longest: Option<Window>,
    /// The longest stretch until the return to thread mode, tail-chained handlers included.
    pub longest_to_thread: Option<Window>,
    /// Handler activations by core and exception number.
    pub vectors: Vec<VectorTime>,
    /// Handler activations of the system call by number, of systems whose numbers travel as Cofferdam's do.
    pub calls: Vec<CallTime>,
}

/// One stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// The core.
    pub core: CoreId,
    /// Address of its first instruction.
    pub pc: u32,
    /// Exception that was active; 0: masked in thread mode.
    pub exception: u16,
    /// When it began, in cycles since reset.
    pub start_cycle: u64,
    /// Its length in cycles.
    pub cycles: u64,
    /// Its length in instructions.
    pub instructions: u64,
    /// Those of its cycles in which the processor waited.
    #[serde(default)]
    pub waits: Waits,
}

/// Cycles for which the processor waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waits {
    /// For instructions, their translation included.
    pub fetch: u64,
    /// For data, their translation included.
    pub data: u64,
    /// At barriers, for stores.
    pub barriers: u64,
}

impl Waits {
    /// Both.
    pub const fn plus(self, other: Self) -> Self {
        Self { fetch: self.fetch + other.fetch, data: self.data + other.data, barriers: self.barriers + other.barriers }
    }

    /// Those from an earlier moment to this one.
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            fetch: self.fetch.saturating_sub(earlier.fetch),
            data: self.data.saturating_sub(earlier.data),
            barriers: self.barriers.saturating_sub(earlier.barriers),
        }
    }
}

/// How long the activations of one exception's handler took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorTime {
    /// The core.
    pub core: CoreId,
    /// Architectural number.
    pub exception: u16,
    /// Cycles per activation.
    pub cycles: Spread,
    /// Instructions per activation.
    pub instructions: Spread,
    /// For what the longest waited.
    #[serde(default)]
    pub waits: Waits,
}

/// How long the handling of one system call took, the switch that it led to included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallTime {
    /// The core.
    pub core: CoreId,
    /// Number of the call (`abi::Call`).
    pub call: u32,
    /// Cycles per activation.
    pub cycles: Spread,
    /// Instructions per activation.
    pub instructions: Spread,
    /// For what the longest waited.
    #[serde(default)]
    pub waits: Waits,
}

/// A distribution in short. For handler activations the median is the upper end of its histogram class (at most 1/8
/// above the true one); for probes it is exact over the samples kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// How many.
    pub count: u64,
    /// The smallest.
    pub min: u64,
    /// The middle one.
    pub median: u64,
    /// The largest.
    pub max: u64,
}

/// Observations of hostile domains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// Stretches of a hostile domain's execution.
    pub slices: u64,
    /// Of these: compared by hash over all other domains' memory, before and after.
    pub checked_slices: u64,
    /// Bytes hashed in all.
    pub hashed_bytes: u64,
    /// Slices after which another domain's memory differed.
    pub changed_slices: u64,
    /// Stores of hostile domains.
    pub stores: u64,
    /// Of these: completed outside the domain's own ranges.
    pub stores_outside: u64,
}

impl Witness {
    /// Both together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self {
            slices: self.slices + other.slices,
            checked_slices: self.checked_slices + other.checked_slices,
            hashed_bytes: self.hashed_bytes + other.hashed_bytes,
            changed_slices: self.changed_slices + other.changed_slices,
            stores: self.stores + other.stores,
            stores_outside: self.stores_outside + other.stores_outside,
        }
    }
}

/// The samples of a probe, from the start address to the end address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeResult {
    /// The core.
    pub core: CoreId,
    /// Name of the request.
    pub name: String,
    /// Cycles.
    pub cycles: Spread,
    /// Instructions.
    pub instructions: Spread,
    /// Samples beyond the first million, which are in `count`, `min` and `max` only.
    pub dropped: u64,
}

/// Why and how a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// Why.
    pub reason: EndReason,
    /// The exit code that follows from the kernel's status, when it ended the run.
    pub status: Option<i32>,
    /// The payload of the trace port's `End` record, when there was one.
    pub trace_status: Option<u32>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The guest's kernel ended it: by the last record of its trace port, or on the soft core by a store to the bench.
    Exit,
    /// The cycle limit was reached.
    CycleLimit,
    /// The instruction limit was reached.
    InstructionLimit,
    /// The guest sleeps and no timer is armed, or none woke it within the limit for sleeping.
    IdleForever,
    /// The observer could not go on (for example: a full disk); the text is on the emulator's standard error.
    ObserverFailed,
    /// Stopped from outside (Ctrl-C, time-out).
    Killed,
}

/// How far a clock went while cycles passed, from its first read to its last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockSeen {
    /// Times that it was read.
    #[serde(default)]
    pub reads: u64,
    /// Counts of the clock.
    pub counts: u64,
    /// Cycles of the model.
    pub cycles: u64,
}
