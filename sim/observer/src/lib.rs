//! The observation of a run, by whichever simulator: modelled time, checked accesses, and the run record that
//! `cofferdam-record` defines.
//!
//! A simulator tells an [`Observer`] of every block of instructions before it executes and of every access, each with the
//! core that it happens on, and answers the questions of a [`Target`]. Each family of cores has one module. An observer uses it through
//! the trait [`Family`], and [`begin`] chooses it by the model that the profile names.

mod accounts;
mod armv7a;
mod armv7m;
mod armv8m;
mod begin;
mod block;
mod clock;
mod clock_reads;
mod disturb;
mod exceptions;
mod finish;
mod histogram;
mod log;
mod meter;
mod microcontroller;
mod observer;
mod per_core;
mod probes;
mod saved;
mod shared;
mod soft_core;
mod target;
mod witness;

pub use begin::begin;
pub use block::{Block, BlockInsn, RawInsn};
pub use clock::Clock;
pub use observer::{Begins, Observer};
pub use per_core::{BlockOf, CoreObserver, Family, InsnOf};
pub use record::{CoreId, CounterWatch, DEBUG_BYTES, EndReason, Watch};
pub use soft_core::{Access, At, Happened, SoftCore, read_watch};
pub use target::{Register, Seen, Target};
