@ Masks interrupts for 100 instructions by PRIMASK, then for 50 by BASEPRI. Exits with status 0.
    .syntax unified
    .cpu cortex-m7
    .thumb

    .section .kernel, "ax"
    .thumb_func
    .global main
    .global first_masked
main:
    cpsid i
first_masked:
    .rept 100
    nop
    .endr
    cpsie i
    movs r0, #0x40
    msr basepri, r0
    .rept 50
    nop
    .endr
    movs r0, #0
    msr basepri, r0
    movs r0, #0
    b leave
