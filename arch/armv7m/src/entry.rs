//! Exception entry and exit.
//!
//! The board's binary provides the functions that are called from here (`kernel_*`) as thin wrappers around the generic ones
//! below, because they know where the kernel's state is: in `COFFERDAM_CPU`, whose first word is the address of the Context that
//! runs.

use core::arch::global_asm;
use core::ptr::NonNull;

use abi::Call;
use abi::trace::Fault;
use kernel::Kernel;

use crate::context::{Context, Entry, SAVED_BYTES, START_OFFSET};
use crate::machine::{Armv7m, Board};
use crate::regs;

global_asm!(
    r#"
    .syntax unified
    .fpu fpv5-d16

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
@ as far above it as one can be. With floating-point state it goes on at \float, with the Context + 32 in r12.
    .macro SAVE float
    ldr     r0, =COFFERDAM_CPU
    mrs     r1, psp
    ldr     r12, [r0]
    stmia   r12!, {{r4-r11}}
    ldrd    r2, r3, [r12, #8]
    strd    r1, lr, [r12]
    subs    r2, r1, r2
    cmp     r2, r3
    bhi     cofferdam_wrong_stack
    tst     lr, #0x10
    beq     \float
    .endm

@ The rest of it, for a thread with floating-point state.
    .macro SAVE_FLOAT
    subs    r3, r3, #72
    cmp     r2, r3
    bhi     cofferdam_wrong_stack
    add     r12, r12, #16
    vstmia  r12, {{s16-s31}}
    .endm

@ Waits until every store of the thread has arrived or failed. Bus faults do not preempt the kernel, so that one is pending;
@ without this it would be found after a switch, and blamed on the next domain.
@   out       r4 = MPU_RBAR
@   clobbers  r2, flags
    .macro SETTLE late
    ldr     r4, ={rbar}
    dsb
    ldr     r2, [r4, #{shcsr} - {rbar}]
    lsls    r2, r2, #31 - {pended}
    bmi     \late
    .endm

@ Loads all region registers: RBAR and RASR and their three aliases are eight consecutive words (DDI 0403 B3.5.11). The return
@ from the exception is what synchronizes; the kernel's own accesses do not depend on them.
@   in        r0 = Context, r4 = MPU_RBAR
@   clobbers  r1-r3, r5-r10
    .macro LOAD
    ldr     r1, [r0, #{domain}]
    ldmia   r1!, {{r2, r3, r5, r6, r7, r8, r9, r10}}
    stmia   r4, {{r2, r3, r5, r6, r7, r8, r9, r10}}
    ldmia   r1, {{r2, r3, r5, r6, r7, r8, r9, r10}}
    stmia   r4, {{r2, r3, r5, r6, r7, r8, r9, r10}}
    dsb
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
    cbz     r0, cofferdam_call_again
    LOAD
    ldmia   r11, {{r5-r8}}
    add     r0, r0, #{start}
    ldmia   r0, {{r0, r5, r9-r12}}
    stmia   r0, {{r5-r12}}
    adr     r1, cofferdam_zeros
    ldmia   r1, {{r4-r11}}
    mvn     lr, #2
    msr     psp, r0
    bx      lr

@ Out of a gate.
    .thumb_func
cofferdam_gate_return:
    bl      kernel_gate_return
    cbz     r0, cofferdam_call_again
    LOAD
    ldrd    r1, lr, [r0, #32]
    tst     lr, #0x10
    beq     cofferdam_resume_float
    ldmia   r0, {{r4-r11}}
    msr     psp, r1
    bx      lr

    .thumb_func
cofferdam_call_again:
    ldr     r0, =COFFERDAM_CPU
    .thumb_func
cofferdam_call_other:
    bl      kernel_call
    b       cofferdam_switch

    .thumb_func
cofferdam_signal:
    bl      kernel_signal
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

@ After what may have led to another thread.
@   in        r0 = its Context, or 0 if the registers hold what they must and COFFERDAM_CPU says who goes on
    .thumb_func
cofferdam_switch:
    cbz     r0, cofferdam_stay
    LOAD

@ Resumes a Context after an exception from a thread without floating-point state.
@   in        r0 = Context
    .thumb_func
cofferdam_resume:
    ldrd    r1, lr, [r0, #32]
    tst     lr, #0x10
    beq     cofferdam_resume_float
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
    SETTLE  cofferdam_late
    bl      kernel_timer
    b       cofferdam_resume

    HANDLER cofferdam_interrupt_entry
    SAVE    cofferdam_interrupt_float
    SETTLE  cofferdam_late
    mrs     r1, ipsr
    bl      kernel_interrupt
    b       cofferdam_switch

    .thumb_func
cofferdam_late:
    bl      kernel_late
    b       cofferdam_resume

@ The same for threads with floating-point state.
    .thumb_func
cofferdam_call_float:
    SAVE_FLOAT
    SETTLE  cofferdam_late_float
    bl      kernel_call
    b       cofferdam_switch_float

    .thumb_func
cofferdam_timer_float:
    SAVE_FLOAT
    SETTLE  cofferdam_late_float
    bl      kernel_timer
    b       cofferdam_clear

    .thumb_func
cofferdam_interrupt_float:
    SAVE_FLOAT
    SETTLE  cofferdam_late_float
    mrs     r1, ipsr
    bl      kernel_interrupt
    b       cofferdam_switch_float

    .thumb_func
cofferdam_switch_float:
    cbz     r0, cofferdam_stay_float
    LOAD
    b       cofferdam_clear
    .thumb_func
cofferdam_stay_float:
    ldr     r0, =COFFERDAM_CPU
    ldr     r0, [r0]
    b       cofferdam_clear

    .thumb_func
cofferdam_late_float:
    bl      kernel_late

@ Resumes a Context after an exception from a thread with floating-point state: the next thread must not find it.
@   in        r0 = Context
    .thumb_func
cofferdam_clear:
    ldrd    r1, lr, [r0, #32]
    tst     lr, #0x10
    beq     cofferdam_resume_float
    adr     r2, cofferdam_zeros
    vldmia  r2, {{s0-s15}}
    vldmia  r2, {{s16-s31}}
    movs    r3, #0
    vmsr    fpscr, r3
    ldmia   r0, {{r4-r11}}
    msr     psp, r1
    bx      lr

    .thumb_func
cofferdam_resume_float:
    add     r2, r0, #48
    vldmia  r2, {{s16-s31}}
    ldmia   r0, {{r4-r11}}
    msr     psp, r1
    bx      lr

    .thumb_func
cofferdam_wrong_stack:
    mov     r4, lr
    bl      kernel_wrong_stack
    b       cofferdam_after_fault

    HANDLER cofferdam_fault_save
    SAVE    cofferdam_fault_float
    bl      kernel_fault
    b       cofferdam_resume
    .thumb_func
cofferdam_fault_float:
    SAVE_FLOAT
    bl      kernel_fault
    b       cofferdam_clear

    .thumb_func
cofferdam_after_fault:
    tst     r4, #0x10
    beq     cofferdam_clear
    b       cofferdam_resume

@ A miss that somebody counts: the region is loaded, the thread may have to wait.
    HANDLER cofferdam_counted
    SAVE    cofferdam_counted_float
    bl      kernel_counted
    b       cofferdam_resume
    .thumb_func
cofferdam_counted_float:
    SAVE_FLOAT
    bl      kernel_counted
    b       cofferdam_clear

@ Any other fault, or a miss that is a violation: also a breakpoint, which is a HardFault where no debugger wants it. A fault
@ of the kernel itself is the end.
    .global cofferdam_fault_entry
    .type cofferdam_fault_entry, %function
    .thumb_func
cofferdam_fault_entry:
    tst     lr, #4
    beq     kernel_panic
    b       cofferdam_fault_save

@ Leaves reset for good: resumes the first thread.
@ Exception return is possible in handler mode only, so that PendSV (used for nothing else) is the way there. Interrupts
@ were masked since reset: the timer is armed already, and must find a thread to interrupt.
    .global cofferdam_first
    .thumb_func
cofferdam_first:
    movw    r1, #0xed04
    movt    r1, #0xe000
    mov     r2, #0x10000000
    str     r2, [r1]
    dsb
    isb
    cpsie   i
    b       .

    HANDLER cofferdam_first_entry
    ldr     r0, =COFFERDAM_CPU
    ldr     r0, [r0]
    movs    r2, #1
    msr     control, r2
    b       cofferdam_clear

    .ltorg
"#,
    rbar = const MPU_RBAR,
    shcsr = const SHCSR,
    pended = const BUSFAULTPENDED.trailing_zeros(),
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
    start = const START_OFFSET,
    domain = const DOMAIN_OFFSET,
);

/// The last call that the entry code looks up.
const LAST: u32 = 13;

/// Addresses that the entry code has in its instructions.
const MPU_RBAR: u32 = 0xe000_ed9c;
const SHCSR: u32 = 0xe000_ed24;

/// Where the address of the region image is, from the beginning of a [`Context`]; every board checks it.
pub(crate) const DOMAIN_OFFSET: usize = size_of::<Context>() + size_of::<Entry>();

/// What the entry code knows about the kernel's records.
pub const fn check<B: Board>() {
    assert!(SAVED_BYTES == 32 && Call::Mark as u32 <= LAST);
    assert!(DOMAIN_OFFSET == kernel::domain_offset::<Armv7m<B>>());
}

/// A system call of a kind that has no function of its own, as [`yield_now`].
#[inline]
pub fn call<B: Board>(kernel: &mut Kernel<Armv7m<B>>) -> Next {
    kernel.on_call()
}

/// What one of the functions below has led to: the Context of a thread whose region registers are yet to be loaded, or null.
pub type Next = Option<NonNull<Context>>;

/// `YIELD`: if nothing is to be loaded, the thread to resume is that of [`Kernel::resume`].
#[inline]
pub fn yield_now<B: Board>(kernel: &mut Kernel<Armv7m<B>>) -> Next {
    kernel.on_yield()
}

/// `SIGNAL`, as [`yield_now`].
#[inline]
pub fn signal<B: Board>(kernel: &mut Kernel<Armv7m<B>>, args: &[u32; 4]) -> Next {
    kernel.on_signal(args[0], args[1])
}

/// `WAIT`, as [`yield_now`].
#[inline]
pub fn wait<B: Board>(kernel: &mut Kernel<Armv7m<B>>, args: &[u32; 4]) -> Next {
    kernel.on_wait(args[0], args[1])
}

/// `SLEEP_UNTIL`, as [`yield_now`].
#[inline]
pub fn sleep<B: Board>(kernel: &mut Kernel<Armv7m<B>>, args: &[u32; 4]) -> Next {
    kernel.on_sleep(args[0], args[1])
}

/// `WAIT_PERIOD`, as [`yield_now`].
#[inline]
pub fn period<B: Board>(kernel: &mut Kernel<Armv7m<B>>) -> Next {
    kernel.on_period()
}

/// `EXIT`, as [`yield_now`].
#[inline]
pub fn exit<B: Board>(kernel: &mut Kernel<Armv7m<B>>, args: &[u32; 4]) -> Next {
    kernel.on_exit(args[0])
}

/// A call after which the caller goes on.
#[inline]
pub fn simple<B: Board>(kernel: &mut Kernel<Armv7m<B>>, args: &[u32; 4], number: u32) -> *mut Context {
    kernel.on_simple(number, args);
    kernel.resume()
}

/// `GATE_CALL`: the callee's Context, or null when the call must be performed by [`call`].
#[inline]
pub fn gate_call<B: Board>(kernel: &mut Kernel<Armv7m<B>>, args: &[u32; 4]) -> Next {
    kernel.pass_in(args[0])
}

/// `GATE_RETURN`: the caller's Context, as [`gate_call`].
#[inline]
pub fn gate_return<B: Board>(kernel: &mut Kernel<Armv7m<B>>, args: &[u32; 4]) -> Next {
    kernel.pass_out(args[0], args[1])
}

/// The timer.
#[inline]
pub fn timer<B: Board>(kernel: &mut Kernel<Armv7m<B>>) -> *mut Context {
    kernel.on_timer();
    kernel.resume()
}

/// An interrupt line, as [`yield_now`]; `exception` is the number of the active exception.
#[inline]
pub fn interrupt<B: Board>(kernel: &mut Kernel<Armv7m<B>>, exception: u32) -> Next {
    kernel.on_interrupt(exception - 16)
}

/// A store of the thread that was interrupted has failed after all: stops its domain, then serves the exception.
#[cold]
pub fn late<B: Board>(kernel: &mut Kernel<Armv7m<B>>) -> *mut Context {
    fault(kernel);
    serve(kernel);
    kernel.resume()
}

/// The timer or interrupt that a thread with a fault had been interrupted by.
#[cold]
#[inline(never)]
fn serve<B: Board>(kernel: &mut Kernel<Armv7m<B>>) {
    match crate::machine::exception_number() {
        15 => kernel.on_timer(),
        number if number >= 16 => {
            if kernel.on_interrupt(number - 16).is_some() {
                kernel.load_top();
            }
        }
        _ => {}
    }
}

/// A miss that somebody counts.
pub fn counted<B: Board>(kernel: &mut Kernel<Armv7m<B>>) -> *mut Context {
    kernel.on_counted();
    kernel.resume()
}

/// A fault that is not a miss: names it and stops the domain.
pub fn fault<B: Board>(kernel: &mut Kernel<Armv7m<B>>) -> *mut Context {
    crate::machine::barrier();
    let status = regs::CFSR.read();
    let (pc, psp) = kernel.current_context().map_or((0, 0), |context| (context.pc(), context.psp));
    let (kind, address) = classify(status, pc, psp);
    settle(status);
    let pc = if kind == Fault::Stack { 0 } else { pc };
    kernel.on_fault(kind, address, pc);
    kernel.resume()
}

/// A thread whose stack pointer is outside of its stack entered the kernel, by whatever exception.
pub fn wrong_stack<B: Board>(kernel: &mut Kernel<Armv7m<B>>) -> *mut Context {
    let psp = kernel.current_context().map_or(0, |context| context.psp);
    crate::machine::barrier();
    settle(regs::CFSR.read());
    kernel.on_fault(Fault::Stack, psp, 0);
    serve(kernel);
    kernel.resume()
}

/// SHCSR: a bus fault waits to be taken.
const BUSFAULTPENDED: u32 = 1 << 14;

/// Clears fault status, floating-point state that would still be written for the faulting thread, a system call that the
/// thread was about to make (its frame was never written; the next thread must not be taken for the caller), and a bus
/// fault of the same thread that came with this one.
fn settle(status: u32) {
    const LSPACT: u32 = 1;
    const SVCALLPENDED: u32 = 1 << 15;
    regs::CFSR.write(status);
    regs::HFSR.write(u32::MAX);
    regs::DFSR.write(u32::MAX);
    regs::FPCCR.write(regs::FPCCR.read() & !LSPACT);
    regs::SHCSR.write(regs::SHCSR.read() & !(SVCALLPENDED | BUSFAULTPENDED));
}

/// Names a fault from CFSR (DDI 0403 B3.2.15).
fn classify(status: u32, pc: u32, psp: u32) -> (Fault, u32) {
    const STACKING: u32 = 0x38 | 0x3800;
    if status & STACKING != 0 {
        (Fault::Stack, psp)
    } else if status & 0x80 != 0 {
        (Fault::Data, regs::MMFAR.read())
    } else if status & 0x01 != 0 {
        (Fault::Execute, pc)
    } else if status & 0x8000 != 0 {
        (Fault::Bus, regs::BFAR.read())
    } else if status & 0x7f00 != 0 {
        (Fault::Bus, pc)
    } else if status & 0x0004_0000 != 0 {
        (Fault::Return, pc)
    } else {
        (Fault::Usage, pc)
    }
}
