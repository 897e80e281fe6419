//! A hostile domain beside the motor: it has its UART interrupt as often as it can, makes calls that are refused, and asks for the state in which handlers
//! run. When the motor lends it, its handler sends as fast as the UART does, and stores to the motor's register at last.
//!
//! Names: device `uart1`, interrupt `sent` (handler `flood`), notification `storm` (bit 0), domain `motor`. It ends by the fault of that store. Exit codes: 1 for
//! what the manifest lacks; 2 if a refusal did not come.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::{Domain, Interrupt, Notification, Start, sys};

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
/// Interrupts of the handler before it attacks.
const QUIET: u32 = 20;
/// LEDs of the board, at their Non-secure address (AN505, FPGAIO).
const LEDS: u32 = 0x4030_2000;

static UART: AtomicU32 = AtomicU32::new(0);
static COUNT: AtomicU32 = AtomicU32::new(0);

cofferdam::entry!(main);
cofferdam::handler!(flood, serve);

fn put(register: u32, value: u32) {
    // SAFETY: the UART is the domain's; anything else is an attack.
    unsafe { (register as *mut u32).write_volatile(value) }
}

/// The handler.
fn serve() {
    let (uart, count) = (UART.load(Relaxed), COUNT.load(Relaxed) + 1);
    COUNT.store(count, Relaxed);
    put(uart + register::CLEAR, SENT);
    put(uart + register::DATA, count);
    if count > QUIET {
        put(LEDS, 0);
    }
}

fn main(start: Start) -> u32 {
    let info = start.info;
    let (Some(uart), Some(sent), Some(storm), Some(motor)) = (
        info.area("uart1").map(|area| area.base),
        Interrupt::named(info, "sent"),
        Notification::named(info, "storm"),
        Domain::named(info, "motor"),
    ) else {
        return 1;
    };
    UART.store(uart, Relaxed);
    put(uart + register::DIVIDER, SHORTEST_DIVIDER);
    put(uart + register::CONTROL, ENABLED);
    for round in 0.. {
        put(uart + register::DATA, round);
        let _ = (sent.ack(), storm.wait(1));
        put(uart + register::CLEAR, SENT);
        for _ in 0..8 {
            let _ = sys::mark(u32::MAX, round);
        }
        if motor.occupy().is_ok() {
            return 2;
        }
    }
    0
}
