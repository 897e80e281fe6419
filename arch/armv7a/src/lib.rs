//! The processor-specific part of the kernel for Armv7-A with VMSAv7, as the Cortex-A9 MPCore has it. Sources: Armv7-A Architecture
//! Reference Manual (ARM DDI 0406C), Cortex-A9 Technical Reference Manual (ARM DDI 0388), Cortex-A9 MPCore (ARM DDI 0407), Generic
//! Interrupt Controller (ARM IHI 0048A), PL310 (ARM DDI 0246).
//!
//! Everything that runs in the kernel runs in Supervisor mode of Secure state with every exception masked; threads run in User mode.
//! Domains have the lower 2 GiB, each in an address space of its own; the kernel has the rest, the same in all.
#![no_std]

mod block;
pub mod cache;
mod context;
pub mod cp15;
mod entry;
pub mod fault;
mod gic;
mod handlers;
pub mod lockdown;
mod machine;
pub mod mmu;
pub mod pl310;
mod start;
mod timer;

pub use block::Block;
pub use context::{Context, Entry};
pub use entry::check;
pub use gic::Taken;
pub use handlers::{fault, interrupt, simple};
pub use machine::{Armv7a, Board, Cause};
pub use start::park;
