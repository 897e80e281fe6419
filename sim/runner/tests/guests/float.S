@ Two system calls from a thread that uses floating point; the handler of the second uses it too. Exits with status 0.
    .syntax unified
    .cpu cortex-m7
    .fpu fpv5-d16
    .thumb

    .section .kernel, "ax"
    .thumb_func
    .global main
main:
    ldr r0, =0xe000ed88
    ldr r1, =0x00f00000
    str r1, [r0]
    dsb
    isb
    ldr r0, =user + 1
    ldr r1, =user_stack_end
    b drop_to

    .type on_svc, %function
    .global on_svc
on_svc:
    cmp r7, #1
    beq 2f
    bhi 3f
    vmov s0, r7
2:  bx lr
3:  movs r0, #0
    b leave
    .pool

    .section .user, "ax"
    .thumb_func
user:
    vmov s1, r0
    movs r7, #1
    b 1f
    .global call_1, back_1, call_2, back_2
1:
call_1:
    svc 0
back_1:
    movs r7, #0
    b 1f
1:
call_2:
    svc 0
back_2:
    movs r7, #2
    svc 0

    .bss
    .balign 8
    .space 512
user_stack_end:
