// Reset and traps. Vectors at 0 (Ibex is always vectored), reset at 0x80.
    .section .vectors, "ax"
    .option norvc
    .rept 32
    j trap_entry
    .endr
    .org 0x80
    j reset

    .text
    .globl reset
reset:
    la   sp, stack_top
    // Memory holds anything after power-up.
    la   t0, bss_start
    la   t1, bss_end
1:  bgeu t0, t1, 2f
    sw   zero, 0(t0)
    addi t0, t0, 4
    j    1b
2:  csrw mtvec, zero
    csrw mie, zero
    la   t0, trap_frame
    csrw mscratch, t0
    call main
    li   t0, 0x10001008
    sw   a0, 0(t0)
3:  wfi
    j    3b

    // In: any context. Out: as the frame says after `trap`. The trap stack is not the interrupted one. Not reentrant.
trap_entry:
    csrrw x31, mscratch, x31
    .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
    sw   x\n, (4 * (\n - 1))(x31)
    .endr
    csrr t0, mscratch
    sw   t0, (4 * 30)(x31)
    csrr t0, mepc
    sw   t0, (4 * 31)(x31)
    csrw mscratch, x31
    mv   a0, x31
    la   sp, trap_stack_top
    call trap
    csrr x31, mscratch
    lw   t0, (4 * 31)(x31)
    csrw mepc, t0
    .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
    lw   x\n, (4 * (\n - 1))(x31)
    .endr
    lw   x31, (4 * 30)(x31)
    mret

    // void enter_user(uint32_t pc, uint32_t stack, uint32_t a0, uint32_t a1): runs U-mode code until a trap calls `leave_user`.
    .globl enter_user
enter_user:
    addi sp, sp, -64
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    sw   s\n, (4 * \n)(sp)
    .endr
    sw   ra, 48(sp)
    la   t0, kernel_sp
    sw   sp, 0(t0)
    csrw mepc, a0
    li   t0, 0x1800
    csrc mstatus, t0
    mv   sp, a1
    mv   a0, a2
    mv   a1, a3
    mret

    // Returns from `enter_user` to its caller; the frame is dropped.
    .globl leave_user
leave_user:
    la   t0, kernel_sp
    lw   sp, 0(t0)
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    lw   s\n, (4 * \n)(sp)
    .endr
    lw   ra, 48(sp)
    addi sp, sp, 64
    ret

    // uint32_t load_at(uint32_t address) and void store_at(uint32_t address, uint32_t word): one access at a known pc.
    .option push
    .option norvc
    .globl load_at, load_at_pc, store_at, store_at_pc
load_at:
load_at_pc:
    lw   a0, 0(a0)
    ret
store_at:
store_at_pc:
    sw   a1, 0(a0)
    ret
    // uint32_t cycles_of_load(uint32_t address), cycles_of_store(uint32_t address): the difference of mcycle around it.
    .globl cycles_of_load, cycles_of_store
    .balign 16
cycles_of_load:
    csrr t0, mcycle
    lw   t2, 0(a0)
    csrr t1, mcycle
    sub  a0, t1, t0
    ret
    .balign 16
cycles_of_store:
    csrr t0, mcycle
    sw   zero, 0(a0)
    csrr t1, mcycle
    sub  a0, t1, t0
    ret
    .option pop

    // U-mode code: linked at the upper half, loaded into DRAM. It asks by ecall: a7 = 1 to end.
    .section .user, "ax"
    .option norvc
    .globl user_sum, user_peek, user_spin, user_jump
    // a0 = first page address, a1 = number of pages: writes, reads and sums one word in each.
user_sum:
    mv   t0, a0
    li   t1, 0
    li   t3, 0
1:  sw   t0, 0(t0)
    lw   t2, 0(t0)
    add  t1, t1, t2
    li   t4, 4096
    add  t0, t0, t4
    addi t3, t3, 1
    bltu t3, a1, 1b
    mv   a0, t1
    li   a7, 1
    ecall
user_peek:              // a0 = address: loads it
    lw   a0, 0(a0)
    li   a7, 1
    ecall
user_poke:
    .globl user_poke
    sw   a1, 0(a0)
    li   a7, 1
    ecall
user_jump:              // a0 = address: jumps there
    jr   a0
user_spin:              // until something else happens
    j    user_spin

    .bss
    .balign 16
kernel_sp:  .skip 4
trap_frame: .skip 128
    .skip 2048
trap_stack_top:
    .skip 4096
stack_top:
