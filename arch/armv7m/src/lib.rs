//! The kernel's `Arch` for Armv7-M with PMSAv7. Sources: Armv7-M Architecture Reference Manual (ARM DDI 0403), Cortex-M7
//! Technical Reference Manual (ARM DDI 0489).
//!
//! Everything that runs in the kernel runs in handler mode, at two priorities: faults preempt system calls, the timer and
//! interrupts, which do not preempt each other. Threads run unprivileged on the process stack. The privileged default map
//! is on, so that no region register is spent on the kernel and no domain's region can hide the kernel's own memory from it.
#![no_std]

mod context;
mod entry;
mod handlers;
mod machine;
mod miss;
pub mod regs;

pub use context::Context;
pub use entry::check;
pub use handlers::{counted, fault, interrupt, late, simple, timer, wrong_stack};
pub use machine::{Armv7m, Board, region_registers};
pub use miss::miss;
