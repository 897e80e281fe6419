//! A thread that has come to Thread mode of Non-secure state, where it executes nothing: by itself, or because a handler has returned into its place.
//!
//! In one case nothing tells the two apart: the handler has made that mode privileged, and has taken that back there. Whoever it interrupts pays for the HardFault.
//! That is therefore short, and in memory without wait states (`tests/direct/slips.toml`).

use core::sync::atomic::Ordering::Relaxed;

use abi::trace::Fault;
use armv_m::regs;

use super::access::is_thread_mode_open;
use super::frames::{
    BASIC, CFSR_UNSTKERR, DEFAULT_RULE, SECURE, SFSR_INTEGRITY, SIGNATURE, THREAD, TO_THREAD, UNSTACKED, is_signed,
    signature, word_on_stack,
};
use super::judge::{HARD_FAULT, SECURE_FAULT, blame, end, is_active, kernel_is_active, meter_is_active, unwind};
use super::owner::{COFFERDAM_OWNER, are_masks_set, unmask};
use super::state::CFSR_NS;
use crate::registers::SFSR;

/// A HardFault that nothing says handlers are to blame for, over a thread with a frame as if one had come: the EXC_RETURN with which the thread goes on. 0:
/// it is any other, and nothing is changed.
///
/// # Bound
/// The region registers of Non-secure state, four at a time.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".hot.strays")]
pub(super) extern "C" fn cofferdam_owner_stray(exc_return: u32, psp: u32) -> u32 {
    /// Of ICSR: nothing is active but the exception that runs.
    const RETTOBASE: u32 = 1 << 11;
    if exc_return & (THREAD | SECURE) != THREAD || regs::ICSR.read() & RETTOBASE == 0 {
        return 0;
    }
    let Some(word) = signature(psp) else { return 0 };
    let (status, secure) = (regs::CFSR.read(), SFSR.read());
    if is_failed(status, secure) || are_masks_set() || is_thread_mode_open() {
        return 0;
    }
    unmask();
    COFFERDAM_OWNER.reset_stack();
    settle(status, secure);
    TO_THREAD | if word & 1 != 0 { BASIC } else { 0 }
}

/// Returns the EXC_RETURN with which an exception of the kernel is served that came to Thread mode of Non-secure state, over a thread with a frame as if a
/// handler had come: as if it had come to the thread. 0: it is judged.
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
    // A thread that has made the frame itself sets no masks and opens nothing.
    if are_masks_set() || is_thread_mode_open() {
        blame(Fault::Return, 0);
    }
    unmask();
    COFFERDAM_OWNER.reset_stack();
    TO_THREAD | if word & 1 != 0 { BASIC } else { 0 }
}

/// Returns true if a handler's return has led here, whatever the status of faults says: to Handler mode of Secure state while none of the kernel's exceptions is
/// active, or with another kind of frame than the hardware has written. The exception follows such a return at once, before anything of it fails.
pub(super) fn is_forged(number: u32, exc_return: u32, psp: u32) -> bool {
    if exc_return & THREAD == 0 {
        return !kernel_is_active(number) && !meter_is_active();
    }
    let basic = u32::from(exc_return & BASIC != 0);
    exc_return & DEFAULT_RULE == 0 && word_on_stack(psp).is_some_and(|word| word != SIGNATURE | basic)
}

/// Returns the verdict on a fault whose status a HardFault of handlers has changed before it was read: what has failed is done again, and fails again.
pub(super) fn again(number: u32, exc_return: u32, psp: u32, msp: u32) -> u64 {
    settle(u32::MAX, u32::MAX);
    if kernel_is_active(number) || is_signed(psp) { unwind(number, psp, msp) } else { end(exc_return, psp, msp) }
}

/// Whether what came to Thread mode of Non-secure state, and failed there, was a handler's return. No thread can make that: it executes nothing there, so that
/// it reads no frame, nor anything else. A handler that opens the mode first is found by that. Where no domain has handlers it was a thread, whatever the
/// registers of that state are after a reset.
pub(super) fn is_returned(status: u32, secure: u32) -> bool {
    COFFERDAM_OWNER.count.load(Relaxed) != 0 && (is_failed(status, secure) || is_thread_mode_open())
}

#[inline(always)]
fn is_failed(status: u32, secure: u32) -> bool {
    (CFSR_NS.read() | status & CFSR_UNSTKERR) & UNSTACKED != 0 || secure & SFSR_INTEGRITY != 0
}

/// Forgets the faults of a handler, so that no later exception is judged by their status. A
/// SecureFault that is pending is forgotten, too: an entry has failed, because the handler's stack
/// had no room for its frame. Any other fault that is pending stays, with the status of failed
/// stacking: it is a thread's, whose stack had no room when a handler came. A fault that is active
/// below has not read its status yet, perhaps ([`again`]).
#[inline(always)]
pub(super) fn settle(status: u32, secure: u32) {
    const STACKING: u32 = 1 << 4 | 1 << 12 | 1 << 20;
    const SECUREFAULTPENDED: u32 = 1 << 20;
    const FAULTS_ACTIVE: u32 = 1 | 1 << 1 | 1 << 3 | 1 << 4;
    regs::CFSR.write(status & !STACKING);
    SFSR.write(secure);
    regs::HFSR.write(u32::MAX);
    let active = regs::SHCSR.read();
    if armv_m::exception_number() == HARD_FAULT && active & FAULTS_ACTIVE != 0 {
        COFFERDAM_OWNER.lost.store(1, Relaxed);
    }
    regs::SHCSR.write(active & !SECUREFAULTPENDED);
}
