//! The processor-specific part of the kernel for RV32IMC with machine and user mode, as Ibex has it, behind RTMMU, or an MMU that it is compared with. Sources: RISC-V Unprivileged
//! and Privileged Architecture; Ibex's manual (docs/references.md, key IBEX); `rtl/`, for the timer and the MMU.
//!
//! The kernel runs in machine mode, untranslated, with interrupts off; threads run in user mode. One entry of the physical memory protection gives
//! user mode the upper half of the address space and nothing else, and the MMU translates that half for the domain that runs.
#![no_std]

mod atomics;
mod context;
mod csr;
mod entry;
mod handlers;
mod machine;
mod registers;
mod start;
mod timer;

pub use context::{Context, Entry};
pub use entry::check;
pub use handlers::{fault, interrupt, simple};
pub use kernel::rtmmu::{Direct, Mmu, Rtmmu, Sv32, TableMemory};
pub use machine::{Board, Rv32};
pub use registers::Registers;
