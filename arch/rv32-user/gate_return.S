/* The return address of gate entry functions, in Rust and in C. In: a0 = status (low word of the 64-bit result), a1 = value (high word). Does not
 * return. Call 8 is GATE_RETURN. Its own section, so that the linker script can keep it. */
    .section .cofferdam.gate_return, "ax", %progbits
    .balign 4
    .global __cofferdam_gate_return
    .type __cofferdam_gate_return, %function
__cofferdam_gate_return:
    li a7, 8
    ecall
    unimp /* only when the kernel refuses: the thread was in no gate */
    .size __cofferdam_gate_return, . - __cofferdam_gate_return
