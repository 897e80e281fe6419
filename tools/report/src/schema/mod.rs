//! The report itself: every figure that the page shows. `docs/report.md` documents it; [`SCHEMA`] numbers its version.
//!
//! Times are modelled cycles of the processor unless a name says otherwise, sizes are bytes. Maps are lists, in a fixed order, so that
//! two runs with the same events give the same bytes, except for [`Report::host`] and [`Report::provenance`].

mod meter;
mod outside;
mod protection;

use record::{CoreId, ProbeResult, Spread, Waits, Witness};
use serde::{Deserialize, Serialize};

use crate::describe::{Area, Checks, Effort, ImageSizes, Interrupt, Keeping, Memory, Profile};
use crate::stats::{Histogram, Quantiles};
use crate::timeline::Timeline;
pub use meter::{
    Cases, DomainUse, HandlersBudget, HandlersUse, JobUse, KernelUse, LongJob, Mismatch, SupplyWindow, ThreadUse,
    Tolerance, Unpaid,
};
pub use outside::{Latency, LatencyOver, OutputReport};
pub use protection::{
    BrokenRule, CallSite, Counters, DomainReport, FaultReport, GrantReport, Holder, Outcome, Refusal, Stopped,
    Violation,
};

/// Version of the layout. It changes whenever a field changes its meaning or goes away.
pub const SCHEMA: u32 = 4;

/// Results of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Name of the system.
    pub system: String,
    /// Name of the board.
    pub board: String,
    /// Whether the run is what was promised.
    pub verdict: Verdict,
    /// Totals.
    pub run: Run,
    /// The kernel's work by exception and system call.
    pub kernel_use: Vec<KernelUse>,
    /// Threads, in the order of their indices.
    pub threads: Vec<ThreadReport>,
    /// Domains, in the order of their indices.
    pub domains: Vec<DomainReport>,
    /// Budgets, in the order of their indices.
    pub budgets: Vec<BudgetReport>,
    /// Gates, in the order of their indices.
    pub gates: Vec<GateReport>,
    /// Interrupt lines given to domains.
    pub interrupts: Vec<InterruptReport>,
    /// Registers whose stores were recorded, in the order of the manifest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<OutputReport>,
    /// Text that programs have written and the console had not printed when the run ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unprinted: Vec<Unprinted>,
    /// Faults, in the order in which they happened; at most [`crate::MAX_FAULTS`].
    pub faults: Vec<FaultReport>,
    /// Accesses that silicon would have denied though the emulator let them through, and writes of hostile domains that were seen; the first ones.
    pub violations: Vec<Violation>,
    /// All violations, also those beyond the list.
    pub violations_total: u64,
    /// Findings of the witness over the other domains' memory while hostile domains ran.
    pub witness: Witness,
    /// Entries of the kernel that no account pays for: start, idling, switches whose payer cannot be told, and exceptions above handlers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpaid: Vec<Unpaid>,
    /// Exceptions taken.
    pub exceptions: Vec<ExceptionReport>,
    /// Measurements of probes, from one address to another.
    pub probes: Vec<ProbeResult>,
    /// Markers that domains wrote, by domain and id; of each domain at most [`crate::MAX_MARKS`].
    pub marks: Vec<MarkReport>,
    /// How accesses are checked.
    pub checks: Checks,
    /// The ways in which the platform keeps such checks, strongest first.
    pub keeping: Vec<Keeping>,
    /// With page tables, what it takes to change them at run time.
    pub effort: Option<Effort>,
    /// Index of the domain that grants memory at run time.
    pub manager: Option<u8>,
    /// Its grants, in the order of time; at most [`crate::MAX_GRANTS`].
    pub grants: Vec<GrantReport>,
    /// All that it granted, also what is beyond the list.
    pub grants_total: u64,
    /// Memories of the chip.
    pub memories: Vec<Memory>,
    /// Memory of the kernel.
    pub kernel_areas: Vec<Area>,
    /// Size of the kernel's image.
    pub kernel_image: ImageSizes,
    /// Output of the console; of more than [`crate::MAX_CONSOLE_BYTES`] only the end.
    pub console: String,
    /// Bytes of output before what `console` holds.
    pub console_cut_bytes: u64,
    /// Timeline of the run, down-sampled to a bounded size.
    pub timeline: Timeline,
    /// The timing profile with its caveats.
    pub profile: Profile,
    /// Figures that depend on the machine that ran the emulator. This and `provenance` are the only parts that differ between two runs.
    pub host: Host,
    /// Origin of the report; absent when nobody said.
    #[serde(default)]
    pub provenance: Option<Provenance>,
}

