//! The isolation kernel: a state machine over one [`arch::Arch`].
//!
//! * Mechanism only: objects reached through capabilities ([`objects`]); no policy about memory, restart or admission.
//! * Non-preemptible: each entry point (`on_call`, `on_interrupt`, `on_timer`, `on_miss`, `on_fault`) runs to its end with interrupts
//!   held off, so each states its bound; what would be long is cut into steps that the caller asks for.
//! * Decode fallibly, then perform infallibly: a call that is refused has changed nothing.
//! * No global state: everything that the kernel knows is in one [`Kernel`]; each core has one of its own, and shares nothing with the others.
//! * No compare-and-swap, no floating point.
#![cfg_attr(not(any(test, feature = "simulation")), no_std)]

mod alarm;
pub mod arch;
pub mod boot;
mod caps;
mod charge;
mod compared;
mod copy;
mod demand;
mod edit;
pub mod entry;
pub mod fault;
pub mod frames;
mod gate;
mod kernel;
mod notify;
pub mod objects;
mod outcome;
pub mod pages;
mod physical;
pub mod queue;
mod ranges;
pub mod ranks;
pub mod regions;
mod restart;
pub mod rtmmu;
mod schedule;
mod slice;
mod table;
mod timer;
mod turns;
pub mod virtual_processor;

pub use kernel::{Kernel, NOBODY, arch_offset, domain_offset};

#[cfg(any(test, feature = "simulation"))]
#[cfg_attr(not(test), allow(missing_docs, dead_code, unused_imports))]
pub mod tests;
