//! A hostile domain beside the motor: it has its UART interrupt as often as it can, makes calls that are refused, and stores to the motor's register at last.
//!
//! Names: device `uart1`, interrupt `sent`, notification `storm` (bit 0). It ends by the fault of that store.
#![no_std]
#![no_main]

use cofferdam::hostile::undefined;
use cofferdam::{Interrupt, Notification, Start, sys};

/// Registers of the UART (CMSDK APB UART, DDI 0479), by their offsets.
mod register {
    pub const DATA: u32 = 0x0;
    pub const CONTROL: u32 = 0x8;
    pub const CLEAR: u32 = 0xc;
    pub const DIVIDER: u32 = 0x10;
}

/// Transmit, with an interrupt for each byte.
const ENABLED: u32 = 5;
const SENT: u32 = 1;
const SHORTEST_DIVIDER: u32 = 16;
const ROUNDS: u32 = 400;
/// LEDs of the board, at their Secure address (AN505, FPGAIO).
const LEDS: u32 = 0x5030_2000;

cofferdam::entry!(main);

fn put(register: u32, value: u32) {
    // SAFETY: the UART is the domain's; anything else is an attack.
    unsafe { (register as *mut u32).write_volatile(value) }
}

fn main(start: Start) -> u32 {
    let (Some(uart), Some(sent), Some(storm)) = (
        start.info.area("uart1").map(|area| area.base),
        Interrupt::named(start.info, "sent"),
        Notification::named(start.info, "storm"),
    ) else {
        return 1;
    };
    put(uart + register::DIVIDER, SHORTEST_DIVIDER);
    put(uart + register::CONTROL, ENABLED);
    for round in 0..ROUNDS {
        put(uart + register::DATA, round);
        let _ = (sent.ack(), storm.wait(1));
        put(uart + register::CLEAR, SENT);
        for _ in 0..8 {
            let _ = sys::mark(u32::MAX, round);
        }
    }
    put(LEDS, 0);
    undefined()
}
