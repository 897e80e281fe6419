@ An unprivileged domain makes two system calls, each of which the kernel answers by saying that another domain runs: the first time it looks for late
@ faults before, the second time it does not, and then loads a register that it has no business with. Exit status 0.
    .syntax unified
    .cpu cortex-m7
    .thumb

    .section .kernel, "ax"
    .thumb_func
    .global main
main:
    ldr r0, =0x0301
    movs r1, #0
    bl trace
    ldr r0, =user + 1
    ldr r1, =user_stack + 128
    b drop_to

    .type on_svc, %function
    .global on_svc
on_svc:
    push {r4, lr}
    ldr r4, =calls
    ldr r3, [r4]
    adds r3, #1
    str r3, [r4]
    cmp r3, #2
    beq 1f
    dsb
    ldr r0, =0xe000ed24
    ldr r0, [r0]
1:  ldr r0, =0x0401
    movs r1, #0
    .global switching
switching:
    bl trace
    ldr r3, [r4]
    cmp r3, #2
    bne 2f
    ldr r0, =0xe0001000
    .global straying
straying:
    ldr r0, [r0, #4]
    movs r0, #0
    b leave
2:  pop {r4, pc}
    .pool

    .section .user, "ax"
    .thumb_func
user:
    svc 0
    svc 0
    b .
    .pool

    .bss
    .balign 8
calls:
    .space 8
user_stack:
    .space 128