/// Whether the run is what was promised.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// No failure.
    pub ok: bool,
    /// Ways in which the run was not as promised.
    pub failures: Vec<Failure>,
    /// Hash of the image that ran; absent where nobody said.
    #[serde(default)]
    pub image: Option<String>,
    /// What happened that breaks no promise to anybody, and that an engineer has to know all the same: a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// One way in which the run was not as promised.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Stable code.
    pub code: String,
    /// The failure, in one sentence.
    pub text: String,
    /// The code that `cofferdam explain` explains, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained: Option<String>,
    /// Keys of the manifest that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Cycle of the first case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// Its remedy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The figure that was judged, and its limit.
    #[serde(flatten)]
    pub measure: Option<Measure>,
}

/// A figure and what it was held against: it had to be at most `limit + tolerance`, unless the failure's text says that it had to be equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    /// The figure, of the worst case where there are several.
    pub value: u64,
    /// Limit that was declared, computed or given.
    pub limit: u64,
    /// Excess over the limit that is tolerated.
    pub tolerance: u64,
    /// `cycles`, or what is counted.
    pub unit: String,
}

impl Measure {
    /// Modelled time.
    pub fn cycles(value: u64, limit: u64, tolerance: u64) -> Measure {
        Measure { value, limit, tolerance, unit: "cycles".to_owned() }
    }

    /// A number of things.
    pub fn count(value: u64, limit: u64, unit: &str) -> Measure {
        Measure { value, limit, tolerance: 0, unit: unit.to_owned() }
    }
}

/// Totals of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Why the run ended.
    pub end: String,
    /// Status with which it ended itself; absent when it did not.
    pub status: Option<i64>,
    /// The kernel stopped for good; absent when it did not.
    pub kernel_failure: Option<KernelFailure>,
    /// It ended as it was meant to: by itself, or at the limit of cycles when no domain ends it.
    pub finished: bool,
    /// Modelled cycles.
    pub cycles: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// Modelled time in seconds: `cycles / cpu_hz`.
    pub seconds: f64,
    /// Clock of the processor in Hz.
    pub cpu_hz: u64,
    /// Ticks of the kernel's clock in one second.
    pub ticks_per_second: u64,
    /// Ticks in one second as the observer saw the clock go; absent where the kernel read it for less than a millisecond.
    pub seen_ticks_per_second: Option<u64>,
    /// Times that the kernel was seen to read its clock; absent where nobody looked.
    pub clock_reads: Option<u64>,
    /// Interrupts of the kernel's timer; absent where their number is not known.
    pub timer_interrupts: Option<u64>,
    /// Region registers that the machine says it has; absent where the kernel did not ask it.
    pub seen_regions: Option<u32>,
    /// Region registers that the kernel was built for.
    pub regions: Option<u32>,
    /// The counter of handlers' cycles, where they are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<record::Counted>,
    /// Cycle of the kernel's tick 0.
    pub tick_zero_cycles: i64,
    /// Tick 0 was known; otherwise the fastest release is taken to have had no latency.
    pub tick_zero_known: bool,
    /// Cycles come from the model; otherwise they mean nothing.
    pub modelled: bool,
    /// Cycles are those of the hardware's own description, on which the system ran; otherwise those of a model.
    #[serde(default)]
    pub exact: bool,
    /// How time was advanced: `quantum` or `exact`.
    pub mode: String,
    /// Cycles between two advances of the clock: a timer is late by at most this and one block.
    pub quantum_cycles: u64,
    /// Cycles slept.
    pub sleep_cycles: u64,
    /// Start-up and idling.
    pub idle: Counters,
    /// Trace records read.
    pub events: u64,
    /// Trace records that the observer wrote and the record does not hold any more.
    pub lost_events: u64,
    /// Trace records that made no sense: an unknown event, or an index that the description does not have.
    pub strange_events: u64,
    /// Thread switches.
    pub switches: u64,
    /// Deadlines missed by all threads together.
    pub missed_deadlines: u64,
    /// Faults of all domains together, also those beyond the list.
    pub faults: u64,
    /// Refused calls of all domains together, without those that were only to be repeated.
    pub refused_calls: u64,
    /// Calls of all domains together that were answered `BUSY` or `AGAIN`: to be repeated.
    pub retried_calls: u64,
    /// Paged regions that were loaded for all domains together.
    pub region_misses: u64,
    /// Longest window with interrupts masked, from the first switch on.
    pub longest_masked: Option<MaskedWindow>,
    /// Longest stretch until the return to thread mode, tail-chained handlers included.
    pub longest_to_thread: Option<MaskedWindow>,
    /// Declared bound on `longest_masked` in cycles.
    pub masked_bound_cycles: Option<u64>,
    /// Use was counted from execution; otherwise from the kernel's switches.
    pub use_from_execution: bool,
    /// Cycles of timer interrupts after which the same thread went on.
    pub timer_cycles: u64,
    /// Cycles of the kernel's work that nobody pays for: start, idling, and switches whose payer cannot be told.
    pub unpaid_cycles: u64,
    /// By how much a release may be late while less important code runs.
    pub release_late_bound_cycles: u64,
    /// Stretches that ran in another domain or on another thread's stack than the kernel said.
    pub mismatches: u64,
    /// The first of them.
    pub mismatch: Option<Mismatch>,
    /// Stretches of time that the observer could not measure.
    pub broken_stretches: u64,
}

