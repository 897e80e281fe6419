//! Handlers in the way into the kernel, which is Secure code: the meter, or another handler, can interrupt one there, whose frame is then on the main stack.
//!
//! That frame goes with the handler when it is ended. A handler can also return past it, to the Non-secure code of the one that it has interrupted, and no register
//! tells: then it stays, and another one comes to lie below it the next time. Every entry from a thread begins at the top of the stack, so that over a thread this
//! does no harm. What is left is a stack that is full, for which the domain is stopped: the frame that did not fit has failed on the bus, since nothing lies below
//! the stack. The stack pointer then says where the last one is that did, and so where the kernel goes on ([`last_frame`]).

use armv_m::regs;

use super::frames::{CALLEE_BYTES, DEFAULT_RULE, FRAME_BYTES, SECURE, SIGNATURE, STACKED_PC, THREAD};

unsafe extern "C" {
    static cofferdam_wake: u8;
    static __cofferdam_wake_end: u8;
    static cofferdam_end_handler: u8;
    static __kernel_stack_top: u8;
}

/// Bytes of a frame with which a handler was entered.
const LONG_BYTES: u32 = CALLEE_BYTES + FRAME_BYTES;
/// CFSR: a frame could not be written because of an error on the bus.
const STKERR: u32 = 1 << 12;

/// Returns true if the interrupted Secure code belongs to a handler that is on its way: the way
/// into the kernel, or the stub that ends a handler. Below any other Secure code no handler may be
/// active, because it would hold the kernel off.
pub(super) fn is_on_its_way(exc_return: u32, msp: u32) -> bool {
    if exc_return & (THREAD | SECURE) != SECURE {
        return false;
    }
    let pc = pc(msp + own_bytes(exc_return) - FRAME_BYTES);
    is_way_in(pc) || pc == (&raw const cofferdam_end_handler) as u32 & !1
}

/// Returns the bytes on the main stack that go with the handlers that are ended. Over a thread that
/// is all: each entry from a thread begins at the top of the stack, so nobody needs what is there.
/// Over the kernel it is the frames in the way in, down to the one with which the kernel itself was
/// interrupted: the kernel goes on with that one.
///
/// # Bound
/// The frames between `msp` and the top of the kernel's stack.
pub(super) fn left_over(msp: u32, over_kernel: bool) -> u32 {
    let left = ((&raw const __kernel_stack_top) as u32).saturating_sub(msp);
    if !over_kernel {
        return left;
    }
    let is_inside = |frame: &u32| {
        let at = msp + frame * LONG_BYTES;
        // SAFETY: the kernel's stack, where handlers cannot write.
        (frame + 1) * LONG_BYTES <= left
            && unsafe { (at as *const u32).read_volatile() } & !1 == SIGNATURE
            && is_in_way_in(at + CALLEE_BYTES)
    };
    (0..left / LONG_BYTES).take_while(is_inside).count() as u32 * LONG_BYTES
}

/// A HardFault has come because a frame did not fit on the main stack: the address of the last one that did, if handlers have filled the stack, and then the fault
/// is forgotten. The kernel itself was interrupted by the first of them, and all others in the way in, so that a last frame of the kernel's is its own overflow.
///
/// What failed was the basic frame, or the callee registers below one, which are stacked for a handler alone: as the default rule says, or not (DDI 0553 B3.22).
pub(super) fn last_frame(exc_return: u32, msp: u32) -> Option<u32> {
    if exc_return & (THREAD | SECURE) != SECURE || regs::CFSR.read() & STKERR == 0 {
        return None;
    }
    let frame = msp + own_bytes(exc_return);
    if left_over(frame, true) == 0 {
        return None;
    }
    regs::CFSR.write(STKERR);
    Some(frame)
}

/// Returns the bytes of the frame of an exception that came to Secure Handler mode.
pub(super) fn own_bytes(exc_return: u32) -> u32 {
    if exc_return & DEFAULT_RULE == 0 { LONG_BYTES } else { FRAME_BYTES }
}

/// Returns true if Secure code was interrupted in the way in, with this basic frame.
pub(super) fn is_in_way_in(frame: u32) -> bool {
    is_way_in(pc(frame))
}

fn is_way_in(pc: u32) -> bool {
    let [begin, end] = [&raw const cofferdam_wake, &raw const __cofferdam_wake_end].map(|code| code as u32 & !1);
    (begin..end).contains(&pc)
}

fn pc(frame: u32) -> u32 {
    // SAFETY: the kernel's stack, where the processor has put the frame of Secure code in Handler mode.
    unsafe { ((frame + STACKED_PC) as *const u32).read_volatile() }
}
