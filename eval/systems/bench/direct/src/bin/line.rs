//! A domain with a handler that a timer reaches 10 000 times, and a thread that it wakes every eighth time.
//!
//! Names: device `timer1`, interrupt `fired` (handler `bench_fired`), notification `woken` (bit 0). Exit codes: 0; 1 for what the manifest lacks; 2 if a call
//! failed.
#![no_std]
#![no_main]
#![allow(named_asm_labels)] // the label is the point; the function that holds it is neither inlined nor doubled

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::{Interrupt, Notification, Start, handlers};

/// Registers of the timer (CMSDK APB timer, DDI 0479), by their offsets.
mod register {
    pub const CONTROL: u32 = 0x0;
    pub const VALUE: u32 = 0x4;
    pub const RELOAD: u32 = 0x8;
    pub const CLEAR: u32 = 0xc;
}

const ENABLED: u32 = 9;
/// No multiple of anything that others do.
const PERIOD_NANOSECONDS: u32 = 61_450;
const TIMES: u32 = 10_000;
const EVERY: u32 = 8;

static TIMER: AtomicU32 = AtomicU32::new(0);
static COUNT: AtomicU32 = AtomicU32::new(0);

cofferdam::entry!(main);
cofferdam::handler!(bench_fired, serve);

fn put(offset: u32, value: u32) {
    // SAFETY: the timer is the domain's.
    unsafe { ((TIMER.load(Relaxed) + offset) as *mut u32).write_volatile(value) }
}

fn serve() {
    put(register::CLEAR, 1);
    let count = COUNT.load(Relaxed) + 1;
    COUNT.store(count, Relaxed);
    if count.is_multiple_of(EVERY) {
        handlers::wake();
    }
}

/// Waits for the handler's wake; the label is where the thread goes on.
#[inline(never)]
fn wait(woken: &Notification) -> bool {
    let came = woken.wait(1);
    // SAFETY: a label, no instruction.
    unsafe { asm!(".global probe_direct_woken", "probe_direct_woken:", options(nostack)) }
    came.is_ok()
}

fn main(start: Start) -> u32 {
    let info = start.info;
    let (Some(timer), Some(fired), Some(woken)) =
        (info.area("timer1"), Interrupt::named(info, "fired"), Notification::named(info, "woken"))
    else {
        return 1;
    };
    TIMER.store(timer.base, Relaxed);
    let cycles = info.ticks_per_second() / 1_000 * PERIOD_NANOSECONDS / 1_000_000;
    put(register::RELOAD, cycles - 1);
    put(register::VALUE, cycles - 1);
    if fired.ack().is_err() {
        return 2;
    }
    put(register::CONTROL, ENABLED);
    while COUNT.load(Relaxed) < TIMES {
        if !wait(&woken) || fired.ack().is_err() {
            return 2;
        }
    }
    put(register::CONTROL, 0);
    0
}
