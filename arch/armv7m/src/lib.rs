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

/// An Armv7-M processor on a board.
pub type Chip<B> = Machine<B, Core>;
