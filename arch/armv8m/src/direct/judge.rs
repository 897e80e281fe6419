//! Exceptions that came while a handler ran, or that a handler has caused.
//!
//! Handlers can forge most of what an exception leaves behind. This is what is believed, and why:
//! * The frame with which a handler was entered. It lies on the Secure stack of thread or kernel,
//!   with a signature, and no handler can write there.
//! * The active bits of the interrupt controller. Frames on the handlers' own stack say nothing,
//!   nor do EXC_RETURNs: a handler can forge them.
//! * The fault status of Non-secure state, if something failed in its Thread mode. A handler that
//!   returns there first reads a frame, and that read is denied. A thread that goes there by itself
//!   reads nothing before its first fetch fails.
//!
//! An active handler is ended from the Secure side, so that its stack and its code do not matter:
//! the exception returns to a stub in Secure Handler mode that has the handler's number, and the
//! return of that stub ends the handler. If several are active, the main stack gets a frame for
//! each, so that one stub after the other runs.

use core::arch::asm;
use core::sync::atomic::Ordering::Relaxed;

use abi::trace::Fault;
use armv_m::regs;

use super::access::is_thread_mode_open;
use super::frames::{
    BASIC, CALLEE_BYTES, COFFERDAM_CPU, DEFAULT_RULE, FIRST_LINE, FRAME_BYTES, HARD_FAULT, PENDSTSET, SECURE,
    SECURE_FAULT, SFSR_AUVIOL, SFSR_INVIS_INVER, SIGNATURE, STACKED_PC, THREAD, TO_THREAD, UNSTACKED, is_signed,
    word_on_stack,
};
use super::inside;
use super::owner::{ACTIVE_NS, COFFERDAM_OWNER, is_masked, unmask};
use super::registers::write_bit;
use super::state::{CFSR_NS, SFAR, SHCSR_NS};
use super::strays::{is_returned, settle};
use crate::registers::SFSR;

/// EXC_RETURN with which a Secure exception returns to the kernel, when a handler had interrupted
/// the kernel: the frame holds the callee registers, too. [`TO_THREAD`] is the same for a thread.
const TO_KERNEL: u32 = 0xffff_ffc1;
/// EXC_RETURN of the last stub, for the last handler that is ended: an exception of Non-secure
/// state returns with it to the kernel, or to the thread.
const END_OVER_KERNEL: u32 = 0xffff_ffe0;
const END_OVER_THREAD: u32 = 0xffff_ffe8;

// Verdicts, in the low word; the entry code compares them. Any other low word is an EXC_RETURN, and
// then the high word says what is to be done before it is used: bits 0 to 7 count the handlers that
// are ended, [`LENGTHEN`] and [`DROP_SHIFT`] are about the stack.
/// Handlers did not cause the exception. It is served as on a processor without handlers.
pub(super) const NOT_HANDLERS: u64 = 0;
/// The exception returns to what it has interrupted, and changes nothing.
pub(super) const GO_ON: u64 = 1;
/// The running thread is stopped, because it has no frame with which it could go on.
pub(super) const STOP_THREAD: u64 = 2;
/// In the high word: this exception came to Secure code, so its frame has no signature and no
/// callee registers. The last stub returns from a Non-secure exception, which expects both, so the
/// entry code puts them in front of the frame.
pub(super) const LENGTHEN: u32 = 1 << 8;
/// In the high word, from this bit on: bytes of the main stack that are taken off it first. They
/// are frames of handlers that are ended, and nothing returns to them.
pub(super) const DROP_SHIFT: u32 = 16;

const SFSR_INVEP: u32 = 1;
const SFSR_SFARVALID: u32 = 1 << 6;
const HFSR_VECTTBL: u32 = 1 << 1;
const HFSR_FORCED: u32 = 1 << 30;

