//! Handlers that fail at once whenever their domain occupies Non-secure state: its line always asks for one.
//!
//! Names: device `uart1`, interrupt `fired` (handler `fired`), notification `events` (bit 0). Exit codes: 1 for what the manifest lacks; 2 if a call failed.
#![no_std]
#![no_main]

use core::arch::asm;

use cofferdam::{Interrupt, Notification, Start};
use direct_leaves::put;

cofferdam::entry!(main);
cofferdam::handler!(fired, serve);

fn serve() {
    // SAFETY: an attack.
    unsafe { asm!("udf #0", options(nomem, nostack)) }
}

fn main(start: Start) -> u32 {
    let info = start.info;
    let (Some(fired), Some(events), Some(uart)) =
        (Interrupt::named(info, "fired"), Notification::named(info, "events"), info.area("uart1"))
    else {
        return 1;
    };
    put(uart.base + 0x10, 16);
    put(uart.base + 0x8, 5);
    put(uart.base, u32::from(b'.'));
    // The request of the byte that was sent is never taken back: the kernel takes it each time.
    loop {
        if fired.ack().is_err() || events.wait(1).is_err() {
            return 2;
        }
    }
}
