//! Blocks of memory-mapped registers.

/// A block of 32-bit registers at an address that the board names.
#[derive(Clone, Copy, Debug)]
pub struct Registers(u32);

impl Registers {
    /// Registers from `base` on.
    ///
    /// # Safety
    /// The block is there. A writer of a register answers for the effect.
    pub const unsafe fn new(base: u32) -> Registers {
        Registers(base)
    }

    /// Reads the register at an offset in bytes.
    #[inline(always)]
    pub fn read(self, offset: u32) -> u32 {
        // SAFETY: promised at construction.
        unsafe { ((self.0 + offset) as *const u32).read_volatile() }
    }

    /// Writes the register at an offset in bytes.
    #[inline(always)]
    pub fn write(self, offset: u32, value: u32) {
        // SAFETY: promised at construction.
        unsafe { ((self.0 + offset) as *mut u32).write_volatile(value) }
    }
}
