//! Chips as models: the time that a core's actions take, by its caches, buses, memories and pipeline.
//!
//! Pure: no input, no output, no clock of the host; the same calls in the same order give the same cycles. Formulas,
//! bounds and sources are in the crate's README; the parameters of each chip with their sources are in its profile.
//! Everything counted here is *modelled*.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "text"))]
extern crate std;

pub mod application;
pub mod arm;
pub mod art;
mod attr;
mod below;
mod block;
pub mod branch;
mod bus;
pub mod cache;
pub mod core;
mod counters;
pub mod cp15;
mod flat;
mod front;
pub mod insn;
mod level1;
pub mod machine;
pub mod mmu;
pub mod pipeline;
pub mod pl310;
pub mod prefetch;
pub mod profile;
mod regs;
mod side;
pub mod thumb;
pub mod tlb;
pub mod vmsa;

pub use attr::{MemAttr, Outer};
pub use below::Served;
pub use block::{BlockCost, InsnCost};
pub use core::{Charged, Core};
pub use counters::Counters;
pub use flat::Flat;
pub use front::{Code, Front};
pub use machine::{EntryKind, FpFrame, Frame, Machine, Maintenance};
pub use profile::Profile;
