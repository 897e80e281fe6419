@ Linked with every guest: vectors, the trace port, the record that ends the run. A guest defines `main` and, where it wants one, handlers
@ (`on_svc`, `on_systick`, `on_timer0`, `on_fault`, `on_secure_fault`), typed as functions; it never returns from `main`.
    .syntax unified
    .thumb

    .macro default name
    .weak \name
    .thumb_set \name, unexpected
    .endm
    default on_fault
    default on_secure_fault
    default on_svc
    default on_pendsv
    default on_systick
    default on_timer0

    .section .vectors, "a"
    .word stack_top
    .word reset
    .word unexpected
    .word unexpected
    .word on_fault
    .word unexpected
    .word unexpected
    .word on_secure_fault
    .word 0, 0, 0
    .word on_svc
    .word unexpected
    .word 0
    .word on_pendsv
    .word on_systick
    .rept 8
    .word unexpected
    .endr
    .word on_timer0
    .rept 23
    .word unexpected
    .endr

    .section .kernel, "ax"
    .thumb_func
    .global reset
reset:
    bl main
    .thumb_func
unexpected:
    movs r0, #99
@ Ends the run. In: r0 the exit status. Does not return.
    .thumb_func
    .global leave
leave:
    cpsid i
    mov r1, r0
    ldr r0, =0xff10
    bl trace
    b .

@ Stores a record to the trace port. In: r0 header, r1 payload. Clobbers r2.
    .thumb_func
    .global trace
trace:
    ldr r2, =COFFERDAM_TRACE_PORT
    str r1, [r2]
    str r0, [r2, #4]
    bx lr
    .pool

@ Goes on unprivileged, on a stack of its own. In: r0 the address (bit 0 set), r1 the end of the stack. Does not return.
    .thumb_func
    .global drop_to
drop_to:
    msr psp, r1
    movs r2, #3
    msr control, r2
    isb
    bx r0

    .bss
    .balign 8
    .global COFFERDAM_TRACE_PORT
COFFERDAM_TRACE_PORT:
    .space 8
