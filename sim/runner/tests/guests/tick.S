@ Counts 20 SysTick interrupts: ten while busy, ten asleep. The period is 1000 ticks of 25 MHz, 40 us. Each is traced as
@ Mark with its number. Exits with status 7.
    .syntax unified
    .cpu cortex-m7
    .thumb

    .section .kernel, "ax"
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
