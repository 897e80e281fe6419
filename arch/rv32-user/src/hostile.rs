//! Facts about the processor for domains that attack on purpose.

/// Addresses of registers of the core that only privileged code may reach: those of the MMU, by their physical addresses. The other registers of the
/// core are no memory on RV32.
#[derive(Clone, Copy, Debug)]
pub struct CoreRegisters {
    /// Switches the translation off.
    pub protection: u32,
    /// Says which entries of the tables are in force.
    pub context: u32,
    /// Says how many.
    pub reach: u32,
    /// Switches the protection off by itself.
    pub switch: u32,
}

/// The registers of the core, whose first is at `core`. There is no cache.
pub const fn core_registers(core: u32, _outer_cache: Option<u32>) -> CoreRegisters {
    CoreRegisters { protection: core, context: core + 4, reach: core + 8, switch: core }
}
