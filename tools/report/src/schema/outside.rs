//! Handlers that interrupts reach without the kernel, and registers whose stores are recorded.

use serde::{Deserialize, Serialize};

use super::meter::Cases;
use crate::describe::Output;
use crate::stats::{Histogram, Quantiles};

/// Cycles from when an interrupt was pending to the first instruction of its handler, the hardware's entry included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// How many.
    pub count: u64,
    /// Their order statistics.
    pub cycles: Quantiles,
    /// Their mean, in thousandths of a cycle.
    pub mean_millicycles: u64,
    /// Their distribution.
    pub histogram: Histogram,
    /// Most instructions that were executed while one was pending: those of handlers and of exceptions above them.
    pub max_instructions: u64,
    /// How many were entered without an instruction in between.
    pub at_once: u64,
    /// Order statistics of the cycles of these.
    pub at_once_cycles: Quantiles,
    /// The same by what handlers had interrupted.
    pub over: Vec<LatencyOver>,
}

/// Latencies of handlers that had interrupted the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyOver {
    /// Index of the domain; absent: nobody's, the kernel started or idled.
    pub domain: Option<u8>,
    /// The kernel ran on its behalf, and not its own code.
    pub kernel: bool,
    /// How many.
    pub count: u64,
    /// Order statistics of their cycles.
    pub cycles: Quantiles,
    /// Their mean, in thousandths of a cycle.
    pub mean_millicycles: u64,
}

/// A register whose stores were recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputReport {
    /// The register, and the expectation of the manifest.
    #[serde(flatten)]
    pub output: Output,
    /// Stores.
    pub stores: u64,
    /// Stores that changed the bits.
    pub changes: u64,
    /// Fewest cycles from one change to the next.
    pub shortest_cycles: Option<u64>,
    /// Most.
    pub longest_cycles: Option<u64>,
    /// Of a serial line, the text that was sent; bytes that are no text are replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// Frames without a start bit or a stop bit where it has to be, or cut off by the end of the run.
    pub broken_frames: Cases,
    /// Changes to another value than the sequence has next.
    pub out_of_sequence: Cases,
}
