//! Region registers of Armv7-M.

use core::arch::asm;

use abi::trace::Fault;
use armv_m::{Port, regs};
use kernel::virtual_processor::Absent;
use protect::pmsav7::{Pmsav7, RegionRegs};
use protect::regions::slots::RegionImage;

/// Armv7-M.
#[derive(Debug)]
pub enum Armv7 {}

// SAFETY: all registers are written by `load_image`, and the one that the region names by `load_slot`.
unsafe impl Port for Armv7 {
    type Unit = Pmsav7;
    type Virtual = Absent;
    const VIRTUAL: Absent = Absent;

    const FAULT_PRIORITY: u32 = 0x00;
    const KERNEL_PRIORITY: u32 = 0x80;

    const OWN_PENDED: u32 = 0;

    fn set_up() {}

    #[inline(always)]
    fn own_fault() -> Option<(Fault, u32)> {
        None
    }

    #[inline]
    fn load_image(image: &RegionImage<RegionRegs>) {
        // SAFETY: RBAR and RASR and their three aliases are eight consecutive words (DDI 0403 B3.5.11); the image has
        // sixteen words, each RBAR naming its slot.
        unsafe {
            asm!(
                "ldmia {src}!, {{r2, r3, r4, r5, r8, r10, r11, r12}}",
                "stmia {dst}, {{r2, r3, r4, r5, r8, r10, r11, r12}}",
                "ldmia {src}, {{r2, r3, r4, r5, r8, r10, r11, r12}}",
                "stmia {dst}, {{r2, r3, r4, r5, r8, r10, r11, r12}}",
                src = inout(reg) image.regs.as_ptr() => _,
                dst = in(reg) 0xe000_ed9c_u32,
                out("r2") _, out("r3") _, out("r4") _, out("r5") _,
                out("r8") _, out("r10") _, out("r11") _, out("r12") _,
                options(nostack, preserves_flags),
            );
        }
    }

    #[inline]
    fn load_slot(region: RegionRegs) {
        regs::MPU_RBAR.write(region.rbar);
        regs::MPU_RASR_RLAR.write(region.rasr);
    }

    /// The kernel may always write: a region that is read-only for domains can be writable for
    /// privileged code here.
    #[inline(always)]
    fn unchecked(write: impl FnOnce()) {
        write();
    }
}
