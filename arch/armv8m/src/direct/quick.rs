//! A look that finds nothing to do, beside a counter. Nearly all looks are such, and an interrupt
//! that comes meanwhile waits for the end of the look. So this is short, and in memory without wait
//! states, as nothing else of the meter is.

use core::sync::atomic::Ordering::Relaxed;

use armv_m::regs;

use super::access::is_thread_mode_privileged;
use super::frames::SECURE;
use super::owner::{COFFERDAM_OWNER, MAX_LINE, are_masks_set, sleeps_on_exit};

/// Serves the meter's interrupt if it is the end of an interval and everything is as it must be:
/// begins the next and returns true. Otherwise nothing is changed, and the full look follows.
///
/// # Bound
/// The lines that can reach handlers, 32 at a time.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cofferdam_owner_look(exc_return: u32) -> bool {
    let (owner, looks) = (&COFFERDAM_OWNER, &COFFERDAM_OWNER.looks);
    if !owner.counter.is_there() {
        return false;
    }
    // A handler on its way into the kernel is in Secure code, but is active all the same.
    let meets = exc_return & SECURE == 0
        || (0..MAX_LINE).step_by(32).any(|line| regs::nvic_iabr(line).0.read() & regs::nvic_itns(line).0.read() != 0);
    let holds = are_masks_set() || sleeps_on_exit() || is_thread_mode_privileged();
    if meets || owner.request.load(Relaxed) != 0 || holds || !looks.is_within_period() {
        return false;
    }
    owner.counter.finds_nothing() && {
        looks.next();
        true
    }
}
