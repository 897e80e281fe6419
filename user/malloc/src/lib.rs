//! C's `malloc`, `rt_malloc`, `cof_area` and their kin, and how `printf` and `strtod` come to their digits, for a domain without Rust: `cofferdam build` compiles this once and links the object with the C run-time.
#![no_std]

use core::panic::PanicInfo;

// All that is wanted of them are their exported functions.
use grants as _;
use heap as _;
use info as _;
use user_number as _;

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    heap::fault(heap::Error::Corrupt, 0)
}
