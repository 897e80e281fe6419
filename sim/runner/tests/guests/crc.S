@ 60 million instructions of loads, stores and arithmetic over 64 KiB, for the speed of the observer. Exits with status 0.
    .syntax unified
    .cpu cortex-m7
    .thumb
    .section .kernel, "ax"
    .thumb_func
    .global main
main:
    ldr r7, =400
    ldr r6, =0x04c11db7
1:  ldr r4, =buffer
    ldr r5, =16384
    movs r0, #0
2:  ldr r1, [r4]
    eors r0, r1
    lsls r2, r0, #1
    eors r2, r6
    adds r1, r2, r5
    str r1, [r4], #4
    subs r5, #1
    bne 2b
    subs r7, #1
    bne 1b
    movs r0, #0
    b leave
    .pool
    .bss
    .balign 8
buffer:
    .space 65536
