//! The entry code's Rust functions beside [`kernel::entry_points`]: interrupts and faults.

use kernel::Kernel;
use kernel::entry::{Args, Next};

use crate::context::Context;
use crate::entry::Vector;
use crate::machine::{Armv7a, Board, Cause};

/// Performs a call after which the caller goes on.
#[inline]
pub fn simple<B: Board>(kernel: &mut Kernel<Armv7a<B>>, args: &Args, number: u32) {
    kernel.on_simple(number, args);
}

/// Serves an interrupt of a thread or of the idle loop: the timer's, a line's, or one that was
/// withdrawn before the kernel asked.
#[inline]
pub fn interrupt<B: Board>(kernel: &mut Kernel<Armv7a<B>>) -> Next<Armv7a<B>> {
    let (cause, taken) = kernel.arch.cause();
    match cause {
        Cause::Timer => {
            kernel.on_timer();
            None
        }
        Cause::Line(line) => {
            let next = kernel.on_interrupt(line, true);
            kernel.arch.finish(taken);
            next
        }
        Cause::Nothing => None,
    }
}

/// Names the fault of a thread and stops its domain.
pub fn fault<B: Board>(kernel: &mut Kernel<Armv7a<B>>, vector: Vector) -> Next<Armv7a<B>> {
    // There is no context if no thread runs; `Kernel::on_fault` decides what that means.
    let context = kernel.current_context().map_or(&Context::EMPTY, |context| &*context);
    let report = crate::fault::report(vector, context);
    kernel.on_fault(report.kind, report.address, report.pc);
    None
}
