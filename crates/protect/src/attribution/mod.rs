//! The security attribution of addresses on Armv8-M (ARM DDI 0553 B8), and the accesses that a chip's gates behind the core let through.
//!
//! - [`Attribution`]: an address is Secure, Non-secure, or Secure and callable from Non-secure code, by the more secure of two opinions: that of the
//!   core's registers (SAU) and that of the chip (IDAU). [`Unit`] has both.
//! - [`BlockGate`]: a memory protection controller, which gives each block of a memory to one of the two.
//! - [`PortGates`]: the peripheral protection controllers of a subsystem, with its control blocks.
//!
//! The state of the processor is the attribution of the instruction that it executes, whose fetch the unit of that state checks.

mod blocks;
mod idau;
mod ports;
mod sau;
mod security;

pub use blocks::BlockGate;
pub use idau::Idau;
pub use ports::{Group, Port, PortGates};
pub use security::{Attribution, Security};

use crate::AccessKind;
use crate::regions::{GRANULE_BYTES, Unpredictable};
use sau::Sau;

/// Ranges that are outside of both opinions: debug components and the system control space (DDI 0553 B8; `v8m_is_sau_exempt` in QEMU 10.0).
const EXEMPT: [(u32, u32); 5] = [
    (0xe000_0000, 0xe000_2fff),
    (0xe000_e000, 0xe000_efff),
    (0xe002_e000, 0xe002_efff),
    (0xe004_0000, 0xe004_1fff),
    (0xe00f_f000, 0xe00f_ffff),
];
/// Fetches from here on are exempt, and from the second address on always Secure.
const SYSTEM: u32 = 0xe000_0000;
const VENDOR: u32 = 0xf000_0000;

/// The attribution of all addresses: the core's registers, and the chip.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The chip's opinion.
    pub idau: Idau,
    sau: Sau,
}

impl Unit {
    /// After reset, on a chip with this opinion: the registers say that all is Secure.
    pub const fn new(idau: Idau) -> Self {
        Self { idau, sau: Sau::RESET }
    }

    /// A store of Secure code to the registers: `offset` from `SAU_CTRL` (0xE000EDD0), so RNR is 8, RBAR 12, RLAR 16.
    ///
    /// # Errors
    /// [`Unpredictable`]: a region number above 7, or an offset that is no writable register. The store has no effect here.
    pub const fn write(&mut self, offset: u32, value: u32) -> Result<(), Unpredictable> {
        if self.sau.write(offset, value) { Ok(()) } else { Err(Unpredictable { offset, value }) }
    }

    /// Returns the attribution of a byte for an access from this state. An exempt address belongs
    /// to the state that asks.
    ///
    /// # Time complexity
    /// Eight regions.
    pub fn of(&self, addr: u32, kind: AccessKind, from: Security) -> Attribution {
        let is_fetch = kind == AccessKind::Exec;
        if is_fetch && addr >= VENDOR {
            return Attribution::Secure;
        }
        let is_exempt = EXEMPT.iter().any(|(first, last)| (*first..=*last).contains(&addr));
        if is_exempt || self.idau.exempts(addr) || is_fetch && addr >= SYSTEM {
            return match from {
                Security::Secure => Attribution::Secure,
                Security::NonSecure => Attribution::NonSecure,
            };
        }
        self.sau.of(addr).max(self.idau.of(addr))
    }

    /// Returns the state to which all bytes of `addr .. addr + len` belong, as far as they exist.
    /// `len` 0 counts as 1.
    ///
    /// # Errors
    /// The address of the first byte whose state is not that of the first one.
    ///
    /// # Time complexity
    /// Eight regions for each granule of 32 bytes.
    pub fn state_of_all(&self, addr: u32, len: u32, kind: AccessKind, from: Security) -> Result<Security, u32> {
        let first = self.of(addr, kind, from).state();
        let end = (u64::from(addr) + u64::from(len)).min(1 << 32);
        // No rule changes inside of a granule.
        let mut at = (u64::from(addr) + 1).next_multiple_of(u64::from(GRANULE_BYTES));
        while at < end {
            if self.of(at as u32, kind, from).state() != first {
                return Err(at as u32);
            }
            at += u64::from(GRANULE_BYTES);
        }
        Ok(first)
    }
}

#[cfg(test)]
mod tests;
