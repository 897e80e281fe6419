//! The schema of `system.toml`. Field names are the keys; docs/manifest.md explains each.
#![allow(missing_docs)]

use std::fmt;

use indexmap::IndexMap;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::quantity::{Address, Size, Time};
use crate::spec::Spec;

/// A whole manifest. Everything is numbered in the order of the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub system: SystemSection,
    #[serde(default)]
    pub run: Run,
    #[serde(default)]
    pub hardware: Hardware,
    /// The usual console; its domain, budget and notification are made from this.
    pub console: Option<Console>,
    #[serde(default)]
    pub shared: IndexMap<String, Shared>,
    #[serde(default)]
    pub file: IndexMap<String, File>,
    #[serde(default)]
    pub frames: IndexMap<String, Frames>,
    #[serde(default)]
    pub budget: IndexMap<String, Budget>,
    #[serde(default)]
    pub notification: IndexMap<String, Notification>,
    #[serde(default)]
    pub domain: IndexMap<String, Domain>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemSection {
    pub name: String,
    pub board: String,
    pub profile: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    #[serde(default, rename = "await")]
    pub awaited: Vec<String>,
    #[serde(default = "default_limit")]
    pub limit: Time,
}

impl Default for Run {
    fn default() -> Self {
        Run { awaited: Vec::new(), limit: default_limit() }
    }
}

fn default_limit() -> Time {
    Time(60_000_000_000)
}

/// A console that prints for others. All keys have defaults.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Console {
    pub device: String,
    pub period: Time,
    pub capacity: Time,
    pub priority: u32,
    pub ceiling: u32,
    pub bound: Time,
}

impl Default for Console {
    fn default() -> Self {
        Console {
            device: "uart0".into(),
            period: Time(10_000_000),
            capacity: Time(1_000_000),
            priority: 4,
            ceiling: 1,
            bound: Time(80_000),
        }
    }
}

/// How hardware is used that all domains have in common.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hardware {
    /// Ways of the second-level cache that are closed to everything but tables of domains.
    #[serde(default)]
    pub locked_ways: u32,
    /// Place of near tables; on-chip memory first, then locked ways, when absent.
    pub near_tables: Option<NearTables>,
    /// Whether the processor's data prefetcher is on.
    #[serde(default)]
    pub prefetch: bool,
}

/// The one place for near tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NearTables {
    OnChip,
    LockedWays,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    pub size: Size,
    pub memory: String,
    pub at: Option<Address>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub path: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frames {
    pub size: Size,
    pub memory: String,
    /// Marks of the kernel's frame table that can be inside it; as many as its use needs when absent.
    pub marks: Option<u32>,
    /// Of clients of the memory manager that holds it: what each has of it at most, and always.
    #[serde(default)]
    pub quota: IndexMap<String, Size>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    pub period: Time,
    pub capacity: Time,
    /// Misses of paged regions in a period; any number when absent.
    pub misses: Option<u32>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notification {
    #[serde(default)]
    pub initial: u32,
}

/// Consequence of a domain's fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultPolicy {
    #[default]
    Stop,
    Restart,
    Report,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    #[serde(rename = "crate")]
    pub package: Option<CrateSource>,
    pub c: Option<CSources>,
    pub elf: Option<String>,
    #[serde(default)]
    pub fault: FaultPolicy,
    pub fault_notification: Option<String>,
    #[serde(default)]
    pub code: CArea,
    #[serde(default)]
    pub data: DataArea,
    #[serde(default)]
    pub stack: StackArea,
    pub heap: Option<HeapArea>,
    #[serde(default)]
    pub envelope: Vec<Envelope>,
    /// It is the memory manager: the ledger is handed over to it.
    #[serde(default)]
    pub ledger: bool,
    #[serde(default)]
    pub paging: Paging,
    #[serde(default)]
    pub devices: Vec<String>,
    #[serde(default)]
    pub shared: Vec<SharedUse>,
    /// Memory of the memory manager that it shares while it runs: who may map each at most, and how.
    #[serde(default)]
    pub shares: IndexMap<String, IndexMap<String, AccessMode>>,
    #[serde(default)]
    pub files: Vec<FileUse>,
    #[serde(default)]
    pub hostile: bool,
    pub handles: Option<u32>,
    #[serde(default)]
    pub thread: Vec<Thread>,
    #[serde(default)]
    pub gate: IndexMap<String, Gate>,
    #[serde(default)]
    pub interrupt: IndexMap<String, InterruptLine>,
    #[serde(default)]
    pub uses: IndexMap<String, Use>,
}

/// Place of code and constants.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CArea {
    #[serde(default = "flash")]
    pub memory: String,
    #[serde(default = "Spec::deterministic")]
    pub spec: Spec,
    pub at: Option<Address>,
}

impl Default for CArea {
    fn default() -> Self {
        CArea { memory: flash(), spec: Spec::deterministic(), at: None }
    }
}

/// Place of `.data` and `.bss`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataArea {
    #[serde(default = "sram")]
    pub memory: String,
    #[serde(default = "Spec::deterministic")]
    pub spec: Spec,
    #[serde(default)]
    pub extra: Size,
    pub at: Option<Address>,
}

impl Default for DataArea {
    fn default() -> Self {
        DataArea { memory: sram(), spec: Spec::deterministic(), extra: Size(0), at: None }
    }
}

