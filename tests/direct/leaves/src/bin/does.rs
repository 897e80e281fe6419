//! Does something that a look would find, in a different way in each life, and has `next` occupy Non-secure state before a look comes.
//!
//! Names: device `timer1`, interrupt `fired` (handler `fired`), notification `events` (bit 0), domains `own` and `next`. Exit codes: 0 after all deeds; 1 for what the
//! manifest lacks; 2 if a call failed; 3 if it was not stopped.
#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::{Domain, Interrupt, Notification, Start, handlers, now, sys};
use direct_leaves::{get, put};

const CYCCNT: u32 = 0xe000_1004;
/// Deeds: the first ones store a value to a register, the others set masks.
const DEEDS: u32 = 10;
/// DWT: FUNCTION0, CTRL, COMP0 (the comparator), CYCCNT (back); DEMCR; SHCSR: an exception is active; SCR: SLEEPONEXIT.
static STORES: [AtomicU32; 14] = [
    AtomicU32::new(0xe000_1028),
    AtomicU32::new(0),
    AtomicU32::new(0xe000_1000),
    AtomicU32::new(0),
    AtomicU32::new(0xe000_1020),
    AtomicU32::new(5),
    AtomicU32::new(CYCCNT),
    AtomicU32::new(0),
    AtomicU32::new(0xe000_edfc),
    AtomicU32::new(0),
    AtomicU32::new(0xe000_ed24),
    AtomicU32::new(1 << 11),
    AtomicU32::new(0xe000_ed10),
    AtomicU32::new(1 << 1),
];

static TIMER: AtomicU32 = AtomicU32::new(0);
static DEED: AtomicU32 = AtomicU32::new(0);
static RUNS: AtomicU32 = AtomicU32::new(0);

cofferdam::entry!(main);
cofferdam::handler!(fired, serve);

fn serve() {
    let timer = TIMER.load(Relaxed);
    put(timer, 0);
    put(timer + 0xc, 1);
    RUNS.store(1, Relaxed);
    let deed = DEED.load(Relaxed);
    // SAFETY: attacks.
    if deed == 7 {
        unsafe { asm!("cpsid i", options(nomem, nostack)) }
    } else if deed == 8 {
        unsafe { asm!("msr basepri, {0}", in(reg) 0x20, options(nomem, nostack)) }
    } else if deed == 9 {
        // The count runs ahead.
        put(CYCCNT, get(CYCCNT).wrapping_add(1 << 29));
    } else if let Some(pair) = STORES.chunks_exact(2).nth(deed as usize) {
        put(pair[0].load(Relaxed), pair[1].load(Relaxed));
    }
    handlers::wake();
}

fn main(start: Start) -> u32 {
    let life = u32::from(start.restarts);
    if life == DEEDS {
        return 0;
    }
    let info = start.info;
    let (Some(fired), Some(events), Some(timer), Some(own), Some(next)) = (
        Interrupt::named(info, "fired"),
        Notification::named(info, "events"),
        info.area("timer1"),
        Domain::named(info, "own"),
        Domain::named(info, "next"),
    ) else {
        return 1;
    };
    TIMER.store(timer.base, Relaxed);
    DEED.store(life, Relaxed);
    put(timer.base, 0);
    put(timer.base + 0xc, 1);
    if own.occupy().is_err() || fired.ack().is_err() {
        return 2;
    }
    put(timer.base + 8, 2_000);
    put(timer.base + 4, 2_000);
    put(timer.base, 9);
    let _ = events.wait(1);
    let _ = next.occupy();
    // Who is blamed now is blamed rightly or not.
    let _ = sys::sleep_until(now() + 40_000);
    3
}
