//! The parts of a domain that run or are used: threads, gates, interrupts, capabilities.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{Size, Time};
use crate::spec::Spec;

/// How a domain may use shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum AccessMode {
    #[serde(rename = "r")]
    Read,
    #[serde(rename = "rw")]
    ReadWrite,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedUse {
    /// A `shared` memory.
    pub name: String,
    /// Reads, or reads and writes.
    pub access: AccessMode,
    /// How far the check of an access may reach.
    #[serde(default)]
    pub spec: Spec,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Thread {
    /// Its name within the domain.
    #[serde(default = "main_name")]
    pub name: String,
    /// Symbol of its function; the program's entry when absent.
    pub entry: Option<String>,
    /// First argument of its function.
    pub argument: Option<u32>,
    /// 0 is highest, 31 lowest.
    pub priority: u32,
    /// Number of the core on which it runs.
    #[serde(default)]
    pub core: u32,
    /// The budget that pays for it.
    pub budget: String,
    /// A job begins in each.
    pub period: Option<Time>,
    /// Time from a job's release to its end; the period when absent.
    pub deadline: Option<Time>,
    /// Time of one job at most, without gates.
    pub wcet: Option<Time>,
    /// Misses of paged regions in a job, at most.
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
    /// Bytes of its stack.
    pub stack: Option<Size>,
}

impl Thread {
    /// The deadline in force: the period's end when none is given.
    pub fn deadline(&self) -> Option<Time> {
        self.deadline.or(self.period)
    }
}

/// Bytes of a gate's stack that does not say.
pub(crate) const fn gate_stack() -> Size {
    Size(1024)
}

/// Bytes of the stack of handlers that does not say.
const fn handlers_stack() -> Size {
    Size(512)
}

/// Name of a thread that does not say.
pub(crate) fn main_name() -> String {
    "main".into()
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Symbol of its function.
    pub entry: String,
    /// Priority of the highest caller.
    pub ceiling: u32,
    /// Longest time of one call.
    pub bound: Time,
    /// Bytes of its stack.
    #[serde(default = "gate_stack")]
    pub stack: Size,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterruptLine {
    /// A device of the domain.
    pub device: String,
    /// A line of the device.
    pub line: String,
    /// The notification that it signals.
    pub notification: String,
    /// The bit of the notification.
    #[serde(default)]
    pub bit: u32,
    /// How it reaches the domain.
    #[serde(default)]
    pub delivery: Delivery,
    /// Symbol of the function that a direct interrupt reaches.
    pub handler: Option<String>,
    /// Priority among handlers: 0 is the most important, 2 the least.
    pub priority: Option<u32>,
    /// Least time from one interrupt of the line to the next; needed for a direct one.
    pub separation: Option<Time>,
}

/// How an interrupt reaches its domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// The kernel takes it and signals the notification.
    #[default]
    Kernel,
    /// The processor calls the handler; no instruction of the kernel comes between. The handler decides when the notification is signalled.
    Direct,
}

/// Stack and time of all handlers of a domain together.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Handlers {
    /// Bytes of their stack, a multiple of 8.
    #[serde(default = "handlers_stack")]
    pub stack: Size,
    /// Devices of the domain that handlers use, beside those of direct lines.
    #[serde(default)]
    pub devices: Vec<String>,
    /// From one point at which their capacity is full again to the next.
    pub period: Time,
    /// Time that they use in a period at most; with it used up, they are cut off until the next.
    pub capacity: Time,
    /// Whether they are reached when the system starts. Of several domains with handlers one at a time is; `occupy` changes which, and the kernel takes the
    /// others' interrupts.
    #[serde(default)]
    pub occupies: bool,
    /// Instrument that says what they use: the counter if absent and the board has one.
    pub meter: Option<Meter>,
    /// If the domain is hostile: whether bounds count the faults that its handlers can have others' threads take without being blamed.
    #[serde(default)]
    pub slips: Slips,
}

/// What `check` makes of slips: faults that handlers have interrupted threads take, and that nothing tells from a thread's own (docs/interrupts.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Slips {
    /// Every deadline, budget and gate has time for as many as the handlers' own time lets them make.
    #[default]
    Counted,
    /// No bound counts them. Looks find such handlers by chance only, so the deadlines of other domains hold but for them.
    Accepted,
}

/// Instrument that says what handlers use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Meter {
    /// The processor counts their cycles.
    Counter,
    /// A timer looks at random times whether they run.
    Sampler,
}

/// A capability by name: exactly one of the first seven keys.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Use {
    /// A gate, `DOMAIN.GATE`.
    pub gate: Option<String>,
    /// A notification.
    pub notification: Option<String>,
    /// A domain.
    pub domain: Option<String>,
    /// A thread, `DOMAIN.THREAD`.
    pub thread: Option<String>,
    /// A budget.
    pub budget: Option<String>,
    /// The time of the handlers of a domain.
    pub handlers: Option<String>,
    /// A range of frames, or `kernel`.
    pub frames: Option<String>,
    /// Rights; all when absent.
    pub rights: Option<String>,
    /// A number that tells the gate's owner who calls.
    pub badge: Option<u32>,
}
