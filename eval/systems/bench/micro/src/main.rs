//! Short pieces of code of which others have published how long they take. The labels `probe_*` are
//! what the observer measures between; `eval/bench/micro.toml` says what stands between them and
//! what has been published.
//!
//! A stretch is straight code, and the same code stands before its first label: both labels are
//! reached in one steady state, so that the time between them is that of the code and nothing else.
//! Two instructions that are meant to issue together are 16 bits wide each: sixteen of them fill a
//! line of flash, which is read in the eight cycles that they take.
#![no_std]
#![no_main]
#![allow(named_asm_labels)] // the labels are the point; each stands in a function of its own that is not inlined

#[cfg(not(target_feature = "mclass"))]
mod a9;
#[cfg(target_feature = "mclass")]
mod m7;
mod stretch;

#[cfg(not(target_feature = "mclass"))]
use a9 as core_under_test;
#[cfg(target_feature = "mclass")]
use m7 as core_under_test;

use cofferdam::Start;

/// Rounds of each stretch; the first 100 warm the caches and are not counted.
pub const ROUNDS: u32 = 1100;

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    core_under_test::measure(start.info)
}
