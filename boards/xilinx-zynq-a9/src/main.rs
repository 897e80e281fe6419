//! The kernel image for the board xilinx-zynq-a9.
#![no_std]
#![no_main]

mod startup;

use armv7a::fault::Vector;
use armv7a::{Armv7a, Next};
use kernel::Kernel;
use zynq::Zynq;

/// The state of the only CPU.
type Machine = Kernel<Armv7a<Zynq>>;

/// Arguments of a system call in the registers of the thread that performs it.
type Args = [u32; 4];

// Where the linker script says that the trace port is.
const _: () = assert!(kernel::arch_offset::<Armv7a<Zynq>>() + Armv7a::<Zynq>::PORT_OFFSET == 16);
const _: () = armv7a::check::<Zynq>();

macro_rules! handlers {
    ($($name:ident = $does:ident($($argument:ident: $type:ty),*) -> $result:ty, $about:literal;)*) => {$(
        #[doc = $about]
        #[unsafe(no_mangle)]
        extern "C" fn $name(kernel: &mut Machine $(, $argument: $type)*) -> $result {
            armv7a::$does(kernel $(, $argument)*)
        }
    )*};
}

handlers! {
    kernel_gate_call = gate_call(args: &Args) -> Next, "Into a gate, when nothing is in the way.";
    kernel_gate_return = gate_return(args: &Args) -> Next, "Out of a gate, when nothing is in the way.";
    kernel_yield = yield_now() -> Next, "A system call with an entry of its own.";
    kernel_signal = signal(args: &Args) -> Next, "A system call with an entry of its own.";
    kernel_wait = wait(args: &Args) -> Next, "A system call with an entry of its own.";
    kernel_sleep = sleep(args: &Args) -> Next, "A system call with an entry of its own.";
    kernel_period = period() -> Next, "A system call with an entry of its own.";
    kernel_exit = exit(args: &Args) -> Next, "A system call with an entry of its own.";
    kernel_simple = simple(args: &Args, number: u32) -> (), "Performs a system call after which the caller goes on.";
    kernel_call = call() -> Next, "Any other system call.";
    kernel_interrupt = interrupt() -> Next, "The timer's interrupt, or a line's.";
    kernel_fault = fault(vector: Vector) -> Next, "Stops the domain of a thread that went wrong.";
}
