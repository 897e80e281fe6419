@ Counts 20 SysTick interrupts: the first ten while busy, the rest asleep. SysTick counts core cycles of the board's
@ 25 MHz clock; the reload makes a period of 1000 ticks, which is 40 us. Exits with status 7.
    .syntax unified
    .cpu cortex-m7
    .thumb

    .section .kernel
    .thumb_func
    .global main
main:
    ldr r0, =0xe000e010
    ldr r1, =999
    str r1, [r0, #4]
    movs r1, #0
    str r1, [r0, #8]
    movs r1, #7
    str r1, [r0]
    ldr r4, =ticks
1:  ldr r0, [r4]
    cmp r0, #10
    blo 1b
2:  wfi
    ldr r0, [r4]
    cmp r0, #20
    blo 2b
    movs r0, #7
    b leave

    .thumb_func
    .type on_systick, %function
    .global on_systick
on_systick:
    ldr r0, =ticks
    ldr r1, [r0]
    adds r1, #1
    str r1, [r0]
    ldr r0, =0x010c
    orr r0, r0, r1, lsl #16
    push {r3, lr}
    bl trace
    pop {r3, pc}
    .pool

    .bss
    .balign 4
ticks:
    .space 4
