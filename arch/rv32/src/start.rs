//! From reset to Rust.

use core::arch::global_asm;

global_asm!(
    r#"
    .section .text.reset, "ax", %progbits
# In machine mode, from the vector of reset. Memory holds anything but what a loader wrote, and so do registers.
    .global cofferdam_reset
    .type cofferdam_reset, %function
cofferdam_reset:
    csrw    mie, zero
    csrw    mscratch, zero
    la      t0, cofferdam_vectors
    ori     t0, t0, 1
    csrw    mtvec, t0
# One range for user mode, the upper half: readable, writable, executable, naturally aligned (Privileged Architecture, 3.7.1).
    li      t0, 0x2fffffff
    csrw    pmpaddr0, t0
    li      t0, 0x1f
    csrw    pmpcfg0, t0
    la      sp, __boot_stack_top
    la      t0, __kernel_bss_start
    la      t1, __kernel_bss_end
1:  bgeu    t0, t1, 2f
    sw      zero, 0(t0)
    addi    t0, t0, 4
    j       1b
2:  call    kernel_start
# a0 is the first Context.
    j       cofferdam_load
"#
);