// SHCSR: by exception number, the bits with which faults and the system call are pended, and those
// that say which are active.
const PENDED: [(u32, u32); 5] = [(4, 1 << 13), (5, 1 << 14), (6, 1 << 12), (7, 1 << 20), (11, 1 << 15)];
const ACTIVE: [(u32, u32); 8] =
    [(4, 1), (5, 1 << 1), (6, 1 << 3), (7, 1 << 4), (11, 1 << 7), (12, 1 << 8), (14, 1 << 10), (15, 1 << 11)];

const PENDSV: u32 = 14;
const SYSTICK: u32 = 15;

/// Notes what a handler has done, closes all lines, and has the kernel stop its domain. The kernel
/// comes later, by PendSV, because this may have interrupted it. The first deed is kept: what
/// follows from it would mislead.
pub(super) fn blame(fault: Fault, address: u32) {
    let owner = &COFFERDAM_OWNER;
    let own = owner.occupant();
    own.stopped.store(1, Relaxed);
    owner.close();
    if own.fault.load(Relaxed) == 0 {
        own.address.store(address, Relaxed);
        own.fault.store(fault as u32, Relaxed);
    }
    regs::ICSR.write(regs::PENDSVSET);
}

/// Returns the verdict on the exception that runs: a fault, or an exception of the kernel that came
/// to Non-secure state. It is given EXC_RETURN and both stack pointers as they were at the entry.
///
/// Faults of handlers are told apart by where they were taken from: out of Secure code, where the
/// entry or the return of a handler has failed, or a thread's own call was held off; out of Thread
/// mode of Non-secure state, where only a thread that went there or a handler's return can be; and
/// otherwise out of a handler's own code.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cofferdam_owner_judge(exc_return: u32, psp: u32, msp: u32) -> u64 {
    let number = armv_m::exception_number();
    let (status, secure) = (regs::CFSR.read(), SFSR.read());
    if number > SECURE_FAULT {
        // The kernel is not entered while handlers are active. Its exception is pended again, and
        // comes when they are ended.
        pend_again(number);
        return met(exc_return, psp, msp, false);
    }
    if let Some(last) = (number == HARD_FAULT).then(|| inside::last_frame(exc_return, msp)).flatten() {
        // Handlers have filled the kernel's stack, so the frame of the last one failed. What lies
        // below the last good frame goes.
        settle(status, secure);
        blame(Fault::Return, 0);
        return unwind(number, psp, last) + (u64::from((last - msp) << DROP_SHIFT) << 32);
    }
    if number != HARD_FAULT && COFFERDAM_OWNER.lost.swap(0, Relaxed) != 0 && exc_return & SECURE != 0 {
        return again(number, exc_return, psp, msp);
    }
    if exc_return & SECURE != 0 {
        if exc_return & (THREAD | DEFAULT_RULE) == THREAD && is_unframed(number, status, psp) && !is_active() {
            return STOP_THREAD;
        }
        // A handler could not be entered, or its return failed, by what only a handler can spoil: a
        // signature or an EXC_RETURN that is none, a vector or a frame that cannot be read. The
        // last two can also be a thread's fault. If callee registers are on the stack, it was a
        // handler's.
        let no_vector = number == HARD_FAULT && regs::HFSR.read() & HFSR_VECTTBL != 0;
        let failed = secure & SFSR_INVIS_INVER != 0
            || is_forged(number, exc_return, psp)
            || exc_return & DEFAULT_RULE == 0 && (no_vector || (status | CFSR_NS.read()) & UNSTACKED != 0);
        if failed {
            settle(status, secure);
            blame(Fault::Return, 0);
            return unwind(number, psp, msp);
        }
        let is_held_off = exc_return & THREAD != 0 && (is_masked() || is_active());
        if number == HARD_FAULT && is_held_off && regs::HFSR.read() & HFSR_FORCED != 0 {
            // Masks or active exceptions that handlers have left hold the kernel off, so a thread's
            // call or miss has become a HardFault. It is pended again, and taken when they are
            // ended.
            regs::HFSR.write(u32::MAX);
            blame(Fault::Return, 0);
            pend_again(cause(status, secure));
            return end(exc_return, psp, msp);
        }
        return NOT_HANDLERS;
    }
    if exc_return & THREAD != 0 && !kernel_is_active(number) {
        // A thread went to Non-secure Thread mode, or a handler returned into its place. Nothing
        // can be executed there, so this fault is all that has happened. A thread sets no masks,
        // and cannot come there while a handler is active: if either is found, a handler is to
        // blame.
        if is_returned(status, secure) || is_masked() || is_active() {
            blame(Fault::Return, 0);
        }
        unmask();
        COFFERDAM_OWNER.reset_stack();
        if is_signed(psp) {
            // The thread has the frame of a handler's entry, or has made such a frame itself. It
            // goes on with that frame.
            settle(status, secure);
            return unwind(number, psp, msp);
        }
        return STOP_THREAD;
    }
    settle(status, secure);
    let (fault, address) = named(status, secure);
    blame(fault, address);
    unwind(number, psp, msp)
}

