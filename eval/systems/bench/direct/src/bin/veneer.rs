//! A domain with a handler that calls the way into the kernel four times each time that a timer reaches it, 10 000 times in all. Nobody has paid for a wake, so
//! that nothing follows.
//!
//! Names: device `timer1`, interrupt `fired` (handler `bench_veneer`). Exit codes: 0; 1 for what the manifest lacks; 2 if a call failed.
#![no_std]
#![no_main]

use core::arch::global_asm;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::{Interrupt, Start, handlers, now, sys};

/// Registers of the timer (CMSDK APB timer, DDI 0479), by their offsets.
mod register {
    pub const CONTROL: u32 = 0x0;
    pub const VALUE: u32 = 0x4;
    pub const RELOAD: u32 = 0x8;
}

const ENABLED: u32 = 9;
/// No multiple of anything that others do.
const PERIOD_NANOSECONDS: u32 = 61_450;
const TIMES: u32 = 2_500;

// The labels are around the call and an instruction behind it: the model charges a branch with what follows. The handler's code is placed a second time, and they are found by their distance from its beginning.
global_asm!(
    r#"
    .section .cofferdam.entry, "ax", %progbits
    .global bench_veneer
    .type bench_veneer, %function
    .thumb_func
bench_veneer:
    push    {r4, r5, r6, lr}
    ldr     r0, =TIMER
    ldr     r0, [r0]
    movs    r1, #1
    str     r1, [r0, #12]
    ldr     r0, =COUNT
    ldr     r1, [r0]
    adds    r1, #1
    str     r1, [r0]
    ldr     r4, =WAY_IN
    ldr     r4, [r4]
    movs    r5, #4
    .global probe_veneer_start
probe_veneer_start:
    blx     r4
    nop
    .global probe_veneer_end
probe_veneer_end:
    subs    r5, r5, #1
    bne     probe_veneer_start
    pop     {r4, r5, r6, pc}
    .ltorg
    .size bench_veneer, . - bench_veneer
"#,
    options(raw)
);

#[unsafe(no_mangle)]
static TIMER: AtomicU32 = AtomicU32::new(0);
#[unsafe(no_mangle)]
static COUNT: AtomicU32 = AtomicU32::new(0);
#[unsafe(no_mangle)]
static WAY_IN: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" {
    fn bench_veneer();
}

cofferdam::entry!(main);

fn put(offset: u32, value: u32) {
    // SAFETY: the timer is the domain's.
    unsafe { ((TIMER.load(Relaxed) + offset) as *mut u32).write_volatile(value) }
}

fn main(start: Start) -> u32 {
    let info = start.info;
    let (Some(timer), Some(fired)) = (info.area("timer1"), Interrupt::named(info, "fired")) else { return 1 };
    let _ = bench_veneer as *const ();
    TIMER.store(timer.base, Relaxed);
    WAY_IN.store(handlers::way_in(), Relaxed);
    let cycles = info.ticks_per_second() / 1_000 * PERIOD_NANOSECONDS / 1_000_000;
    put(register::RELOAD, cycles - 1);
    put(register::VALUE, cycles - 1);
    if fired.ack().is_err() {
        return 2;
    }
    put(register::CONTROL, ENABLED);
    while COUNT.load(Relaxed) < TIMES {
        if sys::sleep_until(now() + 20_000).is_err() {
            return 2;
        }
    }
    put(register::CONTROL, 0);
    0
}
