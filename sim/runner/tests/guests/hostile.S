@ Domain 2 stores into the memory of domain 1; nothing protects it, since the protection unit is off. A second slice of
@ domain 2 stores only to its own memory. Exits with status 0.
    .syntax unified
    .cpu cortex-m7
    .thumb

    .section .kernel, "ax"
    .thumb_func
    .global main
main:
    ldr r0, =0x0201
    movs r1, #0
    bl trace
    ldr r0, =user + 1
    ldr r1, =user_stack_end
    b drop_to

    .type on_svc, %function
    .global on_svc
on_svc:
    push {r4, lr}
    ldr r4, =calls
    ldr r0, [r4]
    adds r0, #1
    str r0, [r4]
    cmp r0, #2
    beq 1f
    ldr r0, =0x0101
    movs r1, #0
    bl trace
    ldr r0, =0x0201
    movs r1, #0
    bl trace
    pop {r4, pc}
1:  ldr r0, =0x0101
    movs r1, #0
    bl trace
    movs r0, #0
    b leave
    .pool

    .section .user, "ax"
    .thumb_func
user:
    movs r5, #1
    ldr r4, =victim + 40
    .global hostile_store
hostile_store:
    strb r5, [r4]
    svc 0
    ldr r4, =own
    str r5, [r4]
    svc 0
    .pool

    .bss
    .balign 8
calls:
    .space 8
    .global victim, own, user_stack_end
victim:
    .space 64
own:
    .space 64
    .space 256
user_stack_end:
