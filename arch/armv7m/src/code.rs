//! The macros of the entry code for Armv7-M.

armv_m::entry_code!(concat!(
    r#"
    .syntax unified
    .fpu fpv5-d16

@ Loads all region registers: RBAR and RASR and their three aliases are eight consecutive words (DDI 0403 B3.5.11). The return
@ from the exception is what synchronizes; the kernel's own accesses do not depend on them.
@   in        r0 = Context, r4 = MPU_RBAR
@   clobbers  r1-r3, r5-r10
    .macro LOAD
    ldr     r1, [r0, #{domain}]
    ldmia   r1!, {{r2, r3, r5, r6, r7, r8, r9, r10}}
    stmia   r4, {{r2, r3, r5, r6, r7, r8, r9, r10}}
    ldmia   r1, {{r2, r3, r5, r6, r7, r8, r9, r10}}
    stmia   r4, {{r2, r3, r5, r6, r7, r8, r9, r10}}
    dsb
    .endm

@ Waits until every store of the thread has arrived or failed. Bus faults do not preempt the kernel, so that one is pending;
@ without this it would be found after a switch, and blamed on the next domain.
@   out       r4 = MPU_RBAR
@   clobbers  r2, flags
    .macro SETTLE late
    ldr     r4, =0xe000ed9c
    dsb
    ldr     r2, [r4, #0xe000ed24 - 0xe000ed9c]
    lsls    r2, r2, #31 - 14
    bmi     \late
    .endm

@ There is no limit.
    .macro LIMIT context, offset
    .endm

@ Nor one of the kernel's stack.
    .macro KERNEL_LIMIT
    .endm

"#,
    armv_m::only_threads!(),
    r#"
    .macro MATCH no
    ldr     r4, [r1, #-1]!
    ldr     r5, [r1, #4]
    eor     r6, r0, r4
    subs    r7, r5, #4
    ubfx    r7, r7, #1, #5
    lsrs    r6, r7
    cmp     r6, #7
    bhi     \no
    lsrs    r7, r5, #8
    lsrs    r7, r6
    lsls    r7, r7, #31
    bne     \no
    .endm

    .macro LOADED yes
    and     r6, r4, #7
    add     r6, r2, r6, lsl #3
    ldrd    r6, r7, [r6]
    cmp     r6, r4
    it      eq
    cmpeq   r7, r5
    beq     \yes
    .endm

    .macro INSTALL
    orr     r6, r7, #16
    bfi     r4, r6, #0, #5
    str     r4, [r1]
    add     r1, r2, r7, lsl #3
    strd    r4, r5, [r1]
    @ Two stores, not one of 8 bytes (strd): QEMU 10.0 looks the address of one up once, the first half makes it forget every address,
    @ and the second half then uses memory that was freed.
    stm     r3, {{r4, r5}}
    .endm
"#
));
