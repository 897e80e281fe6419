//! Reads all registers of Non-secure state when it is the first to occupy it, and again when `writes` has left something there.
//!
//! Names: device `uart1`, interrupt `fired` (handler `fired`), notification `events` (bit 0 the interrupt, bit 1 by `writes`), domain `writes`. Marks: a register's
//! number, or that and 100 for the second time, and its value. Exit codes: 0; 1 for what the manifest lacks; 2 if a call failed; 3 if a register is another the second time.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::{Domain, Interrupt, Notification, Start, handlers, sys};
use direct_leaves::{WORDS, dump, dumped, put};

/// A CMSDK UART (DDI 0479): it interrupts when it has sent a byte.
static UART: AtomicU32 = AtomicU32::new(0);

cofferdam::entry!(main);
cofferdam::handler!(fired, serve);

fn serve() {
    put(UART.load(Relaxed) + 0xc, 1);
    dump();
    handlers::wake();
}

fn main(start: Start) -> u32 {
    let info = start.info;
    let (Some(fired), Some(events), Some(uart), Some(writes)) = (
        Interrupt::named(info, "fired"),
        Notification::named(info, "events"),
        info.area("uart1"),
        Domain::named(info, "writes"),
    ) else {
        return 1;
    };
    UART.store(uart.base, Relaxed);
    put(uart.base + 0x10, 16);
    put(uart.base + 0x8, 5);
    let (mut first, mut same) = ([0; WORDS], true);
    for turn in 0..2 {
        put(uart.base + 0xc, 1);
        if fired.ack().is_err() {
            return 2;
        }
        put(uart.base, u32::from(b'.'));
        if events.wait(1).is_err() {
            return 2;
        }
        for (number, first) in first.iter_mut().enumerate() {
            let word = dumped(number);
            let _ = sys::mark(100 * turn + number as u32, word);
            same &= turn == 0 || word == *first;
            *first = word;
        }
        if turn == 0 && (writes.occupy().is_err() || events.wait(2).is_err()) {
            return 2;
        }
    }
    if same { 0 } else { 3 }
}
