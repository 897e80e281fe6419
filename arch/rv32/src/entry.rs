//! Exception entry and exit.
//!
//! The image provides the functions that are called from here (`kernel_*`) as thin wrappers around those of `handlers.rs` and the kernel, because it
//! knows where the kernel's state is: in `COFFERDAM_CPU`, whose first word is the address of the Context that runs. A function that may switch threads
//! returns the Context of the next thread, whose space is yet to be loaded, or null: then the thread in `COFFERDAM_CPU` goes on, in the space that is
//! loaded.
//!
//! The kernel runs in machine mode with interrupts off. While a thread runs, `mscratch` holds the address of its Context; while the kernel runs, 0.

use core::arch::global_asm;
use core::mem::offset_of;

use abi::Call;
use kernel::rtmmu::layout;

use crate::context::{A0_OFFSET, A7_OFFSET, Context, Entry, PC_OFFSET, STATUS_OFFSET};
use crate::machine::{Board, MMU, Rv32};

global_asm!(
    r#"
# The core branches to the entry of the cause (Ibex: always vectored). The first instruction after reset is at 0x80.
    .section .vectors, "ax", %progbits
    .balign 256
    .global cofferdam_vectors
    .option push
    .option norvc
cofferdam_vectors:
    j       cofferdam_exception_entry
    .rept   30
    j       cofferdam_interrupt_entry
    .endr
    j       cofferdam_stray
    .org    cofferdam_vectors + 0x80
    j       cofferdam_reset
    .option pop

    .section .hot.entry, "ax", %progbits

# Saves the running thread.
#   in        exception from user mode
#   out       s0 = Context, sp = the kernel's stack, mscratch = 0
#   clobbers  every register; what the thread must keep is in its Context
    .macro SAVE
    csrrw   t6, mscratch, t6
    beqz    t6, cofferdam_stray
    .irp    n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
    sw      x\n, (4 * (\n - 1))(t6)
    .endr
    csrrw   t0, mscratch, zero
    sw      t0, (4 * 30)(t6)
    csrr    t0, mepc
    sw      t0, {pc}(t6)
    mv      s0, t6
    la      sp, __kernel_stack_top
    .endm

# Loads the space of a Context's domain, as `Rv32::load_space` does.
#   in        a0 = Context
#   clobbers  t0-t4
    .macro LOAD
    lw      t0, {domain}(a0)
    lw      t1, {first}(t0)
    lw      t2, {pages_log2}(t0)
    lw      t3, {on}(t0)
    lw      t4, cofferdam_mmu
    sw      t1, {mmu_first}(t4)
    sw      t2, {mmu_pages}(t4)
    sw      t3, {mmu_control}(t4)
    .endm

    .macro HANDLER name
    .balign 4
    .global \name
    .type \name, %function
\name:
    .endm

# System calls, and faults. The common calls have functions of their own.
    HANDLER cofferdam_exception_entry
    SAVE
    csrr    a1, mcause
    li      t1, 8
    la      a0, COFFERDAM_CPU
    bne     a1, t1, cofferdam_fault
    addi    t0, t0, 4
    sw      t0, {pc}(s0)
    lw      a2, {a7}(s0)
    addi    a1, s0, {a0}
    li      t1, {last}
    bgtu    a2, t1, cofferdam_call_other
    la      t1, cofferdam_calls
    slli    t2, a2, 2
    add     t1, t1, t2
    lw      t1, 0(t1)
    jr      t1

cofferdam_fault:
    csrr    a2, mtval
    call    kernel_fault
    j       cofferdam_switch

# Into a gate: the callee finds nothing in the registers but its badge and arguments. Its Context has been filled when it was made, but for what nobody
# would read before it is saved again; what it starts with is in the words behind it (`Entry`).
#   in        a0 = kernel, a1 = the caller's arguments, s0 = its Context
cofferdam_gate_call:
    call    kernel_gate_call
    beqz    a0, cofferdam_call_again
    LOAD
    lw      t0, {entry_pc}(a0)
    lw      t1, {status}(a0)
    csrw    mepc, t0
    csrw    mstatus, t1
    csrw    mscratch, a0
    lw      ra, {entry_link}(a0)
    lw      sp, {entry_top}(a0)
    andi    sp, sp, -16
    lw      a1, ({a0} + 4)(s0)
    lw      a2, ({a0} + 8)(s0)
    lw      a3, ({a0} + 12)(s0)
    lw      a0, {entry_badge}(a0)
    .irp    n, 3, 4, 5, 6, 7, 8, 9, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    li      x\n, 0
    .endr
    mret

# Out of a gate.
cofferdam_gate_return:
    call    kernel_gate_return
    bnez    a0, cofferdam_load

cofferdam_call_again:
    la      a0, COFFERDAM_CPU
cofferdam_call_other:
    call    kernel_call
    j       cofferdam_switch

# After these the caller goes on.
cofferdam_simple:
    call    kernel_simple
    mv      a0, s0
    j       cofferdam_resume

    .irp    name, signal, wait, sleep, period, exit, yield
cofferdam_\name:
    call    kernel_\name
    j       cofferdam_switch
    .endr

# Interrupts: which one is asked of the processor, by the image.
    HANDLER cofferdam_interrupt_entry
    SAVE
    la      a0, COFFERDAM_CPU
    call    kernel_interrupt

# After what may have led to another thread.
#   in        a0 = its Context, or 0 when the one that COFFERDAM_CPU names goes on
cofferdam_switch:
    bnez    a0, cofferdam_load
    la      a0, COFFERDAM_CPU
    lw      a0, 0(a0)
    j       cofferdam_resume

    .global cofferdam_load
cofferdam_load:
    LOAD

# Resumes a Context.
#   in        a0 = Context
cofferdam_resume:
    lw      t0, {pc}(a0)
    lw      t1, {status}(a0)
    csrw    mepc, t0
    csrw    mstatus, t1
    csrw    mscratch, a0
    mv      t6, a0
    .irp    n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
    lw      x\n, (4 * (\n - 1))(t6)
    .endr
    lw      t6, (4 * 30)(t6)
    mret

# The kernel waits here when nobody runs, in machine mode. An enabled interrupt ends the waiting though interrupts are off (Privileged Architecture, WFI),
# and the kernel serves it like one that comes to a thread.
    .global cofferdam_idle
    .type cofferdam_idle, %function
cofferdam_idle:
    csrw    mscratch, zero
    la      sp, __kernel_stack_top
    wfi
    la      a0, COFFERDAM_CPU
    call    kernel_interrupt
    j       cofferdam_switch

# The kernel itself is wrong. The address of the instruction is in a0, and the cause in a1.
    HANDLER cofferdam_stray
    csrr    a0, mepc
    csrr    a1, mcause
    la      sp, __kernel_stack_top
    call    kernel_panic
1:  wfi
    j       1b

    .section .rodata.cofferdam_calls, "a", %progbits
    .balign 4
cofferdam_calls:
    .irp    number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
    .if     \number == {gate_call}
    .word   cofferdam_gate_call
    .elseif \number == {gate_return}
    .word   cofferdam_gate_return
    .elseif \number == {yield_}
    .word   cofferdam_yield
    .elseif \number == {signal}
    .word   cofferdam_signal
    .elseif \number == {wait}
    .word   cofferdam_wait
    .elseif \number == {sleep}
    .word   cofferdam_sleep
    .elseif \number == {period}
    .word   cofferdam_period
    .elseif \number == {exit}
    .word   cofferdam_exit
    .elseif (\number == {poll}) || (\number == {ack}) || (\number == {time_now}) || (\number == {mark})
    .word   cofferdam_simple
    .else
    .word   cofferdam_call_other
    .endif
    .endr
"#,
    pc = const PC_OFFSET,
    status = const STATUS_OFFSET,
    domain = const DOMAIN_OFFSET,
    first = const layout::FIRST,
    pages_log2 = const layout::PAGES_LOG2,
    on = const layout::ON,
    mmu_first = const MMU.first,
    mmu_pages = const MMU.pages_log2,
    mmu_control = const MMU.control,
    a0 = const A0_OFFSET,
    a7 = const A7_OFFSET,
    entry_badge = const START_OFFSET + Entry::BADGE_OFFSET,
    entry_top = const START_OFFSET + Entry::TOP_OFFSET,
    entry_link = const START_OFFSET + Entry::LINK_OFFSET,
    entry_pc = const START_OFFSET + Entry::PC_OFFSET,
    last = const LAST,
    gate_call = const Call::GateCall as u32,
    gate_return = const Call::GateReturn as u32,
    yield_ = const Call::Yield as u32,
    signal = const Call::Signal as u32,
    wait = const Call::Wait as u32,
    sleep = const Call::SleepUntil as u32,
    period = const Call::WaitPeriod as u32,
    exit = const Call::Exit as u32,
    poll = const Call::Poll as u32,
    ack = const Call::InterruptAck as u32,
    time_now = const Call::TimeNow as u32,
    mark = const Call::Mark as u32,
);

/// The last call that the entry code looks up.
const LAST: u32 = 13;

/// Offset of an [`Entry`] from the beginning of the [`Context`] before it.
const START_OFFSET: usize = size_of::<Context>();

/// Offset of the domain's address, which begins with its space, from the beginning of a [`Context`]; every board checks it.
pub(crate) const DOMAIN_OFFSET: usize = size_of::<Context>() + size_of::<Entry>();

/// Checks the offsets in the kernel's records that the entry code relies on.
pub const fn check<B: Board>() {
    assert!(Call::Mark as u32 <= LAST);
    assert!(DOMAIN_OFFSET == kernel::domain_offset::<Rv32<B>>());
    assert!(offset_of!(Context, registers) == 0);
}
