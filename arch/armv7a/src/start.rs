//! From reset to Rust.

use core::arch::{asm, global_asm};

global_asm!(
    r#"
    .syntax unified
    .arch armv7-a
    .arch_extension sec
    .fpu neon
    .arm

    .section .text.reset, "ax", %progbits
@ In Secure Supervisor mode, from a loader or a simulator. One CPU goes on; the others wait for good, with everything masked. Their
@ caches are as they were after reset: off.
    .global cofferdam_reset
    .type cofferdam_reset, %function
cofferdam_reset:
    cpsid   aif, #0x13
    setend  le
    mrc     p15, 0, r0, c0, c0, 5
    ands    r0, r0, #3
    bne     cofferdam_other_cpu
    mrc     p15, 0, r0, c1, c0, 0
@ MMU, caches, prediction off; exceptions in Arm state, little-endian, at the address in VBAR (ARM DDI 0406C B4.1.130).
    movw    r1, #0x3805
    movt    r1, #0x4300
    bic     r0, r0, r1
    mcr     p15, 0, r0, c1, c0, 0
    isb
    ldr     r0, =cofferdam_vectors
    mcr     p15, 0, r0, c12, c0, 0
    isb
    ldr     sp, =__kernel_stack_top
    ldr     r0, =__kernel_bss_start
    ldr     r1, =__kernel_bss_end
    mov     r2, #0
1:  cmp     r0, r1
    strlo   r2, [r0], #4
    blo     1b
    bl      kernel_power_on
@ The MMU is on: from here on the image's part off the chip is there.
    ldr     sp, =__boot_stack_top
    bl      kernel_start
@ r0 is the first Context.
    b       cofferdam_load

cofferdam_other_cpu:
    wfe
    b       cofferdam_other_cpu
    .ltorg
"#
);

/// Stops for good: nothing interrupts it but a reset. It does not ask a simulator to end the run,
/// because a domain could perhaps ask in the same way.
pub fn park() -> ! {
    // SAFETY: nothing goes on.
    unsafe { asm!("cpsid aif", "b 2f", "2: wfi", "b 2b", options(noreturn)) }
}
