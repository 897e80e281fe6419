@ A load that faults in the middle of a block is restarted after the handler has opened the memory. The marks around it
@ are a known number of instructions apart. Exits with status 0.
    .syntax unified
    .cpu cortex-m7
    .thumb
    .equ RASR_OWN, 0x130b0000 | (8 - 1) << 1 | 1
    .equ RASR_CODE, 0x06020000 | (22 - 1) << 1 | 1

    .section .kernel, "ax"
    .thumb_func
    .global main
main:
    ldr r0, =0xe000ed24
    mov r1, #(1 << 16)
    str r1, [r0]
    ldr r0, =0xe000ed90
    movs r1, #0
    str r1, [r0, #8]
    str r1, [r0, #12]
    ldr r1, =RASR_CODE
    str r1, [r0, #16]
    ldr r1, =stack + 0x11
    str r1, [r0, #12]
    ldr r1, =RASR_OWN
    str r1, [r0, #16]
    movs r1, #5
    str r1, [r0, #4]
    dsb
    isb
    ldr r0, =user + 1
    ldr r1, =stack + 256
    b drop_to

    .type on_fault, %function
    .global on_fault
on_fault:
    ldr r0, =0xe000ed90
    ldr r1, =page + 0x12
    str r1, [r0, #12]
    ldr r1, =RASR_OWN
    str r1, [r0, #16]
    bx lr

    .type on_svc, %function
    .global on_svc
on_svc:
    movs r0, #0
    b leave
    .pool

    .section .user, "ax"
    .thumb_func
user:
    ldr r4, =page
    b 1f
    .global probe_start, probe_end
1:
probe_start:
    adds r0, #1
    adds r0, #1
    ldr r1, [r4]
    adds r0, #1
    adds r0, #1
    b 2f
2:
probe_end:
    adds r0, #1
    svc 0
    .pool

    .bss
    .balign 256
stack:
    .space 256
page:
    .space 256
