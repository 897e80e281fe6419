/* For domains without Rust: where gate entry functions return to.
 * In: r0 = status (low word of the 64-bit result), r1 = value (high word). Does not return. Call 8 is GATE_RETURN. */
    .syntax unified
    .arm
    .section .cofferdam.gate_return, "ax", %progbits
    .balign 4
    .global __cofferdam_gate_return
    .type __cofferdam_gate_return, %function
__cofferdam_gate_return:
    mov r12, #8
    svc #0
    udf #0
    .size __cofferdam_gate_return, . - __cofferdam_gate_return