/// Place of stacks. `spec` may only be deterministic: it exists so that the refusal can explain why.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StackArea {
    pub memory: Option<String>,
    #[serde(default = "stack_size")]
    pub size: Size,
    #[serde(default = "Spec::deterministic")]
    pub spec: Spec,
    pub at: Option<Address>,
}

impl Default for StackArea {
    fn default() -> Self {
        StackArea { memory: None, size: stack_size(), spec: Spec::deterministic(), at: None }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeapArea {
    pub memory: String,
    pub size: Size,
    pub page: Option<Size>,
    #[serde(default)]
    pub spec: Spec,
    pub at: Option<Address>,
    /// Heaps of the same group alternate in frames of `page` bytes.
    pub interleave: Option<String>,
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
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    pub spec: Spec,
    pub memory: String,
    pub live: Size,
    pub largest: Size,
    pub count: u32,
    /// Plain `malloc` uses its arena.
    #[serde(default)]
    pub default: bool,
}

/// How the regions of a paged heap are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Geometry {
    /// One register covers as much as it exactly may.
    Cover,
    /// One region for each page.
    Page,
}

/// How the victim among the paged slots is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    #[default]
    BitPlru,
    RoundRobin,
    Random,
}

/// The slots that serve paged memory.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paging {
    /// At most so many; all that are not pinned when absent.
    pub slots: Option<u32>,
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

pub(crate) fn gate_stack() -> Size {
    Size(1024)
}

/// How a domain may use shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum AccessMode {
    #[serde(rename = "r")]
    Read,
    #[serde(rename = "rw")]
    ReadWrite,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedUse {
    pub name: String,
    pub access: AccessMode,
    #[serde(default)]
    pub spec: Spec,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thread {
    #[serde(default = "main_name")]
    pub name: String,
    pub entry: Option<String>,
    pub argument: Option<u32>,
    pub priority: u32,
    /// Number of the core on which it runs.
    #[serde(default)]
    pub core: u32,
    pub budget: String,
    pub period: Option<Time>,
    pub deadline: Option<Time>,
    pub wcet: Option<Time>,
    #[serde(default)]
    pub misses: u32,
    /// How often a job calls which gate, by `DOMAIN.GATE`.
    #[serde(default)]
    pub calls: IndexMap<String, u32>,
    /// How often a job signals or acknowledges an interrupt.
    #[serde(default)]
    pub activations: u32,
    /// Time that it loses at most each time that it goes on after others have run: lines of caches, TLBs, predictors that it has to load again.
    pub reload: Option<Time>,
    pub stack: Option<Size>,
}

impl Default for Thread {
    fn default() -> Self {
        Thread {
            name: main_name(),
            entry: None,
            argument: None,
            priority: 0,
            core: 0,
            budget: String::new(),
            period: None,
            deadline: None,
            wcet: None,
            misses: 0,
            calls: IndexMap::new(),
            activations: 0,
            reload: None,
            stack: None,
        }
    }
}

impl Thread {
    /// The deadline in force: the period's end when none is given.
    pub fn deadline(&self) -> Option<Time> {
        self.deadline.or(self.period)
    }
}

fn main_name() -> String {
    "main".into()
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    pub entry: String,
    pub ceiling: u32,
    pub bound: Time,
    #[serde(default = "gate_stack")]
    pub stack: Size,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterruptLine {
    pub device: String,
    pub line: String,
    pub notification: String,
    #[serde(default)]
    pub bit: u32,
}

/// A capability by name: exactly one of the first six keys.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Use {
    pub gate: Option<String>,
    pub notification: Option<String>,
    pub domain: Option<String>,
    pub thread: Option<String>,
    pub budget: Option<String>,
    pub frames: Option<String>,
    pub rights: Option<String>,
    pub badge: Option<u32>,
}

/// A cargo package: `"directory"` or a table.
#[derive(Clone, Debug)]
pub struct CrateSource {
    pub path: String,
    pub bin: Option<String>,
    pub features: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CSources {
    pub sources: Vec<String>,
    #[serde(default)]
    pub include: Vec<String>,
    #[serde(default)]
    pub flags: Vec<String>,
}

/// A constant file: `"name"` or a table.
#[derive(Clone, Debug)]
pub struct FileUse {
    pub name: String,
    pub spec: Spec,
}

/// A value that may be written as a string or as a table.
macro_rules! string_or_table {
    ($name:ident, $raw:ident, $expecting:literal, |$text:ident| $from:expr, { $($(#[$meta:meta])* $field:ident: $type:ty,)* }) => {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $raw { $($(#[$meta])* $field: $type,)* }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Either;
                impl<'de> Visitor<'de> for Either {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_str<E: de::Error>(self, $text: &str) -> Result<$name, E> {
                        Ok($from)
                    }
                    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<$name, M::Error> {
                        let raw = $raw::deserialize(de::value::MapAccessDeserializer::new(map))?;
                        Ok($name { $($field: raw.$field,)* })
                    }
                }
                deserializer.deserialize_any(Either)
            }
        }
    };
}
string_or_table!(CrateSource, RawCrate, "a directory, or a table with `path`",
    |text| CrateSource { path: text.into(), bin: None, features: Vec::new() },
    { path: String, bin: Option<String>, #[serde(default)] features: Vec<String>, });
string_or_table!(FileUse, RawFile, "the name of a file, or a table with `name`",
    |text| FileUse { name: text.into(), spec: Spec::default() },
    { name: String, #[serde(default)] spec: Spec, });
