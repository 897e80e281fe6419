//! Registers of the core that only privileged code may reach (DDI 0407 1.5, table 1-3).

use super::CoreRegisters;

/// The registers in the private memory region, which begins at `base`, and those of a cache controller outside of the core.
pub const fn core_registers(base: u32, outer_cache: Option<u32>) -> CoreRegisters {
    CoreRegisters {
        // Control of the level-2 cache controller (DDI 0246 3.3.3), or of the snoop control unit.
        protection: match outer_cache {
            Some(controller) => controller + 0x100,
            None => base,
        },
        // Control of the interrupt distributor (ICDDCR).
        vectors: base + 0x1000,
        // Software-generated interrupts (ICDSGIR).
        trigger: base + 0x1f00,
        // Control of the snoop control unit.
        context: base,
        // Control of the CPU interface (ICCICR).
        switch: base + 0x100,
    }
}
