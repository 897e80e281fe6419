//! A handler that returns into privileged Thread mode of its state, which takes the privilege away and fails: at each interrupt of a timer, and as cheaply as it
//! can.
//!
//! Names: device `timer1`, interrupt `fired` (handler `fired`). Argument: ticks until it begins. Exit codes: 1 for what the manifest lacks; 2 if a call failed.
#![no_std]
#![no_main]

use core::arch::global_asm;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::{Interrupt, Start};
use direct_leaves::put;

// It finds zeros in r4 to r12. Its return pops a frame from the process stack, with r1 = nPRIV and SPSEL, and `slipped`. The HardFault cannot be stacked, but moves
// that stack's pointer back. No exception of the state may be pending when the handler returns: it would come first. None may be masked: that would tell whose
// deed it was.
global_asm!(
    r#"
    .syntax unified
    .section .cofferdam.entry, "ax", %progbits
    .global fired
    .type fired, %function
    .thumb_func
    .balign 16
fired:
    ldr     r0, =FRAME
    movs    r2, #1
    ldr     r1, [r0, #32]
    str     r2, [r1]
    tst     lr, #8
    it      eq
    bxeq    lr
    msr     psp, r0
    msr     control, r4
    mvn     lr, #0x43
    bx      lr
    .ltorg
    .size fired, . - fired

    .section .data.slips, "awx", %progbits
    .balign 16
    .global slipped
slipped:
    msr     control, r1
    b       .
@ Data with code has relocations, as the tool expects it of a program that can be moved.
    .balign 4
    .word   FRAME
"#,
    options(raw)
);

unsafe extern "C" {
    fn fired();
    static slipped: u8;
}

/// The frame, and behind it the address of the register that takes the timer's request back.
#[unsafe(no_mangle)]
static FRAME: Frame = Frame([const { AtomicU32::new(0) }; 10]);

#[repr(C, align(8))]
struct Frame([AtomicU32; 10]);

cofferdam::entry!(main);

fn main(start: Start) -> u32 {
    let (Some(timer), Some(line)) = (start.info.area("timer1"), Interrupt::named(start.info, "fired")) else {
        return 1;
    };
    put(timer.base, 0);
    put(timer.base + 0xc, 1);
    put(timer.base + 0x8, 200);
    put(timer.base + 0x4, start.argument);
    let code = (&raw const slipped).addr() as u32;
    for (number, value) in [(1, 3), (6, code), (7, 1 << 24), (8, timer.base + 0xc)] {
        if let Some(word) = FRAME.0.get(number) {
            word.store(value, Relaxed);
        }
    }
    if line.ack().is_err() {
        return 2;
    }
    put(timer.base, 9);
    let _ = fired as *const ();
    loop {
        core::hint::spin_loop();
    }
}
