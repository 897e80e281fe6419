//! Lines of handlers as the kernel opens and closes them.

use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use armv_m::regs;

use super::owner::{COFFERDAM_ARMED, COFFERDAM_OWNER, COFFERDAM_WAKES, Request, write_bit};

/// A thread allows a line; whether it is one of a handler. Its first acknowledgement opens it.
///
/// # Bound
/// The lines of handlers, and the meter's exception.
pub(crate) fn acknowledge(line: u32) -> bool {
    let owner = &COFFERDAM_OWNER;
    let Some((_, bit)) = owner.lines().find(|(own, _)| *own == line) else { return false };
    set(&COFFERDAM_ARMED, line, 1);
    let enabled = owner.enabled.load(Relaxed);
    if enabled & bit == 0 {
        owner.enabled.store(enabled | bit, Relaxed);
        write_bit(regs::nvic_icpr(line));
        owner.ask(Request::Open);
    }
    // It may have asked for its thread already.
    regs::ICSR.write(regs::PENDSVSET);
    true
}

/// A domain runs no more until it is restarted.
pub(crate) fn stopped(domain: u8) {
    let owner = &COFFERDAM_OWNER;
    if owner.domain.load(Relaxed) == u32::from(domain) + 1 {
        owner.enabled.store(0, Relaxed);
        owner.ask(Request::Stop);
        owner.lines().for_each(|(line, _)| take(line));
    }
}

/// Whether a line's handler has asked for its thread, and that is paid for.
pub(super) fn asks(line: u32) -> bool {
    is_set(&COFFERDAM_ARMED, line) && is_set(&COFFERDAM_WAKES, line)
}

/// Its handler has not asked any more. If it asks in between, the next acknowledgement finds that.
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
