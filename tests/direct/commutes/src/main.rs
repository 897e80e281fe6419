//! A domain whose handler a timer reaches without the kernel: it counts, and wakes the thread every tenth time. The thread sees that all are counted.
//!
//! Names: device `timer1`, interrupt `fired` (handler `fired`), notification `tenth` (bit 0). Exit codes: 0; 1 for what the manifest lacks; 2 if a
//! call failed; 3 for a wrong count.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering};

use cofferdam::{Interrupt, Notification, Start, handlers};

/// Registers of the timer (CMSDK APB timer, DDI 0479), by their offsets.
mod register {
    pub const CONTROL: u32 = 0x0;
    pub const VALUE: u32 = 0x4;
    pub const RELOAD: u32 = 0x8;
    pub const CLEAR: u32 = 0xc;
}

/// Count, and interrupt at zero.
const ENABLED: u32 = 9;
const PERIOD_MICROSECONDS: u32 = 200;
const EVERY: u32 = 10;
const TIMES: u32 = 20;

/// Address of the timer, for the handler, which finds no information block.
static TIMER: AtomicU32 = AtomicU32::new(0);
static COUNT: AtomicU32 = AtomicU32::new(0);

cofferdam::entry!(main);
cofferdam::handler!(fired, serve);

fn put(offset: u32, value: u32) {
    let register = (TIMER.load(Ordering::Relaxed) + offset) as *mut u32;
    // SAFETY: the timer is the domain's, and threads write to it only before it counts and after it has stopped.
    unsafe { register.write_volatile(value) }
}

fn serve() {
    put(register::CLEAR, 1);
    let count = COUNT.load(Ordering::Relaxed) + 1;
    COUNT.store(count, Ordering::Relaxed);
    if count.is_multiple_of(EVERY) {
        handlers::wake();
    }
}

fn main(start: Start) -> u32 {
    let info = start.info;
    let (Some(timer), Some(fired), Some(tenth)) =
        (info.area("timer1"), Interrupt::named(info, "fired"), Notification::named(info, "tenth"))
    else {
        return 1;
    };
    TIMER.store(timer.base, Ordering::Relaxed);
    // The timer counts cycles of the board's 20 MHz clock, as the kernel's does.
    let cycles = info.ticks_per_second() / 1_000_000 * PERIOD_MICROSECONDS;
    put(register::RELOAD, cycles - 1);
    put(register::VALUE, cycles - 1);
    if fired.ack().is_err() {
        return 2;
    }
    put(register::CONTROL, ENABLED);
    for time in 1..=TIMES {
        if tenth.wait(1).is_err() || fired.ack().is_err() {
            return 2;
        }
        // The thread runs soon enough that the next tenth has not come.
        if COUNT.load(Ordering::Relaxed) / EVERY != time {
            return 3;
        }
    }
    put(register::CONTROL, 0);
    0
}
