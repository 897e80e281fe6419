//! The memory manager: a domain like any other, which holds frames and the domains of its clients as capabilities.
//!
//! Clients send one message of 64 bytes (`manager::wire`) through the gate `memory_request(badge,
//! message)`. The crate `manager` decides, with the ledger that the host has handed over; this
//! program copies the message in and out and performs the kernel calls. The calling thread migrates
//! here, so that the client pays for all of it, scrubbing included.
//!
//! It is the same program on chips with region registers and with page tables: the ledger describes
//! the platform.
//!
//! A domain that may call the gate is a client when the manager holds a capability for it under its name. A gate with bit 31 of
//! the badge set belongs to a supervisor, which may reclaim what other domains hold.
//!
//! Names: the area `ledger` (what the host hands over); a capability of kind frames for each pool in it, under the pool's name;
//! a capability of kind domain for each client; a notification `idle`, which is never signalled.
#![no_std]
#![no_main]

mod kernel;
mod state;

use core::fmt::Write;

use cofferdam::abi::COPY_MAX_BYTES;
use cofferdam::{Console, Error, Notification, Start, sys};
use manager::wire::{MESSAGE_BYTES, MESSAGE_WORDS, Message};
use state::State;

const _: () = assert!(MESSAGE_BYTES == COPY_MAX_BYTES as usize);

static STATE: State = State::new();

cofferdam::entry!(main);
cofferdam::gate!(memory_request, serve);

/// A message in one page, whose words can be copied.
#[repr(align(64))]
struct Aligned([u8; MESSAGE_BYTES]);

/// Serves the request in the 64 bytes at `message` of the client's memory and puts the answer there.
///
/// Errors: `BAD_STATE` (the manager has not started), `BAD_ADDRESS` (the message), `BAD_ARGUMENT` (no client, or no request), and what
/// the kernel refuses.
fn serve(badge: u32, message: u32, _unused: u32, _unused_too: u32) -> Result<u32, Error> {
    let mut aligned = Aligned([0; MESSAGE_BYTES]);
    let Aligned(bytes) = &mut aligned;
    sys::gate_copy_in(bytes, message)?;
    // Tries the way back before anything is granted. If the answer could not be told, memory would
    // be granted that the client does not know of.
    sys::gate_copy_out(message, bytes)?;
    let answer = STATE.with(|manager, kernel| manager.serve(badge, &words(bytes), kernel)).ok_or(Error::BadState)??;
    for (bytes, word) in bytes.chunks_exact_mut(4).zip(answer) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    sys::gate_copy_out(message, bytes)?;
    Ok(0)
}

fn words(bytes: &[u8; MESSAGE_BYTES]) -> Message {
    let mut words = [0; MESSAGE_WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    words
}

fn main(start: Start) -> u32 {
    if let Err(reason) = STATE.open(start.info) {
        // Prints without core::fmt, which would add kilobytes to this image.
        let mut console = Console::new();
        let _ = console.write_str(reason).and_then(|()| console.write_char('\n'));
        return 1;
    }
    let Some(idle) = Notification::named(start.info, "idle") else { return 2 };
    // The gate does the work; a domain whose last thread has ended could not serve it.
    loop {
        if idle.wait(u32::MAX).is_err() {
            return 3;
        }
    }
}
