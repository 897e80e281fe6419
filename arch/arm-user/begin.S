/* The beginnings of threads and of gates' callees in a program with constructors: the first thread to come runs them
 * (user/c/src/crt0.c), and a gate is not entered before. The tool leads each entry through here: ip = the entry. The assembler
 * is in the state of the target, Thumb or Arm; what follows is valid in both. */
    .syntax unified
    .section .cofferdam.entry.begin, "ax", %progbits

/* In: r0-r2 are the thread's (information block, argument, restarts). Clobbers what a call may. */
    .balign 4
    .global __cofferdam_thread_begin
    .type __cofferdam_thread_begin, %function
__cofferdam_thread_begin:
    push {r0, r1, r2, ip}
    mov r1, r2
    bl cof_start
    pop {r0, r1, r2, ip}
    bx ip
    .size __cofferdam_thread_begin, . - __cofferdam_thread_begin

/* In: r0-r3 and lr are the callee's. Its other registers hold nothing: r4 is free. */
    .balign 4
    .global __cofferdam_gate_begin
    .type __cofferdam_gate_begin, %function
__cofferdam_gate_begin:
    ldr r4, =cof_begun
    ldr r4, [r4]
    cmp r4, #0
    it ne
    bxne ip
    mvn r0, #7 /* COF_E_BAD_STATE: -8 */
    mov r1, #0
    bx lr
    .ltorg
    .size __cofferdam_gate_begin, . - __cofferdam_gate_begin
