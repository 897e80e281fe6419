//! Instructions with which a hostile domain tries to get out, as far as they are the same in Thumb and in Arm state.

mod execute;

use core::arch::asm;

pub use hostile_user::{Held, Seen, Targets, hold};

pub use execute::{EXPOSED, FOUND, Registers, cofferdam_executed, execute, wait_exposed};

/// Addresses of registers of the core that only privileged code may reach.
#[derive(Clone, Copy, Debug)]
pub struct CoreRegisters {
    /// Switches the protection off, or a cache with what is locked in it.
    pub protection: u32,
    /// Says where exceptions lead, or switches interrupts off for all cores.
    pub vectors: u32,
    /// Makes an interrupt.
    pub trigger: u32,
    /// Says what of a thread is saved, or how caches are kept coherent.
    pub context: u32,
    /// Switches protection or interrupts off by itself.
    pub switch: u32,
}

/// Sets the stack pointer and makes a system call, so that the exception frame would be written there.
///
/// # Safety
/// None is possible: the thread does not survive unless the attack succeeds.
pub unsafe fn call_on_stack(stack: u32) -> ! {
    // SAFETY: the caller wants what follows.
    unsafe { asm!("mov sp, {0}", "mov r12, #0", "svc #0", "udf #1", in(reg) stack, options(noreturn)) }
}

/// As [`call_on_stack`], with live floating-point state, whose frame is larger and may be written later.
///
/// # Safety
/// As for [`call_on_stack`].
pub unsafe fn call_on_stack_with_floats(stack: u32) -> ! {
    // SAFETY: the caller wants what follows.
    unsafe {
        asm!(
            "vmov s0, {0}", "vmov s31, {0}", "mov sp, {0}", "mov r12, #0", "svc #0", "udf #1",
            in(reg) stack, options(noreturn)
        )
    }
}

/// Executes an undefined instruction with the stack pointer there, so that one fault comes of the other.
///
/// # Safety
/// As for [`call_on_stack`].
pub unsafe fn undefined_on_stack(stack: u32) -> ! {
    // SAFETY: the caller wants what follows.
    unsafe { asm!("mov sp, {0}", "udf #2", in(reg) stack, options(noreturn)) }
}

/// As [`undefined_on_stack`], with a breakpoint, which is a fault of another priority on some processors.
///
/// # Safety
/// As for [`call_on_stack`].
pub unsafe fn breakpoint_on_stack(stack: u32) -> ! {
    // SAFETY: the caller wants what follows.
    unsafe { asm!("mov sp, {0}", "bkpt #1", "udf #1", in(reg) stack, options(noreturn)) }
}

/// Branches to an address: code of others, or one of the values that mean a return from an exception.
///
/// # Safety
/// As for [`call_on_stack`].
pub unsafe fn jump(address: u32) -> ! {
    // SAFETY: the caller wants what follows.
    unsafe { asm!("bx {0}", "udf #1", in(reg) address, options(noreturn)) }
}

/// As [`jump`], with the stack pointer somewhere else.
///
/// # Safety
/// As for [`call_on_stack`].
pub unsafe fn jump_on_stack(stack: u32, address: u32) -> ! {
    // SAFETY: the caller wants what follows.
    unsafe { asm!("mov sp, {0}", "bx {1}", "udf #1", in(reg) stack, in(reg) address, options(noreturn)) }
}

/// As [`jump`], through the stack.
///
/// # Safety
/// As for [`call_on_stack`].
pub unsafe fn pop_pc(address: u32) -> ! {
    // SAFETY: the caller wants what follows.
    unsafe { asm!("push {{{0}}}", "pop {{pc}}", "udf #1", in(reg) address, options(noreturn)) }
}

/// Executes an undefined instruction.
pub fn undefined() -> ! {
    // SAFETY: the instruction does nothing but fault.
    unsafe { asm!("udf #2", options(noreturn)) }
}

/// Executes a breakpoint, which is a fault where no debugger is attached.
pub fn breakpoint() {
    // SAFETY: the instruction does nothing but fault.
    unsafe { asm!("bkpt #1") }
}

/// Loads four words with one instruction that starts at `address`.
///
/// # Safety
/// As for [`call_on_stack`], when the words are not the domain's own.
pub unsafe fn load_multiple(address: u32) -> u32 {
    let word;
    // SAFETY: the caller wants the access.
    unsafe {
        asm!("ldmia {0}, {{r4, r5, r8, r10}}", in(reg) address, lateout("r4") word, out("r5") _, out("r8") _, out("r10") _)
    };
    word
}

/// Stores exclusively to `address`.
///
/// # Safety
/// As for [`load_multiple`].
pub unsafe fn store_exclusive(address: u32) -> u32 {
    let status;
    // SAFETY: the caller wants the access.
    unsafe { asm!("ldrex {0}, [{1}]", "strex {0}, {1}, [{1}]", out(reg) status, in(reg) address) };
    status
}

/// Changes rounding and the treatment of small numbers in the floating-point unit.
pub fn spoil_rounding() {
    // SAFETY: only this thread's floating-point state changes.
    unsafe { asm!("vmsr fpscr, {0}", in(reg) 0x03c0_0000_u32) }
}

/// Makes a system call with a number in the instruction, which the kernel ignores; the number that counts is `number`.
pub fn call_immediate(number: u32) -> u32 {
    let status;
    // SAFETY: the numbers passed here name no call.
    unsafe {
        asm!("svc #255", inlateout("r0") 0 => status, inlateout("r1") 0 => _, inlateout("r2") 0 => _,
             inlateout("r3") 0 => _, inlateout("r12") number => _)
    };
    status
}
