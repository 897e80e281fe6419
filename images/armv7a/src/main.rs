//! The kernel's image for every board with a Cortex-A9. Build it with `COFFERDAM_BOARD` set to the board's file, as the `cofferdam` command
//! does.
#![no_std]
#![no_main]

mod startup;

use armv7a::Armv7a;
use armv7a::fault::Vector;
use image::Described;
use kernel::Kernel;
use kernel::entry::{Args, Next};

/// The state of the only CPU.
type Machine = Kernel<Armv7a<Described>>;

// The linker script states this offset of the trace port.
const _: () = assert!(kernel::arch_offset::<Armv7a<Described>>() + Armv7a::<Described>::PORT_OFFSET == 16);
const _: () = armv7a::check::<Described>();

kernel::entry_points!(Armv7a<Described>);
kernel::entry_points! { Armv7a<Described>;
    armv7a::simple as kernel_simple(args: &Args, number: u32) -> (), "Performs a system call after which the caller goes on.";
    armv7a::interrupt as kernel_interrupt() -> Next<Armv7a<Described>>, "The timer's interrupt, or a line's.";
    armv7a::fault as kernel_fault(vector: Vector) -> Next<Armv7a<Described>>, "Stops the domain of a thread that went wrong.";
}
