//! A client in good faith: every two milliseconds it calls the attacker's gate, with a buffer at the very end of its memory. It
//! lives with every error, but not with registers that have changed.
//! Names: gate `peer`.
#![no_std]
#![no_main]

use cofferdam::abi::Call;
use cofferdam::hostile::{Held, hold, undefined};
use cofferdam::{Gate, Start, sys};

cofferdam::entry!(main);

const SECRET: u32 = 0x5ec2_e800;
const BUFFER_BYTES: u32 = 16;

fn main(start: Start) -> u32 {
    let Some(peer) = Gate::named(start.info, "peer") else { return 1 };
    let local = 0_u32;
    let here = &raw const local as u32;
    let holds = |base: u32, bytes: u32| here.wrapping_sub(base) < bytes;
    let Some(own) = start.info.areas().map(|(_, area)| area).find(|area| holds(area.base, area.bytes)) else {
        return 2;
    };
    let buffer = own.base + own.bytes - BUFFER_BYTES;
    loop {
        let args = [peer.slot(), 0, buffer, BUFFER_BYTES];
        let request = Held { pattern: SECRET, number: Call::GateCall as u32, args, ..Held::default() };
        // SAFETY: the callee can only write the buffer, which nothing else uses.
        let held = unsafe { hold(request) };
        if held.changed != 0 {
            let _ = sys::mark(5, held.changed);
            undefined();
        }
        if sys::wait_period().is_err() {
            return 3;
        }
    }
}
