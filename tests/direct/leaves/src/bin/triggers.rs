//! A handler that pends interrupts by software: its own line, lines of Secure state, the NMI.
//!
//! Names: device `timer1`, interrupt `fired` (handler `fired`). Exit codes: 0; 1 for what the manifest lacks; 2 if a call failed; 3 if the handler did not
//! come a second time.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::{Interrupt, Start, now, sys};
use direct_leaves::put;

const STIR: u32 = 0xe000_ef00;
/// Sets pending; ICSR, with NMIPENDSET.
const ISPR: u32 = 0xe000_e200;
const ICSR: u32 = 0xe000_ed04;
/// Lines of the timer, of the kernel's clock, of the meter, of another domain's UART.
const OWN: u32 = 4;
const CLOCK: u32 = 3;
const METER: u32 = 5;
const UART: u32 = 35;

static TIMER: AtomicU32 = AtomicU32::new(0);
static RUNS: AtomicU32 = AtomicU32::new(0);

cofferdam::entry!(main);
cofferdam::handler!(fired, serve);

fn serve() {
    let timer = TIMER.load(Relaxed);
    put(timer, 0);
    put(timer + 0xc, 1);
    let runs = RUNS.load(Relaxed);
    RUNS.store(runs + 1, Relaxed);
    if runs == 0 {
        put(ISPR, 1 << CLOCK | 1 << METER);
        put(ISPR + 4, 1 << (UART - 32));
        put(ICSR, 1 << 31);
        put(STIR, OWN);
        put(STIR, CLOCK);
        put(STIR, METER);
        put(STIR, UART);
    }
}

fn main(start: Start) -> u32 {
    let (Some(timer), Some(fired)) = (start.info.area("timer1"), Interrupt::named(start.info, "fired")) else {
        return 1;
    };
    TIMER.store(timer.base, Relaxed);
    put(timer.base + 0xc, 1);
    if fired.ack().is_err() {
        return 2;
    }
    put(timer.base + 8, 2_000);
    put(timer.base + 4, 2_000);
    put(timer.base, 9);
    let _ = sys::sleep_until(now() + 20_000);
    if RUNS.load(Relaxed) == 2 { 0 } else { 3 }
}
