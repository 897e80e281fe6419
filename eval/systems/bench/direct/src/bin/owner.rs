//! A domain with a handler that its device reaches as often as it can while the domain occupies Non-secure state; the kernel takes its interrupts otherwise.
//!
//! Names: device `timer1` or `uart1`, interrupt `fired` (handler `bench_owned`), notification `woken` (bit 0). Exit codes: 1 for what the manifest lacks; 2 if a
//! call failed.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::{Interrupt, Notification, Start, handlers};

/// Offset at which both devices end an interrupt (CMSDK APB timer and UART, DDI 0479).
const CLEAR: u32 = 0xc;

static DEVICE: AtomicU32 = AtomicU32::new(0);

cofferdam::entry!(main);
cofferdam::handler!(bench_owned, serve);

fn put(register: u32, value: u32) {
    // SAFETY: a register of the domain's device.
    unsafe { (register as *mut u32).write_volatile(value) }
}

fn serve() {
    put(DEVICE.load(Relaxed) + CLEAR, 1);
    handlers::wake();
}

fn main(start: Start) -> u32 {
    let info = start.info;
    let (Some(fired), Some(woken)) = (Interrupt::named(info, "fired"), Notification::named(info, "woken")) else {
        return 1;
    };
    let (timer, uart) = (info.area("timer1").map(|area| area.base), info.area("uart1").map(|area| area.base));
    let Some(device) = timer.or(uart) else { return 1 };
    DEVICE.store(device, Relaxed);
    // Reload and control of the one, divider and control of the other.
    match timer {
        Some(timer) => [(0x8, 10_000), (0x0, 9)].iter().for_each(|(offset, value)| put(timer + offset, *value)),
        None => [(0x10, 100), (0x8, 5)].iter().for_each(|(offset, value)| put(device + offset, *value)),
    }
    loop {
        if timer.is_none() {
            put(device, 0);
        }
        if fired.ack().is_err() || woken.wait(1).is_err() {
            return 2;
        }
        put(device + CLEAR, 1);
    }
}
