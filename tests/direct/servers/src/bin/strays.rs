//! A thread that goes to Non-secure code by itself, again and again, in the place of handlers of another domain, which never run. Each time it leaves a frame on
//! its stack as if a handler had interrupted it, so that it comes back. Looks of the meter meet it there; no time of handlers is charged for it. With an argument
//! other than 0 it goes on without an end, and reads nothing.
//!
//! Names: `handlers` is the time of the other's handlers. Exit codes: 0; 1 for what the manifest lacks; 2 if something is charged; 3 if it cannot be read.
#![no_std]
#![no_main]

use core::arch::global_asm;

use cofferdam::{Budget, Start};

/// Ticks, as the manifest has them.
const CAPACITY: u32 = 20_000;
const ROUNDS: u32 = 400;
/// Times in a round, which takes no longer than a period of the handlers.
const TIMES: u32 = 25;

global_asm!(include_str!("../../../hostile/src/goes.s"), options(raw));

unsafe extern "C" {
    fn goes_often(code: u32, times: u32);
}

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    while start.argument != 0 {
        // SAFETY: see below.
        unsafe { goes_often(0, TIMES) };
    }
    let Some(handlers) = Budget::named(start.info, "handlers") else { return 1 };
    for _ in 0..ROUNDS {
        // SAFETY: it keeps to the calling convention, and each fault leads back to it. Nothing is executed at the address.
        unsafe { goes_often(0, TIMES) };
        match handlers.left() {
            Ok((CAPACITY, _)) => {}
            Ok(_) => return 2,
            Err(_) => return 3,
        }
    }
    0
}
