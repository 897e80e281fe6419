//! The kernel image for the board xilinx-zynq-a9.
#![no_std]
#![no_main]

mod startup;

use armv7a::Armv7a;
use armv7a::fault::Vector;
use kernel::Kernel;
use kernel::entry::{Args, Next};
use zynq::Zynq;

/// The state of the only CPU.
type Machine = Kernel<Armv7a<Zynq>>;

// Where the linker script says that the trace port is.
const _: () = assert!(kernel::arch_offset::<Armv7a<Zynq>>() + Armv7a::<Zynq>::PORT_OFFSET == 16);
const _: () = armv7a::check::<Zynq>();

kernel::entry_points!(Armv7a<Zynq>);
kernel::entry_points! { Armv7a<Zynq>;
    armv7a::simple as kernel_simple(args: &Args, number: u32) -> (), "Performs a system call after which the caller goes on.";
    armv7a::interrupt as kernel_interrupt() -> Next<Armv7a<Zynq>>, "The timer's interrupt, or a line's.";
    armv7a::fault as kernel_fault(vector: Vector) -> Next<Armv7a<Zynq>>, "Stops the domain of a thread that went wrong.";
}
