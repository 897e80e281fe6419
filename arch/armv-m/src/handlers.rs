//! The entry code's Rust functions beside [`kernel::entry_points`]: interrupts and faults.

use core::ffi::c_void;

use abi::trace::Fault;
use kernel::Kernel;
use kernel::entry::{Args, Next};
use kernel::virtual_processor::VirtualProcessor;
use units::VirtAddr;

use crate::context::Context;
use crate::machine::{Board, Machine, Port};
use crate::regs;

/// Performs a call after which the caller goes on.
#[inline]
pub fn simple<B: Board, P: Port>(kernel: &mut Kernel<Machine<B, P>>, args: &Args, number: u32) -> *mut Context {
    kernel.on_simple(number, args);
    kernel.resume()
}

/// The timer.
#[inline]
pub fn timer<B: Board, P: Port>(kernel: &mut Kernel<Machine<B, P>>) -> *mut Context {
    kernel.on_timer();
    kernel.resume()
}

/// Bit beside the number of an exception: a direct handler of the line asks for its thread. The
/// line itself has not interrupted the kernel, so it must not be masked.
pub const ASKED: u32 = 1 << 9;

/// Serves an interrupt line; `exception` is the number of the active exception, perhaps with
/// [`ASKED`].
#[inline]
pub fn interrupt<B: Board, P: Port>(kernel: &mut Kernel<Machine<B, P>>, exception: u32) -> Next<Machine<B, P>> {
    if P::Virtual::PRESENT {
        return kernel.on_interrupt((exception & !ASKED) - 16, exception & ASKED == 0);
    }
    kernel.on_interrupt(exception - 16, true)
}

/// Serves a store of the interrupted thread that has failed late: stops its domain, then serves the
/// exception that had interrupted it. In this order the thread is blamed before another one runs.
#[cold]
pub fn late<B: Board, P: Port>(kernel: &mut Kernel<Machine<B, P>>) -> *mut Context {
    fault(kernel);
    serve(kernel);
    kernel.resume()
}

/// Serves the timer or interrupt by which a faulting thread had been interrupted. Its exception is
/// active already, and would not come again.
#[cold]
#[inline(never)]
fn serve<B: Board, P: Port>(kernel: &mut Kernel<Machine<B, P>>) {
    let own: *mut Kernel<Machine<B, P>> = kernel;
    match crate::machine::exception_number() {
        14 => regs::ICSR.write(regs::PENDSVSET),
        15 => {
            // SAFETY: the entry point of the image's one kernel, which is this one.
            unsafe { kernel_timer(own.cast()) };
        }
        number if number >= 16 => {
            // SAFETY: as above.
            let leads_elsewhere = !unsafe { kernel_interrupt(own.cast(), number) }.is_null();
            if leads_elsewhere {
                kernel.load_top();
            }
        }
        _ => {}
    }
}

// The entry points are called, because copies of these two would be as long again as all other
// handlers.
unsafe extern "C" {
    fn kernel_timer(kernel: *mut c_void) -> *mut Context;
    fn kernel_interrupt(kernel: *mut c_void, exception: u32) -> *mut Context;
}

/// Serves a miss that is counted against a budget of misses.
pub fn counted<B: Board, P: Port>(kernel: &mut Kernel<Machine<B, P>>) -> *mut Context {
    kernel.on_counted();
    kernel.resume()
}

/// Serves a fault that is not a miss: names it and stops the domain.
pub fn fault<B: Board, P: Port>(kernel: &mut Kernel<Machine<B, P>>) -> *mut Context {
    crate::machine::barrier();
    let status = regs::CFSR.read();
    let (pc, psp) = kernel.current_context().map_or((0, 0), |context| (context.pc(), context.psp));
    // Such a fault has no frame, or none of this state, so no program counter is known.
    let own = P::own_fault();
    let pc = if own.is_some() { 0 } else { pc };
    let (kind, address) = own.unwrap_or_else(|| classify(status, pc, psp));
    settle::<P>(status);
    let pc = if kind == Fault::Stack { 0 } else { pc };
    kernel.on_fault(kind, VirtAddr(address), VirtAddr(pc));
    kernel.resume()
}

/// Serves a thread that entered the kernel without a frame, by any exception: its stack pointer is
/// outside of its stack, or it is in the other security state. It cannot go on without a frame, so
/// its domain is stopped; then the exception is served.
pub fn wrong_stack<B: Board, P: Port>(kernel: &mut Kernel<Machine<B, P>>) -> *mut Context {
    let psp = kernel.current_context().map_or(0, |context| context.psp);
    crate::machine::barrier();
    let (kind, address) = P::own_fault().unwrap_or((Fault::Stack, psp));
    settle::<P>(regs::CFSR.read());
    kernel.on_fault(kind, VirtAddr(address), VirtAddr(0));
    serve(kernel);
    kernel.resume()
}

/// Clears everything that the faulting thread leaves in the processor, so that the next thread is
/// not blamed for it:
/// * fault status;
/// * floating-point state that would still be written for the faulting thread;
/// * a system call that the thread was about to make. Its frame was never written, and the next
///   thread would be taken for the caller;
/// * every other fault of the same thread that waits to be taken. One whose frame could not be
///   written stays pending behind the fault that comes of that (DDI 0403 B1.5.11).
fn settle<P: Port>(status: u32) {
    const LSPACT: u32 = 1;
    const SVCALLPENDED: u32 = 1 << 15;
    const BUSFAULTPENDED: u32 = 1 << 14;
    const MEMFAULTPENDED: u32 = 1 << 13;
    const USGFAULTPENDED: u32 = 1 << 12;
    const PENDED: u32 = SVCALLPENDED | BUSFAULTPENDED | MEMFAULTPENDED | USGFAULTPENDED;
    regs::CFSR.write(status);
    regs::HFSR.write(u32::MAX);
    regs::DFSR.write(u32::MAX);
    regs::FPCCR.write(regs::FPCCR.read() & !LSPACT);
    regs::SHCSR.write(regs::SHCSR.read() & !(PENDED | P::OWN_PENDED));
}

/// Names a fault from CFSR (DDI 0403 B3.2.15; DDI 0553 D1.2 adds bit 20, a stack pointer below its limit).
fn classify(status: u32, pc: u32, psp: u32) -> (Fault, u32) {
    const STACKING: u32 = 0x38 | 0x3800 | 1 << 20;
    if status & STACKING != 0 {
        (Fault::Stack, psp)
    } else if status & 0x80 != 0 {
        (Fault::Data, regs::MMFAR.read())
    } else if status & 0x01 != 0 {
        (Fault::Execute, pc)
    } else if status & 0x8000 != 0 {
        (Fault::Bus, regs::BFAR.read())
    } else if status & 0x7f00 != 0 {
        (Fault::Bus, pc)
    } else if status & 0x0004_0000 != 0 {
        (Fault::Return, pc)
    } else {
        (Fault::Usage, pc)
    }
}
