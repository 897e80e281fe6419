//! Registers of the core that only privileged code may reach (DDI 0403 B3.2; DDI 0553 D1.2 has them at the same addresses).

use super::CoreRegisters;

/// The registers in the system control space, which begins at `base`; all of them are the core's.
pub const fn core_registers(base: u32, _outer_cache: Option<u32>) -> CoreRegisters {
    CoreRegisters {
        // Control of the region registers (MPU_CTRL).
        protection: base + 0xd94,
        // Vector table offset (VTOR).
        vectors: base + 0xd08,
        // Software-triggered interrupt (STIR).
        trigger: base + 0xf00,
        // Floating-point context control (FPCCR).
        context: base + 0xf34,
        switch: base + 0xd94,
    }
}
