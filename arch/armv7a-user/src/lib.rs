//! How a protection domain enters the kernel on Armv7-A: as on every Armv7, but for how C is compiled (`cflags.txt`) and what attackers try.
#![no_std]

#[cfg(feature = "hostile")]
pub mod hostile;

/// Whether memory is protected by page tables; otherwise by region registers.
pub const PAGES: bool = true;
/// Whether domains may have pages that are mapped at their first touch.
pub const DEMAND: bool = false;

pub use arch_user_arm::{Raw, call, call_bare};
