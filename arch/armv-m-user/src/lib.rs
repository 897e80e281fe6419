//! How a protection domain enters the kernel on an M-profile processor: as on every Arm, but for how C is compiled (`armv7m.txt`, `armv8m.txt`) and what attackers try.
#![no_std]

#[cfg(feature = "hostile")]
pub mod hostile;

/// True if memory is protected by page tables; otherwise by region registers.
pub const PAGES: bool = false;
/// Domains have no pages that are mapped at their first touch here, so no gate call has to be repeated for one.
pub const DEMAND: bool = false;

pub use arch_user_arm::{Raw, call, call_bare};
