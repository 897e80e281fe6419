//! The registers of a unit, for its evaluator (ARM DDI 0403 B3.5): the highest-numbered region that contains a byte decides it; a disabled
//! sub-region does not contain it.

use super::regs::{RBAR_VALID, RegionRegs};
use crate::regions::{Attributes, GRANULE_BYTES, Permissions, Policy, REGIONS, Segment};

/// The shadow of one core's PMSAv7 unit with eight regions. Behind RNR it has RBAR at 12, RASR at 16, then three pairs of aliases.
pub type Shadow = crate::regions::Shadow<Bank>;

/// RBAR and RASR of eight regions.
#[derive(Clone, Debug)]
pub struct Bank([RegionRegs; REGIONS]);

impl crate::regions::Bank for Bank {
    type Regs = RegionRegs;
    const RESET: Self = Self([RegionRegs::DISABLED; REGIONS]);

    fn write(&mut self, number: &mut u32, offset: u32, value: u32) -> bool {
        match offset {
            0x0c | 0x14 | 0x1c | 0x24 => {
                if value & RBAR_VALID != 0 {
                    if value & 0xf >= REGIONS as u32 {
                        return false;
                    }
                    *number = value & 0xf;
                }
                self.0[*number as usize & 7].rbar = value & !(GRANULE_BYTES - 1);
            }
            0x10 | 0x18 | 0x20 | 0x28 => self.0[*number as usize & 7].rasr = value,
            _ => return false,
        }
        true
    }

    fn set_region(&mut self, slot: usize, regs: RegionRegs) {
        self.0[slot & 7] = RegionRegs { rbar: regs.base(), rasr: regs.rasr };
    }

    fn regions(&self) -> &[RegionRegs; REGIONS] {
        &self.0
    }

    /// A region is misprogrammed if the architecture does not define its size, alignment or
    /// sub-region bits. It matches nothing here, as in QEMU.
    fn misprogrammed(&self) -> u8 {
        let bad = |region: &RegionRegs| region.is_enabled() && !region.is_well_formed();
        self.0.iter().enumerate().fold(0, |mask, (number, region)| mask | u8::from(bad(region)) << number)
    }

    fn decide(&self, addr: u32, segment: &mut Segment) {
        for (number, region) in self.0.iter().enumerate() {
            if !region.is_enabled() || !region.is_well_formed() {
                continue;
            }
            let below = ((1u64 << region.size_log2()) - 1) as u32;
            if !segment.clip(addr, region.base(), region.base() | below) {
                continue;
            }
            if region.srd() != 0 {
                let eighth = below >> 3;
                segment.clip(addr, addr & !eighth, addr | eighth);
            }
            if region.contains(addr) {
                segment.decide(number as u8, permissions(region.rasr), attributes(region.rasr));
            }
        }
    }
}

/// AP and XN (B3.5.6, table B3-15). `AP = 100` is UNPREDICTABLE and grants nothing.
fn permissions(rasr: u32) -> Permissions {
    const NONE: (bool, bool) = (false, false);
    const R: (bool, bool) = (true, false);
    const RW: (bool, bool) = (true, true);
    let (privileged, unprivileged) = match rasr >> 24 & 0b111 {
        0b001 => (RW, NONE),
        0b010 => (RW, R),
        0b011 => (RW, RW),
        0b101 => (R, NONE),
        0b110 | 0b111 => (R, R),
        _ => (NONE, NONE),
    };
    Permissions::new(privileged, unprivileged, rasr >> 28 & 1 == 0)
}

/// TEX, C, B and S (table B3-13). With TEX = 0b1xx the inner policy is C and B. S has a meaning for normal memory only.
const fn attributes(rasr: u32) -> Attributes {
    use Policy::{Device, NonCacheable, Reserved, StronglyOrdered, WriteBack, WriteBackAllocate, WriteThrough};
    let s = rasr >> 18 & 1 != 0;
    let (policy, shareable) = match (rasr >> 19 & 7, rasr >> 16 & 3) {
        (0, 0b00) => (StronglyOrdered, true),
        (0, 0b01) => (Device, true),
        (2, 0b00) => (Device, false),
        (0, 0b10) | (4..=7, 0b10) => (WriteThrough, s),
        (0, 0b11) | (4..=7, 0b11) => (WriteBack, s),
        (1, 0b00) | (4..=7, 0b00) => (NonCacheable, s),
        (1, 0b11) | (4..=7, 0b01) => (WriteBackAllocate, s),
        _ => (Reserved, s),
    };
    Attributes::new(policy, shareable)
}
