@ Threads that go to Non-secure code by themselves.

    .section .text.goes, "ax", %progbits
    .thumb
    .global goes
    .type goes, %function
    .thumb_func
goes:
    bxns    r0
    .size goes, . - goes

@ So often, with a handler's frame on its stack: a signature, r4 to r11, r0 to r3, r12, lr, pc, xPSR. A fault leads to label 2, with the frame off the stack.
    .global goes_often
    .type goes_often, %function
    .thumb_func
goes_often:
    push    {r4-r11, lr}
    mov     r4, r1
    sub     sp, #4
1:  sub     sp, #72
    ldr     r1, =0xfefa125b
    str     r1, [sp]
    add     r1, sp, #8
    stmia   r1, {r4-r11}
    str     r0, [sp, #40]
    adr     r1, 2f
    str     r1, [sp, #64]
    mov     r1, #0x01000000
    str     r1, [sp, #68]
    bxns    r0
    .balign 4
2:  subs    r4, #1
    bne     1b
    add     sp, #4
    pop     {r4-r11, pc}
    .ltorg
    .size goes_often, . - goes_often

@ Calls the kernel so often, r2 the number of the call, on the stack in r0.
    .global calls_on
    .type calls_on, %function
    .thumb_func
calls_on:
    push    {r4-r7, lr}
    mov     r4, r1
    mov     r5, r2
    mov     r6, sp
    mov     sp, r0
1:  mov     r12, r5
    svc     #0
    subs    r4, #1
    bne     1b
    mov     sp, r6
    pop     {r4-r7, pc}
    .size calls_on, . - calls_on

@ A gate of its own into Secure state, behind which a handler would be as privileged as the kernel.
    .balign 4
    .global own_gate
    .type own_gate, %function
    .thumb_func
own_gate:
    sg
    ldr     r0, =0x38000800
    ldr     r1, [r0]
    str     r1, [r0]
    bxns    lr
    .ltorg
    .size own_gate, . - own_gate
