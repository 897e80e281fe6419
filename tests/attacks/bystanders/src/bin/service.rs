//! A service that takes requests from anybody: through a gate that copies the caller's bytes, and from shared memory that the
//! sender can change at any moment.
//! Names: area `requests`.
#![no_std]
#![no_main]

use core::cell::UnsafeCell;

use cofferdam::{Error, Start, now, shared, sys};

cofferdam::entry!(main);
cofferdam::gate!(service_take, take);
cofferdam::gate!(service_long, long);

const BUFFER_BYTES: u32 = 64;
/// Words that a request in shared memory may have.
const MOST_WORDS: u32 = 16;
const TICKS_PER_MS: u64 = 25_000;

/// Memory that the gate and nobody else uses.
struct Buffer(UnsafeCell<[u8; BUFFER_BYTES as usize]>);

// SAFETY: one caller at a time is in the gate.
unsafe impl Sync for Buffer {}

static BUFFER: Buffer = Buffer(UnsafeCell::new([0; BUFFER_BYTES as usize]));

/// Copies what the caller offers; returns where it is now, which is no secret.
fn take(_badge: u32, address: u32, bytes: u32, _unused: u32) -> Result<u32, Error> {
    if bytes > BUFFER_BYTES {
        return Err(Error::BadArgument);
    }
    // SAFETY: one caller at a time is in the gate.
    let buffer = unsafe { &mut *BUFFER.0.get() };
    sys::gate_copy_in(&mut buffer[..bytes as usize], address)?;
    Ok(buffer.as_ptr() as u32)
}

/// A gate that may take long; it takes nothing, and answers with a word in the caller's memory if it is told where.
fn long(_badge: u32, answer: u32, _b: u32, _c: u32) -> Result<u32, Error> {
    if answer != 0 {
        sys::gate_copy_out(answer, &[0; 4])?;
    }
    Ok(0)
}

fn main(start: Start) -> u32 {
    let Some(requests) = shared(start.info, "requests") else { return 1 };
    let mut words = [0_u32; MOST_WORDS as usize];
    loop {
        for _ in 0..400 {
            // The sender may change it at any moment: what was checked is what is used.
            let count = requests.read(0);
            if count > MOST_WORDS {
                continue;
            }
            for index in 0..count {
                words[index as usize] = requests.read(1 + index as usize);
            }
            core::hint::black_box(&words);
        }
        if sys::sleep_until(now() + TICKS_PER_MS / 4).is_err() {
            return 2;
        }
    }
}
