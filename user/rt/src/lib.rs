//! Run-time of a protection domain written in Rust.
//!
//! A domain is a `no_std`, `no_main` binary whose first thread starts at the function given to
//! [`entry!`]. It finds its capabilities and areas by name in its start-up information block
//! ([`Info`]). Handlers that interrupts reach without the kernel are in [`handlers`]. The kernel's calls are in [`sys`], and behind the typed handles ([`Gate`],
//! [`Notification`], [`Interrupt`], [`Budget`], [`Domain`]). A domain starts with zeroed `.bss` and
//! fresh `.data` every time, also after a restart.
#![no_std]

#[cfg(feature = "hooks")]
mod allocator;
mod console;
pub mod demand;
mod entry;
pub mod handlers;
mod objects;
mod panic;
mod shared;
pub mod sys;

/// How often the domain has been restarted; `u32::MAX` before a thread has started.
#[cfg(feature = "memory")]
pub(crate) static RESTARTS: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(u32::MAX);

pub use abi;
pub use abi::Error;
#[cfg(feature = "heap")]
pub use allocator::Heap;
pub use arch_user::PAGES;
#[cfg(feature = "hostile")]
pub use arch_user::hostile;
pub use console::{Console, Line, end, write_all};
pub use entry::{Start, begin, begin_thread, gate_result};
/// Memory with a temporal specification.
#[cfg(feature = "memory")]
pub use grants as memory;
#[cfg(feature = "hooks")]
pub use heap;
pub use info::{Area, Cap, Envelope, Info, info};
pub use objects::{Budget, Domain, Fault, Gate, Interrupt, Notification, Ticks, now};
pub use shared::{Shared, shared};
