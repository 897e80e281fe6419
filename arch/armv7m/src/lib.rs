//! The kernel's `Arch` for Armv7-M with PMSAv7. Sources: Armv7-M Architecture Reference Manual (ARM DDI 0403), Cortex-M7
//! Technical Reference Manual (ARM DDI 0489).
//!
//! The kernel runs at two priorities: faults preempt system calls, the timer and interrupts. No
//! region of a domain can keep the kernel from its own memory or from writing the domain's.
#![no_std]

mod code;
mod unit;

pub use armv_m::*;
pub use unit::Armv7 as Core;

/// Opens nothing: no handlers are reached without the kernel on this architecture.
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
