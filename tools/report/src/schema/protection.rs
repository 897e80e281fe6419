//! Domains: what they may access, and what became of accesses and calls beyond that.

use record::{CacheCounts, CoreId, TranslationCounts};
use serde::{Deserialize, Serialize};

use super::meter::DomainUse;
use crate::describe::{Account, Area, ImageSizes};
use crate::place::Nearest;

/// That a domain was stopped by a call of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// Index of the domain whose code called.
    pub by: u8,
    /// Cycle of the call.
    pub at: u64,
}

/// A protection domain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DomainReport {
    /// Index.
    pub index: u8,
    /// Name.
    pub name: String,
    /// Index into the page's palette.
    pub color: u8,
    /// Its faults and refused calls are expected.
    pub hostile: bool,
    /// Policy for its faults: `stop`, `restart` or `report`.
    pub fault_policy: String,
    /// Counts of the plug-in.
    pub counters: Counters,
    /// Cycles that it used, by who pays (docs/time.md).
    pub used: DomainUse,
    /// Its cycles and the kernel's on its behalf, over the run's cycles.
    pub share: f64,
    /// Paged regions that were loaded.
    pub region_misses: u64,
    /// Cycles that loading them cost, from exception entry to return.
    pub region_miss_cycles: u64,
    /// The most expensive one in cycles.
    pub region_miss_max_cycles: u64,
    /// The two costs were taken at each miss. Otherwise the first is misses times the median, and the second the maximum, of
    /// the handler's activations in all domains.
    pub region_miss_exact: bool,
    /// Calls that the kernel refused, by call and error.
    pub refused: Vec<Refusal>,
    /// Faults.
    pub faults: u64,
    /// Restarts.
    pub restarts: u64,
    /// Code with which its last thread ended; absent when it did not end.
    pub exit_code: Option<u32>,
    /// Another domain has stopped it, and nobody has restarted it since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// The memory that it may access.
    pub areas: Vec<Area>,
    /// Promises of the ledger to it.
    #[serde(default)]
    pub account: Account,
    /// Size of its image.
    pub image: ImageSizes,
}

/// Calls that the kernel refused for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Name of the call, or its number when no call has it.
    pub call: String,
    /// Name of the error, or its status word.
    pub error: String,
    /// How many.
    pub count: u64,
}

/// Memory that was granted at run time, as whoever granted it said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantReport {
    /// Index of the domain that has it.
    pub domain: u8,
    /// Cycle at which it was granted.
    pub at: u64,
    /// Cycle at which the domain had it no more; absent when it had it to the end.
    pub until: Option<u64>,
    /// First address, as the domain sees it.
    pub base: u64,
    /// Bytes.
    pub bytes: u64,
    /// `r` or `rw`.
    pub access: String,
    /// `private`, `owner` (others may map it, too) or `member` (it is another domain's).
    pub holder: Holder,
    /// Temporal specification.
    pub spec: String,
    /// How the check of its accesses is kept: a code of `Report::keeping`.
    pub kept: String,
    /// Level at which the check ends at the latest; empty where nothing is promised.
    pub level: String,
    /// Cycles that the check adds to one access at most.
    pub bound_cycles: Option<u32>,
    /// How that was found.
    pub bound_method: String,
    /// Descriptors that mapping it takes at most; 0 with region registers.
    pub descriptors: u32,
    /// Cycles to map it at most, in all steps together: `Report::effort`.
    pub map_cycles: Option<u64>,
    /// Cycles to take that away at most, clearing apart.
    pub release_cycles: Option<u64>,
}

/// How a domain has memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holder {
    /// Alone.
    #[default]
    Private,
    /// It is its own, and others may map it, too.
    Owner,
    /// It is another domain's.
    Member,
}

/// Outcome for a domain after a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It stayed stopped.
    Stopped,
    /// It was restarted.
    Restarted,
}

