//! Exception entry and exit.
//!
//! The image provides the functions that are called from here (`kernel_*`) as thin wrappers around those of `handlers.rs` and the kernel, because it
//! knows where the kernel's state is: in `COFFERDAM_CPU`, whose first word is the address of the
//! Context that runs. A function that may switch threads returns the Context of the next thread,
//! whose space is yet to be loaded, or null: then the thread in `COFFERDAM_CPU` goes on, in the
//! space that is loaded.
//!
//! The kernel runs in Supervisor mode with everything masked; the other modes serve an exception's first instructions only,
//! and their stack pointers are scratch registers. While a thread runs, the stack pointer of Supervisor mode points behind the return
//! state in its Context (see [`Context`](crate::Context)).

use core::arch::global_asm;
use core::mem::offset_of;

use abi::Call;
use kernel::pages::layout;

use crate::context::{Context, Entry, RETURN_OFFSET, START_OFFSET};
use crate::machine::{Armv7a, Board};
use crate::mmu::WALKS;

global_asm!(
    r#"
    .syntax unified
    .arch armv7-a
    .arch_extension sec
    .fpu neon
    .arm

    .section .vectors, "ax", %progbits
    .balign 32
    .global cofferdam_vectors
cofferdam_vectors:
    b       cofferdam_reset
    b       cofferdam_undefined_entry
    b       cofferdam_call_entry
    b       cofferdam_prefetch_entry
    b       cofferdam_data_entry
    b       cofferdam_stray
    b       cofferdam_interrupt_entry
    b       cofferdam_stray

    .section .hot.entry, "ax", %progbits

@ The kernel itself is wrong when it is interrupted by this.
@   in        a mode of its own, whose stack pointer is scratch; lr adjusted
    .macro FROM_USER else
    mrs     sp, spsr
    tst     sp, #0xf
    bne     \else
    .endm

@ Saves the running thread, but for its floating-point state.
@   in        exception from user mode; lr and SPSR as they are to be returned to
@   out       r4 = Context, sp = the kernel's stack, Supervisor mode, everything masked
@   clobbers  r5; what the thread must keep is in its Context
    .macro SAVE
    srsdb   sp!, #0x13
    cpsid   aif, #0x13
    stmdb   sp, {{r0-r14}}^
    sub     r4, sp, #{return_}
    mrc     p15, 0, r5, c13, c0, 2
    str     r5, [r4, #{thread_word}]
    ldr     sp, =__kernel_stack_top
    .endm

@ Loads the space of a thread's domain, if another is loaded; as `Space::load`, which says why. The event register is set whatever the domain before has
@ left in it, so that it tells the next one nothing (DDI 0406C B1.8.13).
@   in        r0 = Context
@   clobbers  r1-r3, r12, flags
    .macro LOAD
    ldr     r1, [r0, #{domain}]
    mrc     p15, 0, r12, c13, c0, 1
    ldrd    r2, r3, [r1, #{space}]
    cmp     r3, r12
    beq     8f
    sev
    orr     r2, r2, #{walks}
    mov     r12, #0
    dsb
    mcr     p15, 0, r12, c13, c0, 1
    isb
    mcr     p15, 0, r2, c2, c0, 0
    isb
    dsb
    mcr     p15, 0, r3, c13, c0, 1
8:
    .endm

@ Waits until every access of the thread has arrived or failed; what fails late is pending now or was noted on the way in.
@ Otherwise it would be found after a switch, and blamed on the next domain. (DDI 0406C B4.1.100: ISR.A.)
@   clobbers  r0, r1, flags
    .macro SETTLE
    dsb
    ldr     r0, =COFFERDAM_LATE
    mrc     p15, 0, r1, c12, c1, 0
    ldr     r0, [r0]
    and     r1, r1, #0x100
    orrs    r0, r0, r1
    bne     cofferdam_late
    .endm

    .macro HANDLER name
    .global \name
    .type \name, %function
\name:
    .endm

@ System call; the common ones have functions of their own. From the kernel itself it can only be the request to a simulator to end the
@ run, where there is no simulator. (r12 is as the thread had it.)
    HANDLER cofferdam_call_entry
    SAVE
    ldr     r5, [r4, #{return_} + 4]
    tst     r5, #0xf
    bne     cofferdam_parked
    SETTLE
    ldr     r0, =COFFERDAM_CPU
    cmp     r12, #{last}
    ldrls   pc, [pc, r12, lsl #2]
    b       cofferdam_call_other
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

@ Into a gate: the callee finds nothing in the registers but its badge and arguments, and no floating-point state. Its Context gets
@ what nobody else would write there before it is saved; what it starts with is in the words behind it (`Entry`).
@   in        r0 = kernel, r4 = the caller's Context
cofferdam_gate_call:
    mov     r1, r4
    bl      kernel_gate_call
    cmp     r0, #0
    beq     cofferdam_call_again
    LOAD
    ldr     r5, =COFFERDAM_FLOAT
    mov     r6, #0
    ldr     r7, [r5]
    str     r6, [r0, #{float_used}]
    cmp     r7, r0
    str     r6, [r0, #{fpscr}]
    streq   r6, [r5]
    mcr     p15, 0, r6, c13, c0, 2
    vmsr    fpexc, r6
    clrex
    add     lr, r0, #{start} + 4
    add     sp, r0, #{return_} + 8
    ldmib   r4, {{r1-r3}}
    ldr     r0, [lr, #-4]
    ldmia   lr, {{r13, r14}}^
    mov     r4, #0
    mov     r5, #0
    mov     r7, #0
    mov     r8, #0
    mov     r9, #0
    mov     r10, #0
    mov     r11, #0
    mov     r12, #0
    add     lr, lr, #8
    rfeia   lr

@ Out of a gate.
cofferdam_gate_return:
    mov     r1, r4
    bl      kernel_gate_return
    cmp     r0, #0
    bne     cofferdam_load

cofferdam_call_again:
    ldr     r0, =COFFERDAM_CPU
cofferdam_call_other:
    bl      kernel_call

@ After what may have led to another thread.
@   in        r0 = its Context, or 0 when the one that COFFERDAM_CPU names goes on
cofferdam_switch:
    cmp     r0, #0
    beq     cofferdam_stay
    .global cofferdam_load
cofferdam_load:
    LOAD

@ Resumes a Context: the floating-point unit is on only for whose registers are in it. The return is a context synchronization
@ event; the local monitor is cleared, so that no exclusive store of this thread succeeds for a load of another.
@   in        r0 = Context
cofferdam_resume:
    ldr     r1, =COFFERDAM_FLOAT
    ldr     r2, [r0, #{thread_word}]
    ldr     r1, [r1]
    mcr     p15, 0, r2, c13, c0, 2
    cmp     r1, r0
    moveq   r1, #0x40000000
    movne   r1, #0
    vmsr    fpexc, r1
    clrex
    add     sp, r0, #{return_}
    ldmdb   sp, {{r0-r14}}^
    rfeia   sp!

cofferdam_stay:
    ldr     r0, =COFFERDAM_CPU
    ldr     r0, [r0]
    b       cofferdam_resume

@ After these the caller goes on.
cofferdam_simple:
    mov     r1, r4
    mov     r2, r12
    bl      kernel_simple
    mov     r0, r4
    b       cofferdam_resume

    .irp    name, signal, wait, sleep, period, exit, yield
cofferdam_\name:
    mov     r1, r4
    bl      kernel_\name
    b       cofferdam_switch
    .endr

@ Where the kernel waits when nobody runs: not as a thread, which would need a space, but here, as the Context of the idle level says. What
@ is masked ends the waiting all the same (DDI 0406C B1.8.14), and the interrupt is served like one of a thread.
    .global cofferdam_idle
    .type cofferdam_idle, %function
cofferdam_idle:
    ldr     sp, =__kernel_stack_top
    dsb
    wfi
    ldr     r0, =COFFERDAM_CPU
    bl      kernel_interrupt
    b       cofferdam_switch

@ Interrupts: which one is asked of the controller, by the image.
    HANDLER cofferdam_interrupt_entry
    sub     lr, lr, #4
    FROM_USER cofferdam_stray
    SAVE
    SETTLE
    ldr     r0, =COFFERDAM_CPU
    bl      kernel_interrupt
    b       cofferdam_switch

@ A late abort of the thread that entered the kernel. What it entered for is dropped with it: a call is not performed, an
@ interrupt comes again because nobody has acknowledged it.
cofferdam_late:
    mov     r1, #{late}
    b       cofferdam_fault

    HANDLER cofferdam_prefetch_entry
    sub     lr, lr, #4
    FROM_USER cofferdam_stray
    SAVE
    mov     r1, #{prefetch}

@ A late abort of the same thread is taken here, by cofferdam_data_stray, and is settled with the fault.
@   in        r1 = which vector
cofferdam_fault:
    dsb
    cpsie   a
    isb
    cpsid   a
    ldr     r0, =COFFERDAM_CPU
    bl      kernel_fault
    b       cofferdam_switch

    HANDLER cofferdam_data_entry
    sub     lr, lr, #8
    FROM_USER cofferdam_data_stray
    SAVE
    mov     r1, #{data}
    b       cofferdam_fault

@ A data abort of the kernel: late, then it is the running thread's and noted for SETTLE; otherwise the kernel is wrong.
cofferdam_data_stray:
    ldr     sp, =__abort_stack_top
    push    {{r0, r1}}
    mrc     p15, 0, r0, c5, c0, 0
    tst     r0, #0x400
    beq     cofferdam_stray
    and     r1, r0, #0xf
    cmp     r1, #6
    cmpne   r1, #8
    bne     cofferdam_stray
    ldr     r1, =COFFERDAM_LATE
    str     r0, [r1]
    pop     {{r0, r1}}
    movs    pc, lr

@ An undefined instruction, or the first use of the floating-point unit since another thread used it. The return address is
@ the instruction's: 4 before lr, 2 in Thumb state.
    HANDLER cofferdam_undefined_entry
    FROM_USER cofferdam_stray
    tst     sp, #0x20
    subeq   lr, lr, #4
    subne   lr, lr, #2
    SAVE
    vmrs    r1, fpexc
    tst     r1, #0x40000000
    movne   r1, #{undefined}
    bne     cofferdam_fault
    mov     r1, #0x40000000
    vmsr    fpexc, r1

@ Hands the floating-point unit over: two times 33 registers at most.
    ldr     r2, =COFFERDAM_FLOAT
    ldr     r3, [r2]
    str     r4, [r2]
    cmp     r3, #0
    beq     1f
    vmrs    r0, fpscr
    str     r0, [r3, #{fpscr}]
    add     r3, r3, #{float}
    vstmia  r3!, {{d0-d15}}
    vstmia  r3, {{d16-d31}}
1:  ldr     r1, [r4, #{float_used}]
    ldr     r0, [r4, #{fpscr}]
    cmp     r1, #0
    mov     r1, #1
    str     r1, [r4, #{float_used}]
    vmsr    fpscr, r0
    addne   r3, r4, #{float}
    ldreq   r3, =cofferdam_zeros
    vldmia  r3!, {{d0-d15}}
    ldreq   r3, =cofferdam_zeros
    vldmia  r3, {{d16-d31}}
    mov     r0, r4
    b       cofferdam_resume

@ The kernel itself is wrong. The address of the instruction is in r0 as far as the exception tells it, and the mode in r1.
    HANDLER cofferdam_stray
    mov     r0, lr
    mrs     r1, cpsr
    cpsid   aif, #0x13
    ldr     sp, =__kernel_stack_top
    bl      kernel_panic
cofferdam_parked:
    wfi
    b       cofferdam_parked

    .ltorg

    .section .rodata.cofferdam_zeros, "a", %progbits
    .balign 8
cofferdam_zeros:
    .space  128

    .section .bss.cofferdam_entry, "aw", %nobits
    .balign 4
@ Whose registers are in the floating-point unit.
    .global COFFERDAM_FLOAT
COFFERDAM_FLOAT:
    .space  4
@ Status of a late abort that came when the kernel had been entered already.
    .global COFFERDAM_LATE
COFFERDAM_LATE:
    .space  4
"#,
    return_ = const RETURN_OFFSET,
    thread_word = const offset_of!(Context, thread_word),
    float_used = const offset_of!(Context, float_used),
    fpscr = const offset_of!(Context, fpscr),
    start = const START_OFFSET,
    domain = const DOMAIN_OFFSET,
    space = const layout::ROOT,
    walks = const WALKS,
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
    float = const offset_of!(Context, float),
    undefined = const Vector::Undefined as u32,
    prefetch = const Vector::Prefetch as u32,
    data = const Vector::Data as u32,
    late = const Vector::Late as u32,
);

/// The last call that the entry code looks up.
const LAST: u32 = 13;

/// Offset of the domain's address, which begins with its space, from the beginning of a
/// [`Context`]; every board checks it.
pub(crate) const DOMAIN_OFFSET: usize = size_of::<Context>() + size_of::<Entry>();

/// Checks the offsets in the kernel's records that the entry code relies on.
pub const fn check<B: Board>() {
    assert!(Call::Mark as u32 <= LAST && layout::ASID == layout::ROOT + 4);
    assert!(DOMAIN_OFFSET == kernel::domain_offset::<Armv7a<B>>());
}

/// Exception that reports a fault of a thread; the second argument of `kernel_fault`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Vector {
    /// Undefined instruction.
    Undefined = 1,
    /// Prefetch abort.
    Prefetch = 2,
    /// Data abort.
    Data = 3,
    /// A data abort that was noticed when the thread had entered the kernel already.
    Late = 4,
}

unsafe extern "C" {
    static mut COFFERDAM_LATE: u32;
}

/// Takes the status of a late abort that came on the way into the kernel; 0 for none.
pub(crate) fn take_late() -> u32 {
    // SAFETY: everything is masked in the kernel, so no exception writes the word now.
    unsafe { (&raw mut COFFERDAM_LATE).replace(0) }
}
