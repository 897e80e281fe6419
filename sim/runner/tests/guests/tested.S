@ Asks the processor (TT, and TTT for unprivileged code) about addresses, with the registers of protection and attribution that each case states, and records
@ each answer as the payload of a mark. A case, in words: MPU_CTRL, 8 pairs for MPU_RBAR and MPU_RLAR, 8 pairs for SAU_RBAR and SAU_RLAR, SAU_CTRL, 16 addresses.
    .syntax unified
    .cpu cortex-m33
    .thumb

@ Stores the 8 pairs at r6 to the registers of regions behind a unit's first one (r0). Moves r6, clobbers r2 and r3.
    .macro regions
    movs r2, #0
1:  str r2, [r0, #8]
    ldr r3, [r6], #4
    str r3, [r0, #12]
    ldr r3, [r6], #4
    str r3, [r0, #16]
    adds r2, #1
    cmp r2, #8
    blo 1b
    .endm

    .section .kernel, "ax"
    .thumb_func
    .global main
main:
    ldr r4, =cases
    ldr r5, =cases_end
    ldr r0, =0xe000ed90
    ldr r1, =0x0444aaff
    str r1, [r0, #0x30]
next:
    cmp r4, r5
    it hs
    movhs r0, #5
    bhs leave
    ldr r0, =0xe000ed90
    movs r1, #0
    str r1, [r0, #4]
    add r6, r4, #4
    regions
    ldr r3, [r4]
    str r3, [r0, #4]
    ldr r0, =0xe000edd0
    regions
    ldr r3, [r6], #4
    str r3, [r0]
    dsb
    isb
    movs r7, #16
ask:
    ldr r8, [r6], #4
    movs r0, #12
    tt r1, r8
    bl trace
    ttt r1, r8
    bl trace
    subs r7, #1
    bne ask
    mov r4, r6
    b next
    .pool

    .section .user, "ax"
    .balign 4
cases:
    .incbin "cases.bin"
cases_end:
