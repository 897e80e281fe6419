//! Exceptions of the kernel that wait when a handler returns: the processor goes on with one of them at once.

use abi::trace::Fault;

use super::access::is_thread_mode_open;
use super::frames::{BASIC, SECURE, SECURE_FAULT, THREAD, TO_THREAD, signature};
use super::judge::{blame, is_active};
use super::owner::{COFFERDAM_OWNER, are_masks_set, unmask};

/// An exception of the kernel has come to Thread mode of Non-secure state, over a thread with a frame as if a handler had come. Returns the EXC_RETURN with which
/// the exception is served as if it had come to that thread; 0 if it is to be judged.
///
/// A handler can return into a thread's place while an exception of the kernel waits. That one follows at once, without an instruction or a frame of that mode
/// in between, so that nothing fails there. Were it taken again later, the handler could have another exception of its own go in front of it each time.
///
/// # Bound
/// The lines of handlers, and the region registers of Non-secure state, four at a time.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cofferdam_owner_served(exc_return: u32, psp: u32) -> u32 {
    let is_kernels = armv_m::exception_number() > SECURE_FAULT;
    if exc_return & (THREAD | SECURE) != THREAD || !is_kernels || is_active() {
        return 0;
    }
    let Some(word) = signature(psp) else { return 0 };
    // A thread that has made the frame itself sets no masks and opens nothing, so it is not blamed.
    if are_masks_set() || is_thread_mode_open() {
        blame(Fault::Return, 0);
    }
    unmask();
    COFFERDAM_OWNER.reset_stack();
    TO_THREAD | if word & 1 != 0 { BASIC } else { 0 }
}