/// Returns true if this fault says that the thread's stack had no room for the frame with which a
/// handler was entered. The fault has waited for the end of that handler, and the stack pointer is
/// at the end of the stack. Whatever is there is the thread's own. So there is no signature by
/// which to blame the handler, and no frame with which the thread could go on.
fn is_unframed(number: u32, status: u32, psp: u32) -> bool {
    const MSTKERR: u32 = 1 << 4;
    const STKERR: u32 = 1 << 12;
    const STKOF: u32 = 1 << 20;
    let failed = match number {
        4 => MSTKERR,
        5 => STKERR,
        6 => STKOF,
        _ => 0,
    };
    status & failed != 0 && word_on_stack(psp).is_some() && !kernel_is_active(number)
}

/// Returns true if a handler has returned with an EXC_RETURN that it forged, whatever the fault
/// status says: to Secure Handler mode while no exception of the kernel is active, or with another
/// kind of frame than the hardware has written. This exception followed such a return at once,
/// before anything of it could fail: it waited meanwhile, as a thread's fault does if the frame with
/// which the handler was entered did not fit, or if a store fails late on silicon.
fn is_forged(number: u32, exc_return: u32, psp: u32) -> bool {
    if exc_return & THREAD == 0 {
        return !kernel_is_active(number) && !meter_is_active();
    }
    let basic = u32::from(exc_return & BASIC != 0);
    exc_return & DEFAULT_RULE == 0 && word_on_stack(psp).is_some_and(|word| word != SIGNATURE | basic)
}

/// Returns the verdict on a fault whose status a later HardFault of handlers has cleared. The
/// failed access is made again, and fails again, with a status of its own.
fn again(number: u32, exc_return: u32, psp: u32, msp: u32) -> u64 {
    settle(u32::MAX, u32::MAX);
    if kernel_is_active(number) || is_signed(psp) { unwind(number, psp, msp) } else { end(exc_return, psp, msp) }
}

/// Returns the verdict when the meter, or an exception of the kernel, came to Non-secure state.
/// What it interrupted is a handler, or a thread that went there by itself and has not come to its
/// fault yet. With `is_empty` handlers are ended: their capacity is used up, or they have cheated.
pub(super) fn met(exc_return: u32, psp: u32, msp: u32, is_empty: bool) -> u64 {
    let number = armv_m::exception_number();
    let in_thread = exc_return & (THREAD | SECURE) == THREAD;
    if in_thread && !kernel_is_active(number) {
        let is_signed = is_signed(psp);
        // It may be any domain's thread, and a signature proves nothing: a thread can write one
        // onto its own stack. If the mode is closed, a fault is all that is ahead of it. Handlers
        // are blamed only for what no thread can do: masks, and a Thread mode that is open.
        if !(is_signed && is_thread_mode_open()) {
            if is_masked() || is_active() {
                blame(Fault::Return, 0);
            }
            // The meter leaves the thread to its fault, which ends it at once. An exception of the
            // kernel cannot do that: it was pended again, and would come here before the fault, for
            // ever.
            if is_meter(number) {
                return GO_ON;
            }
            COFFERDAM_OWNER.reset_stack();
            return if is_signed { unwind(number, psp, msp) } else { STOP_THREAD };
        }
    }
    if in_thread || !is_meter(number) {
        // An exception of the kernel can interrupt a handler only if that has made itself less
        // important than the kernel.
        blame(Fault::Return, 0);
    } else if !is_empty {
        return GO_ON;
    }
    unwind(number, psp, msp)
}

