//! Regions at random, and what the hardware shows of them, for each scheme.

use port::regs;
use protect::regions::Registers;
use protect::{pmsav7, pmsav8};

use crate::random::Random;

/// Registers of the port.
pub type Regs = port::Regs<port::Core>;

/// Values of the region registers before a fault: a slot and a region that nothing loads.
pub const BEFORE: [u32; 3] = [7, 0x5555_5557, 0x1500_0000];

/// A scheme as it is tried.
pub trait Tried: Registers {
    /// Whether the number of the slot has a register of its own; otherwise the base's register holds it.
    const NUMBERED: bool;

    /// Any region that a table takes, more often near others than not.
    fn any(random: &mut Random) -> Self;

    /// Distance of places in it where a rule may change.
    fn step(self) -> u32;

    /// First address.
    fn first(self) -> u32;
}

/// A place, more often near others than not.
fn place(random: &mut Random) -> u32 {
    const PLACES: [u32; 4] = [0, 0x2000_0000, 0x6000_0000, 0xffc0_0000];
    let near = random.one(&PLACES) | random.word() & random.one(&[0x3fff, 0x3f_ffff]);
    if random.below(4) == 0 { random.word() } else { near }
}

impl Tried for pmsav7::RegionRegs {
    const NUMBERED: bool = false;

    fn any(random: &mut Random) -> Self {
        let size_log2 = if random.below(8) == 0 { 8 + random.below(24) } else { 8 + random.below(12) };
        let base = place(random);
        let any = random.word() & 0xff;
        let off = random.one(&[0, any, 0x01, 0x80, 0x7f, 0xfe]);
        let rights = random.one(&[0b010, 0b011]) << 24 | random.below(2) << 28;
        let rasr = rights | off << 8 | (size_log2 - 1) << 1 | 1;
        Self { rbar: base >> size_log2 << size_log2, rasr }
    }

    fn step(self) -> u32 {
        1 << self.eighth_log2()
    }

    fn first(self) -> u32 {
        self.base()
    }
}

impl Tried for pmsav8::RegionRegs {
    const NUMBERED: bool = true;

    fn any(random: &mut Random) -> Self {
        let size_log2 = if random.below(8) == 0 { 8 + random.below(24) } else { 8 + random.below(12) };
        let bytes = (1 << size_log2 | random.word() & ((1 << size_log2) - 1)) & !31;
        let base = place(random) & !31;
        let last = base.saturating_add(bytes - 1) | 31;
        let rights = random.one(&[0b010, 0b110, 0b011, 0b111]);
        Self { rbar: base | rights, rlar: last & !31 | random.below(5) << 1 | 1 }
    }

    fn step(self) -> u32 {
        self.last().wrapping_sub(self.base()).wrapping_add(1)
    }

    fn first(self) -> u32 {
        self.base()
    }
}

/// Puts these values into the hardware's registers.
pub fn put([number, base, limit]: [u32; 3]) {
    regs::MPU_RNR.write(number);
    regs::MPU_RBAR.write(base);
    regs::MPU_RASR_RLAR.write(limit);
}

/// Values of the registers of the slot that was written last.
pub fn registers() -> [u32; 3] {
    const VALID: u32 = 1 << 4;
    let words = [regs::MPU_RNR.read(), regs::MPU_RBAR.read(), regs::MPU_RASR_RLAR.read()];
    if Regs::NUMBERED { words } else { shown([words[0], words[1] | VALID, words[2]]) }
}

/// The values as far as they are compared: the number says something only where it has a register of its own.
pub fn shown(words: [u32; 3]) -> [u32; 3] {
    if Regs::NUMBERED { words } else { [BEFORE[0], words[1], words[2]] }
}
