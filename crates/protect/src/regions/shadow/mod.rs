//! The evaluator of a unit with eight regions: it says byte by byte what the registers permit. A
//! scheme brings its registers ([`Bank`]).
//!
//! It is the specification of the compilers' property tests, and the shadow that a simulator keeps of the hardware. An
//! access that hits a segment seen before costs one table look-up; writes to registers only bump a generation.

mod answer;
mod segment;

pub use answer::{Attr, Denial, Unpredictable, Violation};
pub use segment::{Permissions, Segment};

use super::REGIONS;
use super::attributes::Attributes;
use crate::AccessKind;
use segment::{default_map, need};

/// The registers of a unit behind `MPU_CTRL` and `MPU_RNR`, and the rule by which they decide.
pub trait Bank: Clone {
    /// A region's registers.
    type Regs: Copy;

    /// All regions disabled.
    const RESET: Self;

    /// Stores a word to another register than CTRL and RNR; `number` is what RNR holds. Returns
    /// false if the effect is UNPREDICTABLE: it has none here.
    fn write(&mut self, number: &mut u32, offset: u32, value: u32) -> bool;

    /// Loads a region directly; slots are taken modulo 8.
    fn set_region(&mut self, slot: usize, regs: Self::Regs);

    /// The regions as last written.
    fn regions(&self) -> &[Self::Regs; REGIONS];

    /// One bit for each enabled region whose effect is UNPREDICTABLE.
    fn misprogrammed(&self) -> u8;

    /// Narrows the segment of `addr` to where all regions say the same as at `addr`, and lets the region that contains it decide.
    ///
    /// # Time complexity
    /// One step for each region.
    fn decide(&self, addr: u32, segment: &mut Segment);
}

const CACHE_LOG2: u32 = 7;
const CACHE: usize = 1 << CACHE_LOG2;

/// `MPU_CTRL.ENABLE`, `HFNMIENA` and `PRIVDEFENA` (DDI 0403 B3.5.5; DDI 0553 D1.2).
const ENABLE: u32 = 1;
const HFNMIENA: u32 = 1 << 1;
const PRIVDEFENA: u32 = 1 << 2;

/// The shadow of one unit with eight regions: of a core, or of a security state of one.
#[derive(Clone)]
pub struct Shadow<B> {
    bank: B,
    number: u32,
    control: u32,
    generation: u32,
    cache: [Segment; CACHE],
}

impl<B: Bank> Default for Shadow<B> {
    fn default() -> Self {
        Self::new()
    }
}

impl<B: Bank> Shadow<B> {
    /// As after reset: off, all regions disabled. (Hardware leaves the regions UNKNOWN, but CTRL is zero.)
    pub const fn new() -> Self {
        Self { bank: B::RESET, number: 0, control: 0, generation: 1, cache: [Segment::NOTHING; CACHE] }
    }

    /// A store to the unit: `offset` from `MPU_TYPE`, so CTRL is 4, RNR 8, and then the registers of regions.
    ///
    /// # Errors
    /// [`Unpredictable`]: a region number above 7, an offset that is no writable register, HFNMIENA without ENABLE. The last one turns the unit off, as in QEMU
    /// and as ENABLE says; the others have no effect.
    pub fn write(&mut self, offset: u32, value: u32) -> Result<(), Unpredictable> {
        let is_good = match offset {
            0x04 => {
                self.control = value & (ENABLE | HFNMIENA | PRIVDEFENA);
                self.forget();
                value & (ENABLE | HFNMIENA) != HFNMIENA
            }
            0x08 => {
                let is_good = (value as usize) < REGIONS;
                self.number = if is_good { value } else { self.number };
                is_good
            }
            _ => self.bank.write(&mut self.number, offset, value),
        };
        if !is_good {
            return Err(Unpredictable { offset, value });
        }
        self.forget();
        Ok(())
    }

    /// Loads a region directly, as a test or a restored snapshot does.
    pub fn set_region(&mut self, slot: usize, regs: B::Regs) {
        self.bank.set_region(slot, regs);
        self.forget();
    }

    /// The regions as last written, without slot bits.
    pub fn regions(&self) -> &[B::Regs; REGIONS] {
        self.bank.regions()
    }

