//! The kernel's `Arch` for Armv8-M with PMSAv8 and the Security Extension. Sources: Armv8-M Architecture Reference Manual (ARM DDI 0553), Cortex-M33
//! Technical Reference Manual (ARM 100230).
//!
//! Kernel and domains are Secure; the domains' threads are unprivileged. All exceptions of the kernel, faults included, have one priority, the lowest, which
//! leaves the others to handlers that an interrupt reaches without the kernel. Stacks have limits, which the hardware checks.
#![no_std]

mod code;
pub mod direct;
mod registers;
mod unit;

pub use armv_m::*;
pub use unit::Armv8 as Core;

/// Opens what handlers use that interrupts reach without the kernel, as the tables and the board's file say.
#[macro_export]
macro_rules! open {
    ($tables:expr, $board:ident) => {
        $crate::direct::open(
            $tables,
            &$crate::direct::Facts {
                gates: &$board::GATES,
                open: &$board::OPEN,
                callable: $board::CALLABLE,
                sampler: ($board::SAMPLER, $board::SAMPLER_LINE),
                counter: $board::COUNTER,
                met_cycles: $board::MET_CYCLES,
            },
        )
    };
}

/// Entry points beyond those of the profile.
#[macro_export]
macro_rules! own_entry_points {
    ($board:ty) => {
        kernel::entry_points! { $crate::Chip<$board>;
            $crate::direct::wake as kernel_wake() -> u32, "Finds the line whose handler asks for its thread.";
        }
    };
}

/// An Armv8-M processor on a board.
pub type Chip<B> = Machine<B, Core>;
