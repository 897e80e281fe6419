//! A crowd: its threads all sleep until the same time, again and again. Others of it spend what one budget grants, so that they wait for
//! it together.
#![no_std]
#![no_main]

use cofferdam::{Start, now, sys};

cofferdam::entry!(sleeper);
cofferdam::thread!(crowd_sleep, sleeper);
cofferdam::thread!(crowd_spend, spender);

const ROUNDS: u32 = 40;
const PERIOD_TICKS: u64 = 50_000;
/// Turns of a loop, far more than the budget lasts.
const WORK: u32 = 20_000;

fn sleeper(_start: Start) -> u32 {
    for _ in 0..ROUNDS {
        if sys::sleep_until((now() / PERIOD_TICKS + 1) * PERIOD_TICKS).is_err() {
            return 1;
        }
    }
    0
}

fn spender(_start: Start) -> u32 {
    for turn in 0..WORK {
        core::hint::black_box(turn);
        if turn % 64 == 0 && sys::yield_now().is_err() {
            return 1;
        }
    }
    0
}
