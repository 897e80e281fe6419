//! One program for every domain of the suite of time and of the hunt: each of its threads performs a row of the constant file `acts`.
//! The thread's argument is the number of its row. `act.rs` lists the acts of a row.
//!
//! Names: file `acts`; gates `g0` to `g3`; notifications `n0` to `n3`; budget `b0`; domains `d0` to `d3`; area and interrupt `timer1`, which signals
//! `n0`; areas `heap` and `slow`, which `dirty` and `many` use. A row needs only the names that it uses.
#![no_std]
#![no_main]

mod act;
mod orders;
mod perform;
mod work;

use cofferdam::{Error, Start, hostile};
use work::work;

cofferdam::entry!(main);
cofferdam::thread!(player_thread, main);
cofferdam::gate!(player_gate, serve);

/// Exit code of a thread without a row, or whose row is wrong.
const NO_ROW: u32 = 2;

fn main(start: Start) -> u32 {
    let Some(row) = act::row(start.info, start.argument) else { return NO_ROW };
    perform::perform(start.info, &row)
}

fn serve(_badge: u32, order: u32, ticks: u32, _unused: u32) -> Result<u32, Error> {
    work(ticks);
    match order {
        orders::STAY => loop {
            work(u32::MAX);
        },
        orders::FAULT => hostile::undefined(),
        _ => Ok(0),
    }
}
