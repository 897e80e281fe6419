//! The kernel's `Arch` for Armv8-M with PMSAv8 and the Security Extension. Sources: Armv8-M Architecture Reference Manual (ARM DDI 0553), Cortex-M33
//! Technical Reference Manual (ARM 100230).
//!
//! Kernel and domains are Secure; the domains' threads are unprivileged. All exceptions of the kernel, faults included, have one priority, the lowest, which
//! leaves the others to handlers that an interrupt reaches without the kernel. Stacks have limits, which the hardware checks.
#![no_std]

// The entry code first: that of handlers uses its macros.
mod code;
#[cfg_attr(not(feature = "handlers"), path = "without.rs")]
pub mod direct;
mod registers;
mod unit;

pub use armv_m::*;
pub use unit::Armv8 as Core;

/// Entry points beyond those of the profile.
#[cfg(feature = "handlers")]
#[macro_export]
macro_rules! own_entry_points {
    ($board:ty) => {
        kernel::entry_points! { $crate::Chip<$board>;
            $crate::direct::wake as kernel_wake() -> u32, "Finds the line whose handler asks for its thread.";
        }
    };
}

/// There are no entry points beyond those of the profile.
#[cfg(not(feature = "handlers"))]
#[macro_export]
macro_rules! own_entry_points {
    ($board:ty) => {};
}

/// An Armv8-M processor on a board.
pub type Chip<B> = Machine<B, Core>;
