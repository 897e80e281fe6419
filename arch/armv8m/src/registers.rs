//! Registers that Armv8-M adds (DDI 0553 D1.2), and what the kernel has in those of priorities.

/// Priority of the kernel's exceptions: the lowest with three bits of priority (LPC55S69), so that every handler is above the kernel.
pub(crate) const KERNEL_PRIORITY: u32 = 0xe0;

armv_m::registers! {
    CPPWR = 0xe000_e00c, "Power of coprocessors.";
    AIRCR = 0xe000_ed0c, "Application interrupt and reset control.";
    SCR = 0xe000_ed10, "System control.";
    NSACR = 0xe000_ed8c, "Coprocessors that Non-secure code may use.";
    MPU_MAIR0 = 0xe000_edc0, "Memory attributes 0 to 3.";
    MPU_MAIR1 = 0xe000_edc4, "Memory attributes 4 to 7.";
    SAU_CTRL = 0xe000_edd0, "Control of the security attribution unit.";
    SAU_TYPE = 0xe000_edd4, "Its regions.";
    SAU_RNR = 0xe000_edd8, "Number of the region that SAU_RBAR is of.";
    SAU_RLAR = 0xe000_ede0, "Region limit address.";
    SFSR = 0xe000_ede4, "SecureFault status.";
}
