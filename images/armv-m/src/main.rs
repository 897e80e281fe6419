//! The kernel's image for every board with a Cortex-M7 or a Cortex-M33. Build it with `COFFERDAM_BOARD` set to the board's file, as the `cofferdam`
//! command does; its constants come from there.
#![no_std]
#![no_main]

mod board;
mod clock;
mod described;
mod startup;

use described::Described;
use kernel::entry::{Args, Next};
use port::{Chip, Context};

// The linker script states this offset of the trace port.
const _: () = assert!(kernel::arch_offset::<Chip<Described>>() + Chip::<Described>::PORT_OFFSET == 16);
const _: () = port::check::<Described, port::Core>();

kernel::entry_points!(Chip<Described>);
kernel::entry_points! { Chip<Described>;
    port::simple as kernel_simple(args: &Args, number: u32) -> *mut Context, "Performs a system call after which the caller goes on.";
    port::timer as kernel_timer() -> *mut Context, "Resumes the thread that runs after the timer's interrupt.";
    port::interrupt as kernel_interrupt(exception: u32) -> Next<Chip<Described>>, "Resumes the thread that an interrupt line leads to.";
    port::miss as kernel_miss(address: u32) -> u32, "Tries to resolve a miss.";
    port::counted as kernel_counted() -> *mut Context, "Resumes the thread that runs after a miss that was counted.";
    port::late as kernel_late() -> *mut Context, "Resumes the thread that runs after a fault and what it was found by.";
}

port::own_entry_points!(Described);

/// Resumes the thread that runs after a fault.
#[unsafe(no_mangle)]
extern "C" fn kernel_fault() -> *mut Context {
    port::fault(startup::kernel())
}

/// Resumes the thread that runs after one with a stray stack pointer.
#[unsafe(no_mangle)]
extern "C" fn kernel_wrong_stack() -> *mut Context {
    port::wrong_stack(startup::kernel())
}
