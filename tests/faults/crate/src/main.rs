//! Writes through a null pointer, in a function that is inlined into another one.
#![no_std]
#![no_main]

use cofferdam::Start;

cofferdam::entry!(main);

#[inline(always)]
fn innermost(to: *mut u32) {
    // SAFETY: it is not: the fault is what the program is for.
    unsafe { to.write_volatile(1) };
}

#[inline(never)]
fn outer(to: usize) -> u32 {
    innermost(core::hint::black_box(to) as *mut u32);
    core::hint::black_box(3)
}

fn main(start: Start) -> u32 {
    outer((start.info.domain() as usize) & 0x100)
}
