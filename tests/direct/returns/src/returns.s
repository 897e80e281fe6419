@ An exception of Non-secure state returns with the EXC_RETURN that `WHAT` says: kind of exception, EXC_RETURN, and what it is to interrupt, as in main.

    .syntax unified
    .section .cofferdam.entry, "ax", %progbits
    .global fired
    .type fired, %function
    .thumb_func
fired:
    ldr     r0, =TIMER
    ldr     r0, [r0]
    movs    r1, #1
    str     r1, [r0, #12]
    ldr     r2, =WHAT
    ldr     r3, [r2, #8]
    cmp     r3, #1
    bne     1f
@ Mode bit of EXC_RETURN: a thread was interrupted, and it was to be the kernel.
    tst     lr, #8
    it      ne
    bxne    lr
1:  movs    r1, #0
    str     r1, [r0]
    ldr     r0, =COUNT
    ldr     r1, [r0]
    adds    r1, #1
    str     r1, [r0]
@ Vectors of its own: system call 11, PendSV 14, SysTick 15, and the line of `second`, 16 + 34.
    ldr     r0, =0xe000ed08
    ldr     r1, =TABLE
    str     r1, [r0]
    adr     r0, forges
    orr     r0, #1
    str     r0, [r1, #44]
    str     r0, [r1, #56]
    str     r0, [r1, #60]
    str     r0, [r1, #200]
    ldr     r1, [r2]
    cmp     r1, #0
    beq     forges_now
@ Over this handler it is more important; otherwise less, so that it comes when this one returns.
    cmp     r3, #2
    ite     eq
    moveq   r0, #0
    mvnne   r0, #0
    ldr     r3, =0xe000ed1c
    str     r0, [r3]
    str     r0, [r3, #4]
    ldr     r3, =0xe000e204
    cmp     r1, #1
    itt     eq
    moveq   r2, #4
    streq   r2, [r3]
    beq     2f
    ldr     r3, =0xe000ed04
    cmp     r1, #2
    itt     eq
    moveq   r2, #1 << 28
    streq   r2, [r3]
    cmp     r1, #3
    itt     eq
    moveq   r2, #1 << 26
    streq   r2, [r3]
    cmp     r1, #4
    bne     1f
    ldr     r2, [r3, #0x20]
    orr     r2, #1 << 15
    str     r2, [r3, #0x20]
1:  dsb
    isb
    adds    r0, #1
    it      eq
    bxeq    lr
2:  dsb
    isb
    b       .
forges_now:
    nop
    .balign 4
@ With a frame of its own making on top of its stack, for a return to Non-secure state.
forges:
    ldr     r2, =WHAT
    ldr     r1, [r2, #4]
    sub     sp, #32
    adr     r0, 3f
    str     r0, [sp, #24]
    mov     r3, #0x01000000
    tst     r1, #8
    itt     eq
    mrseq   r0, ipsr
    orreq   r3, r0
    str     r3, [sp, #28]
    bx      r1
    .balign 4
3:  b       3b
    .ltorg
    .size fired, . - fired

    .section .cofferdam.entry, "ax", %progbits
    .global second
    .type second, %function
    .thumb_func
second:
    bx      lr
    .size second, . - second
