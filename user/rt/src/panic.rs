//! A panic ends the thread: message to the console, exit code 101.

use core::panic::PanicInfo;

/// Exit code of a thread that panicked.
const PANICKED: u32 = 101;

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    crate::println!("{info}");
    crate::end(PANICKED)
}
