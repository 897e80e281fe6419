//! The system as placed and admitted before the run: the part of a report that does not come from the run itself.

use abi::console::{PRINTED, Printed};
use abi::trace::Event;
use record::RunEvent;
use serde::{Deserialize, Serialize};

/// A system as the tool placed and admitted it. Indices are those of the tables in `crates/system`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemDescription {
    /// Name of the system, from its manifest.
    pub system: String,
    /// Name of the board.
    pub board: String,
    /// The timing profile.
    pub profile: Profile,
    /// Ticks of the kernel's clock in one second; not 0.
    pub ticks_per_second: u64,
    /// Clock of the processor in Hz; not 0.
    pub cpu_hz: u64,
    /// Number of the exception of the kernel's timer, as the observer counts it.
    #[serde(default)]
    pub timer_exception: Option<u16>,
    /// Region registers that the kernel was built for, where there are such.
    #[serde(default)]
    pub regions: Option<u32>,
    /// Shortest interval of the kernel's one-shot timer, in ticks: by so much a budget may be overdrawn.
    pub enforcement_ticks: u64,
    /// Bound on the longest window with interrupts masked, in cycles, when one is declared.
    #[serde(default)]
    pub masked_bound_cycles: Option<u64>,
    /// Largest costs of the kernel's paths around a switch (docs/time.md, quantities).
    #[serde(default)]
    pub costs: Costs,
    /// Each domain has an address space of its own, so that others have other things at its addresses.
    #[serde(default)]
    pub own_spaces: bool,
    /// The stacks of threads and gates: in which of them a stack pointer lies says which thread runs.
    #[serde(default)]
    pub stacks: Vec<Stack>,
    /// No domain ends the run: reaching the limit of cycles is its proper end.
    #[serde(default)]
    pub ends_at_limit: bool,
    /// Protection domains, in the order of their indices.
    pub domains: Vec<Domain>,
    /// Threads, in the order of their indices.
    pub threads: Vec<Thread>,
    /// Budgets, in the order of their indices.
    pub budgets: Vec<Budget>,
    /// Gates, in the order of their indices.
    pub gates: Vec<Gate>,
    /// Interrupt lines given to domains.
    pub interrupts: Vec<Interrupt>,
    /// Time of the handlers that interrupts reach without the kernel, of each domain that has any.
    #[serde(default)]
    pub handlers: Vec<Handlers>,
    /// What handlers execute, each with the place of which it is a copy.
    #[serde(default)]
    pub copies: Vec<Copied>,
    /// Registers whose stores are recorded, in the order of the request.
    #[serde(default)]
    pub outputs: Vec<Output>,
    /// Memories of the chip.
    pub memories: Vec<Memory>,
    /// How accesses are checked.
    #[serde(default)]
    pub checks: Checks,
    /// The ways in which the platform keeps such checks, strongest first.
    #[serde(default)]
    pub keeping: Vec<Keeping>,
    /// With page tables, what it takes to change them at run time.
    #[serde(default)]
    pub effort: Option<Effort>,
    /// Index of the domain that grants memory at run time, and says so.
    #[serde(default)]
    pub manager: Option<u8>,
    /// The console that comes with Cofferdam, if it runs.
    #[serde(default)]
    pub console: Option<Console>,
    /// Memory of the kernel: vectors, code, tables, data, stack. No domain may touch it.
    #[serde(default)]
    pub kernel_areas: Vec<Area>,
    /// Size of the kernel's image.
    #[serde(default)]
    pub kernel_image: ImageSizes,
    /// Symbols of the image, sorted by address.
    #[serde(default)]
    pub symbols: Vec<Symbol>,
}

/// Largest costs of the kernel's paths around a switch, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// E: from an exception to where the kernel reads the clock.
    pub entry_cycles: u64,
    /// X: from there to the next thread's first instruction.
    pub exit_cycles: u64,
    /// Y: a timer interrupt after which the same thread goes on.
    pub early_cycles: u64,
}

