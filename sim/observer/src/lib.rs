//! What is observed of a run, whatever simulates it: modelled time, checked accesses, and the run record that
//! `cofferdam-record` defines.
//!
//! A simulator tells an [`Observer`] of every block of instructions before it executes and of every access, each with the
//! core that it happens on, and answers what a [`Target`] is asked. What is particular to a family of cores is in one module
//! each; what of it an observer needs is the trait [`Family`], and which one it is, is decided once, in [`begin`].

mod accounts;
mod armv7a;
mod armv7m;
mod block;
mod clock;
mod disturb;
mod exceptions;
mod family;
mod faults;
mod finish;
mod histogram;
mod log;
mod meter;
mod observer;
mod probes;
mod rate;
mod target;
mod tick;
mod trace;
mod witness;

pub use block::{InsnInfo, RawInsn, TbInfo};
pub use clock::Clock;
pub use family::{Begins, Family, begin};
pub use observer::{CoreObserver, Observer};
pub use record::{CoreId, EndReason, Watch};
pub use target::{Register, Seen, Target};
