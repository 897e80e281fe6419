//! How many region registers the machine says it has.

/// `MPU_TYPE` (ARM DDI 0403 B3.5.4).
pub const MPU_TYPE: u32 = 0xe000_ed90;

/// Region registers, as the machine says where the kernel reads it (field DREGION).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regions(Option<u32>);

impl Regions {
    /// A register of the core was loaded.
    pub fn loaded(&mut self, at: u32, value: u32) {
        if at == MPU_TYPE {
            self.0 = Some(value >> 8 & 0xff);
        }
    }

    /// The number that was read last.
    pub const fn seen(self) -> Option<u32> {
        self.0
    }
}

#[cfg(test)]
mod tests;
