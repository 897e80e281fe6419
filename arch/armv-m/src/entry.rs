//! Exception entry and exit.
//!
//! The board's binary provides the functions that are called from here (`kernel_*`) as thin wrappers around the kernel and the generic ones
//! of `handlers.rs`, because they know where the kernel's state is: in `COFFERDAM_CPU`, whose first word is the address of the Context that
//! runs.
//!
//! A port brings the macros in which processors differ:
//!
//! * `LOAD` loads all region registers. In: r0 = Context, r4 = MPU_RBAR. Clobbers r1-r3, r5-r10.
//! * `SETTLE late` waits until every store of the thread has arrived or failed, and goes to `late` if a fault of it is pending. Out: r4 = MPU_RBAR. Clobbers
//!   r2, flags.
//! * `LIMIT context, offset` sets the limit of the process stack to the word at this offset of the Context, where there is one. Clobbers r2.
//! * `KERNEL_LIMIT` sets the limit of the main stack and seals it, where that can be done. Clobbers r2, r3.
//! * `OTHER name` is where a frame is not a basic one on the process stack; in: as `SAVE` leaves it. It goes on behind itself if there is floating-point state,
//!   at `cofferdam_\name_saved` if there is none, or elsewhere if it was no thread that was interrupted. Clobbers r3, flags.
//! * `WRONG` goes elsewhere if it was no thread that was interrupted, though the process stack pointer is stray.
//! * `TOP` puts the main stack pointer at the top, which is where every entry from a thread begins, if something can have moved it. Clobbers r0.
//! * `HARD` looks at a HardFault first, and may go elsewhere. `JUDGE` does so with any fault.
//! * `PENDED` goes elsewhere when PendSV is not what leads out of reset.
//! * `MATCH`, `LOADED`, `INSTALL` and `STACKED` of `miss.rs`.

use abi::Call;

use crate::context::{Context, Entry, SAVED_BYTES, START_OFFSET};
use crate::machine::{Board, Machine, Port};

