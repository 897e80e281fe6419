//! A periodic victim with paged memory: it changes every page of its heap in each period and looks whether anybody else did.
//! It ends after a fixed number of periods.
#![no_std]
#![no_main]

use cofferdam::{Start, println, sys};

/// Periods for which it runs: longer than the attack.
const PERIODS: u32 = 1500;
/// Periods in which the last line is printed.
const PRINTING: u32 = 30;
/// One word of each so many bytes is looked at.
const STRIDE: u32 = 1024;

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    let (base, bytes) = start.info.heap();
    let word = |offset: u32| (base + offset) as *mut u32;
    for period in 0..PERIODS {
        for offset in (0..bytes).step_by(STRIDE as usize) {
            // SAFETY: the heap is this domain's own, and `offset` lies in it.
            let was = unsafe { word(offset).replace(period + offset) };
            if period > 0 && was != period - 1 + offset {
                println!("period {period}: {was:#x} at {:#010x}", base + offset);
                return 1;
            }
        }
        if sys::wait_period().is_err() {
            return 2;
        }
    }
    println!("{PERIODS} periods, every word as it was left");
    // The run ends with this thread; the console needs a moment.
    if (0..PRINTING).all(|_| sys::wait_period().is_ok()) { 0 } else { 3 }
}
