@ Never ends.
    .syntax unified
    .cpu cortex-m7
    .thumb
    .section .kernel, "ax"
    .thumb_func
    .global main
main:
    adds r0, #1
    adds r1, #1
    b main
