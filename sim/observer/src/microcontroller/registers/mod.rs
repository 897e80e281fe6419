//! Registers that the observer reads or follows.

use std::ops::RangeInclusive;

use protect::regions::{Bank, Shadow};

use crate::{Register, Target};

/// Registers of the processor that each security state has of its own, where there are some.
#[derive(Clone, Copy, Default)]
pub struct Banked {
    pub msp: Register,
    pub psp: Register,
    pub control: Register,
    /// PRIMASK, BASEPRI, FAULTMASK.
    masks: [Register; 3],
}

impl Banked {
    /// Those whose names end so.
    pub fn find(target: &mut dyn Target, ending: &str) -> Self {
        let mut find = |name: &str| target.find(&format!("{name}{ending}"));
        Self {
            msp: find("msp"),
            psp: find("psp"),
            control: find("control"),
            masks: ["primask", "basepri", "faultmask"].map(find),
        }
    }

    /// Whether FAULTMASK is set.
    pub fn masks_faults(&self, target: &mut dyn Target) -> bool {
        target.register(self.masks[2]) != 0
    }

    /// Whether some exceptions are masked.
    pub fn masks(&self, target: &mut dyn Target) -> bool {
        self.masks.into_iter().any(|mask| target.register(mask) != 0)
    }
}

/// `VTOR`.
pub const VTOR: u32 = 0xe000_ed08;
/// `SCR`.
pub const SCR: u32 = 0xe000_ed10;

/// `SCR`, as far as it says how deep the core sleeps (ARM DDI 0403 B3.2.7; DDI 0553 D1.2). Neither bit is banked, and QEMU keeps neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SystemControl {
    is_deep: bool,
    is_reserved: bool,
}

impl SystemControl {
    /// Privileged code of the only state, or of Secure state, stores to it. `SLEEPDEEPS` means nothing where there is one state.
    pub fn write(&mut self, value: u32) {
        const SLEEPDEEP: u32 = 1 << 2;
        const SLEEPDEEPS: u32 = 1 << 3;
        *self = Self { is_deep: value & SLEEPDEEP != 0, is_reserved: value & SLEEPDEEPS != 0 };
    }

    /// Non-secure code does, or Secure code at that state's address: `SLEEPDEEP` is ignored while it is reserved, `SLEEPDEEPS` always.
    pub fn write_non_secure(&mut self, value: u32) {
        let Self { is_deep, is_reserved } = *self;
        self.write(value);
        *self = Self { is_deep: if is_reserved { is_deep } else { self.is_deep }, is_reserved };
    }

    /// Whether the core sleeps deep when it sleeps.
    pub const fn sleeps_deep(self) -> bool {
        self.is_deep
    }
}

/// `MPU_TYPE` (ARM DDI 0403 B3.5.4; DDI 0553 D1.2).
pub const MPU_TYPE: u32 = 0xe000_ed90;
/// Offsets of the registers of protection behind it.
const MPU_WRITABLE: RangeInclusive<u32> = 0x04..=0x34;

/// A store to the unit whose registers are at [`MPU_TYPE`]; `false`: to something else, or of less than a word, which the architecture leaves open and QEMU
/// ignores. Values that it leaves open have the effect that they have in QEMU.
pub fn write_unit<B: Bank>(shadow: &mut Shadow<B>, address: u32, len: u32, value: u64) -> bool {
    let offset = address.wrapping_sub(MPU_TYPE);
    if !MPU_WRITABLE.contains(&offset) || len < 4 {
        return false;
    }
    for word in 0..len / 4 {
        let _ = shadow.write(offset + word * 4, (value >> (word * 32)) as u32);
    }
    true
}

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
