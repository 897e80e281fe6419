//! C's `malloc` for a domain without Rust: `cofferdam build` compiles this once and links the object with the C run-time.
#![no_std]

use core::panic::PanicInfo;

// All that is wanted of it are its exported functions.
use heap as _;

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    heap::fault(heap::Error::Corrupt, 0)
}
