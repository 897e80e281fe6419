//! A domain whose exceptions return in every way that there is: one combination of exception, EXC_RETURN and place in each of its lives. The argument of its
//! thread says which: the first in the lower half, and how many further the next one is in the upper half.
//!
//! Marks: 1: the combination of a life. Each ends in a fault: what the handlers have done, or, if that has had no effect, the thread's own. Exit codes: 0 when all
//! combinations were tried; 1 for what the manifest lacks; 2 if a call failed.
#![no_std]
#![no_main]

use core::arch::{asm, global_asm};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::hostile::undefined;
use cofferdam::{Interrupt, Start, now, sys};

global_asm!(include_str!("../returns.s"), options(raw));

unsafe extern "C" {
    fn fired();
    fn second();
}

/// Address of the timer.
#[unsafe(no_mangle)]
static TIMER: AtomicU32 = AtomicU32::new(0);
/// Kind of exception, the EXC_RETURN, and the place.
#[unsafe(no_mangle)]
static WHAT: [AtomicU32; 3] = [const { AtomicU32::new(0) }; 3];
/// How often handlers have come.
#[unsafe(no_mangle)]
static COUNT: AtomicU32 = AtomicU32::new(0);
/// Vectors of the handlers' own.
#[unsafe(no_mangle)]
static TABLE: Vectors = Vectors([const { AtomicU32::new(0) }; 64]);

#[repr(C, align(256))]
struct Vectors([AtomicU32; 64]);

/// A line, a line above it, PendSV_NS, SysTick_NS, SVC_NS.
const KINDS: u32 = 5;
/// The domain's thread, the kernel, a handler, and what others' threads do while its own sleeps: mostly a gate's call.
const PLACES: u32 = 4;
const OVER_KERNEL: u32 = 1;
const OVER_OTHERS: u32 = 3;
/// Each value of the low seven bits, and each other bit inverted alone in an EXC_RETURN as a handler finds it.
const LOW: u32 = 128;
const RETURNS: u32 = LOW + 32 - 7;
const FOUND: u32 = 0xffff_fff8;

/// Ticks until a look has come for certain, and until handlers have a capacity again.
const LOOK: u64 = 4_400;
const PERIOD: u64 = 44_000;

cofferdam::entry!(main);

fn put(offset: u32, value: u32) {
    // SAFETY: the timer is the domain's.
    unsafe { ((TIMER.load(Relaxed) + offset) as *mut u32).write_volatile(value) }
}

/// The EXC_RETURN of a number below [`RETURNS`].
fn exc_return(number: u32) -> u32 {
    if number < LOW { !(LOW - 1) | number } else { FOUND ^ 1 << (number - LOW + 7) }
}

/// Until then the thread computes, calls the kernel, or sleeps.
fn pass(until: u64, place: u32) {
    while now() < until {
        match place {
            OVER_KERNEL => {}
            OVER_OTHERS => {
                let _ = sys::sleep_until(until);
            }
            _ => {
                for _ in 0..1_000 {
                    // SAFETY: does nothing.
                    unsafe { asm!("nop", options(nomem, nostack)) };
                }
            }
        }
    }
}

fn main(start: Start) -> u32 {
    let (first, step) = (start.argument & 0xffff, start.argument >> 16);
    let combination = first + start.restarts * step;
    let (value, rest) = (exc_return(combination % RETURNS), combination / RETURNS);
    let (kind, place) = (rest % KINDS, rest / KINDS);
    if place >= PLACES {
        return 0;
    }
    let _ = sys::mark(1, combination);
    let (Some(timer), Some(line), Some(other)) =
        (start.info.area("timer1"), Interrupt::named(start.info, "fired"), Interrupt::named(start.info, "second"))
    else {
        return 1;
    };
    TIMER.store(timer.base, Relaxed);
    for (word, value) in WHAT.iter().zip([kind, value, place]) {
        word.store(value, Relaxed);
    }
    put(0x0, 0);
    put(0xc, 1);
    // Every 23 us, and from a phase of its own: no multiple of anything that the kernel does.
    put(0x8, 461);
    put(0x4, 461 + 7 * (combination % 64));
    if line.ack().is_err() || other.ack().is_err() {
        return 2;
    }
    put(0x0, 9);
    let begin = now();
    while COUNT.load(Relaxed) == 0 && now() < begin + PERIOD {
        pass(now() + 400, place);
    }
    pass(now() + LOOK, place);
    let _ = (fired as *const (), second as *const ());
    undefined()
}