/// Returns true if an exception came to a thread that has gone to Non-secure code by itself. Its
/// time is not charged to handlers, because they have no part in it.
pub(super) fn is_stray(exc_return: u32) -> bool {
    exc_return & (THREAD | SECURE) == THREAD && !is_thread_mode_open()
}

/// Returns true if an exception came to a handler's own code.
pub(super) fn is_handler(exc_return: u32) -> bool {
    exc_return & (THREAD | SECURE) == 0
}

/// Returns true if an exception of Non-secure state is active: one of the system's, or a line of
/// the domain that occupies.
pub(super) fn is_active() -> bool {
    SHCSR_NS.read() & ACTIVE_NS != 0
        || COFFERDAM_OWNER.lines().any(|(line, _)| {
            let (register, bit) = regs::nvic_iabr(line);
            register.read() & bit != 0
        })
}

/// Returns what a look finds wrong with the handler whose frame is on the stack of Non-secure
/// state. First, its stack may not be in its domain's memory: the frame can only be read from one
/// that is. Second, its last instruction may be WFI or WFE: the counter stands still while the
/// processor sleeps, and such a handler would take time that nothing counts.
pub(super) fn finding() -> Option<(Fault, u32)> {
    let sp: u32;
    // SAFETY: reads a register.
    unsafe { asm!("mrs {0}, msp_ns", out(reg) sp, options(nomem, nostack, preserves_flags)) };
    if !COFFERDAM_OWNER.is_stack(sp, FRAME_BYTES) {
        return Some((Fault::Stack, sp));
    }
    // SAFETY: a frame's place in the domain's own open memory, whatever handlers have written there.
    let pc = unsafe { ((sp + STACKED_PC) as *const u32).read_volatile() } & !1;
    is_behind_sleep(pc).then_some((Fault::Data, 0))
}

/// Returns true if the instruction before an address is WFI or WFE, of two bytes or of four. It
/// reads only what handlers can execute, their code and their domain's open memory, because any
/// other address may fault or have side effects.
fn is_behind_sleep(pc: u32) -> bool {
    const HINTS: [u32; 2] = [0xbf30, 0xbf20];
    const WIDE_HINTS: [u32; 2] = [0xf3af_8003, 0xf3af_8002];
    let own = &COFFERDAM_OWNER;
    let is_code = own.is_code(pc.wrapping_sub(4)) && own.is_code(pc);
    if !is_code && !own.is_open(pc.wrapping_sub(4), 4) {
        return false;
    }
    // SAFETY: code of handlers, or their domain's own open memory, whatever is there.
    let [first, second] = [4, 2].map(|back| u32::from(unsafe { ((pc - back) as *const u16).read_volatile() }));
    HINTS.contains(&second) || WIDE_HINTS.contains(&(first << 16 | second))
}

fn is_meter(number: u32) -> bool {
    number >= FIRST_LINE && COFFERDAM_OWNER.is_meter(number - FIRST_LINE)
}

