//! Registers that are looked at, held and changed: somebody may want to read or to change those of others.

use core::arch::{asm, global_asm};

use hostile_user::Seen;

/// Words that the floating-point registers hold: there are none.
pub const FLOATS: usize = 0;

/// The registers that [`SEEN_AT_START`] and [`SEEN_AT_GATE`] hold: x3 to x9 and x14 to x30.
pub const REGISTERS: usize = 7 + 17;

/// Registers as the domain's thread found them; see [`REGISTERS`].
pub static SEEN_AT_START: Seen<REGISTERS> = Seen::zeroed();
/// Registers as the domain's gate found them at its last call.
pub static SEEN_AT_GATE: Seen<REGISTERS> = Seen::zeroed();

/// Defines entries that store what the registers hold before any code of the domain has run, then go on with that code:
/// `cofferdam_hostile_start`, entry of a thread, goes on at `$thread` and fills [`SEEN_AT_START`];
/// `cofferdam_hostile_gate`, entry of a gate, goes on at `$gate` and fills [`SEEN_AT_GATE`].
#[macro_export]
macro_rules! hostile_entries {
    ($thread:ident, $gate:ident) => {
        // In and out: as at the entry. Clobbers t6 (x31).
        core::arch::global_asm!(
            ".macro HOSTILE_ENTRY name, words, next",
            ".section .cofferdam.entry.\\name, \"ax\", %progbits",
            ".balign 4",
            ".global \\name",
            ".type \\name, %function",
            "\\name:",
            "    la t6, \\words",
            ".irp n, 3, 4, 5, 6, 7, 8, 9",
            "    sw x\\n, 4 * (\\n - 3)(t6)",
            ".endr",
            ".irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30",
            "    sw x\\n, 4 * (\\n - 7)(t6)",
            ".endr",
            "    tail \\next",
            ".size \\name, . - \\name",
            ".endm",
            concat!("HOSTILE_ENTRY cofferdam_hostile_start, {start}, ", stringify!($thread)),
            concat!("HOSTILE_ENTRY cofferdam_hostile_gate, {gate}, ", stringify!($gate)),
            start = sym $crate::hostile::SEEN_AT_START,
            gate = sym $crate::hostile::SEEN_AT_GATE,
        );
    };
}
pub use hostile_entries;

/// Performs a system call; there are no floating-point registers to look at.
///
/// # Safety
/// The caller upholds the contract of the call; the call returns.
pub unsafe fn floats_after(number: u32, args: [u32; 2]) -> [u32; FLOATS] {
    // SAFETY: the caller's duty.
    unsafe { crate::call(number, args[0], args[1], 0, 0) };
    []
}

/// There is no floating-point unit.
pub fn spoil_rounding() {}

// In: a0 = a Held. Fills x5-x9, x14-x16 and x18-x31, performs the call, compares. Clobbers as a function may.
global_asm!(
    ".section .text.cofferdam_hold, \"ax\", %progbits",
    ".balign 4",
    ".global cofferdam_hold",
    ".type cofferdam_hold, %function",
    "cofferdam_hold:",
    "    addi sp, sp, -64",
    "    sw ra, 60(sp)",
    "    sw a0, 56(sp)",
    "    sw s0, 52(sp)",
    "    sw s1, 48(sp)",
    ".irp n, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27",
    "    sw x\\n, 4 * (\\n - 18)(sp)",
    ".endr",
    "    lw a7, 0(a0)",
    ".irp n, 5, 6, 7, 8, 9, 14, 15, 16, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
    "    addi x\\n, a7, \\n",
    ".endr",
    "    lw a7, 4(a0)",
    "    lw a1, 12(a0)",
    "    lw a2, 16(a0)",
    "    lw a3, 20(a0)",
    "    lw a0, 8(a0)",
    "    ecall",
    "    lw a3, 56(sp)",
    "    sw a0, 24(a3)",
    "    sw a1, 28(a3)",
    "    lw a7, 0(a3)",
    "    li a2, 0",
    ".irp n, 5, 6, 7, 8, 9, 14, 15, 16, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
    "    addi x\\n, x\\n, -\\n",
    "    xor x\\n, x\\n, a7",
    "    or a2, a2, x\\n",
    ".endr",
    "    sw a2, 32(a3)",
    ".irp n, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27",
    "    lw x\\n, 4 * (\\n - 18)(sp)",
    ".endr",
    "    lw s1, 48(sp)",
    "    lw s0, 52(sp)",
    "    lw ra, 60(sp)",
    "    addi sp, sp, 64",
    "    ret",
    ".size cofferdam_hold, . - cofferdam_hold",
);

/// Changes every register that a callee must preserve: as a gate's callee may, whose caller must not notice.
///
/// # Safety
/// The caller returns from a gate right after, with nothing left to do that needs a register.
pub unsafe fn spoil_registers() -> ! {
    // SAFETY: the function does not come back: it returns from the gate.
    unsafe {
        asm!(
            ".irp n, 3, 4, 5, 6, 7, 8, 9, 14, 15, 16, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
            "li x\\n, 0x55",
            ".endr",
            "li a0, 0",
            "li a1, 0",
            "j __cofferdam_gate_return",
            options(noreturn)
        )
    }
}
