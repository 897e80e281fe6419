//! The kernel image for the board mps2-an500.
//!
//! Clocks and devices: Arm Cortex-M Prototyping System MPS2, application note AN500 (ARM DAI 0500); the clock is APB timer 0. Memory is
//! used as an STM32F767 has it; see `kernel.ld`.
#![no_std]
#![no_main]

mod startup;

/// Constants of `board.toml`.
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use armv7m::regs::Reg;
use armv7m::{Armv7m, Board, Context};
use kernel::Kernel;
use kernel::entry::{Args, Next};

/// The board's devices that the kernel uses itself.
struct Mps2;

// SAFETY: registers of APB timer 0 (CMSDK APB timer, ARM DDI 0479, section 4.2).
const TIMER0_CTRL: Reg = unsafe { Reg::new(board::device::TIMER0.start) };
// SAFETY: as above.
const TIMER0_VALUE: Reg = unsafe { Reg::new(board::CLOCK_REGISTER) };
// SAFETY: as above.
const TIMER0_RELOAD: Reg = unsafe { Reg::new(board::device::TIMER0.start + 8) };

impl Board for Mps2 {
    const TICKS_PER_SECOND: u32 = board::TICKS_PER_SECOND;
    // 10 us: QEMU stretches shorter periods.
    const SHORTEST_TICKS: u32 = 250;
    // QEMU starts SysTick's count 10 us after its value is written. On silicon the timer then comes 10 us early, which costs
    // an entry and changes nothing.
    const RELOAD_TICKS: u32 = 250;

    fn start(&mut self) {
        TIMER0_RELOAD.write(u32::MAX);
        TIMER0_VALUE.write(u32::MAX);
        TIMER0_CTRL.write(1);
    }

    #[inline]
    fn counter(&mut self) -> u32 {
        !TIMER0_VALUE.read()
    }

    fn end(&mut self, status: u32) {
        startup::semihosting_exit(status);
    }
}

/// The state of the only CPU.
type Machine = Kernel<Armv7m<Mps2>>;

// Where the linker script says that the trace port is.
const _: () = assert!(kernel::arch_offset::<Armv7m<Mps2>>() + Armv7m::<Mps2>::PORT_OFFSET == 16);
const _: () = armv7m::check::<Mps2>();

kernel::entry_points!(Armv7m<Mps2>);
kernel::entry_points! { Armv7m<Mps2>;
    armv7m::simple as kernel_simple(args: &Args, number: u32) -> *mut Context, "Performs a system call after which the caller goes on.";
    armv7m::timer as kernel_timer() -> *mut Context, "Resumes the thread that runs after the timer's interrupt.";
    armv7m::interrupt as kernel_interrupt(exception: u32) -> Next<Armv7m<Mps2>>, "Resumes the thread that an interrupt line leads to.";
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
