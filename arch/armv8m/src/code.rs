//! The macros of the entry code for Armv8-M.

armv_m::entry_code!(concat!(
    r#"
    .syntax unified
    .fpu fpv5-sp-d16

@ Loads all region registers: RBAR and RLAR and their three aliases are eight consecutive words, of four regions from RNR on (DDI 0553 D1.2). The return
@ from the exception is what synchronizes; the kernel's own accesses do not depend on them.
@   in        r0 = Context, r4 = MPU_RBAR
@   clobbers  r1-r3, r5-r10
@ Until both words of a region are there it is one that nobody asked for, and regions bind the kernel, too: the unit is off meanwhile.
    .macro LOAD
    ldr     r1, [r0, #{domain}]
    movs    r2, #0
    str     r2, [r4, #-8]
    str     r2, [r4, #-4]
    ldmia   r1!, {{r2, r3, r5, r6, r7, r8, r9, r10}}
    stmia   r4, {{r2, r3, r5, r6, r7, r8, r9, r10}}
    movs    r2, #4
    str     r2, [r4, #-4]
    ldmia   r1, {{r2, r3, r5, r6, r7, r8, r9, r10}}
    stmia   r4, {{r2, r3, r5, r6, r7, r8, r9, r10}}
    movs    r2, #5
    str     r2, [r4, #-8]
    dsb
    .endm

@ Waits until every store of the thread has arrived or failed. No fault preempts the kernel, so that one is pending;
@ without this it would be found after a switch, and blamed on the next domain. So would one that the entry itself has caused.
@   out       r4 = MPU_RBAR
@   clobbers  r2, flags
    .macro SETTLE late
    ldr     r4, =0xe000ed9c
    dsb
    ldr     r2, [r4, #0xed24 - 0xed9c]
    bfc     r2, #15, #5
    lsrs    r2, r2, #12
    bne     \late
    .endm

@ The stack's lowest address is its limit: no frame goes below.
    .macro LIMIT context, offset
    ldr     r2, [\context, #\offset]
    msr     psplim, r2
    .endm

@ Nothing lies below the kernel's stack, and above its top a seal: a value that is no address to return to (DDI 0553, stack sealing). The limit is lower than the
@ bottom: a frame for which there is no room fails on the bus. That leaves the stack pointer where it is, where a limit would move it, and with it all that is
@ known of the frames above (`direct::inside`).
@   clobbers  r2, r3
    .macro KERNEL_LIMIT
    ldr     r2, =__kernel_stack_bottom
    sub     r2, #128
    msr     msplim, r2
    ldr     r2, =__kernel_stack_top
    ldr     r3, =0xfef5eda5
    strd    r3, r3, [r2]
    .endm

    .macro MATCH no
    ldr     r4, [r1, #-1]!
    ldr     r5, [r1, #4]
    bic     r6, r4, #31
    cmp     r0, r6
    blo     \no
    orr     r6, r5, #31
    cmp     r0, r6
    bhi     \no
    .endm

@ The slot is in SH (two bits) and PXN (one) of the leaf, which are 0 in the image.
    .macro LOADED yes
    ubfx    r6, r4, #3, #2
    ubfx    r7, r5, #4, #1
    orr     r6, r6, r7, lsl #2
    add     r6, r2, r6, lsl #3
    ldrd    r6, r7, [r6]
    eor     r6, r6, r4
    bics    r6, r6, #0x18
    itt     eq
    eoreq   r7, r7, r5
    bicseq  r7, r7, #0x10
    beq     \yes
    .endm

    .macro INSTALL
    bfi     r4, r7, #3, #2
    lsr     r6, r7, #2
    bfi     r5, r6, #4, #1
    strd    r4, r5, [r1]
    bfc     r4, #3, #2
    bfc     r5, #4, #1
    add     r1, r2, r7, lsl #3
    strd    r4, r5, [r1]
    str     r7, [r3, #-4]
    @ The region that was there ends before the new one begins.
    movs    r6, #0
    str     r6, [r3, #4]
    @ Two stores, not one of 8 bytes (strd): QEMU 10.0 looks the address of one up once, the first half makes it forget every address,
    @ and the second half then uses memory that was freed.
    stm     r3, {{r4, r5}}
    .endm
"#,
    crate::direct::entry_macros!()
));
