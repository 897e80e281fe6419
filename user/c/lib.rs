//! C library glue for a domain that is written in Rust and links C code: `malloc`, `printf` and `time` work after [`begin`].
//! C's `malloc` and Rust's allocator (the feature `heap` of the run-time) share the domain's default arena.
#![no_std]

use cofferdam::Start;
// For their exported functions: C's `malloc`, `rt_malloc`, `cof_area` and their kin, and the digits of numbers.
use grants as _;
use heap as _;
use info as _;
use user_number as _;

unsafe extern "C" {
    fn cof_begin(info: *const u32, restarts: u32);
}

/// Tells the C side where the information block is. Call it first in `main`.
pub fn begin(start: Start) {
    // SAFETY: the block is the domain's own, read-only, and lives as long as the domain.
    unsafe { cof_begin(start.info.address(), start.restarts) }
}
