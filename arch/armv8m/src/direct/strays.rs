//! A thread that has come to Thread mode of Non-secure state: by itself, or because a handler has
//! returned into its place. It executes nothing there.
//!
//! In one case nothing tells the two apart: the handler made that mode privileged, returned there,
//! and took the privilege back. The interrupted thread then pays for the HardFault. So its path is
//! short, and in memory without wait states (`tests/direct/slips.toml`).

use core::sync::atomic::Ordering::Relaxed;

use armv_m::regs;

use super::access::is_thread_mode_open;
use super::frames::{
    BASIC, CFSR_UNSTKERR, HARD_FAULT, SECURE, SFSR_INTEGRITY, THREAD, TO_THREAD, UNSTACKED, signature,
};
use super::owner::{COFFERDAM_OWNER, are_masks_set, unmask};
use super::state::CFSR_NS;
use crate::registers::SFSR;

/// Serves a HardFault over a thread whose frame says that a handler had come, if nothing says that
/// handlers are to blame. Returns the EXC_RETURN with which the thread goes on; 0 for any other
/// fault, and then nothing is changed.
///
/// # Bound
/// The region registers of Non-secure state, four at a time.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".hot.strays")]
pub(super) extern "C" fn cofferdam_owner_stray(exc_return: u32, psp: u32) -> u32 {
    /// Bit of ICSR: nothing is active but the exception that runs.
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

/// Returns true if a handler's return came to Thread mode of Non-secure state and failed there. A
/// thread that comes by itself leaves no such status, because it executes nothing there and reads
/// no frame. A handler that opens the mode first is found by that. Where no domain has handlers it
/// was a thread, whatever the registers of that state are after a reset.
pub(super) fn is_returned(status: u32, secure: u32) -> bool {
    COFFERDAM_OWNER.count.load(Relaxed) != 0 && (is_failed(status, secure) || is_thread_mode_open())
}

#[inline(always)]
fn is_failed(status: u32, secure: u32) -> bool {
    (CFSR_NS.read() | status & CFSR_UNSTKERR) & UNSTACKED != 0 || secure & SFSR_INTEGRITY != 0
}

/// Clears the status of a handler's faults, so that no later exception is judged by it. A pending
/// SecureFault is cleared, too: it comes from a handler that could not be entered, because its
/// stack had no room. Any other pending fault stays, with the status of failed stacking: it is a
/// thread's, whose stack had no room when a handler came. If a fault is active below this one, it
/// may not have read its status yet; that is noted, and it is judged by [`again`].
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
