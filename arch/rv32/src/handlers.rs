//! The entry code's Rust functions beside [`kernel::entry_points`]: interrupts and faults.

use abi::trace::Fault;
use kernel::Kernel;
use kernel::entry::{Args, Next};
use protect::AccessKind;
use units::VirtAddr;

use crate::atomics::{self, Outcome};
use crate::context::Context;
use crate::machine::{Board, Cause, Rv32};

/// Performs a call after which the caller goes on.
#[inline]
pub fn simple<B: Board>(kernel: &mut Kernel<Rv32<B>>, args: &Args, number: u32) {
    kernel.on_simple(number, args);
}

/// Serves an interrupt of a thread or of the idle loop: the timer's, a line's, or one that was
/// withdrawn before the kernel asked.
#[inline]
pub fn interrupt<B: Board>(kernel: &mut Kernel<Rv32<B>>) -> Next<Rv32<B>> {
    // An interrupt ends a reservation: the next thread must not store on the strength of another's (Unprivileged ISA, LR/SC).
    kernel.arch.reserved = None;
    match kernel.arch.cause() {
        Cause::Timer => {
            kernel.on_timer();
            None
        }
        Cause::Line(line) => kernel.on_interrupt(line, true),
        Cause::Nothing => None,
    }
}

mod cause {
    pub const FETCH: u32 = 1;
    pub const ILLEGAL: u32 = 2;
    pub const LOAD: u32 = 5;
    pub const STORE: u32 = 7;
}

/// Serves an exception of a thread that is no call. The first touch of a page maps it, and the
/// access is repeated, which is possible because faults are precise. An atomic instruction is
/// performed. Everything else is a fault, which is named and stops the domain. A load or store that
/// a device refuses is reported as one that the domain may not make, because the core does not tell
/// the two apart.
pub fn fault<B: Board>(kernel: &mut Kernel<Rv32<B>>, reason: u32, address: VirtAddr<u32>) -> Next<Rv32<B>> {
    // The core names an illegal instruction where it names an address otherwise (IBEX, mtval).
    let atomic = if reason == cause::ILLEGAL { atomics::perform(kernel, address.0) } else { Outcome::Illegal };
    let touched = match reason {
        cause::LOAD => kernel.on_touch(address, AccessKind::Read),
        cause::STORE => kernel.on_touch(address, AccessKind::Write),
        _ => matches!(atomic, Outcome::Performed),
    };
    if touched {
        return None;
    }
    // There is no context if no thread runs; `Kernel::on_fault` decides what that means.
    let context = kernel.current_context().map_or(&Context::EMPTY, |context| &*context);
    let pc = VirtAddr(context.pc);
    let (kind, address) = match reason {
        cause::FETCH => (Fault::Execute, address),
        cause::LOAD | cause::STORE if context.is_off_its_stack() => (Fault::Stack, context.stack_pointer()),
        cause::LOAD | cause::STORE => (Fault::Data, address),
        _ => match atomic {
            Outcome::Refused(address) => (Fault::Data, address),
            _ => (Fault::Usage, pc),
        },
    };
    kernel.on_fault(kind, address, pc);
    None
}
