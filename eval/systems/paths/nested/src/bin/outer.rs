//! A gate that copies what its caller offers, calls another gate, and copies back.
//! Names: gate `inner`.
#![no_std]
#![no_main]

use cofferdam::{Error, Gate, Start, info, sys};

cofferdam::entry!(main);
cofferdam::gate!(outer_pass, pass);

/// Only its gate is of use, which is there for as long as a thread of the domain lives.
fn main(_start: Start) -> u32 {
    while sys::sleep_until(u64::MAX).is_ok() {}
    1
}

fn pass(_badge: u32, address: u32, bytes: u32, value: u32) -> Result<u32, Error> {
    let mut buffer = [0_u8; 64];
    let part = buffer.get_mut(..bytes as usize).ok_or(Error::BadArgument)?;
    sys::gate_copy_in(part, address)?;
    let inner = info().and_then(|info| Gate::named(info, "inner")).ok_or(Error::BadHandle)?;
    let answer = inner.call(value, 0, 0)?;
    sys::gate_copy_out(address, part)?;
    Ok(answer)
}