/// A fault that was contained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultReport {
    /// Cycle at which the kernel recorded it.
    pub at: u64,
    /// Index of the domain that faulted.
    pub domain: u8,
    /// Name of the thread that ran, when one did.
    pub thread: Option<String>,
    /// Kind of fault, in words.
    pub kind: String,
    /// Address that the fault is about; its meaning depends on the kind.
    pub address: u64,
    /// Program counter.
    pub pc: Option<u64>,
    /// Symbol of the program counter.
    pub symbol: Option<String>,
    /// A handler that interrupts reach without the kernel did it, of which there is neither a program counter nor a call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_handler: bool,
    /// Of a call that ran longer than its bound: index of the domain whose handlers have interrupted it, if some have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handlers_of: Option<u8>,
    /// `read`, `write` or `execute`; absent where that is not known, or not what it is about.
    #[serde(default)]
    pub access: Option<String>,
    /// The event in words: "write to 0x0".
    #[serde(default)]
    pub what: String,
    /// Why it was refused, in words; may be empty.
    #[serde(default)]
    pub reason: String,
    /// Place of the fault, and the calls that led there: the innermost function first. Empty where it was not recorded.
    #[serde(default)]
    pub calls: Vec<CallSite>,
    /// Why `calls` ends before the thread's entry; absent when it does not.
    #[serde(default)]
    pub calls_end: Option<String>,
    /// All of that in one line: who, what, where, why.
    #[serde(default)]
    pub text: String,
    /// The memory nearest to the address; absent when the kind's `address` is none.
    pub nearest: Option<Nearest>,
    /// Outcome for the domain.
    pub outcome: Outcome,
    /// Cycles from the fault to the restart.
    pub recovery_cycles: Option<u64>,
}

/// A function that had not returned when its domain faulted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSite {
    /// Its name, or an address where nobody names it.
    pub function: String,
    /// Source file, as the compiler wrote it.
    pub file: Option<String>,
    /// Line of the fault, or of the call of the function before it in the list.
    pub line: Option<u32>,
    /// Address of the instruction that faulted, or that the call returns to.
    pub pc: u64,
    /// It has no frame of its own: it is part of the next one.
    pub inlined: bool,
    /// The fault is in this line; otherwise in a block of instructions that begins there, because the processor could not store where it was.
    pub exact: bool,
}

/// An access that silicon would have denied, or an event that must not happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// Core on which it happened.
    #[serde(default)]
    pub core: CoreId,
    /// Cycle.
    pub at: u64,
    /// Index of the domain that ran, 255 for none.
    pub domain: u8,
    /// Kind, in words.
    pub kind: String,
    /// First address of the access or range.
    pub address: u64,
    /// Bytes of the access or range.
    pub bytes: u32,
    /// Index of the domain whose memory changed.
    pub victim: Option<u8>,
    /// Program counter.
    pub pc: u64,
    /// Symbol of the program counter.
    pub symbol: Option<String>,
    /// The broken rule about translation, and its remedy; absent for other violations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<BrokenRule>,
}

/// A rule about translation that was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenRule {
    /// Code of the failure in the verdict.
    pub failure: String,
    /// The rule.
    pub rule: String,
    /// Its remedy.
    pub remedy: String,
    /// Address-space identifier.
    pub space: u8,
    /// Physical address by the translation held; of the descriptor where a table was not clean.
    pub held: u64,
    /// Physical address by the tables; none when they have no translation.
    pub tables: Option<u64>,
}

/// Counts of one domain's activity, by the observer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Cycles in the domain.
    pub cycles: u64,
    /// Cycles in the kernel on its behalf.
    pub kernel_cycles: u64,
    /// Instructions of its own.
    pub instructions: u64,
    /// Instructions of the kernel on its behalf.
    pub kernel_instructions: u64,
    /// Times that it became the current domain.
    pub entries: u64,
    /// Loads and stores, in the domain and on its behalf.
    pub data_accesses: u64,
    /// Instruction cache, in the domain and on its behalf.
    pub icache: CacheCounts,
    /// Data cache, in the domain and on its behalf.
    pub dcache: CacheCounts,
    /// Translation of the domain's own accesses; absent where there is none.
    #[serde(default, skip_serializing_if = "TranslationCounts::is_nothing")]
    pub translation: TranslationCounts,
    /// Translation of the kernel's on its behalf.
    #[serde(default, skip_serializing_if = "TranslationCounts::is_nothing")]
    pub kernel_translation: TranslationCounts,
}
