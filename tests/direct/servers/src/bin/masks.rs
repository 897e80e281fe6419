//! A domain whose handler leaves a mask of its state set. A thread that it interrupts makes its next call under that mask.
//!
//! Names: device `timer1`, interrupt `fired` (handler `fired`). Exit codes: 1 for what the manifest lacks; 2 if a call failed.
#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::{Interrupt, Start, sys};

/// Registers of the timer (CMSDK APB timer, DDI 0479): control, which stops it, and what ends an interrupt, of the domain's life before; value, reload, and
/// control: it counts, and interrupts at zero.
const QUIET: [(u32, u32); 2] = [(0x0, 0), (CLEAR, 1)];
const SET_UP: [(u32, u32); 3] = [(0x4, INTERVAL), (0x8, INTERVAL), (0x0, 9)];
const CLEAR: u32 = 0xc;
/// Ticks: 97 us.
const INTERVAL: u32 = 1940;

static TIMER: AtomicU32 = AtomicU32::new(0);

cofferdam::entry!(main);
cofferdam::handler!(fired, serve);

fn put(offset: u32, value: u32) {
    // SAFETY: the timer is the domain's.
    unsafe { ((TIMER.load(Relaxed) + offset) as *mut u32).write_volatile(value) }
}

fn serve() {
    put(CLEAR, 1);
    // SAFETY: handlers are privileged in their state; the mask is what the kernel is to find.
    unsafe { asm!("cpsid i", options(nomem, nostack)) }
}

fn main(start: Start) -> u32 {
    let (Some(timer), Some(fired)) = (start.info.area("timer1"), Interrupt::named(start.info, "fired")) else {
        return 1;
    };
    TIMER.store(timer.base, Relaxed);
    QUIET.iter().for_each(|(offset, value)| put(*offset, *value));
    if fired.ack().is_err() {
        return 2;
    }
    SET_UP.iter().for_each(|(offset, value)| put(*offset, *value));
    let _ = sys::sleep_until(u64::MAX);
    2
}