/// That and why the kernel stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelFailure {
    /// Cycle at which it stopped.
    pub at: u64,
    /// Why, a sentence.
    pub why: String,
    /// Address of the instruction of the kernel at which it went wrong, where that is known.
    pub pc: Option<u32>,
    /// Symbol of that address.
    pub symbol: Option<String>,
}

/// A window with interrupts masked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaskedWindow {
    /// Core on which it was.
    #[serde(default)]
    pub core: CoreId,
    /// Its length in cycles.
    pub cycles: u64,
    /// Its length in instructions.
    pub instructions: u64,
    /// Cycles of it for which the processor waited.
    pub waits: Waits,
    /// Cycle at which it began.
    pub at: u64,
    /// Exception that was active, in words.
    pub exception: String,
    /// Symbol that it began in.
    pub symbol: Option<String>,
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadReport {
    /// Index.
    pub index: u16,
    /// Name.
    pub name: String,
    /// Index of its home domain.
    pub domain: u8,
    /// 0 is the most important.
    pub priority: u8,
    /// Index of the budget that pays.
    pub budget: u16,
    /// Cycles between releases.
    pub period_cycles: Option<u64>,
    /// Cycles from release to deadline.
    pub deadline_cycles: Option<u64>,
    /// Cycles for which it was the running thread, gates included.
    pub cycles: u64,
    /// Releases that became jobs.
    pub releases: u64,
    /// Jobs completed.
    pub completions: u64,
    /// `late + unfinished + skipped`.
    pub missed_deadlines: u64,
    /// Jobs completed after their deadline.
    pub late: u64,
    /// Deadlines that passed before the end of the run without a completion, those of a periodic thread included that it was
    /// not even released for: its last job still ran, or others kept it from being released.
    pub unfinished: u64,
    /// Releases that never became a job because the job before still ran.
    pub skipped: u64,
    /// Releases, late or skipped, at which the job before still ran.
    pub overruns: u64,
    /// Jobs that ended because their own domain faulted, was stopped or was restarted; these are no missed deadlines.
    pub abandoned: u64,
    /// Response times from nominal release to completion.
    pub response: Option<Quantiles>,
    /// Bound on the response time that admission computed.
    pub response_bound: Option<u64>,
    /// The job with the worst response; absent when none completed.
    #[serde(default)]
    pub worst_job: Option<WorstJob>,
    /// When a deadline was missed first: the completion, the release that was skipped, or the deadline of a job that did not complete.
    #[serde(default)]
    pub first_missed_at: Option<u64>,
    /// Jobs that took longer, until somebody on whom the bound counts broke what was declared.
    pub response_exceeded: Cases,
    /// Cycles that it used, from execution.
    pub used: ThreadUse,
    /// Most cycles of a job in the thread's own domain, as declared.
    pub wcet_cycles: Option<u64>,
    /// Cycles of jobs there.
    pub job: JobUse,
    /// Most cycles for which less important code ran, or the processor slept, between a nominal release and its record.
    pub release_late_cycles: u64,
    /// Releases for which that was longer than the timer can be late.
    pub release_late: Cases,
    /// Smallest margin: deadline minus response time; negative when late.
    pub smallest_margin: Option<i64>,
    /// Margins of the completed jobs.
    pub margins: Option<Histogram>,
}

/// When a job was released and completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorstJob {
    /// Cycle of the nominal release.
    pub released_at: u64,
    /// Cycle of the completion.
    pub completed_at: u64,
}

/// A budget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetReport {
    /// Index.
    pub index: u16,
    /// Name.
    pub name: String,
    /// Names of the threads that it pays for.
    pub threads: Vec<String>,
    /// Cycles between replenishments.
    pub period_cycles: u64,
    /// Cycles that may be used in a period.
    pub capacity_cycles: u64,
    /// Cycles used in the whole run: the sum of the following three.
    pub used_cycles: u64,
    /// Its threads' code, in their domains and in gates.
    pub user_cycles: u64,
    /// The kernel, for their calls and faults.
    pub call_cycles: u64,
    /// The kernel, for switches that their activations led to.
    pub activation_cycles: u64,
    /// Most cycles used in one period of the grid.
    pub max_used_cycles: u64,
    /// Cycle at which that period began.
    pub max_used_at: u64,
    /// Of the windows that end at a switch, the one that came nearest to the supply bound, or exceeded it most.
    pub tightest_window: Option<SupplyWindow>,
    /// Periods and windows in which more was used than supplied and tolerated.
    pub overdrawn: Cases,
    /// Replenishments that the kernel recorded; it may compute them without a record.
    pub replenishments: u64,
    /// Times it was exhausted.
    pub exhaustions: u64,
    /// Cycles by which the use of a period or window may exceed what is supplied.
    pub tolerance_cycles: u64,
    /// Limit of the verdict for the use of a period: capacity and tolerance.
    pub limit_cycles: u64,
    /// Parts of the tolerance, and its limit.
    pub tolerance: Tolerance,
}