    /// `MPU_CTRL` as last written: bit 0 ENABLE, bit 1 HFNMIENA, bit 2 PRIVDEFENA.
    pub const fn control(&self) -> u32 {
        self.control
    }

    /// One bit for each enabled region that is UNPREDICTABLE by its own registers. A run in which this is not 0 proves nothing: hardware may do
    /// otherwise than the shadow.
    pub fn misprogrammed(&self) -> u8 {
        self.bank.misprogrammed()
    }

    /// Checks that every byte of `addr .. addr + len` may be accessed, and returns the attributes
    /// at the first byte. `len` 0 counts as 1.
    ///
    /// Code at negative priority uses the default map if [`Shadow::spares_negative`]: ask [`Shadow::permits_background`] then.
    ///
    /// # Errors
    /// [`Violation`] with the first denied byte.
    ///
    /// # Time complexity
    /// One table look-up when the segment is known; otherwise eight regions for each segment that the access touches.
    #[inline]
    pub fn permits(&mut self, addr: u32, len: u32, privileged: bool, kind: AccessKind) -> Result<Attr, Violation> {
        let last = addr.wrapping_add(len.wrapping_sub((len != 0) as u32));
        let segment = &self.cache[index(addr)];
        let need = need(privileged, kind);
        if segment.generation == self.generation
            && segment.first <= addr
            && addr <= last
            && last <= segment.last
            && segment.permits & need == need
        {
            return Ok(segment.attr());
        }
        self.permits_slow(addr, last, privileged, kind)
    }

    /// Whether the unit is on, but for code whose requested priority is negative: in HardFault, in NMI, and with FAULTMASK set.
    pub const fn spares_negative(&self) -> bool {
        self.control & (ENABLE | HFNMIENA) == ENABLE
    }

    /// The same question with the unit off.
    ///
    /// # Errors
    /// [`Violation`] as above.
    pub fn permits_background(addr: u32, len: u32, privileged: bool, kind: AccessKind) -> Result<Attr, Violation> {
        Self::new().permits(addr, len, privileged, kind)
    }

    /// The state just before the generation wraps, with what is cached made to look valid after it.
    #[cfg(test)]
    pub(crate) fn wrap_generation_for_test(&mut self) {
        self.generation = u32::MAX;
        self.cache.iter_mut().for_each(|segment| segment.generation = 1);
    }

    #[cold]
    fn permits_slow(&mut self, addr: u32, last: u32, privileged: bool, kind: AccessKind) -> Result<Attr, Violation> {
        if last < addr {
            // Check what exists first, so that the address reported is that of the first denied byte.
            self.permits_slow(addr, u32::MAX, privileged, kind)?;
            return Err(Violation { addr: 0, denial: Denial::Wraps });
        }
        let need = need(privileged, kind);
        let mut at = addr;
        let mut attr = None;
        loop {
            let segment = self.segment(at);
            if segment.permits & need != need {
                return Err(Violation { addr: at, denial: segment.denial(privileged) });
            }
            let first = *attr.get_or_insert(segment.attr());
            if at == addr {
                self.cache[index(addr)] = segment;
            }
            if segment.last >= last {
                return Ok(first);
            }
            at = segment.last + 1;
        }
    }

    fn forget(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            *self = Self { cache: [Segment::NOTHING; CACHE], generation: 1, ..self.clone() };
        }
    }

    /// Returns the rules at `addr` and a range around it in which they are the same.
    fn segment(&self, addr: u32) -> Segment {
        let mut segment = default_map(addr);
        segment.generation = self.generation;
        // The private peripheral bus is outside the unit; so is everything while it is off.
        if self.control & ENABLE == 0 || segment.is_private_bus() {
            return segment;
        }
        segment.restrict(self.control & PRIVDEFENA != 0);
        self.bank.decide(addr, &mut segment);
        segment.forbid_execution(addr);
        segment
    }
}

/// Attributes of the default memory map, which a unit that is off leaves in force.
pub const fn default_attributes(addr: u32) -> Attributes {
    default_map(addr).memory
}

/// Cache index: neighbouring lines and neighbouring areas land in different entries.
#[inline]
const fn index(addr: u32) -> usize {
    ((addr >> 12 ^ addr >> 17 ^ addr >> 25) & (CACHE as u32 - 1)) as usize
}
