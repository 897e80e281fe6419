//! A protection domain and its areas.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parts::{AccessMode, Delivery, Gate, Handlers, InterruptLine, SharedUse, Thread, Use};
use super::sources::{CSources, CrateSource, FileUse};
use crate::quantity::{Address, Size};
use crate::spec::Spec;

/// Consequence of a domain's fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FaultPolicy {
    #[default]
    Stop,
    Restart,
    Report,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// A cargo package with one binary: its directory, or `cofferdam:NAME` for a service that comes with Cofferdam. One of `crate`, `c` and `elf` is needed.
    #[serde(rename = "crate")]
    pub package: Option<CrateSource>,
    /// C or C++ sources.
    pub c: Option<CSources>,
    /// A finished ELF file, linked with `--emit-relocs`.
    pub elf: Option<String>,
    /// Consequence of a fault.
    #[serde(default)]
    pub fault: FaultPolicy,
    /// Notification that a fault signals; needed for `restart` and `report`.
    pub fault_notification: Option<String>,
    /// Place of code and constants.
    #[serde(default)]
    pub code: CArea,
    /// Place of `.data` and `.bss`.
    #[serde(default)]
    pub data: DataArea,
    /// Place of stacks.
    #[serde(default)]
    pub stack: StackArea,
    /// Memory for allocations without an envelope, which may be refused.
    pub heap: Option<HeapArea>,
    /// Memory that it allocates at once at most; within it nothing is refused.
    #[serde(default)]
    pub envelope: Vec<Envelope>,
    /// It is the memory manager: the ledger is handed over to it.
    #[serde(default)]
    pub ledger: bool,
    /// The slots that serve paged memory.
    #[serde(default)]
    pub paging: Paging,
    /// Devices of the board. A device has one owner.
    #[serde(default)]
    pub devices: Vec<String>,
    /// Shared memory that it is given.
    #[serde(default)]
    pub shared: Vec<SharedUse>,
    /// Memory of the memory manager that it shares while it runs: who may map each at most, and how.
    #[serde(default)]
    pub shares: IndexMap<String, IndexMap<String, AccessMode>>,
    /// Constant files that it reads.
    #[serde(default)]
    pub files: Vec<FileUse>,
    /// It is expected to attack: the memory of all others is watched while it runs.
    #[serde(default)]
    pub hostile: bool,
    /// Slots of its capability table, at most 256.
    pub handles: Option<u32>,
    /// Its threads.
    #[serde(default)]
    pub thread: Vec<Thread>,
    /// Entries for other domains, `DOMAIN.GATE`.
    #[serde(default)]
    pub gate: IndexMap<String, Gate>,
    /// Interrupt lines of its devices.
    #[serde(default)]
    pub interrupt: IndexMap<String, InterruptLine>,
    /// Stack and time of its handlers, to which interrupts come that are delivered directly.
    pub handlers: Option<Handlers>,
    /// Capabilities, by the names with which the program looks them up.
    #[serde(default)]
    pub uses: IndexMap<String, Use>,
}

impl Domain {
    /// Its lines that reach handlers without the kernel, by name.
    pub fn direct(&self) -> impl Iterator<Item = (&String, &InterruptLine)> {
        self.interrupt.iter().filter(|(_, line)| line.delivery == Delivery::Direct)
    }

    /// Whether handlers use a device: a line of it reaches one, or the manifest says so.
    pub fn is_open(&self, device: &str) -> bool {
        let named = self.handlers.iter().flat_map(|handlers| &handlers.devices);
        self.direct().any(|(_, line)| line.device == device) || named.into_iter().any(|name| name == device)
    }
}

/// Place of code and constants.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CArea {
    /// A memory of the board.
    #[serde(default = "flash")]
    pub memory: String,
    /// How far the check of an access may reach.
    #[serde(default = "Spec::deterministic")]
    pub spec: Spec,
    /// Its address; any when absent.
    pub at: Option<Address>,
}

impl Default for CArea {
    fn default() -> Self {
        CArea { memory: flash(), spec: Spec::deterministic(), at: None }
    }
}

/// Place of `.data` and `.bss`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataArea {
    /// A memory of the board.
    #[serde(default = "sram")]
    pub memory: String,
    /// How far the check of an access may reach.
    #[serde(default = "Spec::deterministic")]
    pub spec: Spec,
    /// Bytes beyond what the program has.
    #[serde(default)]
    pub extra: Size,
    /// Its address; any when absent.
    pub at: Option<Address>,
}

impl Default for DataArea {
    fn default() -> Self {
        DataArea { memory: sram(), spec: Spec::deterministic(), extra: Size(0), at: None }
    }
}

/// Place of stacks. `spec` may only be deterministic: it exists so that the refusal can explain why.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackArea {
    /// A memory of the board; the data's when absent.
    pub memory: Option<String>,
    /// Bytes of each thread without a size of its own.
    #[serde(default = "stack_size")]
    pub size: Size,
    /// Always deterministic, but where there are page tables.
    #[serde(default = "Spec::deterministic")]
    pub spec: Spec,
    /// Its address; any when absent.
    pub at: Option<Address>,
}

impl Default for StackArea {
    fn default() -> Self {
        StackArea { memory: None, size: stack_size(), spec: Spec::deterministic(), at: None }
    }
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeapArea {
    /// A memory of the board.
    pub memory: String,
    /// Its bytes.
    pub size: Size,
    /// Bytes of a page, a power of two from 256 on: a region for each.
    pub page: Option<Size>,
    /// How far the check of an access may reach.
    #[serde(default)]
    pub spec: Spec,
    /// Its address; any when absent.
    pub at: Option<Address>,
    /// Heaps of the same group alternate in frames of `page` bytes.
    pub interleave: Option<String>,
    /// How its regions are chosen.
    pub regions: Option<Geometry>,
}

impl HeapArea {
    /// How its regions are chosen: as written, otherwise one for each page where pages are given and do not alternate.
    pub fn geometry(&self) -> Geometry {
        let pages = self.page.is_some() && self.interleave.is_none();
        self.regions.unwrap_or(if pages { Geometry::Page } else { Geometry::Cover })
    }
}

/// Memory that a domain has allocated at once at most, with one specification.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    /// How far the check of an access may reach.
    pub spec: Spec,
    /// A memory of the board.
    pub memory: String,
    /// Bytes that are allocated at once, at most.
    pub live: Size,
    /// Bytes of one allocation, at most.
    pub largest: Size,
    /// Allocations at once, at most.
    pub count: u32,
    /// Plain `malloc` uses its arena.
    #[serde(default)]
    pub default: bool,
    /// Its pages get frames at their first touch, as with `constant-time` behind RTMMU.
    #[serde(default)]
    pub on_demand: bool,
}

/// How the regions of a paged heap are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Geometry {
    /// One register covers as much as it exactly may.
    Cover,
    /// One region for each page.
    Page,
}

/// How the victim among the paged slots is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    #[default]
    BitPlru,
    RoundRobin,
    Random,
}

/// The slots that serve paged memory.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Paging {
    /// At most so many; all that are not pinned when absent.
    pub slots: Option<u32>,
    /// The slot that a miss takes.
    #[serde(default)]
    pub replacement: Replacement,
}

fn flash() -> String {
    "flash".into()
}

fn sram() -> String {
    "sram".into()
}

fn stack_size() -> Size {
    Size(4096)
}
