//! Lines of handlers as the kernel opens and closes them.

use core::sync::atomic::Ordering::Relaxed;

use armv_m::regs;

use super::owner::{COFFERDAM_OWNER, COFFERDAM_WAKES, Request, write_bit};

/// A thread allows a line; whether it is one of a handler. Its first acknowledgement opens it.
///
/// # Bound
/// The lines of handlers, and the sampler's handler.
pub(crate) fn acknowledge(line: u32) -> bool {
    let owner = &COFFERDAM_OWNER;
    let Some((_, bit)) = owner.lines().find(|(own, _)| *own == line) else { return false };
    owner.armed.store(owner.armed.load(Relaxed) | bit, Relaxed);
    let enabled = owner.enabled.load(Relaxed);
    if enabled & bit == 0 {
        owner.enabled.store(enabled | bit, Relaxed);
        write_bit(regs::nvic_icpr(line));
        owner.sampler.ask(Request::Open);
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
        owner.armed.store(0, Relaxed);
        owner.sampler.ask(Request::Stop);
        owner
            .lines()
            .filter_map(|(line, _)| COFFERDAM_WAKES.get(line as usize))
            .for_each(|wake| wake.store(0, Relaxed));
    }
}
