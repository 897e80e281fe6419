//! The kernel's image for every board with a Cortex-M7. Build it with `COFFERDAM_BOARD` set to the board's file, as the `cofferdam`
//! command does; its constants come from there.
#![no_std]
#![no_main]

mod board;
mod clock;
mod described;
mod startup;

use armv7m::{Armv7m, Context};
use described::Described;
use kernel::entry::{Args, Next};

// The linker script states this offset of the trace port.
const _: () = assert!(kernel::arch_offset::<Armv7m<Described>>() + Armv7m::<Described>::PORT_OFFSET == 16);
const _: () = armv7m::check::<Described>();

kernel::entry_points!(Armv7m<Described>);
kernel::entry_points! { Armv7m<Described>;
    armv7m::simple as kernel_simple(args: &Args, number: u32) -> *mut Context, "Performs a system call after which the caller goes on.";
    armv7m::timer as kernel_timer() -> *mut Context, "Resumes the thread that runs after the timer's interrupt.";
    armv7m::interrupt as kernel_interrupt(exception: u32) -> Next<Armv7m<Described>>, "Resumes the thread that an interrupt line leads to.";
    armv7m::miss as kernel_miss(address: u32) -> u32, "Tries to resolve a miss.";
    armv7m::counted as kernel_counted() -> *mut Context, "Resumes the thread that runs after a miss that was counted.";
    armv7m::late as kernel_late() -> *mut Context, "Resumes the thread that runs after a fault and what it was found by.";
}

/// Resumes the thread that runs after a fault.
#[unsafe(no_mangle)]
extern "C" fn kernel_fault() -> *mut Context {
    armv7m::fault(startup::kernel())
}

/// Resumes the thread that runs after one with a stray stack pointer.
#[unsafe(no_mangle)]
extern "C" fn kernel_wrong_stack() -> *mut Context {
    armv7m::wrong_stack(startup::kernel())
}
