//! Histories of allocations, releases and accesses, as heaps are compared by them (docs/references.md, key RTMMU, section V). A program on the board replays
//! one and measures its operations; on the host the same history says which pages would be mapped (`footprint`).
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod action;
mod arena;
#[cfg(feature = "host")]
pub mod footprint;
pub mod recorded;
pub mod synthetic;

pub use action::{Action, Envelope};
pub use arena::{layout, widest};
pub use recorded::Recorded;
pub use synthetic::Synthetic;