impl SystemDescription {
    /// What the console tells by an event, if it does.
    pub(crate) fn printed(&self, event: &RunEvent) -> Option<Printed> {
        let own = self.console.as_ref().is_some_and(|console| console.domain == event.domain);
        let told = own && event.event == Event::Mark as u8 && event.detail == PRINTED;
        told.then(|| Printed::of(event.payload))
    }
}

impl Costs {
    /// A: what it takes to wake a thread, to switch to it and away from it, and to resume twice what it preempts.
    pub const fn activation(self) -> u64 {
        2 * (self.entry_cycles + self.exit_cycles + self.early_cycles)
    }
}

/// Owner of a stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// Index of the domain whose memory it is.
    pub domain: u8,
    /// Index of the thread that it belongs to; absent for a gate's.
    #[serde(default)]
    pub thread: Option<u16>,
    /// Its lowest address.
    #[serde(default)]
    pub base: u64,
    /// Its size in bytes.
    #[serde(default)]
    pub bytes: u64,
}

/// The timing profile of a chip: what the modelled cycles rest on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Name of the profile.
    pub name: String,
    /// Subject of the model, in one sentence.
    #[serde(default)]
    pub summary: String,
    /// Its parameters, each with its source.
    pub parameters: Vec<Parameter>,
    /// Effects that the figures do not show.
    pub caveats: Vec<String>,
}

/// One parameter of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Name, dotted, as in the profile's file.
    pub name: String,
    /// Value with its unit, as text.
    pub value: String,
    /// Source of the value.
    pub source: String,
}

/// A protection domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// Its index, as in trace records.
    pub index: u8,
    /// Its name.
    pub name: String,
    /// Index into the page's palette; the page takes it modulo the palette's size.
    pub color: u8,
    /// The manifest says that it attacks the others: its faults and refused calls are expected and do not fail a run.
    #[serde(default)]
    pub hostile: bool,
    /// Policy for its faults.
    pub fault_policy: FaultPolicy,
    /// The memory that it may access.
    pub areas: Vec<Area>,
    /// Size of its image.
    #[serde(default)]
    pub image: ImageSizes,
    /// Promises of the ledger to it.
    #[serde(default)]
    pub account: Account,
}

/// Promises of the ledger to a domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Region registers that are pinned.
    pub pinned: u32,
    /// Region registers that serve paged memory, or would.
    pub paged: u32,
    /// Class of memory in which its table lies: `tcm`, `on-chip`.
    pub table: String,
    /// Bytes of its table.
    pub table_bytes: u32,
    /// Bytes of it that are promised.
    pub table_used: u32,
    /// Promise to it of each way of keeping checks: memory that it is granted at run time has that.
    #[serde(default)]
    pub promises: Vec<Promise>,
    /// Its envelopes.
    pub envelopes: Vec<Envelope>,
}

/// How accesses are checked: the words for it, singular and plural, and who looks up what is not at hand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checks {
    /// A slot that always holds the check of an area: `register pinned`, `locked entry`.
    pub slot: [String; 2],
    /// A part of an area that is checked at once: `region`, `entry of the TLB`.
    pub part: [String; 2],
    /// A domain's own table, and its tables behind that one; the second is empty where there is one table.
    pub tables: [String; 2],
    /// Hardware walks tables; otherwise the kernel looks an area up, which is a miss.
    pub walks: bool,
}

/// A way in which checks of accesses are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keeping {
    /// Its code: `pinned`, or where the tables lie: `tcm`, `on-chip`, `locked-ways`, `off-chip`.
    pub kept: String,
    /// Description on this platform, as a phrase.
    pub text: String,
    /// The same in a word or two, for a narrow column.
    pub short: String,
    /// Its promise; absent when there is none.
    #[serde(default)]
    pub promise: Option<Promise>,
    /// Whether other domains change the time of the check.
    pub independence: Independence,
}