/// A gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateReport {
    /// Index.
    pub index: u32,
    /// Name.
    pub name: String,
    /// Index of the callee's domain.
    pub domain: u8,
    /// Ceiling priority.
    pub ceiling: u8,
    /// Calls that entered.
    pub calls: u64,
    /// Calls that returned an error of the kernel, for example that the callee faulted.
    pub failed: u64,
    /// Most cycles that one call ran that returned by itself, without the time in which other threads ran.
    pub max_cycles: u64,
    /// The same of calls that failed.
    pub max_failed_cycles: u64,
    /// Cycles of all calls together, counted the same way.
    pub cycles: u64,
    /// Declared bound in cycles.
    pub bound_cycles: u64,
    /// Further cycles that a failing callee can cost its caller.
    pub slack_cycles: u64,
    /// Calls that ran for longer.
    pub exceeded: Cases,
    /// Index of the thread that made the first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exceeded_by: Option<u16>,
}

/// An interrupt line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterruptReport {
    /// Line, name and domain.
    #[serde(flatten)]
    pub line: Interrupt,
    /// Deliveries.
    pub count: u64,
    /// Cycles of its interrupts after which the same thread went on.
    pub cycles: u64,
    /// The wait for its handler, if interrupts reach one without the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// Cycles from one interrupt to the next at least, as declared, and as seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separation: Option<Separation>,
}

/// Text of a domain that the console had not printed when the run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unprinted {
    /// Index of the domain.
    pub domain: u8,
    /// Writes that the console had taken since it had printed everything last.
    pub writes: u64,
    /// The domain had ended.
    pub ended: bool,
}

/// How far interrupts of a line were apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Separation {
    /// As declared.
    pub declared_cycles: u64,
    /// The shortest that was seen.
    pub shortest_cycles: Option<u64>,
    /// Interrupts that came sooner than declared, by more than the emulator can be late.
    pub broken: Cases,
}

/// How often an exception was taken and how long its handler ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceptionReport {
    /// Architectural number.
    pub number: u16,
    /// Its name.
    pub name: String,
    /// Times taken.
    pub taken: u64,
    /// Of these: without return to thread mode in between.
    pub tail_chained: u64,
    /// Cycles per activation of its handler, counted from the first switch on; absent when there was none.
    pub cycles: Option<Spread>,
    /// Instructions per activation of its handler.
    pub instructions: Option<Spread>,
}

/// Markers with the same domain and id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkReport {
    /// Index of the domain that wrote them.
    pub domain: u8,
    /// Id.
    pub id: u16,
    /// How many.
    pub count: u64,
    /// Cycle of the first.
    pub first_at: u64,
    /// Cycle of the last.
    pub last_at: u64,
    /// Value of the last.
    pub last_value: u32,
}

/// Figures that depend on the machine that ran the emulator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Real seconds that the run took.
    pub seconds: f64,
    /// Million instructions per second of the emulator.
    pub mips: f64,
}

/// Origin of a report. Comparisons leave it out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Name of the run, which no other has: every file that is made of it says it.
    #[serde(default)]
    pub run: Option<String>,
    /// Hash of the image that ran.
    #[serde(default)]
    pub image_hash: Option<String>,
    /// Version of the tool.
    pub version: String,
    /// Commit of the checkout that the tool builds from, with `-dirty` when files were changed; absent where that is not known.
    pub commit: Option<String>,
    /// The command with its arguments, as given.
    pub command: Vec<String>,
    /// Path of the manifest or program, as given.
    pub manifest: String,
    /// Hash of its bytes.
    pub manifest_hash: Option<String>,
    /// Hash of the board's file.
    pub board_hash: Option<String>,
    /// Hash of the timing profile as the observer had it.
    pub profile_hash: Option<String>,
    /// The programs that ran, as they were placed.
    #[serde(default)]
    pub programs: Vec<Program>,
    /// When the report was written, in UTC, as ISO 8601 has it.
    pub date: String,
    /// The computer: name, system, architecture.
    pub host: String,
}

/// A program that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The domain, `kernel`, or `image` for all together as the simulator loads them.
    pub name: String,
    /// Path of its ELF file, which the next run replaces.
    pub path: String,
    /// Hash of that file's bytes.
    pub hash: String,
}
