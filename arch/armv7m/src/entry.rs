//! Exception entry and exit.
//!
//! The board's binary provides the five functions that are called from here (`kernel_call`, `kernel_interrupt`, `kernel_fault`,
//! `kernel_miss`, `kernel_wrong_stack`, `kernel_panic`) as thin wrappers around the generic ones below, because they know where
//! the kernel's state is.

use core::arch::global_asm;

use abi::trace::Fault;
use kernel::Kernel;
use kernel::fault::Resolution;

use crate::context::Context;
use crate::machine::{Armv7m, Board};
use crate::regs;

global_asm!(
    r#"
    .syntax unified
    .fpu fpv5-d16

    .section .bss.COFFERDAM_CURRENT, "aw", %nobits
    .balign 4
    .global COFFERDAM_CURRENT
COFFERDAM_CURRENT:
    .space 4
    .balign 4
cofferdam_zeros:
    .space 64

    .section .hot.entry, "ax", %progbits

@ Saves the running thread, calls a kernel function, resumes the thread that it chose.
@   in        exception from thread mode on the process stack; lr = EXC_RETURN
@   calls     \function: returns the Context to resume in r0
@   clobbers  everything; what a thread must keep is in its Context
@ A frame outside of the thread's stack goes to kernel_wrong_stack instead, before any floating-point instruction: one
@ would make the hardware write the frame's floating-point part. Offsets are unsigned: a stack pointer below the stack is
@ as far above it as one can be.
    .macro ENTRY name, function
    .global \name
    .type \name, %function
    .thumb_func
\name:
    movw    r0, #:lower16:COFFERDAM_CURRENT
    movt    r0, #:upper16:COFFERDAM_CURRENT
    ldr     r0, [r0]
    mrs     r1, psp
    stmia   r0!, {{r4-r11}}
    ldrd    r2, r3, [r0, #8]
    strd    r1, lr, [r0]
    mov     r4, lr
    subs    r2, r1, r2
    tst     lr, #0x10
    beq     1f
    cmp     r2, r3
    bhi     cofferdam_wrong_stack
    bl      \function
    b       cofferdam_resume
1:  subs    r3, r3, #72
    cmp     r2, r3
    bhi     cofferdam_wrong_stack
    adds    r0, r0, #16
    vstmia  r0, {{s16-s31}}
    bl      \function
    b       cofferdam_resume
    .endm

    ENTRY cofferdam_call_entry, kernel_call
    ENTRY cofferdam_interrupt_entry, kernel_interrupt
    ENTRY cofferdam_fault_save, kernel_fault

    .thumb_func
cofferdam_wrong_stack:
    bl      kernel_wrong_stack

@ Resumes a Context.
@   in        r0 = Context; r4 = EXC_RETURN of the entry, whose bit 4 tells whether the floating-point registers hold
@             the state of whoever ran before
    .thumb_func
cofferdam_resume:
    movw    r1, #:lower16:COFFERDAM_CURRENT
    movt    r1, #:upper16:COFFERDAM_CURRENT
    str     r0, [r1]
    add     r2, r0, #32
    ldrd    r1, lr, [r2]
    tst     lr, #0x10
    beq     2f
    tst     r4, #0x10
    bne     3f
    @ The next thread has no floating-point state: it must not find the previous one's.
    movw    r3, #:lower16:cofferdam_zeros
    movt    r3, #:upper16:cofferdam_zeros
    vldmia  r3, {{s0-s15}}
    vldmia  r3, {{s16-s31}}
    movs    r3, #0
    vmsr    fpscr, r3
    b       3f
2:  adds    r2, r2, #16
    vldmia  r2, {{s16-s31}}
3:  ldmia   r0, {{r4-r11}}
    msr     psp, r1
    bx      lr

@ Memory protection fault: the short path for a paged region that is not loaded.
@   in        lr = EXC_RETURN
@   calls     kernel_miss(psp): 0 when the access can be performed again
    .global cofferdam_memory_entry
    .type cofferdam_memory_entry, %function
    .thumb_func
cofferdam_memory_entry:
    tst     lr, #4
    beq     kernel_panic
    mrs     r0, psp
    push    {{r3, lr}}
    bl      kernel_miss
    pop     {{r3, lr}}
    @ Not cbnz: LLVM's assembler makes a nop of one whose target is four bytes ahead.
    cmp     r0, #0
    bne     cofferdam_fault_entry
    bx      lr

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
@   in        r0 = Context, called from reset in thread mode
@ Exception return is possible in handler mode only, so that PendSV (used for nothing else) is the way there. Interrupts
@ were masked since reset: the timer is armed already, and must find a thread to interrupt.
    .global cofferdam_first
    .thumb_func
cofferdam_first:
    movw    r1, #:lower16:COFFERDAM_CURRENT
    movt    r1, #:upper16:COFFERDAM_CURRENT
    str     r0, [r1]
    movw    r1, #0xed04
    movt    r1, #0xe000
    mov     r2, #0x10000000
    str     r2, [r1]
    dsb
    isb
    cpsie   i
    b       .

    .global cofferdam_first_entry
    .thumb_func
cofferdam_first_entry:
    movw    r1, #:lower16:COFFERDAM_CURRENT
    movt    r1, #:upper16:COFFERDAM_CURRENT
    ldr     r0, [r1]
    movs    r4, #0x10
    movs    r2, #1
    msr     control, r2
    b       cofferdam_resume
"#
);

/// The Context to resume: the chosen thread's, or the idle loop's.
fn resumed<B: Board>(kernel: &mut Kernel<Armv7m<B>>) -> *mut Context {
    let context = kernel.resume();
    if context.is_null() { kernel.arch.idle_context() } else { context }
}

/// The Context with which the machine starts.
pub fn first<B: Board>(kernel: &mut Kernel<Armv7m<B>>) -> *mut Context {
    resumed(kernel)
}

/// A system call.
#[inline]
pub fn call<B: Board>(kernel: &mut Kernel<Armv7m<B>>) -> *mut Context {
    if late_fault() {
        return late(kernel);
    }
    kernel.on_call();
    resumed(kernel)
}

/// An interrupt: the timer (exception 15) or a line.
#[inline]
pub fn interrupt<B: Board>(kernel: &mut Kernel<Armv7m<B>>) -> *mut Context {
    if late_fault() {
        return late(kernel);
    }
    match crate::machine::exception_number() {
        15 => kernel.on_timer(),
        number => kernel.on_interrupt(number.wrapping_sub(16)),
    }
    resumed(kernel)
}

/// Whether a store of the thread that was interrupted has failed after all. Bus faults do not preempt the kernel, so that this
/// one is pending; without the barrier it would be found after a switch, and blamed on the next domain.
#[inline]
fn late_fault() -> bool {
    crate::machine::complete_stores();
    regs::SHCSR.read() & BUSFAULTPENDED != 0
}

/// Stops the domain whose store has failed, then serves the exception.
#[cold]
fn late<B: Board>(kernel: &mut Kernel<Armv7m<B>>) -> *mut Context {
    fault(kernel);
    serve(kernel);
    resumed(kernel)
}

/// The timer or interrupt that a thread with a fault had been interrupted by.
fn serve<B: Board>(kernel: &mut Kernel<Armv7m<B>>) {
    match crate::machine::exception_number() {
        15 => kernel.on_timer(),
        number if number >= 16 => kernel.on_interrupt(number - 16),
        _ => {}
    }
}

/// A memory-protection fault: returns 0 when a paged region was loaded and the access can be performed again.
///
/// # Bound
/// Two look-ups (the address, or both halves of a fetch that straddles).
#[inline]
pub fn miss<B: Board>(kernel: &mut Kernel<Armv7m<B>>, psp: u32) -> u32 {
    let status = regs::CFSR.read() & 0xff;
    if status != DATA {
        return fetch_miss(kernel, psp, status);
    }
    if kernel.on_miss(regs::MMFAR.read()) != Resolution::Retry {
        return 1;
    }
    regs::CFSR.write(status);
    0
}

/// MMFSR: DACCVIOL and MMARVALID: a data access; the address is known.
const DATA: u32 = 0x82;
/// MMFSR: IACCVIOL: a fetch.
const FETCH: u32 = 0x01;

/// A denied fetch. The hardware does not say which half of an instruction that straddles two regions was denied: the second,
/// if the first is there (or is not paged). Anything else (MSTKERR, MUNSTKERR, MLSPERR or a mixture) cannot be restarted: a
/// stack outside pinned memory.
#[inline(never)]
fn fetch_miss<B: Board>(kernel: &mut Kernel<Armv7m<B>>, psp: u32, status: u32) -> u32 {
    if status != FETCH {
        return 1;
    }
    // SAFETY: the hardware has just stacked a frame at the process stack pointer (no MSTKERR).
    let pc = unsafe { (psp as *const u32).add(6).read() };
    for address in [pc, pc.wrapping_add(2)] {
        if kernel.on_miss(address) == Resolution::Retry {
            regs::CFSR.write(status);
            return 0;
        }
    }
    1
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
    resumed(kernel)
}

/// A thread whose stack pointer is outside of its stack entered the kernel, by whatever exception.
pub fn wrong_stack<B: Board>(kernel: &mut Kernel<Armv7m<B>>) -> *mut Context {
    let psp = kernel.current_context().map_or(0, |context| context.psp);
    crate::machine::barrier();
    settle(regs::CFSR.read());
    kernel.on_fault(Fault::Stack, psp, 0);
    serve(kernel);
    resumed(kernel)
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
