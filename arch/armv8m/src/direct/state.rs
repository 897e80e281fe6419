//! Registers of Non-secure state as Secure code finds them, and what leads there (DDI 0553 D1.2).

armv_m::registers! {
    SAU_RBAR = 0xe000_eddc, "Region base address.";
    SFAR = 0xe000_ede8, "SecureFault address.";
    SHCSR_NS = 0xe002_ed24, "System handler control and state of Non-secure state.";
    CFSR_NS = 0xe002_ed28, "Configurable fault status of Non-secure state; a one clears a bit.";
    ICSR_NS = 0xe002_ed04, "Interrupt control and state of Non-secure state.";
    VTOR_NS = 0xe002_ed08, "Address of the vectors of Non-secure state.";
    MPU_CTRL_NS = 0xe002_ed94, "Control of the region registers of Non-secure state.";
    MPU_TYPE_NS = 0xe002_ed90, "Number of these.";
    MPU_RNR_NS = 0xe002_ed98, "Number of the one that the next is of.";
    MPU_RBAR_NS = 0xe002_ed9c, "Its first word.";
    SCR_NS = 0xe002_ed10, "System control of Non-secure state.";
    MPU_RLAR_NS = 0xe002_eda0, "Its second word.";
    MPU_RLAR_A1_NS = 0xe002_eda8, "The same of the next one.";
    MPU_RLAR_A2_NS = 0xe002_edb0, "The same of the one behind it.";
    MPU_RLAR_A3_NS = 0xe002_edb8, "The same of the third.";
}
