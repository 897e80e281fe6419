//! How a protection domain enters the kernel on RV32. The number of the system call travels in a7, arguments in a0-a3; the status comes back in a0 and
//! values in a1 and a2. `include/cofferdam/arch.h` is the same for C.
#![no_std]

#[cfg(feature = "hostile")]
pub mod hostile;

use core::arch::{asm, global_asm};

/// True if memory is protected by page tables; otherwise by region registers.
pub const PAGES: bool = true;
/// True if domains may have pages that are mapped at their first touch.
pub const DEMAND: bool = true;

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
    // SAFETY: the kernel preserves every register except a0-a3 and a7; memory is the caller's duty.
    unsafe {
        asm!(
            "ecall",
            inlateout("a0") a0 => status,
            inlateout("a1") a1 => first,
            inlateout("a2") a2 => second,
            inlateout("a3") a3 => _,
            inlateout("a7") number => _,
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
            "ecall",
            out("a0") status,
            out("a1") _,
            out("a2") _,
            out("a3") _,
            inlateout("a7") number => _,
            options(nostack),
        );
    }
    status
}
