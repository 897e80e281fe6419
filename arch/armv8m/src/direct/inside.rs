//! Handlers in the way into the kernel, which is Secure code: the meter, or another handler, can interrupt one there, whose frame is then on the main stack.
//!
//! That frame goes with the handler when it is ended. Otherwise the kernel's next entry would begin below it, and the processor would lock up when the stack is full.

use super::judge::{
    CALLEE_BYTES, DEFAULT_RULE, DROP_SHIFT, FRAME_BYTES, GO_ON, SECURE, SIGNATURE, STACKED_PC, THREAD, unwind,
};

unsafe extern "C" {
    static cofferdam_wake: u8;
    static __cofferdam_wake_end: u8;
    static cofferdam_end_handler: u8;
    static __kernel_stack_top: u8;
}

/// A frame with which a handler was entered, and the most of them that the kernel's stack holds.
const LONG_BYTES: u32 = CALLEE_BYTES + FRAME_BYTES;
const MOST: u32 = 2040 / LONG_BYTES;

/// Returns true if the interrupted Secure code belongs to a handler that is on its way: the way into the kernel, or the stub that ends a handler. If other
/// Secure code was interrupted, an active handler is below it, which no handler may be.
pub(super) fn is_on_its_way(exc_return: u32, msp: u32) -> bool {
    if exc_return & (THREAD | SECURE) != SECURE {
        return false;
    }
    let pc = pc(msp + own_bytes(exc_return) - FRAME_BYTES);
    is_way_in(pc) || pc == (&raw const cofferdam_end_handler) as u32 & !1
}

/// The meter has interrupted a handler that is to be ended, on its way: its verdict, as [`unwind`] has it. The stub ends it by itself.
pub(super) fn end(exc_return: u32, psp: u32, msp: u32) -> u64 {
    let own = own_bytes(exc_return);
    if !is_way_in(pc(msp + own - FRAME_BYTES)) {
        return GO_ON;
    }
    // The meter's own frame goes, too: it would lead back there.
    unwind(armv_m::exception_number(), psp, msp + own) + (u64::from(own << DROP_SHIFT) << 32)
}

/// Bytes on the main stack of handlers that are ended: all that is there if nobody but a thread is below them, otherwise frames in the way in down to the kernel's.
///
/// # Bound
/// The frames that the kernel's stack holds.
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
            && is_way_in(pc(at + CALLEE_BYTES))
    };
    (0..MOST).take_while(is_inside).count() as u32 * LONG_BYTES
}

/// Bytes of the frame of an exception that came to Secure Handler mode.
fn own_bytes(exc_return: u32) -> u32 {
    if exc_return & DEFAULT_RULE == 0 { LONG_BYTES } else { FRAME_BYTES }
}

fn is_way_in(pc: u32) -> bool {
    let [begin, end] = [&raw const cofferdam_wake, &raw const __cofferdam_wake_end].map(|code| code as u32 & !1);
    (begin..end).contains(&pc)
}

/// The program counter in a basic frame.
fn pc(frame: u32) -> u32 {
    // SAFETY: the kernel's stack, where the processor has put the frame of Secure code in Handler mode.
    unsafe { ((frame + STACKED_PC) as *const u32).read_volatile() }
}
