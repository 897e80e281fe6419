@ Handlers that do what `WHAT` says: action, operand, value, and whether only over the kernel.

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
    ldr     r3, [r2, #12]
    cbz     r3, 1f
@ Mode bit of EXC_RETURN: a thread was interrupted, and it was to be the kernel.
    tst     lr, #8
    beq     1f
    bx      lr
1:  movs    r1, #0
    ldr     r3, [r2]
    cmp     r3, #12
    it      ne
    strne   r1, [r0]
    ldr     r0, =COUNT
    ldr     r1, [r0]
    adds    r1, #1
    str     r1, [r0]
    mov     r1, pc
    orr     r1, r1, #1
    str     r1, [r0, #4]
    ldr     r1, [r2, #4]
    ldr     r0, [r2, #8]
    tbh     [pc, r3, lsl #1]
0:  .hword (9f - 0b) / 2, (spin - 0b) / 2, (call - 0b) / 2, (mask - 0b) / 2, (store - 0b) / 2
    .hword (load - 0b) / 2, (forge - 0b) / 2, (sleep - 0b) / 2, (stack - 0b) / 2, (steal - 0b) / 2
    .hword (raise - 0b) / 2, (both - 0b) / 2, (vectors - 0b) / 2, (lower - 0b) / 2, (clock - 0b) / 2
    .hword (nest - 0b) / 2, (float - 0b) / 2, (open - 0b) / 2, (ever - 0b) / 2, (link - 0b) / 2
    .hword (own - 0b) / 2, (flood - 0b) / 2, (doze - 0b) / 2, (rewind - 0b) / 2, (tamper - 0b) / 2
    .hword (region - 0b) / 2, (nest - 0b) / 2, (aside - 0b) / 2, (again - 0b) / 2
    .balign 2
9:  bx      lr
spin:
    b       spin
call:
    push    {r4, lr}
    blx     r1
    pop     {r4, pc}
mask:
    cpsid   i
    bx      lr
store:
    str     r0, [r1]
    bx      lr
load:
    ldr     r0, [r1]
    bx      lr
forge:
    bx      r1
sleep:
    cpsid   i
1:  wfi
    b       1b
stack:
    msr     msp, r1
    b       .
raise:
    msr     basepri, r1
    bx      lr
both:
    msr     msp, r1
    ldr     r1, =0x38000000
    str     r0, [r1]
    b       .
vectors:
    ldr     r0, =0xe000ed08
    str     r1, [r0]
    bx      lr
@ The kernel's exceptions come to it from now on; it asks for one, or waits.
lower:
    ldr     r0, =0xe000e404
    movs    r2, #0xff
    strb    r2, [r0]
    dsb
    isb
    cbz     r1, 1f
    blx     r1
1:  b       1b
clock:
    ldr     r0, =0xe000e010
    movs    r1, #200
    str     r1, [r0, #4]
    str     r1, [r0, #8]
    movs    r1, #7
    str     r1, [r0]
    b       .
nest:
    ldr     r0, =0xe000e204
    movs    r1, #4
    str     r1, [r0]
    dsb
    isb
    b       .
@ A store that is stopped shows that the instruction was not.
float:
    ldr     r2, =0xe000ed88
    mov     r3, #0xf00000
    str     r3, [r2]
    dsb
    isb
    vmov    s0, r0
    b       store
@ Non-secure Thread mode may execute what it likes: by no region registers, by a region, by its privilege.
open:
    ldr     r0, =0xe000ed94
    movs    r1, #0
    str     r1, [r0]
    movs    r1, #1
    b       1f
region:
    ldr     r0, =0xe000ed98
    movs    r1, #0
    movs    r2, #2
    mvn     r3, #0x1e
    stmia   r0, {r1, r2, r3}
    movs    r2, #0xff
    str     r2, [r0, #0x28]
    movs    r1, #1
    b       1f
ever:
    ldr     r0, =0xe000ed24
    ldr     r1, =0x10000
    str     r1, [r0]
1:  msr     control, r1
    isb
@ Returns into the place of the thread that was interrupted.
steal:
    sub     sp, #32
    adr     r3, 2f
    str     r3, [sp, #24]
    mov     r3, #0x01000000
    str     r3, [sp, #28]
    ldr     r1, =0xffffffb8
    bx      r1
    .balign 4
2:  ldr     r0, =STOLEN
3:  ldr     r1, [r0]
    adds    r1, #1
    str     r1, [r0]
    b       3b
@ The same on the process stack, with the main stack elsewhere: all regions off.
aside:
    ldr     r0, =0xe000ed94
    movs    r2, #0
    str     r2, [r0]
    movs    r2, #1
    msr     control, r2
    msr     msp, r1
    adr     r2, 2b
5:  isb
    ldr     r3, =TABLE + 128
    str     r2, [r3, #24]
    mov     r2, #0x01000000
    str     r2, [r3, #28]
    msr     psp, r3
    ldr     r1, =0xffffffbc
    bx      r1
@ Privileged Thread mode, which is unprivileged again before anything finds it.
again:
    movs    r2, #0
    msr     control, r2
    adr     r2, 6f
    b       5b
    .balign 4
6:  movs    r0, #1
    msr     control, r0
    isb
    b       .
link:
    mov     lr, r0
    bx      r1
@ Vectors of its own, with an endless SysTick_NS above the handler.
own:
    ldr     r0, =0xe000ed08
    ldr     r1, =TABLE
    str     r1, [r0]
    adr     r2, 4f
    orr     r2, r2, #1
    str     r2, [r1, #60]
    b       clock
    .balign 4
4:  b       4b
@ In the way into the kernel for most of the time.
flood:
    mov     r4, r1
1:  blx     r4
    b       1b
@ Counts too much for the counter to be doubted, and sleeps for the rest: a look wakes it.
doze:
    movw    r2, #1000
1:  subs    r2, #1
    bne     1b
    wfi
    b       doze
@ Sets a register again and again, or once.
rewind:
    str     r0, [r1]
    b       rewind
tamper:
    str     r0, [r1]
    b       .
    .ltorg
    .size fired, . - fired

    .section .cofferdam.entry, "ax", %progbits
    .global second
    .type second, %function
    .thumb_func
second:
    ldr     r0, =COUNT
    ldr     r1, [r0]
    adds    r1, #16
    str     r1, [r0]
    ldr     r2, =WHAT
    ldr     r3, [r2]
    ldr     r1, [r2, #4]
    cmp     r3, #26
    it      eq
    bxeq    r1
    b       .
    .ltorg
    .size second, . - second

@ Counts down from r0 with numbers in all registers that a function keeps; 0 if they are still there.
    .section .text.keeps, "ax", %progbits
    .global keeps
    .type keeps, %function
    .thumb_func
keeps:
    push    {r4-r11, lr}
    .irp    number, 4, 5, 6, 7, 8, 9, 10, 11
    mov     r\number, #\number
    .endr
1:  subs    r0, #1
    bne     1b
    .irp    number, 4, 5, 6, 7, 8, 9, 10, 11
    sub     r\number, #\number
    orr     r0, r\number
    .endr
    pop     {r4-r11, pc}
    .size keeps, . - keeps
