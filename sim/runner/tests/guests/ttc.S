@ For a Zynq: waits for twenty intervals of the triple timer counter, each of 20001 ticks at 133 MHz, and ends with status 7. The interval is
@ no whole number of nanoseconds, so that the emulator's timer is due a little before the counter is.
    .syntax unified
    .arm
    .global _start
_start:
    ldr     r0, =0xf8001000
    mov     r1, #0
    str     r1, [r0, #0x04]
    ldr     r1, =20000
    str     r1, [r0, #0x28]
    mov     r1, #1
    str     r1, [r0, #0x64]
    mov     r1, #0x12
    str     r1, [r0, #0x10]
    mov     r4, #20
1:  ldr     r1, [r0, #0x58]
    tst     r1, #1
    beq     1b
    subs    r4, r4, #1
    bne     1b
    ldr     r0, =COFFERDAM_TRACE_PORT
    mov     r1, #7
    mov     r2, #0x10
    str     r1, [r0]
    str     r2, [r0, #4]
    b       .
    .ltorg

    .bss
    .balign 8
    .global COFFERDAM_TRACE_PORT
COFFERDAM_TRACE_PORT:
    .space  8
