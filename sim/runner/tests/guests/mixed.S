@ Something of everything, for determinism: TIMER0 every 40 us, a system call from an unprivileged loop that stores over
@ 8 KiB, sleep in between. After 40 interrupts it exits with status 0.
    .syntax unified
    .cpu cortex-m7
    .thumb

    .section .kernel, "ax"
    .thumb_func
    .global main
main:
    ldr r0, =0xe000e100
    mov r1, #(1 << 8)
    str r1, [r0]
    ldr r0, =0x40000000
    ldr r1, =999
    str r1, [r0, #8]
    str r1, [r0, #4]
    movs r1, #9
    str r1, [r0]
    ldr r0, =0x0101
    movs r1, #0
    bl trace
    ldr r0, =user + 1
    ldr r1, =user_stack_end
    b drop_to

    .type on_timer0, %function
    .global on_timer0
on_timer0:
    ldr r0, =0x40000000
    movs r1, #1
    str r1, [r0, #12]
    ldr r0, =ticks
    ldr r1, [r0]
    adds r1, #1
    str r1, [r0]
    cmp r1, #40
    bhs 1f
    ldr r0, =0x010b
    push {r3, lr}
    bl trace
    pop {r3, pc}
1:  movs r0, #0
    b leave

    .type on_svc, %function
    .global on_svc
on_svc:
    ldr r0, =0x010c
    push {r3, lr}
    bl trace
    pop {r3, pc}
    .pool

    .section .user, "ax"
    .thumb_func
user:
    ldr r4, =buffer
    movs r5, #0
1:  str r5, [r4, r5]
    adds r5, #4
    cmp r5, #8192
    blo 1b
    svc 0
    wfi
    b user
    .pool

    .bss
    .balign 8
ticks:
    .space 8
buffer:
    .space 8192
    .space 1024
user_stack_end:
