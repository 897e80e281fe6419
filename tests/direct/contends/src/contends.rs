//! A domain whose handler is reached while the domain occupies Non-secure state; the kernel takes its interrupts otherwise. It attacks the other domain of
//! its kind, in a different way in each life. A life ends in a fault: the handler's, or the thread's own when its interrupts have come as they must.
//!
//! Names: device `timer1` or `uart1`, interrupt `fired` (handler `fired`), notification `events` (bit 0). Marks: 1: a life, its number; 2: how
//! often the handler has run in a life that has ended well. Exit codes: 1 for what the manifest lacks; 2 if a call failed.
#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::hostile::undefined;
use cofferdam::{Interrupt, Notification, Start, handlers, sys};

/// A CMSDK timer, and a UART, which interrupts when it has sent a byte (DDI 0479): offsets of registers, and what is written there.
const TIMER: Registers = Registers { rate: (0x8, 6_100), control: (0x0, 9), clear: 0xc, send: None };
const UART: Registers = Registers { rate: (0x10, 16), control: (0x8, 5), clear: 0xc, send: Some(0x0) };

/// Registers of the core that are Non-secure state's own, as its code finds them (DDI 0553 D1.2).
const SYST_CSR: u32 = 0xe000_e010;
const SYST_RVR: u32 = 0xe000_e014;
const VTOR: u32 = 0xe000_ed08;
const BLOCK: u32 = 1024;

/// Interrupts in a life.
const TIMES: u32 = 40;
/// Attacks begin with this one.
const FIRST: u32 = 3;
/// One attack in each life: the second word says where the other domain is, in blocks from what is its own.
const LIVES: u32 = 7;

#[derive(Clone, Copy)]
struct Registers {
    rate: (u32, u32),
    control: (u32, u32),
    clear: u32,
    send: Option<u32>,
}

/// Address of the register that ends an interrupt, and of the one that the handler attacks.
static CLEAR: AtomicU32 = AtomicU32::new(0);
static COUNT: AtomicU32 = AtomicU32::new(0);
static LIFE: AtomicU32 = AtomicU32::new(0);
/// Blocks to the other's data and code, as a signed number.
static OTHER: AtomicU32 = AtomicU32::new(0);

cofferdam::entry!(main);
cofferdam::handler!(fired, serve);

fn put(address: u32, value: u32) {
    // SAFETY: the domain's device, or an attack.
    unsafe { (address as *mut u32).write_volatile(value) }
}

fn get(address: u32) -> u32 {
    // SAFETY: as above.
    unsafe { (address as *const u32).read_volatile() }
}

fn serve() {
    put(CLEAR.load(Relaxed), 1);
    let count = COUNT.load(Relaxed) + 1;
    COUNT.store(count, Relaxed);
    if count >= FIRST {
        attack(LIFE.load(Relaxed));
    }
    handlers::wake();
}

fn attack(life: u32) {
    let other = OTHER.load(Relaxed);
    match life {
        // The other's data.
        1 => drop(get(((&raw const COUNT).addr() as u32 & !(BLOCK - 1)).wrapping_add(other.wrapping_mul(BLOCK)))),
        2 => put(((&raw const COUNT).addr() as u32 & !(BLOCK - 1)).wrapping_add(other.wrapping_mul(BLOCK)), 0),
        // The other's code.
        3 => {
            let there = (get(VTOR) & !(BLOCK - 1)).wrapping_add(other.wrapping_mul(BLOCK));
            // SAFETY: an attack.
            unsafe { asm!("bx {0}", in(reg) there | 1, options(noreturn)) }
        }
        // A timer of this state that goes on for the next occupant.
        4 => {
            put(SYST_RVR, 900_000);
            put(SYST_CSR, 7);
        }
        // Masks.
        // SAFETY: an attack.
        5 => unsafe { asm!("cpsid i", options(nomem, nostack)) },
        // No end.
        6 => loop {},
        _ => {}
    }
}

fn main(start: Start) -> u32 {
    let life = u32::from(start.restarts);
    let _ = sys::mark(1, life);
    let info = start.info;
    let (Some(fired), Some(events)) = (Interrupt::named(info, "fired"), Notification::named(info, "events")) else {
        return 1;
    };
    let (base, registers, other) = match (info.area("timer1"), info.area("uart1")) {
        (Some(timer), None) => (timer.base, TIMER, 1),
        (None, Some(uart)) => (uart.base, UART, u32::MAX),
        _ => return 1,
    };
    CLEAR.store(base + registers.clear, Relaxed);
    OTHER.store(other, Relaxed);
    LIFE.store(life, Relaxed);
    let Registers { rate, control, clear, send } = registers;
    put(base + rate.0, rate.1);
    put(base + clear, 1);
    if fired.ack().is_err() {
        return 2;
    }
    put(base + control.0, control.1);
    let mut times = 0;
    while times < TIMES || COUNT.load(Relaxed) < FIRST || life >= LIVES {
        if let Some(register) = send {
            put(base + register, u32::from(b'.'));
        }
        if events.wait(1).is_err() {
            return 2;
        }
        times += 1;
        // The handler has done it, if it was reached.
        put(base + clear, 1);
        if fired.ack().is_err() {
            return 2;
        }
    }
    let _ = sys::mark(2, COUNT.load(Relaxed));
    undefined()
}
