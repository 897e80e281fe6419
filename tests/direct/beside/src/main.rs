//! Computes while handlers of another domain interrupt it: twice the same, and nothing that it has in registers or in memory may differ. Time, which it asks
//! the kernel for, does not go back.
//!
//! Exit codes: 0; 1 if something differed; 2 if time went back.
#![no_std]
#![no_main]

use cofferdam::{Start, now};

const WORDS: usize = 256;
const MILLISECONDS: u64 = 300;

cofferdam::entry!(main);

/// Fills the words from a seed, and mixes all of them.
#[inline(never)]
fn mixed(words: &mut [u32; WORDS], seed: u32) -> [u32; 8] {
    let mut state = [seed, seed ^ 1, seed ^ 2, seed ^ 3, seed ^ 4, seed ^ 5, seed ^ 6, seed ^ 7];
    for (index, word) in words.iter_mut().enumerate() {
        let at = index % 8;
        state[at] = state[at].rotate_left(5).wrapping_mul(0x9e37_79b1) ^ state[(at + 1) % 8];
        *word = state[at];
    }
    for (index, word) in words.iter().enumerate() {
        state[index % 8] = state[index % 8].wrapping_add(*word).rotate_left(7);
    }
    state
}

fn main(start: Start) -> u32 {
    let end = now() + MILLISECONDS * u64::from(start.info.ticks_per_second()) / 1_000;
    let (mut first, mut second) = ([0; WORDS], [0; WORDS]);
    let mut seed = 1;
    let mut last = 0;
    while last < end {
        let time = now();
        if time < last {
            return 2;
        }
        last = time;
        if mixed(&mut first, seed) != mixed(&mut second, seed) || first != second {
            return 1;
        }
        seed += 1;
    }
    0
}
