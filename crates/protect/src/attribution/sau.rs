//! The core's opinion: the security attribution unit (DDI 0553 B8; its registers in D1.2).

use super::security::Attribution;
use crate::regions::GRANULE_BYTES;

/// Regions of the unit, as in the Cortex-M33 of the boards here.
const REGIONS: usize = 8;
/// `SAU_CTRL.ENABLE` and `ALLNS`.
const ENABLE: u32 = 1;
const ALL_NON_SECURE: u32 = 1 << 1;
/// `SAU_RLAR.ENABLE` and `NSC`.
const REGION_ENABLE: u32 = 1;
const CALLABLE: u32 = 1 << 1;
const LOW: u32 = GRANULE_BYTES - 1;

/// The registers of a unit.
#[derive(Clone, Debug)]
pub struct Sau {
    control: u32,
    number: usize,
    /// Base and limit address registers.
    regions: [(u32, u32); REGIONS],
}

impl Sau {
    pub const RESET: Self = Self { control: 0, number: 0, regions: [(0, 0); REGIONS] };

    /// Stores to a register. Returns false if the architecture defines no effect of the store; it
    /// has none here.
    pub const fn write(&mut self, offset: u32, value: u32) -> bool {
        match offset {
            0x00 => self.control = value & (ENABLE | ALL_NON_SECURE),
            0x08 if value < REGIONS as u32 => self.number = value as usize,
            0x0c => self.regions[self.number].0 = value & !LOW,
            0x10 => self.regions[self.number].1 = value & (!LOW | CALLABLE | REGION_ENABLE),
            _ => return false,
        }
        true
    }

    /// A region that contains a byte makes it Non-secure or callable; one byte in several regions is Secure, as is one in none.
    pub fn of(&self, addr: u32) -> Attribution {
        if self.control & ENABLE == 0 {
            let all = self.control & ALL_NON_SECURE != 0;
            return if all { Attribution::NonSecure } else { Attribution::Secure };
        }
        let contains =
            |(base, limit): &&(u32, u32)| limit & REGION_ENABLE != 0 && *base <= addr && addr <= *limit | LOW;
        let mut those = self.regions.iter().filter(contains);
        match (those.next(), those.next()) {
            (Some((_, limit)), None) if limit & CALLABLE != 0 => Attribution::Callable,
            (Some(_), None) => Attribution::NonSecure,
            _ => Attribution::Secure,
        }
    }
}
