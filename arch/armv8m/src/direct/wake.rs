//! The kernel's part of a handler's wake, and of what a handler has done.

use core::sync::atomic::Ordering::Relaxed;

use abi::trace::Fault;
use armv_m::{ASKED, Board, Machine, Port, regs};
use kernel::Kernel;
use units::VirtAddr;

use super::frames::FIRST_LINE;
use super::lines::{asks, take};
use super::owner::{COFFERDAM_OWNER, Seat};

/// Serves PendSV: a handler has done something for which its domain is stopped, or has asked for
/// its thread. Returns the exception of one such line for `kernel_interrupt`, or 0. If there are
/// more, another PendSV does the next, so that no path grows with their number.
///
/// # Bound
/// The lines of handlers and their domains; a fault beyond that.
#[inline]
pub fn wake<B: Board, P: Port>(kernel: &mut Kernel<Machine<B, P>>) -> u32 {
    let owner = &COFFERDAM_OWNER;
    if let Some(culprit) = owner.seats.iter().find(|seat| seat.fault.load(Relaxed) != 0) {
        return fault(kernel, culprit);
    }
    let mut found = 0;
    for (line, _) in owner.lines().filter(|(line, _)| asks(*line)) {
        if found != 0 {
            regs::ICSR.write(regs::PENDSVSET);
            break;
        }
        take(line);
        found = FIRST_LINE + line | ASKED;
    }
    found
}

#[cold]
fn fault<B: Board, P: Port>(kernel: &mut Kernel<Machine<B, P>>, culprit: &Seat) -> u32 {
    let domain = culprit.domain.load(Relaxed).wrapping_sub(1) as u8;
    let kind = Fault::from_number(culprit.fault.load(Relaxed) as u8).unwrap_or(Fault::Return);
    let price = kernel.on_handlers_fault(domain, kind, VirtAddr(culprit.address.load(Relaxed)));
    culprit.price.fetch_add(price, Relaxed);
    // Only now, so that what the same domain does meanwhile is not reported once more.
    culprit.fault.store(0, Relaxed);
    if COFFERDAM_OWNER.seats.iter().any(|seat| seat.fault.load(Relaxed) != 0) {
        regs::ICSR.write(regs::PENDSVSET);
    }
    0
}
