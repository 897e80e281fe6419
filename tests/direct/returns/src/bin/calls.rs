//! Calls a gate all the time, and sees that each answer is right.
//!
//! Names: gate `mix`. A wrong answer ends in a fault; exit code 1 for what the manifest lacks.
#![no_std]
#![no_main]

use cofferdam::hostile::undefined;
use cofferdam::{Gate, Start};

cofferdam::entry!(main);

const ROUNDS: u32 = 400;

fn main(start: Start) -> u32 {
    let Some(mix) = Gate::named(start.info, "mix") else { return 1 };
    let mut seed = 1;
    loop {
        let right = (0..ROUNDS).fold(seed, |state: u32, round| state.rotate_left(5).wrapping_mul(0x9e37_79b1) ^ round);
        if mix.call(seed, 0, 0) != Ok(right) {
            undefined();
        }
        seed = right | 1;
    }
}
