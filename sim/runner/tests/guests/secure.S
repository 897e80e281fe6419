@ A Secure unprivileged domain has 256 bytes of RAM (`own`) and reads eight bytes of which four lie behind their end; after a system call it calls a Non-secure
@ function, which reads four bytes of which two are Secure: the board's emulator lets both through. Then it branches to that function without changing
@ its state, which is a SecureFault; the run ends with status 5.
    .syntax unified
    .cpu cortex-m33
    .thumb
    .equ SCS, 0xe000e000
    .equ OPEN_DATA, 0x28200000
    .equ OPEN_BYTES, 0x200

@ Makes a region of the unit (0xd90) or of the attribution (0xdd0, first register its number), from r0. In: base and limit words.
    .macro region unit, number, base, limit
    ldr r0, =SCS + \unit
    movs r1, #\number
    str r1, [r0, #8]
    ldr r1, =\base
    str r1, [r0, #12]
    ldr r1, =\limit
    str r1, [r0, #16]
    .endm

@ Opens one block of 1 KiB of a memory to Non-secure accesses.
    .macro open gate, word
    ldr r0, =\gate
    movs r1, #\word
    str r1, [r0, #0x18]
    movs r1, #1
    str r1, [r0, #0x1c]
    .endm

    .section .kernel, "ax"
    .thumb_func
    .global main
main:
    open 0x58007000, 64
    open 0x58009000, 0
    region 0xdd0, 0, 0x00200000, 0x002003e1
    region 0xdd0, 1, OPEN_DATA, OPEN_DATA + OPEN_BYTES - 32 + 1
    movs r1, #1
    str r1, [r0]
    region 0xd90, 0, 0x10000006, 0x10010fe1
    region 0xd90, 1, own + 3, own + 0xe1
    movs r1, #0xff
    str r1, [r0, #0x30]
    movs r1, #5
    str r1, [r0, #4]
    ldr r0, =SCS + 0xd24
    ldr r1, =0xf << 16
    str r1, [r0]
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
    bx lr

    .type on_secure_fault, %function
    .global on_secure_fault
on_secure_fault:
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
    ldr r4, =opened
    blxns r4
    adds r4, #1
    bx r4
    .pool

    .section .open, "ax"
    .global opened
opened:
    ldr r0, =OPEN_DATA + OPEN_BYTES - 2
    .global half_secure
half_secure:
    ldr r1, [r0]
    bx lr
    .pool

    .bss
    .balign 256
    .global own
own:
    .space 256
    .space 256
