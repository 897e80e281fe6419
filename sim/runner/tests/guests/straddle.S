@ An unprivileged domain has 256 bytes of RAM (`own`) and reads eight bytes of which four lie behind its end: the board's
@ emulator lets that through, the protection unit denies it. Then it exits by a system call with status 5.
    .syntax unified
    .cpu cortex-m7
    .thumb
    .equ RASR_CODE, 0x06020000 | (22 - 1) << 1 | 1
    .equ RASR_OWN, 0x130b0000 | (8 - 1) << 1 | 1

    .section .kernel, "ax"
    .thumb_func
    .global main
main:
    ldr r0, =0xe000ed90
    movs r1, #0
    str r1, [r0, #8]
    str r1, [r0, #12]
    ldr r1, =RASR_CODE
    str r1, [r0, #16]
    ldr r1, =own + 0x11
    str r1, [r0, #12]
    ldr r1, =RASR_OWN
    str r1, [r0, #16]
    movs r1, #5
    str r1, [r0, #4]
    dsb
    isb
    ldr r0, =0x0301
    movs r1, #0
    bl trace
    ldr r0, =user + 1
    ldr r1, =own + 128
    b drop_to

    .type on_svc, %function
    .global on_svc
on_svc:
    movs r0, #5
    b leave

    .type on_fault, %function
    .global on_fault
on_fault:
    movs r0, #9
    b leave
    .pool

    .section .user, "ax"
    .thumb_func
user:
    ldr r4, =own + 252
    ldr r5, [r4]
    .global straddling
straddling:
    ldrd r6, r7, [r4]
    svc 0
    .pool

    .bss
    .balign 256
own:
    .space 256
    .space 256
