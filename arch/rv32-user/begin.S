/* The beginnings of threads and of gates' callees in a program with constructors: the first thread to come runs them
 * (user/c/src/crt0.c), and a gate is not entered before. The tool leads each entry through here: t1 = the entry. Thread-local
 * variables are made first (local.S). */
    .section .cofferdam.entry.begin, "ax", %progbits

/* In: a0-a2 are the thread's (information block, argument, restarts). Clobbers what a call may, and s1. */
    .balign 4
    .global __cofferdam_thread_begin
    .type __cofferdam_thread_begin, %function
__cofferdam_thread_begin:
    mv s1, t1
    la t1, 1f
    j __cofferdam_local_begin
1:  addi sp, sp, -16
    sw a0, 0(sp)
    sw a1, 4(sp)
    sw a2, 8(sp)
    mv a1, a2
    call cof_start
    lw a0, 0(sp)
    lw a1, 4(sp)
    lw a2, 8(sp)
    addi sp, sp, 16
    jr s1
    .size __cofferdam_thread_begin, . - __cofferdam_thread_begin

/* In: a0-a3 and ra are the callee's. Clobbers what local.S does. */
    .balign 4
    .global __cofferdam_gate_begin
    .type __cofferdam_gate_begin, %function
__cofferdam_gate_begin:
    lui t0, %hi(cof_begun)
    lw t0, %lo(cof_begun)(t0)
    beqz t0, 1f
    j __cofferdam_local_begin
1:  li a0, -8 /* COF_E_BAD_STATE */
    li a1, 0
    ret
    .size __cofferdam_gate_begin, . - __cofferdam_gate_begin
