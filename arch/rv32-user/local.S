/* The beginning of a thread, or of a gate's callee, of a program with thread-local variables: makes its own, as local.ld
 * lays them out, and goes to its entry. In: t1 = entry, sp = the upper end of its stack; a0-a3 and ra are the entry's. Out:
 * tp = the variables, sp = below them (RISC-V ELF psABI, thread-local storage). Clobbers t0, t2, t3 and t4. */
    .section .cofferdam.entry.local, "ax", %progbits
    .balign 4
    .global __cofferdam_local_begin
    .type __cofferdam_local_begin, %function
__cofferdam_local_begin:
    lui t0, %hi(__cofferdam_local_bytes)
    addi t0, t0, %lo(__cofferdam_local_bytes)
    sub tp, sp, t0
    la t0, __cofferdam_local_start
    la t3, __cofferdam_local_end
    mv t2, tp
1:  beq t0, t3, 3f
    lw t4, 0(t0)
    sw t4, 0(t2)
    addi t0, t0, 4
    addi t2, t2, 4
    j 1b
2:  sw zero, 0(t2)
    addi t2, t2, 4
3:  bne t2, sp, 2b
    mv sp, tp
    jr t1
    .size __cofferdam_local_begin, . - __cofferdam_local_begin
