//! Registers of the core that only privileged code may reach (DDI 0407 1.5, table 1-3). The names are those of every core.

/// Addresses of such registers.
#[derive(Clone, Copy, Debug)]
pub struct CoreRegisters {
    /// Switches a cache off, and what is locked in it: control of the level-2 cache controller (DDI 0246 3.3.3), or of the snoop control unit
    /// where there is none.
    pub protection: u32,
    /// Switches interrupts off for all cores: control of the interrupt distributor (ICDDCR).
    pub vectors: u32,
    /// Makes an interrupt: software-generated interrupts (ICDSGIR).
    pub trigger: u32,
    /// Says how caches are kept coherent: control of the snoop control unit.
    pub context: u32,
    /// Switches interrupts off for this core: control of the CPU interface (ICCICR).
    pub switch: u32,
}

impl CoreRegisters {
    /// The registers in the private memory region, which begins at `base`, and those of a cache controller outside of the core.
    pub const fn at(base: u32, outer_cache: Option<u32>) -> CoreRegisters {
        let protection = match outer_cache {
            Some(controller) => controller + 0x100,
            None => base,
        };
        CoreRegisters {
            protection,
            vectors: base + 0x1000,
            trigger: base + 0x1f00,
            context: base,
            switch: base + 0x100,
        }
    }
}
