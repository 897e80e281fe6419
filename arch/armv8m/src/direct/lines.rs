//! Lines of handlers as the kernel opens and closes them.

use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use armv_m::regs;

use super::owner::{COFFERDAM_ARMED, COFFERDAM_OWNER, COFFERDAM_WAKES, Line, Request};
use super::registers::write_bit;

/// A thread allows a line. Returns true if the line leads to a handler. Only the first
/// acknowledgement opens it: a thread must have set up what its handler uses.
///
/// # Bound
/// The lines of handlers, and the meter's exception.
pub(crate) fn acknowledge(line: u32) -> bool {
    let owner = &COFFERDAM_OWNER;
    let is_it = |(own, _): &(&Line, u32)| u32::from(own.line.load(Relaxed)) == line;
    let Some((own, bit)) = owner.every_line().find(is_it) else { return false };
    let (enabled, seat) = (owner.enabled.load(Relaxed), u32::from(own.seat.load(Relaxed)));
    if seat != owner.seat.load(Relaxed) {
        // Its domain does not occupy, so the kernel takes the line. The handler may run when the
        // domain occupies.
        owner.enabled.store(enabled | bit, Relaxed);
        if let Some(seat) = owner.seats.get(seat as usize) {
            seat.stopped.store(0, Relaxed);
        }
        return false;
    }
    pay(line);
    if enabled & bit == 0 {
        owner.enabled.store(enabled | bit, Relaxed);
        write_bit(regs::nvic_icpr(line));
        owner.ask(Request::Open);
    }
    // The handler may have asked for its thread already, when nothing was paid for.
    regs::ICSR.write(regs::PENDSVSET);
    true
}

/// Notes that a domain runs no more until it is restarted, so that its handlers do not run either.
pub(crate) fn stopped(domain: u8) {
    let owner = &COFFERDAM_OWNER;
    let Some(index) = owner.seat_of(domain) else { return };
    let own = owner.every_line().filter(|(line, _)| usize::from(line.seat.load(Relaxed)) == index);
    let bits = own.fold(0, |bits, (_, bit)| bits | bit);
    owner.enabled.store(owner.enabled.load(Relaxed) & !bits, Relaxed);
    if index as u32 == owner.seat.load(Relaxed) {
        owner.ask(Request::Stop);
        owner.lines().for_each(|(line, _)| take(line));
    } else if let Some(seat) = owner.seats.get(index) {
        seat.stopped.store(1, Relaxed);
    }
}

/// Notes that the next wake of a line's handler is paid for, so that the way in may pend PendSV.
pub(super) fn pay(line: u32) {
    set(&COFFERDAM_ARMED, line, 1);
}

/// Returns true if the next wake of a line's handler is paid for.
pub(super) fn is_paid(line: u32) -> bool {
    is_set(&COFFERDAM_ARMED, line)
}

/// Returns true if a line's handler has asked for its thread and that is paid for.
pub(super) fn asks(line: u32) -> bool {
    is_paid(line) && is_set(&COFFERDAM_WAKES, line)
}

/// Takes the request of a line's handler, and what was paid for it. A request that comes in between
/// is found by the next acknowledgement.
pub(super) fn take(line: u32) {
    set(&COFFERDAM_WAKES, line, 0);
    set(&COFFERDAM_ARMED, line, 0);
}

fn set(bytes: &[AtomicU8], line: u32, value: u8) {
    if let Some(byte) = bytes.get(line as usize) {
        byte.store(value, Relaxed);
    }
}

fn is_set(bytes: &[AtomicU8], line: u32) -> bool {
    bytes.get(line as usize).is_some_and(|byte| byte.load(Relaxed) != 0)
}
