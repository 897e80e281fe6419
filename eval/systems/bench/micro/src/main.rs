//! Short pieces of code whose times others have published. The observer measures between the labels
//! `probe_*`; `boards/NAME/bench.toml` lists the code between them and the published times.
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

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    core_under_test::measure(start.info)
}
