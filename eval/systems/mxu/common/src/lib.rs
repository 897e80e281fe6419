//! The code that the workloads of the figures share.
//!
//! * [`memory`]: an allocator over all the pieces of memory that the manifest gives a workload.
//! * [`interfere`]: the adversary, a thread that takes the region registers of its domain away again and again.
//! * [`results`]: what a workload tells the harness.
#![no_std]

pub mod interfere;
pub mod memory;
pub mod results;