/// A bound on the check of one access, beyond the access itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// The way in which the check is kept: [`Keeping::kept`].
    pub kept: String,
    /// Level at which it ends at the latest.
    pub level: String,
    /// Cycles that it adds at most.
    pub cycles: u32,
    /// How that was found.
    pub method: String,
}

/// Whether other domains change the time of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Independence {
    /// How far it goes.
    pub degree: Degree,
    /// Property that no other domain changes.
    pub kept: String,
    /// Property that other domains change; empty if there is none.
    pub not_kept: String,
}

/// How far independence goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Degree {
    /// No other domain changes the time of the check.
    Full,
    /// Others change it, within the bound.
    InPart,
    /// Others change it, and nothing is promised.
    #[default]
    None,
}

/// At most `base + each * descriptors` cycles, in all steps together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effort {
    /// Mapping: base, each.
    pub map: (u32, u32),
    /// Taking that away again, clearing apart: base, each.
    pub release: (u32, u32),
    /// How these were found.
    pub method: String,
}

/// Memory that a domain has allocated at once at most, and the arena that cannot refuse it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    /// Name of the arena's area.
    pub arena: String,
    /// Temporal specification.
    pub spec: String,
    /// Live bytes.
    pub live: u32,
    /// Largest block in bytes.
    pub largest: u32,
    /// Live blocks.
    pub count: u32,
    /// Bytes of the arena.
    pub bytes: u32,
}

/// Consequence of a domain's fault; its threads are stopped first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultPolicy {
    /// The domain stays stopped.
    #[default]
    Stop,
    /// A supervisor restarts it.
    Restart,
    /// A supervisor reports it; it stays stopped.
    Report,
}

impl FaultPolicy {
    /// Its word in the manifest.
    pub const fn name(self) -> &'static str {
        match self {
            FaultPolicy::Stop => "stop",
            FaultPolicy::Restart => "restart",
            FaultPolicy::Report => "report",
        }
    }
}

/// Memory that somebody may access: half-open range `base .. base + bytes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// Its name, for example `code`, `data`, `heap`.
    pub name: String,
    /// First address.
    pub base: u64,
    /// Size in bytes; not 0.
    pub bytes: u64,
    /// Some of the letters `r`, `w`, `x`, in this order.
    pub access: String,
    /// Name of the [`Memory`] that holds it.
    pub memory: String,
    /// Always in the region registers while the domain runs; otherwise paged.
    #[serde(default)]
    pub pinned: bool,
    /// Temporal specification; empty when none is known.
    #[serde(default)]
    pub spec: String,
    /// Level at which the check of an access ends at the latest.
    #[serde(default)]
    pub level: String,
    /// Cycles that the check adds to one access at most: the check only, not the access.
    #[serde(default)]
    pub bound_cycles: Option<u32>,
    /// How that was found.
    #[serde(default)]
    pub bound_method: String,
    /// Several domains may access it.
    #[serde(default)]
    pub shared: bool,
    /// Regions that it is divided into when paged; 0 when pinned. With page tables: entries of a TLB that hold all of it.
    #[serde(default)]
    pub pages: u32,
    /// How the check of its accesses is kept: [`Keeping::kept`] of one of the platform's ways; empty when it is not known.
    #[serde(default)]
    pub kept: String,
    /// Pages get frames at their first touch, where the domain has made a region.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_demand: bool,
}

impl Area {
    /// First address behind the area.
    pub const fn end(&self) -> u64 {
        self.base + self.bytes
    }

    /// Whether the address lies inside.
    pub const fn contains(&self, address: u64) -> bool {
        address >= self.base && address < self.end()
    }
}