/// Returns name and address of what a handler did, from the status in Secure state. SFSR counts
/// before CFSR.
fn named(status: u32, secure: u32) -> (Fault, u32) {
    if secure & SFSR_INVEP != 0 {
        (Fault::Execute, 0)
    } else if secure & SFSR_AUVIOL != 0 {
        (Fault::Data, if secure & SFSR_SFARVALID != 0 { SFAR.read() } else { 0 })
    } else if status & 0x8000 != 0 {
        (Fault::Bus, regs::BFAR.read())
    } else {
        (Fault::Usage, 0)
    }
}

/// Returns the number of the exception that became a HardFault because handlers' masks held it off.
/// The fault status names a fault; a system call has none, so without a status it is that.
fn cause(status: u32, secure: u32) -> u32 {
    match status {
        _ if secure != 0 => SECURE_FAULT,
        0 => 11,
        _ if status & 0xff != 0 => 4,
        _ if status & 0xff00 != 0 => 5,
        _ => 6,
    }
}

/// Pends an exception, so that it is taken again when this one is left.
fn pend_again(number: u32) {
    match number {
        PENDSV => regs::ICSR.write(regs::PENDSVSET),
        SYSTICK => regs::ICSR.write(PENDSTSET),
        FIRST_LINE.. => {
            write_bit(regs::nvic_ispr(number - FIRST_LINE));
        }
        _ => {
            let bit = PENDED.iter().find(|(fault, _)| *fault == number).map_or(0, |(_, bit)| *bit);
            regs::SHCSR.write(regs::SHCSR.read() | bit);
        }
    }
}

/// Returns true if an exception of the kernel is active beside the one that runs. Then handlers
/// have interrupted the kernel, not a thread.
fn kernel_is_active(number: u32) -> bool {
    let active = regs::SHCSR.read();
    if ACTIVE.iter().any(|(other, bit)| *other != number && active & bit != 0) {
        return true;
    }
    (0..super::owner::MAX_LINE).step_by(32).any(|line| {
        let active = regs::nvic_iabr(line).0.read() & !regs::nvic_itns(line).0.read();
        active != 0 && active & !beside_the_kernel(number, line) != 0
    })
}

fn meter_is_active() -> bool {
    let owner = &COFFERDAM_OWNER;
    [&owner.looks.line, &owner.counter.line].iter().any(|line| {
        let (register, bit) = regs::nvic_iabr(line.load(Relaxed));
        register.read() & bit != 0
    })
}

/// Returns the bits of Secure lines, of 32 from this one on, whose exceptions are not the kernel's:
/// the one that runs now, and the meter's.
fn beside_the_kernel(number: u32, line: u32) -> u32 {
    let owner = &COFFERDAM_OWNER;
    let lines = [number.wrapping_sub(FIRST_LINE), owner.looks.line.load(Relaxed), owner.counter.line.load(Relaxed)];
    lines.iter().filter(|own| **own & !31 == line).fold(0, |bits, own| bits | 1 << (own & 31))
}

/// Returns the verdict that ends all handlers that are still active above the Secure code to which
/// this exception came. A handler can return past another one, to the code below both. The other
/// then stays active, and its priority holds the kernel off.
pub(super) fn end(exc_return: u32, psp: u32, msp: u32) -> u64 {
    let over = if exc_return & THREAD == 0 { END_OVER_KERNEL } else { END_OVER_THREAD };
    let count = chain();
    if count == 0 {
        return GO_ON;
    }
    let lengthen = if exc_return & DEFAULT_RULE == 0 { 0 } else { LENGTHEN };
    let drop = if exc_return & THREAD == 0 { 0 } else { inside::left_over(msp, false) };
    let count = count | drop << DROP_SHIFT;
    if over == END_OVER_THREAD && lengthen != 0 && !has_room(psp) {
        fail_thread();
        return u64::from(END_OVER_THREAD | BASIC) | u64::from(count) << 32;
    }
    u64::from(over | exc_return & BASIC) | u64::from(count | lengthen) << 32
}

