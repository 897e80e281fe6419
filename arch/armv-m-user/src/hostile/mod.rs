//! Instructions with which a hostile domain tries to get out. None of them may harm anybody but the domain itself; they
//! are here because assembly belongs here, and are only built for the domains that attack on purpose.

mod places;
pub mod states;

use core::arch::{asm, global_asm};

pub use arch_user_arm::hostile::*;
pub use places::core_registers;

/// Sets the stack pointer and waits for an interrupt to write its frame there.
///
/// # Safety
/// As for [`call_on_stack`].
pub unsafe fn spin_on_stack(stack: u32) -> ! {
    // SAFETY: the caller wants what follows.
    unsafe { asm!("mov sp, {0}", "2:", "b 2b", in(reg) stack, options(noreturn)) }
}

/// Leaves Thumb state, and faults at once, because M-profile cores have no other. So `address` is
/// never loaded from; it is here because other ports load from it in the state that they change to.
///
/// # Safety
/// As for [`call_on_stack`].
pub unsafe fn leave_state(address: u32) -> ! {
    // SAFETY: the caller wants what follows.
    unsafe {
        asm!("adr {0}, 2f", "bic {0}, {0}, #1", "bx {0}", ".balign 4", "2:", "udf #1", in(reg) address, options(noreturn))
    }
}

/// Writes CONTROL, PRIMASK, FAULTMASK and BASEPRI, which only privileged code may; returns CONTROL and PRIMASK, as far as
/// they can be read.
pub fn write_special_registers() -> (u32, u32) {
    let (control, primask): (u32, u32);
    // SAFETY: without privilege the writes are ignored (DDI 0403 B5.2.3).
    unsafe {
        asm!(
            "movs {0}, #0", "msr control, {0}", "isb", "cpsid i", "cpsid f", "movs {0}, #16", "msr basepri, {0}",
            "mrs {0}, control", "mrs {1}, primask",
            out(reg) control, out(reg) primask
        );
    }
    (control, primask)
}

/// The registers that [`SEEN_AT_START`] and [`SEEN_AT_GATE`] hold: r4-r11, then s0-s31.
pub const REGISTERS: usize = 8 + 32;

/// Defines entries that store what the registers hold before any code of the domain has run, then go on with that code:
/// `cofferdam_hostile_start`, entry of a thread, goes on at `$thread` and fills [`SEEN_AT_START`];
/// `cofferdam_hostile_gate`, entry of a gate, goes on at `$gate` and fills [`SEEN_AT_GATE`].
#[macro_export]
macro_rules! hostile_entries {
    ($thread:ident, $gate:ident) => {
        // In and out: as at the entry. Clobbers r12.
        core::arch::global_asm!(
    ".syntax unified",
    ".fpu fpv5-d16",
    ".macro HOSTILE_ENTRY name, words, next",
    ".section .cofferdam.entry.\\name, \"ax\", %progbits",
    ".thumb",
    ".global \\name",
    ".type \\name, %function",
    ".thumb_func",
    "\\name:",
    "    movw r12, #:lower16:\\words",
    "    movt r12, #:upper16:\\words",
    "    stmia r12!, {{r4-r11}}",
    "    vstmia r12!, {{s0-s31}}",
    "    b.w \\next",
    ".size \\name, . - \\name",
    ".endm",
    concat!("HOSTILE_ENTRY cofferdam_hostile_start, {start}, ", stringify!($thread)),
    concat!("HOSTILE_ENTRY cofferdam_hostile_gate, {gate}, ", stringify!($gate)),
    start = sym $crate::hostile::SEEN_AT_START,
    gate = sym $crate::hostile::SEEN_AT_GATE,
        );
    };
}
pub use hostile_entries as entries;

/// Registers as the domain's thread found them; see [`REGISTERS`].
pub static SEEN_AT_START: Seen<REGISTERS> = Seen::zeroed();
/// Registers as the domain's gate found them at its last call.
pub static SEEN_AT_GATE: Seen<REGISTERS> = Seen::zeroed();

/// Performs a system call and returns what the floating-point registers hold afterwards. Meaningful in a thread that has
/// not used them yet: the kernel saves nothing for such a thread, so that what it finds is the kernel's choice.
///
/// # Safety
/// The caller upholds the contract of the call; the call returns.
pub unsafe fn floats_after(number: u32, args: [u32; 2]) -> [u32; 32] {
    let mut seen = [0; 32];
    // SAFETY: the array holds all that is stored.
    unsafe {
        asm!(
            "svc #0", "vstmia {seen}, {{s0-s31}}",
            seen = in(reg) &raw mut seen,
            inlateout("r0") args[0] => _, inlateout("r1") args[1] => _, lateout("r2") _, lateout("r3") _,
            inlateout("r12") number => _,
        );
    }
    seen
}

// In: r0 = a Held. Fills r4-r11 and s0-s31, performs the call, compares. Clobbers as a function may.
global_asm!(
    ".syntax unified",
    ".fpu fpv5-d16",
    ".section .text.cofferdam_hold, \"ax\", %progbits",
    ".thumb",
    ".global cofferdam_hold",
    ".type cofferdam_hold, %function",
    ".thumb_func",
    "cofferdam_hold:",
    "    push {{r4-r11, lr}}",
    "    vpush {{d8-d15}}",
    "    push {{r0}}",
    "    ldr r4, [r0]",
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
    "    addw r12, r4, #8 + \\n",
    "    vmov s\\n, r12",
    ".endr",
    ".irp n, 5, 6, 7, 8, 9, 10, 11",
    "    addw r\\n, r4, #\\n - 4",
    ".endr",
    "    ldr r12, [r0, #4]",
    "    ldrd r2, r3, [r0, #16]",
    "    ldrd r0, r1, [r0, #8]",
    "    svc #0",
    "    ldr r2, [sp]",
    "    strd r0, r1, [r2, #24]",
    "    ldr r3, [r2]",
    "    movs r0, #0",
    ".irp n, 4, 5, 6, 7, 8, 9, 10, 11",
    "    subw r12, r\\n, #\\n - 4",
    "    eor r12, r12, r3",
    "    orr r0, r0, r12",
    ".endr",
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
    "    vmov r12, s\\n",
    "    subw r12, r12, #8 + \\n",
    "    eor r12, r12, r3",
    "    orr r0, r0, r12",
    ".endr",
    "    vmrs r12, fpscr",
    "    and r12, r12, #0x03c00000",
    "    orr r0, r0, r12",
    "    str r0, [r2, #32]",
    "    pop {{r0}}",
    "    vpop {{d8-d15}}",
    "    pop {{r4-r11, pc}}",
    ".size cofferdam_hold, . - cofferdam_hold",
);

/// Changes every register that a callee must preserve, and rounding: as a gate's callee may, whose caller must not notice.
///
/// # Safety
/// The caller returns from a gate right after, with nothing left to do that needs a register.
pub unsafe fn spoil_registers() -> ! {
    // SAFETY: the function does not come back: it returns from the gate.
    unsafe {
        asm!(
            "mov r4, #0x55",
            "mov r5, r4",
            "mov r6, r4",
            "mov r7, r4",
            "mov r8, r4",
            "mov r9, r4",
            "mov r10, r4",
            "mov r11, r4",
            "vmov s0, r4",
            "vmov s8, r4",
            "vmov s16, r4",
            "vmov s17, r4",
            "vmov s24, r4",
            "vmov s31, r4",
            "mov r0, #0x03c00000",
            "vmsr fpscr, r0",
            "movs r0, #0",
            "movs r1, #0",
            "b __cofferdam_gate_return",
            options(noreturn)
        )
    }
}
