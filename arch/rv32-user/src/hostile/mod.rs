//! Instructions with which a hostile domain tries to get out. None of them may harm anybody but the domain itself; they
//! are here because assembly belongs here, and are only built for the domains that attack on purpose.

mod places;
mod registers;
pub mod states;

use core::arch::asm;

pub use hostile_user::{Held, Seen, Targets, hold};
pub use places::{CoreRegisters, core_registers};
pub use registers::{
    FLOATS, REGISTERS, SEEN_AT_GATE, SEEN_AT_START, floats_after, hostile_entries as entries, spoil_registers,
    spoil_rounding,
};

/// Sets the stack pointer and makes a system call. Nothing is saved there: the thread goes on, and ends at the next instruction.
///
/// # Safety
/// None is possible: the thread does not survive unless the attack succeeds.
pub unsafe fn call_on_stack(stack: u32) -> ! {
    // SAFETY: the caller wants what follows.
    unsafe { asm!("mv sp, {0}", "li a7, 0", "ecall", "unimp", in(reg) stack, options(noreturn)) }
}

/// As [`call_on_stack`]: there is no floating-point state.
///
/// # Safety
/// As for [`call_on_stack`].
pub unsafe fn call_on_stack_with_floats(stack: u32) -> ! {
    // SAFETY: the caller wants what follows.
    unsafe { call_on_stack(stack) }
}

/// Executes an undefined instruction with the stack pointer there.
///
/// # Safety
/// As for [`call_on_stack`].
pub unsafe fn undefined_on_stack(stack: u32) -> ! {
    // SAFETY: the caller wants what follows.
    unsafe { asm!("mv sp, {0}", "unimp", in(reg) stack, options(noreturn)) }
}

/// As [`undefined_on_stack`], with a breakpoint.
///
/// # Safety
/// As for [`call_on_stack`].
pub unsafe fn breakpoint_on_stack(stack: u32) -> ! {
    // SAFETY: the caller wants what follows.
    unsafe { asm!("mv sp, {0}", "ebreak", "unimp", in(reg) stack, options(noreturn)) }
}

/// Sets the stack pointer and stays until interrupts have come. They save nothing on a thread's stack here, so that the thread stores
/// there itself at last.
///
/// # Safety
/// As for [`call_on_stack`].
pub unsafe fn spin_on_stack(stack: u32) -> ! {
    /// Some milliseconds, in which timers interrupt.
    const TURNS: u32 = 3 << 14;
    // SAFETY: the caller wants what follows.
    unsafe {
        asm!(
            "mv sp, {stack}", "2:", "addi {turns}, {turns}, -1", "bnez {turns}, 2b", "sw {turns}, -4(sp)", "unimp",
            stack = in(reg) stack, turns = in(reg) TURNS, options(noreturn)
        )
    }
}

/// Branches to an address.
///
/// # Safety
/// As for [`call_on_stack`].
pub unsafe fn jump(address: u32) -> ! {
    // SAFETY: the caller wants what follows.
    unsafe { asm!("jr {0}", "unimp", in(reg) address, options(noreturn)) }
}

/// As [`jump`], with the stack pointer somewhere else.
///
/// # Safety
/// As for [`call_on_stack`].
pub unsafe fn jump_on_stack(stack: u32, address: u32) -> ! {
    // SAFETY: the caller wants what follows.
    unsafe { asm!("mv sp, {0}", "jr {1}", "unimp", in(reg) stack, in(reg) address, options(noreturn)) }
}

/// As [`jump`], through the stack.
///
/// # Safety
/// As for [`call_on_stack`].
pub unsafe fn pop_pc(address: u32) -> ! {
    // SAFETY: the caller wants what follows.
    unsafe {
        asm!("addi sp, sp, -16", "sw {0}, 0(sp)", "lw ra, 0(sp)", "ret", "unimp", in(reg) address, options(noreturn))
    }
}

/// Executes an undefined instruction.
pub fn undefined() -> ! {
    // SAFETY: the instruction does nothing but fault.
    unsafe { asm!("unimp", options(noreturn)) }
}

/// Executes a breakpoint, which is a fault where no debugger is attached.
pub fn breakpoint() {
    // SAFETY: the instruction does nothing but fault.
    unsafe { asm!("ebreak") }
}

/// Loads four words that start at `address`.
///
/// # Safety
/// As for [`call_on_stack`], when the words are not the domain's own.
pub unsafe fn load_multiple(address: u32) -> u32 {
    let word;
    // SAFETY: the caller wants the access.
    unsafe {
        asm!("lw {0}, 0({1})", "lw {0}, 4({1})", "lw {0}, 8({1})", "lw {0}, 12({1})", out(reg) word, in(reg) address)
    };
    word
}

/// Stores exclusively to `address`, which the kernel does for the domain.
///
/// # Safety
/// As for [`load_multiple`].
pub unsafe fn store_exclusive(address: u32) -> u32 {
    let status;
    // SAFETY: the caller wants the access.
    unsafe {
        asm!(
            ".option push", ".option arch, +a", "lr.w {0}, ({1})", "sc.w {0}, {1}, ({1})", ".option pop",
            out(reg) status, in(reg) address
        )
    };
    status
}

/// There is one state that instructions are executed in: it loads.
///
/// # Safety
/// As for [`load_multiple`].
pub unsafe fn leave_state(address: u32) {
    // SAFETY: the caller wants the access.
    unsafe { asm!("lw {0}, 0({0})", inout(reg) address => _) }
}

/// Writes `mstatus`, so that all would be privileged: a fault. Returns 1 for a thread that is in user mode, and nothing for interrupts that are masked.
pub fn write_special_registers() -> (u32, u32) {
    // SAFETY: there is none; this is the attack.
    unsafe { asm!("csrw mstatus, {0}", in(reg) 0x1800) };
    (1, 0)
}

/// A call has no number in its instruction: the one in the register counts.
pub fn call_immediate(number: u32) -> u32 {
    // SAFETY: the numbers passed here name no call.
    unsafe { crate::call(number, 0, 0, 0, 0).0 }
}
