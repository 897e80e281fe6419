@ Sleeps with no timer armed.
    .syntax unified
    .cpu cortex-m7
    .thumb
    .section .kernel, "ax"
    .thumb_func
    .global main
main:
    wfi
    b main
