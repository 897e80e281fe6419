//! A thread that uses its whole stack, as declared, while handlers of another domain interrupt it: what is left has room for the frame of such an interrupt and
//! not for a word more.
//!
//! Names: area `stack` or `data`. Exit codes: 0; 1 for what the manifest lacks.
#![no_std]
#![no_main]

use core::arch::asm;

use cofferdam::Start;

/// Bytes of the frame with which a handler is entered from Secure code: 18 words (DDI 0553 B3), 10 more than of any other exception without floating point.
const FRAME_BYTES: u32 = 72;
/// Rounds of a loop: some 100 ms.
const ROUNDS: u32 = 4_000_000;

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    // The stack begins where the data do if both are in one memory.
    let Some(stack) = start.info.area("stack").or(start.info.area("data")) else { return 1 };
    // SAFETY: the stack pointer is put back, and nothing is pushed meanwhile but frames of exceptions.
    unsafe {
        asm!("mov {0}, sp", "mov sp, {1}", "2: subs {2}, #1", "bne 2b", "mov sp, {0}",
            out(reg) _, in(reg) stack.base + FRAME_BYTES, inout(reg) ROUNDS => _, options(nomem));
    }
    0
}
