//! What the entry code does in Rust: each system call with an entry of its own, the others, interrupts and faults.

use core::ptr::NonNull;

use kernel::Kernel;

use crate::context::Context;
use crate::entry::Vector;
use crate::machine::{Armv7a, Board, Cause};

/// What one of the functions below has led to: the Context of a thread whose space is yet to be loaded, or null.
pub type Next = Option<NonNull<Context>>;

/// Arguments of a system call, where the caller's registers are saved.
type Args = [u32; 4];

/// A system call of a kind that has no function of its own, as [`yield_now`].
#[inline]
pub fn call<B: Board>(kernel: &mut Kernel<Armv7a<B>>) -> Next {
    kernel.on_call()
}

/// `YIELD`: if nothing is to be loaded, the thread to resume is that of [`Kernel::resume`].
#[inline]
pub fn yield_now<B: Board>(kernel: &mut Kernel<Armv7a<B>>) -> Next {
    kernel.on_yield()
}

/// `SIGNAL`, as [`yield_now`].
#[inline]
pub fn signal<B: Board>(kernel: &mut Kernel<Armv7a<B>>, args: &Args) -> Next {
    kernel.on_signal(args[0], args[1])
}

/// `WAIT`, as [`yield_now`].
#[inline]
pub fn wait<B: Board>(kernel: &mut Kernel<Armv7a<B>>, args: &Args) -> Next {
    kernel.on_wait(args[0], args[1])
}

/// `SLEEP_UNTIL`, as [`yield_now`].
#[inline]
pub fn sleep<B: Board>(kernel: &mut Kernel<Armv7a<B>>, args: &Args) -> Next {
    kernel.on_sleep(args[0], args[1])
}

/// `WAIT_PERIOD`, as [`yield_now`].
#[inline]
pub fn period<B: Board>(kernel: &mut Kernel<Armv7a<B>>) -> Next {
    kernel.on_period()
}

/// `EXIT`, as [`yield_now`].
#[inline]
pub fn exit<B: Board>(kernel: &mut Kernel<Armv7a<B>>, args: &Args) -> Next {
    kernel.on_exit(args[0])
}

/// A call after which the caller goes on.
#[inline]
pub fn simple<B: Board>(kernel: &mut Kernel<Armv7a<B>>, args: &Args, number: u32) {
    kernel.on_simple(number, args);
}

/// `GATE_CALL`: the callee's Context, or null when the call must be performed by [`call`].
#[inline]
pub fn gate_call<B: Board>(kernel: &mut Kernel<Armv7a<B>>, args: &Args) -> Next {
    kernel.pass_in(args[0])
}

/// `GATE_RETURN`: the caller's Context, as [`gate_call`].
#[inline]
pub fn gate_return<B: Board>(kernel: &mut Kernel<Armv7a<B>>, args: &Args) -> Next {
    kernel.pass_out(args[0], args[1])
}

/// An interrupt of a thread or of the idle loop, as [`yield_now`]: the timer's, a line's, or none any more.
#[inline]
pub fn interrupt<B: Board>(kernel: &mut Kernel<Armv7a<B>>) -> Next {
    let (cause, taken) = kernel.arch.cause();
    match cause {
        Cause::Timer => {
            kernel.on_timer();
            None
        }
        Cause::Line(line) => {
            let next = kernel.on_interrupt(line);
            kernel.arch.finish(taken);
            next
        }
        Cause::Nothing => None,
    }
}

/// A thread went wrong: names the fault and stops its domain; as [`yield_now`].
pub fn fault<B: Board>(kernel: &mut Kernel<Armv7a<B>>, vector: Vector) -> Next {
    // Nobody runs: `Kernel::on_fault` knows what that means.
    let context = kernel.current_context().map_or(&Context::EMPTY, |context| &*context);
    let report = crate::fault::report(vector, context);
    kernel.on_fault(report.kind, report.address, report.pc);
    None
}
