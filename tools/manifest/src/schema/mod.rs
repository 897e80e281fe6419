//! The schema of `system.toml`. Field names are the keys; docs/manifest.md explains each.
#![allow(missing_docs)]

mod domain;
mod output;
mod parts;
mod sources;

use indexmap::IndexMap;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::quantity::{Address, Size, Time};

pub use domain::{CArea, DataArea, Domain, Envelope, FaultPolicy, Geometry, HeapArea, Paging, Replacement, StackArea};
pub use output::Output;
pub use parts::{AccessMode, Delivery, Gate, Handlers, InterruptLine, Meter, SharedUse, Slips, Thread, Use};
pub(crate) use parts::{gate_stack, main_name};
pub use sources::{CSources, CrateSource, FileUse};

/// A whole manifest. Everything is numbered in the order of the file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Name and board.
    pub system: SystemSection,
    /// The end of a run.
    #[serde(default)]
    pub run: Run,
    /// Use of hardware that all domains have in common; only on boards with page tables.
    #[serde(default)]
    pub hardware: Hardware,
    /// The usual console; its domain, budget and notification are made from this.
    pub console: Option<Console>,
    /// Memory that several domains may be given.
    #[serde(default)]
    pub shared: IndexMap<String, Shared>,
    /// Constant files, placed in flash and mapped read-only.
    #[serde(default)]
    pub file: IndexMap<String, File>,
    /// Ranges of frames that a memory manager hands out.
    #[serde(default)]
    pub frames: IndexMap<String, Frames>,
    /// Deferrable servers: time that threads share.
    #[serde(default)]
    pub budget: IndexMap<String, Budget>,
    /// Words of 32 bits on which threads wait.
    #[serde(default)]
    pub notification: IndexMap<String, Notification>,
    /// Protection domains.
    #[serde(default)]
    pub domain: IndexMap<String, Domain>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SystemSection {
    /// The system's name: letters, digits, `-` and `_`.
    pub name: String,
    /// A board that `cofferdam boards` lists, or the path of a board file.
    pub board: String,
    /// The chip whose time and capacities are modelled; the board's when absent.
    pub profile: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The run ends when these domains have finished.
    #[serde(default, rename = "await")]
    pub awaited: Vec<String>,
    /// Modelled time after which the run is over anyway.
    #[serde(default = "default_limit")]
    pub limit: Time,
    /// Whether time advances after every instruction: slow, and exact for latencies.
    #[serde(default)]
    pub exact: bool,
    /// Registers of devices whose stores are part of the run's record, by names of one's own.
    #[serde(default)]
    pub output: IndexMap<String, Output>,
}

impl Default for Run {
    fn default() -> Self {
        Run { awaited: Vec::new(), limit: default_limit(), exact: false, output: IndexMap::new() }
    }
}

fn default_limit() -> Time {
    Time(60_000_000_000)
}

/// A console that prints for others. All keys have defaults.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Console {
    /// The UART.
    pub device: String,
    /// Period of its budget.
    pub period: Time,
    /// Capacity of its budget.
    pub capacity: Time,
    /// Priority of its thread, 0 highest.
    pub priority: u32,
    /// Ceiling of its gate `write`.
    pub ceiling: u32,
    /// Longest time of one call of its gate; by default 80 us, or what a slow board says.
    pub bound: Option<Time>,
}

impl Default for Console {
    fn default() -> Self {
        Console {
            device: "uart0".into(),
            period: Time(10_000_000),
            capacity: Time(1_000_000),
            priority: 4,
            ceiling: 1,
            bound: None,
        }
    }
}

/// How hardware is used that all domains have in common.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NearTables {
    OnChip,
    LockedWays,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// Its bytes.
    pub size: Size,
    /// A memory of the board.
    pub memory: String,
    /// Its address; any when absent.
    pub at: Option<Address>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Relative to the manifest; `data:` is the directory of fetched data.
    pub path: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frames {
    /// Its bytes.
    pub size: Size,
    /// A memory of the board.
    pub memory: String,
    /// Marks of the kernel's frame table that can be inside it; as many as its use needs when absent.
    pub marks: Option<u32>,
    /// Of clients of the memory manager that holds it: what each has of it at most, and always.
    #[serde(default)]
    pub quota: IndexMap<String, Size>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Time between replenishments.
    pub period: Time,
    /// Time in each period, at most the period.
    pub capacity: Time,
    /// Misses of paged regions in a period; any number when absent.
    pub misses: Option<u32>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Notification {
    /// Bits that are set at the start.
    #[serde(default)]
    pub initial: u32,
}

/// The manifest's schema for editors, JSON Schema 2020-12. Keys and types only: what the semantic checks know is not in it.
pub fn json_schema() -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Manifest>().to_value();
    without_numbers(&mut schema);
    schema["title"] = "Cofferdam system.toml".into();
    schema
}

/// Takes away defaults but words and switches: those of sizes and times are written with a unit.
fn without_numbers(value: &mut Value) {
    match value {
        Value::Object(keys) => {
            keys.retain(|key, value| key != "default" || value.is_string() || value.is_boolean());
            for (key, value) in keys {
                match value {
                    // Here `default` would be a key of the manifest.
                    Value::Object(all) if key == "properties" => all.values_mut().for_each(without_numbers),
                    _ => without_numbers(value),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(without_numbers),
        _ => {}
    }
}
