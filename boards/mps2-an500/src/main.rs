//! The kernel image for the board mps2-an500.
//!
//! Clocks and devices: Arm Cortex-M Prototyping System MPS2, application note AN500 (ARM DAI 0500): APB timer 0 at
//! 0x4000_0000 with a 25 MHz clock. Memory is used as an STM32F767 has it; see `kernel.ld`.
#![no_std]
#![no_main]

mod startup;

use armv7m::regs::Reg;
use armv7m::{Armv7m, Board, Context};
use kernel::Kernel;

/// The board's devices that the kernel uses itself.
struct Mps2;

// SAFETY: registers of APB timer 0 (CMSDK APB timer, ARM DDI 0479, section 4.2).
const TIMER0_CTRL: Reg = unsafe { Reg::new(0x4000_0000) };
// SAFETY: as above.
const TIMER0_VALUE: Reg = unsafe { Reg::new(0x4000_0004) };
// SAFETY: as above.
const TIMER0_RELOAD: Reg = unsafe { Reg::new(0x4000_0008) };

impl Board for Mps2 {
    const TICKS_PER_SECOND: u32 = 25_000_000;
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

/// Resumes the thread that a system call leads to.
#[unsafe(no_mangle)]
extern "C" fn kernel_call() -> *mut Context {
    armv7m::call(startup::kernel())
}

/// Resumes the thread that an interrupt leads to.
#[unsafe(no_mangle)]
extern "C" fn kernel_interrupt() -> *mut Context {
    armv7m::interrupt(startup::kernel())
}

/// Resumes the thread that runs after a fault.
#[unsafe(no_mangle)]
extern "C" fn kernel_fault() -> *mut Context {
    armv7m::fault(startup::kernel())
}

/// Tries to resolve a memory-protection fault; 0 when it is resolved.
#[unsafe(no_mangle)]
extern "C" fn kernel_miss(psp: u32) -> u32 {
    armv7m::miss(startup::kernel(), psp)
}

/// Resumes the thread that runs after one with a stray stack pointer.
#[unsafe(no_mangle)]
extern "C" fn kernel_wrong_stack() -> *mut Context {
    armv7m::wrong_stack(startup::kernel())
}
