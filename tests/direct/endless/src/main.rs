//! A domain whose handler never returns, and whose device goes on to ask for it: it uses its whole capacity in each period.
//!
//! Names: device `timer1`, interrupt `fired` (handler `fired`). Exit codes: 0; 1 for what the manifest lacks; 2 if a call failed.
#![no_std]
#![no_main]

use core::arch::global_asm;

use cofferdam::{Interrupt, Start, now, sys};

const SECONDS: u64 = 1;

global_asm!(
    ".syntax unified",
    ".section .cofferdam.entry, \"ax\", %progbits",
    ".global fired",
    ".type fired, %function",
    ".thumb_func",
    "fired:",
    "    b       fired",
    ".size fired, . - fired"
);

unsafe extern "C" {
    fn fired();
}

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    let info = start.info;
    let (Some(timer), Some(line)) = (info.area("timer1"), Interrupt::named(info, "fired")) else { return 1 };
    let _ = fired as *const ();
    // Registers of the CMSDK timer: value, reload, and control: it counts, and interrupts at zero.
    for (offset, value) in [(0x4, 1000), (0x8, 1000), (0x0, 9)] {
        // SAFETY: the timer is the domain's.
        unsafe { ((timer.base + offset) as *mut u32).write_volatile(value) };
    }
    if line.ack().is_err() || sys::sleep_until(now() + SECONDS * u64::from(info.ticks_per_second())).is_err() {
        return 2;
    }
    0
}
