//! Gives Non-secure state to one domain after the other.
//!
//! Names: domains `one` and `two`. Exit codes: 0; 1 for what the manifest lacks; 2 if a change was refused; 3 if a domain without handlers got it.
#![no_std]
#![no_main]

use cofferdam::{Domain, Start, now, sys};

/// Changes, and ticks from one to the next: a multiple of nothing that the kernel or the domains do.
const CHANGES: u32 = 400;
const TICKS: u64 = 61_700;

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    let named = |name| Domain::named(start.info, name);
    let (Some(one), Some(two), Some(own)) = (named("one"), named("two"), named("own")) else { return 1 };
    if own.occupy().is_ok() {
        return 3;
    }
    for change in 0..CHANGES {
        let next = if change & 1 == 0 { two } else { one };
        if next.occupy().is_err() {
            return 2;
        }
        let _ = sys::sleep_until(now() + TICKS);
    }
    0
}