/// Sizes of an image in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageSizes {
    /// Code.
    pub text: u64,
    /// Constants.
    pub rodata: u64,
    /// Initialised data.
    pub data: u64,
    /// Data that starts as zero.
    pub bss: u64,
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thread {
    /// Its index, as in trace records.
    pub index: u16,
    /// Its name.
    pub name: String,
    /// Index of its home domain.
    pub domain: u8,
    /// 0 is the most important.
    pub priority: u8,
    /// Index of the budget that pays for it.
    pub budget: u16,
    /// Ticks between releases; absent when it is not periodic.
    #[serde(default)]
    pub period_ticks: Option<u64>,
    /// Ticks from release to deadline; absent when it has none.
    #[serde(default)]
    pub deadline_ticks: Option<u64>,
    /// Bound on the response time in ticks that admission computed; absent when it computed none.
    #[serde(default)]
    pub response_bound_ticks: Option<u64>,
    /// Ticks that a job takes at most in the thread's own domain, as declared; absent when nothing was.
    #[serde(default)]
    pub wcet_ticks: Option<u64>,
    /// Ticks that it loses at most each time that it goes on after others.
    #[serde(default)]
    pub reload_ticks: u64,
}

/// A budget: a deferrable server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Its index, as in trace records.
    pub index: u16,
    /// Its name.
    pub name: String,
    /// Ticks between replenishments; not 0.
    pub period_ticks: u64,
    /// Ticks that may be used in a period; not 0.
    pub capacity_ticks: u64,
}

/// A gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Its index, as in trace records.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Index of the callee's domain.
    pub domain: u8,
    /// Ceiling priority.
    pub ceiling: u8,
    /// Ticks that one call may take.
    pub bound_ticks: u64,
}

/// The console that comes with Cofferdam: it tells what it has printed ([`abi::console`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Console {
    /// Index of its domain.
    pub domain: u8,
    /// Each capability for its gate: index of the domain that holds it, and its badge.
    pub clients: Vec<(u8, u32)>,
}

/// An interrupt line that is delivered to a domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interrupt {
    /// Number of the line, as in trace records.
    pub line: u16,
    /// Its name.
    pub name: String,
    /// Index of the domain that receives it.
    pub domain: u8,
    /// Ticks from one of its interrupts to the next at least, as declared of a line that is delivered to a handler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separation_ticks: Option<u64>,
}

/// Time of a domain's handlers that interrupts reach without the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handlers {
    /// Index of the domain.
    pub domain: u8,
    /// Ticks from one point at which their capacity is full again to the next.
    pub period_ticks: u64,
    /// Ticks that they use in a period.
    pub capacity_ticks: u64,
    /// Ticks by which they can exceed that before they are ended.
    #[serde(default)]
    pub beyond_ticks: u64,
}

/// A function or constants that handlers execute: a copy of what the domain's program has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copied {
    /// Index of the domain.
    pub domain: u8,
    /// Address of the copy.
    pub at: u64,
    /// Address in the domain's program.
    pub of: u64,
    /// Bytes.
    pub bytes: u64,
}

/// A register whose stores are recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Name in the manifest.
    pub name: String,
    /// Name of the device.
    pub device: String,
    /// Bytes from its first register to this one.
    pub offset: u32,
    /// The bits that are looked at.
    pub bits: u32,
    /// Rate of the serial line that the bit is, if it is one.
    pub baud: Option<u32>,
    /// The text that it is to send.
    pub text: Option<String>,
    /// Values of the bits that are to follow each other.
    pub sequence: Vec<u32>,
}

/// A memory of the chip.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Its name.
    pub name: String,
    /// First address.
    pub base: u64,
    /// Names of other boards' memories in whose place it is given.
    #[serde(default)]
    pub stands_in_for: Vec<String>,
    /// Bytes that the chip has.
    pub capacity: u64,
    /// Bytes that the system uses.
    pub used: u64,
    /// Areas of domains have addresses that are less by this.
    #[serde(default)]
    pub offset: u64,
}

/// A symbol of the image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symbol {
    /// Its address, Thumb bit clear.
    pub address: u64,
    /// Its size in bytes; 0 when unknown: it then reaches to the next symbol.
    pub size: u64,
    /// Its name, demangled.
    pub name: String,
    /// Index of its domain; absent for the kernel.
    #[serde(default)]
    pub domain: Option<u8>,
}
