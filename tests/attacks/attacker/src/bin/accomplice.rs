//! Does what the attacker asks with the memory that both have: its gate writes a word, or only reads it.
#![no_std]
#![no_main]

use cofferdam::{Error, Start, sys};

cofferdam::entry!(main);
cofferdam::gate!(accomplice_touch, touch);

fn main(_: Start) -> u32 {
    // Only its gate is of use.
    loop {
        let _ = sys::sleep_until(u64::MAX);
    }
}

/// Returns the word at an address, after storing `value` there if that is not 0. Address 0 asks for nothing.
fn touch(_badge: u32, address: u32, value: u32, _unused: u32) -> Result<u32, Error> {
    if address == 0 {
        return Ok(0);
    }
    let word = address as *mut u32;
    // SAFETY: there is none; what is not this domain's faults.
    unsafe {
        if value != 0 {
            word.write_volatile(value);
        }
        Ok(word.read_volatile())
    }
}
