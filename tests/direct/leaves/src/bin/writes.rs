//! Writes into all registers of Non-secure state and fails; in its next life reads them, writes again, and has `reads` occupy that state.
//!
//! Names: device `timer1`, interrupt `fired` (handler `fired`), notification `events` (bit 0), `turn` (bit 1 of the other's), domain `reads`. Marks: a register's number, and its
//! value. Exit codes: 1 for what the manifest lacks; 2 if a call failed.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::hostile::undefined;
use cofferdam::{Domain, Interrupt, Notification, Start, handlers, sys};
use direct_leaves::{COMMON, dump, dumped, leave, put};

/// A CMSDK timer (DDI 0479).
static TIMER: AtomicU32 = AtomicU32::new(0);
static RUNS: AtomicU32 = AtomicU32::new(0);

cofferdam::entry!(main);
cofferdam::handler!(fired, serve);

fn serve() {
    let timer = TIMER.load(Relaxed);
    put(timer, 0);
    put(timer + 0xc, 1);
    RUNS.store(1, Relaxed);
    dump();
    leave();
    handlers::wake();
}

fn main(start: Start) -> u32 {
    let info = start.info;
    let (Some(fired), Some(events), Some(turn), Some(timer), Some(reads)) = (
        Interrupt::named(info, "fired"),
        Notification::named(info, "events"),
        Notification::named(info, "turn"),
        info.area("timer1"),
        Domain::named(info, "reads"),
    ) else {
        return 1;
    };
    TIMER.store(timer.base, Relaxed);
    // Until the handler is reached: while the other occupies, the kernel takes the interrupt.
    while RUNS.load(Relaxed) == 0 {
        put(timer.base, 0);
        put(timer.base + 0xc, 1);
        if fired.ack().is_err() {
            return 2;
        }
        put(timer.base + 8, 2_000);
        put(timer.base + 4, 2_000);
        put(timer.base, 9);
        if events.wait(1).is_err() {
            return 2;
        }
    }
    if start.restarts == 0 {
        undefined();
    }
    if reads.occupy().is_err() || turn.signal(2).is_err() {
        return 2;
    }
    for number in 0..COMMON {
        let _ = sys::mark(number as u32, dumped(number));
    }
    let _ = sys::sleep_until(u64::MAX);
    2
}
