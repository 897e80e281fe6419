//! Honest handlers of a domain that occupies Non-secure state after a hostile one. A byte is sent every 300 us or so.
//!
//! Names: device `uart1`, interrupt `fired` (handler `fired`), notification `events` (bit 0). Exit codes: 1 for what the manifest lacks; 2 if a call failed.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::{Interrupt, Notification, Start, handlers, now, sys};
use direct_leaves::put;

static UART: AtomicU32 = AtomicU32::new(0);

cofferdam::entry!(main);
cofferdam::handler!(fired, serve);

fn serve() {
    put(UART.load(Relaxed) + 0xc, 1);
    handlers::wake();
}

fn main(start: Start) -> u32 {
    let info = start.info;
    let (Some(fired), Some(events), Some(uart)) =
        (Interrupt::named(info, "fired"), Notification::named(info, "events"), info.area("uart1"))
    else {
        return 1;
    };
    UART.store(uart.base, Relaxed);
    put(uart.base + 0x10, 16);
    put(uart.base + 0x8, 5);
    loop {
        put(uart.base + 0xc, 1);
        if fired.ack().is_err() {
            return 2;
        }
        put(uart.base, u32::from(b'.'));
        if events.wait(1).is_err() {
            return 2;
        }
        let _ = sys::sleep_until(now() + 6_000);
    }
}
