//! How a protection domain enters the kernel on Armv7, in Thumb and in Arm state alike, and on Armv8-M. The number of the system call travels in r12,
//! arguments in r0-r3; the status comes back in r0 and values in r1 and r2. `include/cofferdam/arch.h` is the same for C.
#![no_std]

#[cfg(feature = "hostile")]
pub mod hostile;

use core::arch::{asm, global_asm};

// The return address of gate entry functions.
global_asm!(include_str!("../gate_return.S"));

/// The result of a system call: status, first value, second value.
pub type Raw = (u32, u32, u32);

/// Enters the kernel with call `number`. Values are meaningful only as far as the call documents them.
///
/// # Safety
/// A call may change the memory of this domain (for example `GATE_COPY_IN`): the caller upholds that call's contract.
#[inline(always)]
pub unsafe fn call(number: u32, a0: u32, a1: u32, a2: u32, a3: u32) -> Raw {
    let (status, first, second);
    // SAFETY: the kernel preserves every register except r0-r3 and r12, and the flags; memory is the caller's duty.
    unsafe {
        asm!(
            "svc #0",
            inlateout("r0") a0 => status,
            inlateout("r1") a1 => first,
            inlateout("r2") a2 => second,
            inlateout("r3") a3 => _,
            inlateout("r12") number => _,
            options(nostack),
        );
    }
    (status, first, second)
}

/// As [`call`], for a call without arguments and values. The argument registers are not set,
/// because the kernel does not look at them.
///
/// # Safety
/// As for [`call`].
#[inline(always)]
pub unsafe fn call_bare(number: u32) -> u32 {
    let status;
    // SAFETY: as in `call`.
    unsafe {
        asm!(
            "svc #0",
            out("r0") status,
            out("r1") _,
            out("r2") _,
            out("r3") _,
            inlateout("r12") number => _,
            options(nostack),
        );
    }
    status
}
