//! A service without a thread of its own to speak of, whose gate computes for some microseconds.
#![no_std]
#![no_main]

use cofferdam::{Error, Start, sys};

cofferdam::entry!(main);
cofferdam::gate!(serves_mix, mix);

const ROUNDS: u32 = 400;

/// A number that the client computes, too.
fn mix(_badge: u32, seed: u32, _b: u32, _c: u32) -> Result<u32, Error> {
    Ok((0..ROUNDS)
        .fold(seed, |state, round| core::hint::black_box(state.rotate_left(5).wrapping_mul(0x9e37_79b1) ^ round)))
}

fn main(_start: Start) -> u32 {
    let _ = sys::sleep_until(u64::MAX);
    1
}
