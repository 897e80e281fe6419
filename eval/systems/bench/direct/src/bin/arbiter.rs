//! Has two domains with handlers occupy Non-secure state in turn.
//!
//! Names: domains `first` and `second`. Exit codes: 0; 1 for what the manifest lacks; 2 if a call failed.
#![no_std]
#![no_main]
#![allow(named_asm_labels)] // the labels are the point; the function that holds them is neither inlined nor doubled

use core::arch::asm;

use cofferdam::{Domain, Start, now, sys};

const TIMES: u32 = 2000;
/// Ticks from one change to the next: no multiple of anything that others do.
const TICKS: u64 = 5_003;

cofferdam::entry!(main);

/// The labels are around the call.
#[inline(never)]
fn occupy(domain: Domain) -> bool {
    // SAFETY: a label, no instruction.
    unsafe { asm!(".global probe_occupy_start", "probe_occupy_start:", options(nostack)) }
    let done = domain.occupy();
    // SAFETY: as above.
    unsafe { asm!(".global probe_occupy_end", "probe_occupy_end:", options(nostack)) }
    done.is_ok()
}

fn main(start: Start) -> u32 {
    let named = |name| Domain::named(start.info, name);
    let (Some(first), Some(second)) = (named("first"), named("second")) else { return 1 };
    for time in 0..TIMES {
        if !occupy(if time & 1 == 0 { second } else { first }) || sys::sleep_until(now() + TICKS).is_err() {
            return 2;
        }
    }
    0
}
