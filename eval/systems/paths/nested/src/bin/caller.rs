//! Calls a gate that calls another one, with a buffer that the first copies from and back.
//! Names: gate `outer`, budget `budget`.
#![no_std]
#![no_main]

use cofferdam::{Gate, Start, now, sys};

cofferdam::entry!(main);

const ROUNDS: u32 = 200;
const PAUSE_TICKS: u64 = 9_973;

fn main(start: Start) -> u32 {
    let Some(outer) = Gate::named(start.info, "outer") else { return 1 };
    let buffer = [0x5a_u8; 64];
    for round in 0..ROUNDS {
        let called = outer.call(buffer.as_ptr() as u32, buffer.len() as u32, round);
        // The bound of both gates may be more than what the budget has left: then it waits.
        if called != Ok(round + 1) {
            return 2;
        }
        if round % 8 == 0 && sys::sleep_until(now() + PAUSE_TICKS).is_err() {
            return 3;
        }
    }
    0
}
