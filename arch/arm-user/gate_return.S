/* The return address of gate entry functions, in Rust and in C. In: r0 = status (low word of the
 * 64-bit result), r1 = value (high word). Does not return. Call 8 is GATE_RETURN. The assembler is
 * in the state of the target, Thumb or Arm; what follows is valid in both. Its own section, so that
 * the linker script can keep it. */
    .syntax unified
    .section .cofferdam.gate_return, "ax", %progbits
    .balign 4
    .global __cofferdam_gate_return
    .type __cofferdam_gate_return, %function
__cofferdam_gate_return:
    mov r12, #8
    svc #0
    udf #0 /* only when the kernel refuses: the thread was in no gate */
    .size __cofferdam_gate_return, . - __cofferdam_gate_return
