//! Has a gate that adds one.
//!
//! Names: gate `add`, its own; notification `never` (nobody signals it).
#![no_std]
#![no_main]

use cofferdam::{Error, Notification, Start};

cofferdam::entry!(main);
cofferdam::gate!(bench_add, add);

fn add(_badge: u32, value: u32, _: u32, _: u32) -> Result<u32, Error> {
    Ok(value.wrapping_add(1))
}

fn main(start: Start) -> u32 {
    Notification::named(start.info, "never").map_or(1, |never| u32::from(never.wait(1).is_err()))
}