/// Defines the entry code. `$port` is a string with the macros of the port.
#[macro_export]
macro_rules! entry_code {
    ($port:expr) => {
core::arch::global_asm!(
    $port,
    r#"

    .section .hot.entry, "ax", %progbits

    .balign 4
cofferdam_zeros:
    .space 64

@ Saves the running thread, as far as the hardware has not.
@   in        exception from thread mode on the process stack; lr = EXC_RETURN
@   out       r0 = kernel, r1 = frame
@   clobbers  r2, r3, r12, flags; what a thread must keep is in its Context
@ A frame outside of the thread's stack goes to kernel_wrong_stack instead, before any floating-point instruction: one
@ would make the hardware write the frame's floating-point part. Offsets are unsigned: a stack pointer below the stack is
@ as far above it as one can be. With floating-point state, or another frame than a basic one, it goes on at \float, with the
@ Context + 32 in r12; that comes back behind this.
    .macro SAVE float
    TOP
    ldr     r0, =COFFERDAM_CPU
    mrs     r1, psp
    ldr     r12, [r0]
    stmia   r12!, {{r4-r11}}
    ldrd    r2, r3, [r12, #8]
    strd    r1, lr, [r12]
    subs    r2, r1, r2
    cmp     r2, r3
    bhi     cofferdam_wrong_stack
    cmn     lr, #3
    bne     \float
    .endm

@ Clears the floating-point registers: whoever runs next must not find what was in them.
@   clobbers  r2, r3
    .macro CLEAR
    adr     r2, cofferdam_zeros
    vldmia  r2, {{s0-s15}}
    vldmia  r2, {{s16-s31}}
    movs    r3, #0
    vmsr    fpscr, r3
    .endm

@ Takes a Context's registers, and goes on where it was.
@   in        r0 = Context
    .macro RESUME
    ldrd    r1, lr, [r0, #32]
    LIMIT   r0, {stack_base}
    tst     lr, #0x10
    beq     cofferdam_resume_float
    ldmia   r0, {{r4-r11}}
    msr     psp, r1
    bx      lr
    .endm

    .macro HANDLER name
    .global \name
    .type \name, %function
    .thumb_func
\name:
    .endm

@ System call. The common ones have functions of their own.
    HANDLER cofferdam_call_entry
    SAVE    cofferdam_call_float
cofferdam_call_saved:
    SETTLE  cofferdam_late
    ldr     r2, [r1, #16]
    cmp     r2, #{last}
    bhi     cofferdam_call_other
    tbb     [pc, r2]
9:
    .irp    number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
    .if     \number == {gate_call}
    .byte   (cofferdam_gate_call - 9b) / 2
    .elseif \number == {gate_return}
    .byte   (cofferdam_gate_return - 9b) / 2
    .elseif \number == {yield_}
    .byte   (cofferdam_yield - 9b) / 2
    .elseif \number == {signal}
    .byte   (cofferdam_signal - 9b) / 2
    .elseif \number == {wait}
    .byte   (cofferdam_wait - 9b) / 2
    .elseif \number == {sleep}
    .byte   (cofferdam_sleep - 9b) / 2
    .elseif \number == {period}
    .byte   (cofferdam_period - 9b) / 2
    .elseif \number == {exit}
    .byte   (cofferdam_exit - 9b) / 2
    .elseif (\number == {poll}) || (\number == {ack}) || (\number == {time_now}) || (\number == {mark})
    .byte   (cofferdam_simple - 9b) / 2
    .else
    .byte   (cofferdam_call_other - 9b) / 2
    .endif
    .endr
    .balign 2

@ Into a gate: the callee finds nothing in the registers but its badge and arguments. What its frame needs stands in the order in
@ which it is loaded here: psp, badge, r12, lr, pc, xpsr.
    .thumb_func
cofferdam_gate_call:
    mov     r11, r1
    bl      kernel_gate_call
    cbz     r0, cofferdam_gate_again
    LOAD
    ldmia   r11, {{r5-r8}}
    LIMIT   r0, {start_base}
    add     r0, r0, #{start}
    ldmia   r0, {{r0, r5, r9-r12}}
    stmia   r0, {{r5-r12}}
    adr     r1, cofferdam_zeros
    ldmia   r1, {{r4-r11}}
    mvn     lr, #2
    msr     psp, r0
    bx      lr
    .thumb_func
cofferdam_gate_again:
    b       cofferdam_call_again

@ Out of a gate.
    .thumb_func
cofferdam_gate_return:
    bl      kernel_gate_return
    cbz     r0, cofferdam_call_again
    LOAD
    RESUME

    .thumb_func
cofferdam_call_again:
    ldr     r0, =COFFERDAM_CPU
    .thumb_func
cofferdam_call_other:
    bl      kernel_call
    b       cofferdam_switch

    .thumb_func
cofferdam_wait:
    bl      kernel_wait
    b       cofferdam_switch

    .thumb_func
cofferdam_sleep:
    bl      kernel_sleep
    b       cofferdam_switch

    .thumb_func
cofferdam_period:
    bl      kernel_period
    b       cofferdam_switch

    .thumb_func
cofferdam_exit:
    bl      kernel_exit
    b       cofferdam_switch

@ After these the caller goes on.
    .thumb_func
cofferdam_simple:
    bl      kernel_simple
    b       cofferdam_resume

    .thumb_func
cofferdam_yield:
    bl      kernel_yield
    b       cofferdam_switch

    .thumb_func
cofferdam_signal:
    bl      kernel_signal

@ After what may have led to another thread.
@   in        r0 = its Context, or 0 if the registers hold what they must and COFFERDAM_CPU says who goes on
    .thumb_func
cofferdam_switch:
    cbz     r0, cofferdam_stay
    LOAD

@   in        r0 = Context
    .thumb_func
cofferdam_resume:
    RESUME

    .thumb_func
cofferdam_resume_float:
    add     r2, r0, #48
    vldmia  r2, {{s16-s31}}
    ldmia   r0, {{r4-r11}}
    msr     psp, r1
    bx      lr

    .thumb_func
cofferdam_stay:
    ldr     r0, =COFFERDAM_CPU
    ldr     r0, [r0]
    b       cofferdam_resume

@ Interrupts: one for the timer, which is SysTick, and one for lines.
    HANDLER cofferdam_timer_entry
    SAVE    cofferdam_timer_float
cofferdam_timer_saved:
    SETTLE  cofferdam_late
    bl      kernel_timer
    b       cofferdam_resume

    HANDLER cofferdam_interrupt_entry
    SAVE    cofferdam_interrupt_float
cofferdam_interrupt_saved:
    SETTLE  cofferdam_late
    mrs     r1, ipsr
    bl      kernel_interrupt
    cbz     r0, cofferdam_interrupt_stay
    LOAD
    RESUME
    .thumb_func
cofferdam_interrupt_stay:
    b       cofferdam_stay

    .thumb_func
cofferdam_late:
    bl      kernel_late
    b       cofferdam_resume

@ The rest of SAVE for a thread with floating-point state: the registers that the hardware does not save go into its Context, and
@ all are cleared. The store makes the hardware write the others to the frame. lr has been saved.
@   in        as SAVE leaves it: r2 = bytes of the stack below the frame, r3 = most of them, r12 = Context + 32
    .thumb_func
cofferdam_save_float:
    subs    r3, r3, #72
    cmp     r2, r3
    bhi     cofferdam_wrong_float
    add     r12, r12, #16
    vstmia  r12, {{s16-s31}}
    CLEAR
    bx      lr

    .irp    name, call, timer, interrupt, fault, counted
    .thumb_func
cofferdam_\name\()_float:
    OTHER   \name
    bl      cofferdam_save_float
    b       cofferdam_\name\()_saved
    .endr

@ Of a thread that is to be stopped nothing need be saved, but its floating-point registers are cleared.
    .thumb_func
cofferdam_wrong_stack:
    WRONG
    tst     lr, #0x10
    bne     cofferdam_wrong_basic
    .thumb_func
cofferdam_wrong_float:
    bl      kernel_wrong_stack
    b       cofferdam_clear
    .thumb_func
cofferdam_wrong_basic:
    bl      kernel_wrong_stack
    b       cofferdam_resume

    HANDLER cofferdam_fault_save
    SAVE    cofferdam_fault_float
cofferdam_fault_saved:
    bl      kernel_fault
    b       cofferdam_resume

@ A miss that somebody counts: the region is loaded, the thread may have to wait.
    HANDLER cofferdam_counted
    SAVE    cofferdam_counted_float
cofferdam_counted_saved:
    SETTLE  cofferdam_late
    bl      kernel_counted
    b       cofferdam_resume

@ Any other fault, or a miss that is a violation: also a breakpoint, which is a HardFault where no debugger wants it. A fault
@ of the kernel itself is the end.
@ An exception return that fails because a domain wrote another exception's number into a saved frame leaves the main stack
@ pointer where the architecture does not say: silicon puts the frame back onto the process stack (DDI 0403 B1.5.8, ExceptionReturn), QEMU pushes
@ one onto the main stack. Every entry begins at the top of the main stack, so that it is put there.
    .global cofferdam_hard_entry
    .type cofferdam_hard_entry, %function
    .thumb_func
cofferdam_hard_entry:
    HARD
    .global cofferdam_fault_entry
    .type cofferdam_fault_entry, %function
    .thumb_func
cofferdam_fault_entry:
    JUDGE
    tst     lr, #4
    beq     cofferdam_kernel_fault
    ldr     r0, =__kernel_stack_top
    msr     msp, r0
    b       cofferdam_fault_save

@ A fault of the kernel itself: nothing that needs to be near.
    .global cofferdam_kernel_fault
    .type cofferdam_kernel_fault, %function
    .thumb_func
cofferdam_kernel_fault:
    ldr     pc, =cofferdam_kernel_failed

@ Leaves reset for good: resumes the first thread.
@ Exception return is possible in handler mode only, so that PendSV (used for nothing else) is the way there. Interrupts
@ were masked since reset: the timer is armed already, and must find a thread to interrupt.
    .global cofferdam_first
    .thumb_func
cofferdam_first:
    KERNEL_LIMIT
    movw    r1, #0xed04
    movt    r1, #0xe000
    mov     r2, #0x10000000
    str     r2, [r1]
    dsb
    isb
    cpsie   i
    b       .

    HANDLER cofferdam_first_entry
    PENDED
    @ What has led here is not coming back: every later entry begins at the top.
    ldr     r1, =__kernel_stack_top
    msr     msp, r1
    ldr     r0, =COFFERDAM_CPU
    ldr     r0, [r0]
    movs    r2, #1
    msr     control, r2
    .thumb_func
cofferdam_clear:
    CLEAR
    b       cofferdam_resume

    .ltorg

    .section .text.cofferdam_kernel_failed, "ax", %progbits

@ Ends everything, with the address in the frame if the main stack still holds one.
    .type cofferdam_kernel_failed, %function
    .thumb_func
cofferdam_kernel_failed:
    mrs     r1, msp
    ldr     r2, =__kernel_stack_bottom
    ldr     r3, =__kernel_stack_top
    msr     msp, r3
    subs    r3, r3, r2
    subs    r3, #32
    subs    r2, r1, r2
    cmp     r2, r3
    ite     ls
    ldrls   r0, [r1, #24]
    movhi   r0, #0
    ldr     pc, =kernel_panic
    .ltorg
"#,
    $crate::miss_text!(),
    last = const $crate::entry::LAST,
    stack_base = const $crate::entry::STACK_BASE,
    start_base = const $crate::entry::START_BASE,
    gate_call = const $crate::Call::GateCall as u32,
    gate_return = const $crate::Call::GateReturn as u32,
    yield_ = const $crate::Call::Yield as u32,
    signal = const $crate::Call::Signal as u32,
    wait = const $crate::Call::Wait as u32,
    sleep = const $crate::Call::SleepUntil as u32,
    period = const $crate::Call::WaitPeriod as u32,
    exit = const $crate::Call::Exit as u32,
    poll = const $crate::Call::Poll as u32,
    ack = const $crate::Call::InterruptAck as u32,
    time_now = const $crate::Call::TimeNow as u32,
    mark = const $crate::Call::Mark as u32,
    start = const $crate::entry::START,
    domain = const $crate::entry::DOMAIN,
    rbar = const 0xe000_ed9c_u32,
    cfsr = const 0xe000_ed28_u32,
    mmfar = const 0xe000_ed34_u32,
    data = const $crate::miss::DATA,
    fetch = const $crate::miss::FETCH,
    pc = const $crate::miss::STACKED_PC,
    port = const $crate::miss::PORT,
    depth = const $crate::MAX_DEPTH,
    root = const $crate::layout::ROOT,
    header = const $crate::layout::HEADER,
    countdown = const $crate::layout::COUNTDOWN,
    random = const $crate::layout::RANDOM,
    candidates = const $crate::layout::CANDIDATES,
    keep = const $crate::layout::KEEP,
    paged = const $crate::layout::PAGED,
);
    };
}

/// The last call that the entry code looks up.
pub const LAST: u32 = 13;

/// Offset of the lowest address of the stack in a [`Context`].
pub const STACK_BASE: usize = core::mem::offset_of!(Context, stack_base);

/// Offset of what a gate's callee starts with from the beginning of the [`Context`] before it.
pub const START: usize = START_OFFSET;

/// The same of the lowest address of its stack.
pub const START_BASE: usize = size_of::<Context>() + Entry::STACK_BASE;

/// Offset of the region image's address from the beginning of a [`Context`]; every board checks it.
pub const DOMAIN: usize = size_of::<Context>() + size_of::<Entry>();

/// Checks the offsets in the kernel's records that the entry code relies on.
pub const fn check<B: Board, P: Port>() {
    assert!(SAVED_BYTES == 32 && Call::Mark as u32 <= LAST);
    assert!(DOMAIN == kernel::domain_offset::<Machine<B, P>>());
}
