//! The kernel's `Arch` for Armv7-M with PMSAv7. Sources: Armv7-M Architecture Reference Manual (ARM DDI 0403), Cortex-M7
//! Technical Reference Manual (ARM DDI 0489).
//!
//! The kernel runs at two priorities: faults preempt system calls, the timer and interrupts. No domain's region can hide the kernel's own memory from
//! it, or keep it from writing the domain's.
#![no_std]

mod code;
mod unit;

pub use armv_m::*;
pub use unit::Armv7 as Core;

/// Opens what handlers use that interrupts reach without the kernel: there are none.
#[macro_export]
macro_rules! open {
    ($tables:expr, $board:ident) => {
        Ok::<(), ::kernel::boot::BootError>(())
    };
}

/// Entry points beyond those of the profile: none.
#[macro_export]
macro_rules! own_entry_points {
    ($board:ty) => {};
}

/// An Armv7-M processor on a board.
pub type Chip<B> = Machine<B, Core>;
