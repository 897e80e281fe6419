//! Frames of exceptions that handlers are about, and EXC_RETURN: facts of the architecture (DDI 0553 B3), and what lies on the stack of the thread that runs.

use armv_m::Context;

/// Bits of EXC_RETURN (DDI 0553 B3): the frame is on a Secure stack; callee registers are where the
/// default rule says; it is a basic frame; the return is to Thread mode.
pub(super) const SECURE: u32 = 1 << 6;
pub(super) const DEFAULT_RULE: u32 = 1 << 5;
pub(super) const BASIC: u32 = 1 << 4;
pub(super) const THREAD: u32 = 1 << 3;
/// EXC_RETURN from a Secure exception to a thread on its process stack, when the frame holds callee
/// registers, too.
pub(super) const TO_THREAD: u32 = 0xffff_ffcd;

/// The signature in front of a frame. Its lowest bit, which is clear here, is set for a basic
/// frame.
pub(super) const SIGNATURE: u32 = 0xfefa_125a;

/// Bytes in front of the basic frame, when the callee registers are stored: a signature, a reserved word, and r4 to r11.
pub(super) const CALLEE_BYTES: u32 = 40;
pub(super) const FRAME_BYTES: u32 = 32;
/// Offset of the program counter in it.
pub(super) const STACKED_PC: u32 = armv_m::miss::STACKED_PC as u32;

const CFSR_MUNSTKERR: u32 = 1 << 3;
pub(super) const CFSR_UNSTKERR: u32 = 1 << 11;
const CFSR_INVPC: u32 = 1 << 18;
/// Bits of CFSR that a return sets whose frame could not be read or was none, or whose EXC_RETURN
/// is none. In Non-secure state the last also means reserved bits that are not as they must be.
pub(super) const UNSTACKED: u32 = CFSR_MUNSTKERR | CFSR_UNSTKERR | CFSR_INVPC;
/// Bits of SFSR: a signature that is none, an EXC_RETURN of the wrong state, or an access that
/// attribution forbids.
pub(super) const SFSR_INTEGRITY: u32 = SFSR_INVIS_INVER | SFSR_AUVIOL;
pub(super) const SFSR_INVIS_INVER: u32 = 1 << 1 | 1 << 2;
pub(super) const SFSR_AUVIOL: u32 = 1 << 3;

/// Numbers of exceptions: a HardFault, the last of the faults, and line 0.
pub(super) const HARD_FAULT: u32 = 3;
pub(super) const SECURE_FAULT: u32 = 7;
pub(super) const FIRST_LINE: u32 = 16;
/// Bit of ICSR: SysTick of that state waits to be taken.
pub(super) const PENDSTSET: u32 = 1 << 26;

unsafe extern "C" {
    pub(super) static COFFERDAM_CPU: *const Context;
}

/// Returns the first word of the frame with which a handler was entered from the thread that runs.
/// Nothing is read if the stack pointer is not in the thread's own stack: only that memory is sure
/// to be there, and to be writable for no handler.
#[inline(always)]
pub(super) fn word_on_stack(psp: u32) -> Option<u32> {
    // SAFETY: the address of the Context of the thread that runs; it is written when the kernel starts, before any line is open.
    let context = unsafe { (*(&raw const COFFERDAM_CPU)).as_ref() }?;
    let fits = psp.is_multiple_of(8)
        && psp.wrapping_sub(context.stack_base) <= context.frame_room.saturating_sub(CALLEE_BYTES);
    // SAFETY: the thread's stack, as the tables have it.
    fits.then(|| unsafe { (psp as *const u32).read_volatile() })
}

pub(super) fn is_signed(psp: u32) -> bool {
    signature(psp).is_some()
}

#[inline(always)]
pub(super) fn signature(psp: u32) -> Option<u32> {
    word_on_stack(psp).filter(|word| word & !1 == SIGNATURE)
}
