//! Registers of the core that only privileged code may reach (DDI 0403 B3.2). The names are those of every core.

/// Addresses of such registers.
#[derive(Clone, Copy, Debug)]
pub struct CoreRegisters {
    /// Switches the protection off: control of the region registers (MPU_CTRL).
    pub protection: u32,
    /// Says where exceptions lead: vector table offset (VTOR).
    pub vectors: u32,
    /// Makes an interrupt: software-triggered interrupt (STIR).
    pub trigger: u32,
    /// Says what of a thread is saved: floating-point context control (FPCCR).
    pub context: u32,
    /// Switches protection or interrupts off by itself.
    pub switch: u32,
}

impl CoreRegisters {
    /// The registers in the system control space, which begins at `base`; all of them are the core's.
    pub const fn at(base: u32, _outer_cache: Option<u32>) -> CoreRegisters {
        CoreRegisters {
            protection: base + 0xd94,
            vectors: base + 0xd08,
            trigger: base + 0xf00,
            context: base + 0xf34,
            switch: base + 0xd94,
        }
    }
}
