//! Reads the memory that it begins with, and prints how many words of each area are not zero: of its heap, its arena, what it shares, and its stack below what it
//! uses itself. Simulated memories hold anything when power comes.
#![no_std]
#![no_main]

use core::fmt::Write;

use cofferdam::{Area, Console, Start};

cofferdam::entry!(main);

/// Bytes of its stack that it uses at most.
const OWN_STACK: u32 = 2048;

/// Words of a range that are not zero.
fn written(base: u32, bytes: u32) -> usize {
    // SAFETY: words of an area of its own.
    (base..base + bytes).step_by(4).filter(|at| unsafe { (*at as *const u32).read_volatile() } != 0).count()
}

fn main(start: Start) -> u32 {
    let mut console = Console::new();
    for (name, Area { base, bytes, .. }) in start.info.areas() {
        let bytes = match name {
            "code" | "data" => continue,
            "stack" => bytes - OWN_STACK,
            _ => bytes,
        };
        let _ = writeln!(console, "{name}: {} of {} words", written(base, bytes), bytes / 4);
    }
    0
}
