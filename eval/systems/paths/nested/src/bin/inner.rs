//! The gate inside the gate.
#![no_std]
#![no_main]

use cofferdam::{Error, Start, sys};

cofferdam::entry!(main);
cofferdam::gate!(inner_add, add);

/// Only its gate is of use, which is there for as long as a thread of the domain lives.
fn main(_start: Start) -> u32 {
    while sys::sleep_until(u64::MAX).is_ok() {}
    1
}

fn add(_badge: u32, value: u32, _: u32, _: u32) -> Result<u32, Error> {
    Ok(value.wrapping_add(1))
}