/// Returns true if the stack of the running thread has room to lengthen the frame that is there.
fn has_room(psp: u32) -> bool {
    // SAFETY: see `word_on_stack`.
    let context = unsafe { (*(&raw const COFFERDAM_CPU)).as_ref() };
    context.is_some_and(|context| {
        let below = psp.wrapping_sub(context.stack_base);
        psp.is_multiple_of(8) && (CALLEE_BYTES..=context.frame_room).contains(&below)
    })
}

/// Makes the running thread fault when it goes on, by a frame at the end of its stack that leads to
/// address 0. Its own stack pointer leaves no room for the frame with which the last stub returns,
/// but the handler has to be ended all the same.
fn fail_thread() {
    const WORDS: usize = (CALLEE_BYTES + FRAME_BYTES) as usize / 4;
    const THUMB: u32 = 1 << 24;
    // SAFETY: see `word_on_stack`.
    let Some(context) = (unsafe { (*(&raw const COFFERDAM_CPU)).as_ref() }) else { return };
    let mut frame = [0; WORDS];
    frame[0] = SIGNATURE | 1;
    frame[WORDS - 1] = THUMB;
    // SAFETY: the end of the thread's stack, as the tables have it, which has room for more than a frame; the thread does not run.
    unsafe {
        (context.stack_base as *mut [u32; WORDS]).write_volatile(frame);
        asm!("msr psp, {0}", in(reg) context.stack_base, options(nomem, nostack, preserves_flags));
    }
}

/// Returns the verdict with which the kernel or the thread goes on that handlers have interrupted:
/// the EXC_RETURN, how many handlers are ended, and how much of the main stack goes with them.
pub(super) fn unwind(number: u32, psp: u32, msp: u32) -> u64 {
    let kernel = kernel_is_active(number);
    let drop = inside::left_over(msp, kernel);
    // SAFETY: the frame on the kernel's stack: hardware has put it there when the outermost handler was entered.
    let word = if kernel { Some(unsafe { ((msp + drop) as *const u32).read_volatile() }) } else { word_on_stack(psp) };
    // Its lowest bit is clear if floating-point state is in the frame. A stack pointer that has
    // left the thread's stack is not followed, because an access there can fail.
    let mut basic = if word.is_none_or(|word| word & 1 != 0) { BASIC } else { 0 };
    if !kernel && word.is_some_and(|word| word & !1 != SIGNATURE) {
        // There was no room for the frame. Its return would fail, and come here again, for ever.
        fail_thread();
        basic = BASIC;
    }
    let count = chain();
    let last = match (count, kernel) {
        (0, true) => TO_KERNEL,
        (0, false) => TO_THREAD,
        (_, true) => END_OVER_KERNEL,
        (_, false) => END_OVER_THREAD,
    };
    u64::from(last | basic) | u64::from(count | drop << DROP_SHIFT) << 32
}

/// Returns the verdict when the meter has interrupted a handler that is to be ended while the
/// handler was in Secure code: in the way into the kernel, or in the stub. The stub is left alone,
/// because its next instruction ends the handler.
pub(super) fn end_inside(exc_return: u32, psp: u32, msp: u32) -> u64 {
    let own = inside::own_bytes(exc_return);
    if !inside::is_in_way_in(msp + own - FRAME_BYTES) {
        return GO_ON;
    }
    // The meter's own frame goes, too, because it would lead back there.
    unwind(armv_m::exception_number(), psp, msp + own) + (u64::from(own << DROP_SHIFT) << 32)
}

/// Notes the lines whose handlers are active, and returns how many. The entry code ends them.
fn chain() -> u32 {
    let owner = &COFFERDAM_OWNER;
    let mut count = 0;
    for (line, _) in owner.lines() {
        let (register, bit) = regs::nvic_iabr(line);
        if let Some(place) = owner.chain.get(count as usize).filter(|_| register.read() & bit != 0) {
            place.store((line + FIRST_LINE) as u8, Relaxed);
            count += 1;
        }
    }
    count
}
