//! The smallest domain: says who and where it is, and ends.
#![no_std]
#![no_main]

use cofferdam::{Start, println};

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    let info = start.info;
    println!("hello from domain {} ({})", info.domain(), info.name());
    for (name, area) in info.areas() {
        println!("area {name}: {} bytes at {:#010x}", area.bytes, area.base);
    }
    println!("{} ticks since boot", cofferdam::now());
    0
}
