//! Registers beside the core that only privileged code may reach: those of the MMU (`rtl/mmu/mmu_regs.sv`), by their physical addresses. The core's own
//! are no memory on RV32; [`super::states`] tries their instructions.

/// Addresses of registers that only privileged code may reach.
#[derive(Clone, Copy, Debug)]
pub struct CoreRegisters {
    /// Switches the translation off.
    pub protection: u32,
    /// There is no such register in memory: the first one.
    pub vectors: u32,
    /// As above.
    pub trigger: u32,
    /// Says which entries of the tables are in force.
    pub context: u32,
    /// Says how many.
    pub reach: u32,
    /// Switches the protection off by itself.
    pub switch: u32,
}

/// The registers, whose first is at `core`. There is no cache.
pub const fn core_registers(core: u32, _outer_cache: Option<u32>) -> CoreRegisters {
    CoreRegisters { protection: core, vectors: core, trigger: core, context: core + 4, reach: core + 8, switch: core }
}
