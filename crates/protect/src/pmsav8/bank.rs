//! The registers of a unit, for its evaluator (ARM DDI 0553 B10 and D1.2). The one region that
//! contains a byte decides. A byte that two regions contain cannot be accessed at all.

use super::RegionRegs;
use super::regs::{READ_ONLY, UNPRIVILEGED, XN};
use crate::regions::{Attributes, Permissions, Policy, REGIONS, Registers, Segment};

/// The shadow of one security state's PMSAv8 unit with eight regions. Behind RNR it has RBAR at 12, RLAR at 16, three pairs of aliases for the other
/// regions of a group of four, and MAIR0 and MAIR1 at 48 and 52.
pub type Shadow = crate::regions::Shadow<Bank>;

/// `MPU_RBAR.SH`.
const SH: u32 = 3 << 3;

/// RBAR and RLAR of eight regions, and their memory attributes.
#[derive(Clone, Debug)]
pub struct Bank {
    regions: [RegionRegs; REGIONS],
    attributes: [u32; 2],
}

impl Bank {
    /// The memory attributes of a region.
    const fn attributes(&self, region: RegionRegs) -> Attributes {
        let index = region.attribute();
        attributes(self.attributes[index as usize / 4] >> (index % 4 * 8) & 0xff, region.rbar & SH != 0)
    }
}

impl crate::regions::Bank for Bank {
    type Regs = RegionRegs;
    const RESET: Self = Self { regions: [RegionRegs::DISABLED; REGIONS], attributes: [0; 2] };

    /// An alias is a register of a region of RNR's group, and leaves RNR as it is. `MPU_RLAR` bit 4 is reserved in Armv8.0-M: it keeps 0.
    fn write(&mut self, number: &mut u32, offset: u32, value: u32) -> bool {
        const RESERVED: u32 = 1 << 4;
        let region = match offset {
            0x0c..=0x13 => *number,
            0x14..=0x2b => *number & !3 | (offset - 0x0c) >> 3,
            _ => 0,
        };
        let region = &mut self.regions[region as usize & 7];
        match offset {
            0x0c | 0x14 | 0x1c | 0x24 => region.rbar = value,
            0x10 | 0x18 | 0x20 | 0x28 => region.rlar = value & !RESERVED,
            0x30 | 0x34 => self.attributes[(offset as usize - 0x30) / 4] = value,
            _ => return false,
        }
        true
    }

    fn set_region(&mut self, slot: usize, regs: RegionRegs) {
        self.regions[slot & 7] = regs.stored();
    }

    fn regions(&self) -> &[RegionRegs; REGIONS] {
        &self.regions
    }

    /// A region is misprogrammed if the architecture does not define its memory attributes, or if
    /// it ends before it begins. The latter contains nothing here, as in QEMU.
    fn misprogrammed(&self) -> u8 {
        let unknown = |region: RegionRegs| self.attributes(region).policy() == Policy::Reserved;
        let bad = |region: RegionRegs| region.is_enabled() && (region.base() > region.last() || unknown(region));
        self.regions.iter().enumerate().fold(0, |mask, (number, region)| mask | u8::from(bad(*region)) << number)
    }

    fn decide(&self, addr: u32, segment: &mut Segment) {
        let mut found = None;
        let mut overlap = None;
        for (number, region) in (0..).zip(&self.regions) {
            let (base, last) = (region.base(), region.last());
            if !region.is_enabled() || base > last || !segment.clip(addr, base, last) {
                continue;
            }
            match found {
                None => {
                    segment.decide(number, permissions(region.rbar), self.attributes(*region));
                    found = Some(number);
                }
                Some(lower) => overlap = overlap.or(Some((lower, number))),
            }
        }
        if let Some((lower, higher)) = overlap {
            segment.overlap(lower, higher);
        }
    }
}

/// AP and XN (DDI 0553 D1.2, `MPU_RBAR`).
const fn permissions(rbar: u32) -> Permissions {
    let data = (true, rbar & READ_ONLY == 0);
    let unprivileged = if rbar & UNPRIVILEGED != 0 { data } else { (false, false) };
    Permissions::new(data, unprivileged, rbar & XN == 0)
}

/// A byte of `MPU_MAIR0` or `MPU_MAIR1` (DDI 0553 D1.2, `MAIR_ATTR`). The inner policy is in the low half; memory with the high half 0 is a device, which
/// is always shared.
const fn attributes(attr: u32, shareable: bool) -> Attributes {
    use Policy::{Device, NonCacheable, Reserved, StronglyOrdered, WriteBack, WriteBackAllocate, WriteThrough};
    const ALLOCATES_ON_WRITE: u32 = 1;
    let (outer, inner) = (attr >> 4, attr & 0xf);
    let (policy, shareable) = match (outer, inner) {
        (0, 0b0000) => (StronglyOrdered, true),
        (0, 0b0100 | 0b1000 | 0b1100) => (Device, true),
        (0, _) | (_, 0b0000) => (Reserved, shareable),
        (_, 0b0100) => (NonCacheable, shareable),
        (_, 0b0001..=0b0011 | 0b1000..=0b1011) => (WriteThrough, shareable),
        (_, _) if inner & ALLOCATES_ON_WRITE != 0 => (WriteBackAllocate, shareable),
        (_, _) => (WriteBack, shareable),
    };
    Attributes::new(policy, shareable)
}
