//! Handlers: functions that interrupts reach without the kernel (`delivery = "direct"` in the manifest).
//!
//! A handler runs in place of whatever it interrupts, in Non-secure state. It has the domain's statics and the devices of direct lines, and nothing
//! else: no system calls, no stack of a thread, no allocated memory, no constant files. The functions that it calls and the constants that it reads are placed a second time for it;
//! a build is refused if one of them leads to something that cannot be, for example through the address of a function in a static. Threads and handlers share
//! statics. Use atomics for these: each load and each store of an atomic is one access.

use core::sync::atomic::{Ordering, compiler_fence};

/// Declares a handler under the symbol that the manifest names: `handler!(symbol, function)` with `fn()`.
#[macro_export]
macro_rules! handler {
    ($symbol:ident, $serve:path) => {
        /// A handler that an interrupt reaches without the kernel.
        #[unsafe(no_mangle)]
        #[unsafe(link_section = ".cofferdam.entry")]
        pub extern "C" fn $symbol() {
            let serve: fn() = $serve;
            serve()
        }
    };
}

/// Address of the way into the kernel that [`wake`] takes; 0: there is none, or the domain's first thread has not started.
#[inline(always)]
pub fn way_in() -> u32 {
    info::wake()
}

/// Asks the kernel, from a handler, to signal the notifications of the domain's direct interrupts that have come. The threads run when no handler
/// does. Does nothing before the domain's first thread has started.
#[inline(always)]
pub fn wake() {
    let address = way_in();
    if address != 0 {
        // SAFETY: the block has the address of a function of the kernel without arguments, which keeps the procedure call standard and which
        // handlers may call.
        let wake = unsafe { core::mem::transmute::<usize, extern "C" fn()>(address as usize) };
        wake();
        // The kernel finds its way back by a link register that a call has set: a jump from the end of the handler would leave the exception's there.
        compiler_fence(Ordering::SeqCst);
    }
}
