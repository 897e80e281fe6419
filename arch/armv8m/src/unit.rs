//! Region registers of Armv8-M, and its security state.

use core::arch::asm;

use abi::trace::Fault;
use armv_m::{Port, barrier, region_registers, regs};
use protect::pmsav8::{MAIR, Pmsav8, RegionRegs};
use protect::regions::Registers;
use protect::regions::slots::RegionImage;

use crate::direct::NonSecure;
use crate::registers::{
    AIRCR, CPPWR, KERNEL_PRIORITY, MPU_MAIR0, MPU_MAIR1, NSACR, SAU_CTRL, SAU_RLAR, SAU_RNR, SAU_TYPE, SCR, SFSR,
};

/// Armv8-M.
#[derive(Debug)]
pub enum Armv8 {}

// SAFETY: all registers are written by `load_image`, and the one of the region's slot by `load_slot`.
unsafe impl Port for Armv8 {
    type Unit = Pmsav8;
    type Virtual = NonSecure;
    const VIRTUAL: NonSecure = NonSecure;

    /// Faults do not preempt the rest of the kernel: a fault of the kernel itself becomes a HardFault, which is fatal.
    const FAULT_PRIORITY: u32 = KERNEL_PRIORITY;
    const KERNEL_PRIORITY: u32 = KERNEL_PRIORITY;

    const OWN_PENDED: u32 = 1 << 20;

    fn set_up() {
        const KEY: u32 = 0x05fa << 16;
        // Bits of AIRCR. Non-secure priorities count from 0x80 on, so that handlers stay below the
        // meter; Secure code alone resets. BFHFNMINS is 0: HardFaults are Secure.
        const SECURE_FIRST: u32 = 1 << 14;
        const SECURE_RESETS: u32 = 1 << 3;
        // Bit of SCR: Secure code alone selects deep sleep, in which no timer of the kernel might
        // come.
        const SECURE_SLEEPS_DEEP: u32 = 1 << 3;
        // Bit of SHCSR.
        const SECURE_FAULT: u32 = 1 << 19;
        // Bits of CPPWR (SUS10 and SUS11) and of FPCCR (LSPENS and CLRONRETS).
        const SECURE_POWER: u32 = 1 << 21 | 1 << 23;
        const SECURE_SAVES: u32 = 1 << 29 | 1 << 27;
        const ON: u32 = 1;
        AIRCR.write(KEY | SECURE_FIRST | SECURE_RESETS);
        SCR.write(SECURE_SLEEPS_DEEP);
        NSACR.write(0);
        // Both states share the floating-point registers: Non-secure code could switch their power off, or decide when a thread's are saved and cleared.
        CPPWR.write(SECURE_POWER);
        regs::FPCCR.write(regs::FPCCR.read() | SECURE_SAVES);
        regs::SHCSR.write(regs::SHCSR.read() | SECURE_FAULT);
        MPU_MAIR0.write(MAIR[0]);
        MPU_MAIR1.write(MAIR[1]);
        forget_regions();
        // The unit is on without a region, so that everything is Secure.
        SAU_CTRL.write(ON);
        // SAFETY: Non-secure Thread mode is unprivileged from now on, also for a thread that
        // branches there.
        unsafe { asm!("msr control_ns, {0}", in(reg) 1, options(nomem, nostack, preserves_flags)) };
    }

    /// Names the fault of a thread that went to the other state and was stopped there. The frame of
    /// such a fault was not stored, so no program counter is known.
    fn own_fault() -> Option<(Fault, u32)> {
        const INVIS_INVER: u32 = 1 << 1 | 1 << 2;
        const INVEP_INVTRAN: u32 = 1 | 1 << 4;
        let status = SFSR.read();
        if status == 0 {
            return None;
        }
        SFSR.write(status);
        Some(if status & INVEP_INVTRAN != 0 {
            (Fault::Execute, 0)
        } else if status & INVIS_INVER != 0 {
            (Fault::Return, 0)
        } else {
            // A thread executes nothing there, so the other causes mean that its frame could not be
            // stored.
            (Fault::Stack, 0)
        })
    }

    #[inline]
    fn load_image(image: &RegionImage<RegionRegs>) {
        // SAFETY: RBAR and RLAR and their three aliases are eight consecutive words, of four regions from RNR on (DDI 0553 D1.2); the image has
        // sixteen words. The unit is off until all are there: half a region would bind the kernel, too.
        unsafe {
            asm!(
                "str {four}, [{dst}, #-8]",
                "str {four}, [{dst}, #-4]",
                "ldmia {src}!, {{r2, r3, r4, r5, r8, r10, r11, r12}}",
                "stmia {dst}, {{r2, r3, r4, r5, r8, r10, r11, r12}}",
                "movs {four}, #4",
                "str {four}, [{dst}, #-4]",
                "ldmia {src}, {{r2, r3, r4, r5, r8, r10, r11, r12}}",
                "stmia {dst}, {{r2, r3, r4, r5, r8, r10, r11, r12}}",
                "movs {four}, #5",
                "str {four}, [{dst}, #-8]",
                src = inout(reg) image.regs.as_ptr() => _,
                dst = in(reg) 0xe000_ed9c_u32,
                four = inout(reg) 0 => _,
                out("r2") _, out("r3") _, out("r4") _, out("r5") _,
                out("r8") _, out("r10") _, out("r11") _, out("r12") _,
                options(nostack),
            );
        }
    }

    #[inline]
    fn load_slot(region: RegionRegs) {
        let stored = region.stored();
        regs::MPU_RNR.write(region.slot());
        // The region that was there ends first: with the base of the one and the limit of the other
        // it could open anything.
        regs::MPU_RASR_RLAR.write(0);
        regs::MPU_RBAR.write(stored.rbar);
        regs::MPU_RASR_RLAR.write(stored.rlar);
    }

    /// PMSAv8 has no right that lets the kernel write what a domain may only read, so the unit is
    /// off meanwhile.
    #[inline(always)]
    fn unchecked(write: impl FnOnce()) {
        regs::MPU_CTRL.write(0);
        barrier();
        write();
        regs::MPU_CTRL.write(regs::ENABLE_WITH_DEFAULT_MAP);
        barrier();
    }
}

/// Switches off all regions that a loader or a debugger has left in both units, because each would
/// open memory that no table knows of.
fn forget_regions() {
    regs::MPU_CTRL.write(0);
    SAU_CTRL.write(0);
    for number in 0..region_registers() {
        regs::MPU_RNR.write(number);
        regs::MPU_RASR_RLAR.write(0);
    }
    for number in 0..SAU_TYPE.read() & 0xff {
        SAU_RNR.write(number);
        SAU_RLAR.write(0);
    }
}
