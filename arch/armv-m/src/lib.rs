//! The kernel's `Arch` for processors with the M-profile: entry, contexts, the timer, the trace port. An architecture is a [`Port`], which brings its
//! region registers. Sources: Armv7-M Architecture Reference Manual (ARM DDI 0403), whose sections are cited; Armv8-M (ARM DDI 0553) has the same registers
//! at the same addresses.
//!
//! Everything that runs in the kernel runs in handler mode. System calls, the timer and interrupts do not preempt each other. Threads run
//! unprivileged on the process stack. The privileged default map is on, so that no region register is spent on the kernel.
#![no_std]

mod context;
pub mod entry;
mod handlers;
mod machine;
pub mod miss;
pub mod regs;
mod threads;

pub use abi::Call;
pub use context::Context;
pub use entry::check;
pub use handlers::{ASKED, counted, fault, interrupt, late, simple, timer, wrong_stack};
pub use kernel::regions::layout;
pub use machine::{Board, Machine, Port, Regs, barrier, exception_number, park, region_registers};
pub use miss::miss;
pub use protect::regions::pctrie::MAX_DEPTH;
