//! A thread of another domain that loads from the statics of one with handlers (tests/direct/matrix.toml). It ends by the fault of that.
#![no_std]
#![no_main]

use cofferdam::hostile::undefined;
use cofferdam::{Start, sys};

/// The statics of `matrix`, at their Non-secure and at their Secure address.
const STATICS: [u32; 2] = [0x2802_0000, 0x3802_0000];

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    let Some(address) = STATICS.get(start.restarts as usize) else { return 0 };
    // SAFETY: ends in a fault.
    unsafe { (*address as *const u32).read_volatile() };
    let _ = sys::mark(2, 0);
    undefined()
}
