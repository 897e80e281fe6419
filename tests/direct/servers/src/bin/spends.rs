//! A domain whose device asks for its handler more often than the handlers' capacity allows; each time it takes as long. Without that device it does nothing.
//!
//! Names: device `timer1`, or another, interrupt `fired` (handler `fired`). Exit codes: 1 for what the manifest lacks; 2 if a call failed.
#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::{Interrupt, Start, sys};

/// Registers of the timer (CMSDK APB timer, DDI 0479): value, reload, and control: it counts, and interrupts at zero; and the one that ends an interrupt.
const SET_UP: [(u32, u32); 3] = [(0x4, INTERVAL), (0x8, INTERVAL), (0x0, 9)];
const CLEAR: u32 = 0xc;
/// Ticks from one interrupt to the next, which is no part of the handlers' period.
const INTERVAL: u32 = 1013;
/// Rounds of the handler's loop: 20 us.
const ROUNDS: u32 = 756;

static TIMER: AtomicU32 = AtomicU32::new(0);

cofferdam::entry!(main);
cofferdam::handler!(fired, serve);

fn put(offset: u32, value: u32) {
    // SAFETY: the timer is the domain's.
    unsafe { ((TIMER.load(Relaxed) + offset) as *mut u32).write_volatile(value) }
}

fn serve() {
    put(CLEAR, 1);
    // SAFETY: it counts a register down.
    unsafe { asm!("2: subs {0}, #1", "bne 2b", inout(reg) ROUNDS => _, options(nomem, nostack)) }
}

fn main(start: Start) -> u32 {
    let Some(fired) = Interrupt::named(start.info, "fired") else { return 1 };
    if let Some(timer) = start.info.area("timer1") {
        TIMER.store(timer.base, Relaxed);
        if fired.ack().is_err() {
            return 2;
        }
        SET_UP.iter().for_each(|(offset, value)| put(*offset, *value));
    }
    let _ = sys::sleep_until(u64::MAX);
    2
}
