//! C library glue for a domain that is written in Rust and links C code: newlib's `malloc`, `printf` and `time` work
//! after [`begin`]. Such a domain leaves the heap to C: it does not turn on the feature `heap` of the run-time.
#![no_std]

use cofferdam::Start;

unsafe extern "C" {
    fn cof_begin(info: *const u32, restarts: u32);
}

/// Tells the C side where the information block is. Call it first in `main`.
pub fn begin(start: Start) {
    // SAFETY: the block is the domain's own, read-only, and lives as long as the domain.
    unsafe { cof_begin(start.info.address(), start.restarts) }
}
