//! Calls the kernel all the time: a gate of another domain, marks, yields, refused calls, and an interrupt that the kernel delivers as often as it can.
//!
//! Names: gate `add`, device `uart1`, interrupt `sent`, notification `storm` (bit 0).
#![no_std]
#![no_main]

use cofferdam::{Gate, Interrupt, Notification, Start, sys};

/// Registers of the UART (CMSDK APB UART, DDI 0479), by their offsets.
mod register {
    pub const DATA: u32 = 0x0;
    pub const CONTROL: u32 = 0x8;
    pub const CLEAR: u32 = 0xc;
    pub const DIVIDER: u32 = 0x10;
}

cofferdam::entry!(main);

fn put(register: u32, value: u32) {
    // SAFETY: a register of this domain's UART.
    unsafe { (register as *mut u32).write_volatile(value) }
}

fn main(start: Start) -> u32 {
    let info = start.info;
    let (Some(add), Some(uart), Some(sent), Some(storm)) = (
        Gate::named(info, "add"),
        info.area("uart1").map(|area| area.base),
        Interrupt::named(info, "sent"),
        Notification::named(info, "storm"),
    ) else {
        return 1;
    };
    put(uart + register::DIVIDER, 16);
    put(uart + register::CONTROL, 5);
    loop {
        for round in 0..8 {
            let _ = (add.call(round, 0, 0), sys::yield_now(), sys::mark(u32::MAX, round));
        }
        put(uart + register::DATA, 0);
        let _ = (sent.ack(), storm.wait(1));
        put(uart + register::CLEAR, 1);
    }
}
