//! Control and status registers (RISC-V Privileged Architecture, chapter 3).

use core::arch::asm;

/// Interrupts that wait to be taken and that may be.
#[inline(always)]
pub(crate) fn pending() -> u32 {
    let (waiting, enabled): (u32, u32);
    // SAFETY: reading has no effect.
    unsafe { asm!("csrr {0}, mip", "csrr {1}, mie", out(reg) waiting, out(reg) enabled, options(nomem, nostack)) };
    waiting & enabled
}

#[inline(always)]
pub(crate) fn enable(bits: u32) {
    // SAFETY: user mode is interrupted by them from then on; the kernel is not, because its interrupts are off.
    unsafe { asm!("csrs mie, {0}", in(reg) bits, options(nostack)) };
}

#[inline(always)]
pub(crate) fn disable(bits: u32) {
    // SAFETY: as for `enable`.
    unsafe { asm!("csrc mie, {0}", in(reg) bits, options(nostack)) };
}
