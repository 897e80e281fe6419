//! Registers that Armv8-M adds (DDI 0553 D1.2), and those of Non-secure state as Secure code finds them.

armv_m::registers! {
    AIRCR = 0xe000_ed0c, "Application interrupt and reset control.";
    SCR = 0xe000_ed10, "System control.";
    NSACR = 0xe000_ed8c, "Coprocessors that Non-secure code may use.";
    MPU_MAIR0 = 0xe000_edc0, "Memory attributes 0 to 3.";
    MPU_MAIR1 = 0xe000_edc4, "Memory attributes 4 to 7.";
    SAU_CTRL = 0xe000_edd0, "Control of the security attribution unit.";
    SAU_TYPE = 0xe000_edd4, "Its regions.";
    SAU_RNR = 0xe000_edd8, "Number of the region that SAU_RBAR is of.";
    SAU_RBAR = 0xe000_eddc, "Region base address.";
    SAU_RLAR = 0xe000_ede0, "Region limit address.";
    SFSR = 0xe000_ede4, "SecureFault status.";
    SFAR = 0xe000_ede8, "SecureFault address.";
    SHCSR_NS = 0xe002_ed24, "System handler control and state of Non-secure state.";
    ICSR_NS = 0xe002_ed04, "Interrupt control and state of Non-secure state.";
    VTOR_NS = 0xe002_ed08, "Address of the vectors of Non-secure state.";
    MPU_CTRL_NS = 0xe002_ed94, "Control of the region registers of Non-secure state.";
    MPU_TYPE_NS = 0xe002_ed90, "Number of these.";
    MPU_RNR_NS = 0xe002_ed98, "Number of the one that the next is of.";
    MPU_RBAR_NS = 0xe002_ed9c, "Its first word.";
    SCR_NS = 0xe002_ed10, "System control of Non-secure state.";
    SHPR1_NS = 0xe002_ed18, "Priorities of its system exceptions 4 to 7.";
    SHPR2_NS = 0xe002_ed1c, "The same of 8 to 11.";
    SHPR3_NS = 0xe002_ed20, "The same of 12 to 15.";
    CPACR_NS = 0xe002_ed88, "Coprocessors that it uses.";
    MPU_RLAR_NS = 0xe002_eda0, "Its second word.";
}
