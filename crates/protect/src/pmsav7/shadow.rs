//! The evaluator: what eight region registers permit, byte by byte (ARM DDI 0403 B3.5).
//!
//! It is the specification of the compiler's property tests, and the shadow that a simulator keeps of the hardware. An
//! access that hits a segment seen before costs one table look-up; writes to registers only bump a generation.

use crate::AccessKind;
use crate::regions::{GRANULE_BYTES, REGIONS};

use super::regs::{RBAR_VALID, RegionRegs};

/// Memory attributes in force at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attr {
    /// Bits 21..16 of RASR: TEX (5..3), S (2), C (1), B (0).
    pub tex_s_c_b: u8,
    /// The region that decided; `None` for the default memory map.
    pub region: Option<u8>,
}

impl Attr {
    /// Device or strongly ordered: neither cached nor speculated.
    pub const fn is_device(self) -> bool {
        // TEX = 000 with C = 0; TEX = 010 (non-shared device).
        matches!(self.tex_s_c_b & 0b111_011, 0b000_000 | 0b000_001 | 0b010_000)
    }

    /// Whether a Cortex-M7 may hold the line in its data cache: normal, not shared, inner policy other than non-cacheable.
    /// With TEX bit 2 set the inner policy is `C, B`; otherwise any `C` or the write-back encodings.
    pub const fn is_cacheable(self) -> bool {
        let (tex, shared, cb) = (self.tex_s_c_b >> 3, self.tex_s_c_b >> 2 & 1, self.tex_s_c_b & 3);
        shared == 0
            && match tex {
                0 => cb >= 2,
                1 => cb == 3,
                4..=7 => cb != 0,
                _ => false,
            }
    }

    /// Whether a store may stay in the cache (write-back), as opposed to write-through. Meaningful when cacheable.
    pub const fn is_write_back(self) -> bool {
        let (tex, cb) = (self.tex_s_c_b >> 3, self.tex_s_c_b & 3);
        self.is_cacheable() && if tex >= 4 { cb & 1 == 1 } else { cb == 3 }
    }
}

/// Why an access is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// No region contains the byte, and the background map does not serve this privilege.
    NoRegion,
    /// The region that contains it does not grant this.
    Permission {
        /// The deciding region.
        region: u8,
    },
    /// The default memory map does not grant this: execute-never space, or the private peripheral bus unprivileged.
    DefaultMap,
    /// The access runs past the end of the address space.
    Wraps,
}

/// The first denied byte of an access, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Address of the first byte that is denied.
    pub addr: u32,
    /// The reason.
    pub denial: Denial,
}

/// A register write whose effect the architecture leaves UNPREDICTABLE; the shadow ignores the write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unpredictable {
    /// Offset of the register from `MPU_TYPE`.
    pub offset: u32,
    /// The value written.
    pub value: u32,
}

/// Permission bits of a segment, one per privilege and kind.
const UNPRIV_SHIFT: u32 = 3;

/// A maximal known stretch of equal rules around some address. Only valid in its generation.
#[derive(Clone, Copy)]
struct Segment {
    first: u32,
    last: u32,
    generation: u32,
    /// Bits 2..0 privileged read, write, execute; bits 5..3 the same unprivileged.
    permits: u8,
    tex_s_c_b: u8,
    /// 0..=7, or [`BACKGROUND`].
    region: u8,
}

const BACKGROUND: u8 = 0xff;
const CACHE_LOG2: u32 = 7;
const CACHE: usize = 1 << CACHE_LOG2;

/// The shadow of one core's PMSAv7 unit with eight regions.
#[derive(Clone)]
pub struct Shadow {
    regions: [RegionRegs; REGIONS],
    number: u32,
    control: u32,
    generation: u32,
    cache: [Segment; CACHE],
}

impl Default for Shadow {
    fn default() -> Self {
        Self::new()
    }
}

impl Shadow {
    /// As after reset: off, all regions disabled. (Hardware leaves the regions UNKNOWN, but CTRL is zero.)
    pub const fn new() -> Self {
        let nothing = Segment { first: 1, last: 0, generation: 0, permits: 0, tex_s_c_b: 0, region: BACKGROUND };
        Self { regions: [RegionRegs::DISABLED; REGIONS], number: 0, control: 0, generation: 1, cache: [nothing; CACHE] }
    }

    /// A store to the unit: `offset` from `MPU_TYPE` (0xE000ED90), so CTRL is 4, RNR 8, RBAR 12, RASR 16, then the aliases.
    ///
    /// # Errors
    /// [`Unpredictable`]: a region number above 7, an offset that is no writable register, HFNMIENA without ENABLE.
    pub fn write(&mut self, offset: u32, value: u32) -> Result<(), Unpredictable> {
        let bad = Err(Unpredictable { offset, value });
        match offset {
            0x04 if value & 0b11 == 0b10 => return bad,
            0x04 => self.control = value & 0b111,
            0x08 if value as usize >= REGIONS => return bad,
            0x08 => self.number = value,
            0x0c | 0x14 | 0x1c | 0x24 => {
                if value & RBAR_VALID != 0 {
                    if value & 0xf >= REGIONS as u32 {
                        return bad;
                    }
                    self.number = value & 0xf;
                }
                self.regions[self.number as usize & 7].rbar = value & !(GRANULE_BYTES - 1);
            }
            0x10 | 0x18 | 0x20 | 0x28 => self.regions[self.number as usize & 7].rasr = value,
            _ => return bad,
        }
        self.forget();
        Ok(())
    }

    /// Loads a region directly, as a test or a restored snapshot does.
    pub fn set_region(&mut self, slot: usize, regs: RegionRegs) {
        self.regions[slot & 7] = RegionRegs { rbar: regs.base(), rasr: regs.rasr };
        self.forget();
    }

    /// The regions as last written, without slot bits.
    pub const fn regions(&self) -> &[RegionRegs; REGIONS] {
        &self.regions
    }

    /// `MPU_CTRL` as last written: bit 0 ENABLE, bit 1 HFNMIENA, bit 2 PRIVDEFENA.
    pub const fn control(&self) -> u32 {
        self.control
    }

    /// One bit for each enabled region whose size, alignment or sub-region bits are UNPREDICTABLE. Such a region matches
    /// nothing here, as in QEMU; hardware may do otherwise, so a run in which this is not 0 proves nothing.
    pub fn misprogrammed(&self) -> u8 {
        let mut mask = 0;
        for (i, region) in self.regions.iter().enumerate() {
            if region.is_enabled() && !region.is_well_formed() {
                mask |= 1 << i;
            }
        }
        mask
    }

    /// Whether every byte of `addr .. addr + len` may be accessed; the attributes at the first byte. `len` 0 counts as 1.
    ///
    /// The highest-numbered region that contains a byte decides it; a disabled sub-region does not contain it. Exceptions at
    /// negative priority with HFNMIENA clear use the default map: ask [`Shadow::permits_background`] for those.
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

    /// The same question with the unit off.
    ///
    /// # Errors
    /// [`Violation`] as above.
    pub fn permits_background(addr: u32, len: u32, privileged: bool, kind: AccessKind) -> Result<Attr, Violation> {
        Self::new().permits(addr, len, privileged, kind)
    }

    /// The state just before the generation wraps, with what is cached made to look valid after it.
    #[cfg(test)]
    pub(super) fn wrap_generation_for_test(&mut self) {
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
            *self = Self { cache: Self::new().cache, generation: 1, ..self.clone() };
        }
    }

    /// The rules at `addr` and a stretch around it on which they are the same.
    fn segment(&self, addr: u32) -> Segment {
        let mut segment = default_map(addr);
        segment.generation = self.generation;
        // The private peripheral bus is outside the unit; so is everything while it is off.
        if self.control & 1 == 0 || segment.first == PPB_FIRST {
            return segment;
        }
        let xn_space = addr >= PPB_FIRST;
        if self.control & 4 == 0 {
            segment.permits = 0;
        } else {
            segment.permits &= 0b111;
        }
        for (number, region) in self.regions.iter().enumerate() {
            if !region.is_enabled() || !region.is_well_formed() {
                continue;
            }
            if let Some(permits) = clip(&mut segment, *region, addr) {
                segment.permits = permits;
                segment.tex_s_c_b = (region.rasr >> 16 & 0x3f) as u8;
                segment.region = number as u8;
            }
        }
        // Never executed: the system space, and what the attributes make device or strongly ordered.
        if xn_space || segment.attr().is_device() {
            segment.permits &= !0b100_100;
        }
        segment
    }
}

impl Segment {
    #[inline]
    fn attr(&self) -> Attr {
        Attr { tex_s_c_b: self.tex_s_c_b, region: if self.region == BACKGROUND { None } else { Some(self.region) } }
    }

    fn denial(&self, privileged: bool) -> Denial {
        let mask = if privileged { 0b111 } else { 0b111 << UNPRIV_SHIFT };
        match self.region {
            BACKGROUND if self.first == PPB_FIRST || self.permits & mask != 0 => Denial::DefaultMap,
            BACKGROUND => Denial::NoRegion,
            region => Denial::Permission { region },
        }
    }
}

#[inline]
const fn need(privileged: bool, kind: AccessKind) -> u8 {
    let bit = match kind {
        AccessKind::Read => 1,
        AccessKind::Write => 2,
        AccessKind::Exec => 4,
    };
    if privileged { bit } else { bit << UNPRIV_SHIFT }
}

/// Cache index: neighbouring lines and neighbouring areas land in different entries.
#[inline]
const fn index(addr: u32) -> usize {
    ((addr >> 12 ^ addr >> 17 ^ addr >> 25) & (CACHE as u32 - 1)) as usize
}

/// Narrows `segment` to where `region`'s say is the same as at `addr`; the permissions if the region contains `addr`.
fn clip(segment: &mut Segment, region: RegionRegs, addr: u32) -> Option<u8> {
    let n = region.size_log2();
    let size_less_one = ((1u64 << n) - 1) as u32;
    let (base, limit) = (region.base(), region.base() | size_less_one);
    if addr < base {
        segment.last = segment.last.min(base - 1);
        return None;
    }
    if addr > limit {
        segment.first = segment.first.max(limit + 1);
        return None;
    }
    let part = if region.srd() == 0 { size_less_one } else { size_less_one >> 3 };
    segment.first = segment.first.max(addr & !part);
    segment.last = segment.last.min(addr | part);
    region.contains(addr).then(|| permissions(region.rasr))
}

/// AP and XN as permission bits (B3.5.6, table B3-15). `AP = 100` is UNPREDICTABLE and grants nothing.
fn permissions(rasr: u32) -> u8 {
    const R: u8 = 1;
    const RW: u8 = 3;
    let (privileged, unprivileged) = match rasr >> 24 & 0b111 {
        0b001 => (RW, 0),
        0b010 => (RW, R),
        0b011 => (RW, RW),
        0b101 => (R, 0),
        0b110 | 0b111 => (R, R),
        _ => (0, 0),
    };
    let exec = rasr >> 28 & 1 == 0;
    let with_exec = |data: u8| if exec && data & R != 0 { data | 4 } else { data };
    with_exec(privileged) | with_exec(unprivileged) << UNPRIV_SHIFT
}

const PPB_FIRST: u32 = 0xe000_0000;
const PPB_LAST: u32 = 0xe00f_ffff;

/// The default memory map (B3.1, table B3-1), for both privileges; the private peripheral bus is privileged only (hardware
/// answers an unprivileged access with a bus fault, except to STIR when CCR.USERSETMPEND is set, which is not modelled).
fn default_map(addr: u32) -> Segment {
    const WRITE_THROUGH: u8 = 0b000_010;
    const WRITE_BACK: u8 = 0b001_011;
    const DEVICE: u8 = 0b000_001;
    const STRONGLY_ORDERED: u8 = 0b000_000;
    const DATA: u8 = 0b011_011;
    const ALL: u8 = 0b111_111;
    let (permits, tex_s_c_b) = match addr >> 29 {
        0 | 4 => (ALL, WRITE_THROUGH),
        1 | 3 => (ALL, WRITE_BACK),
        2 | 5 | 6 => (DATA, DEVICE),
        _ if addr <= PPB_LAST => (0b011, STRONGLY_ORDERED),
        _ => (DATA, DEVICE),
    };
    let eighth = 0x1fff_ffff;
    let (first, last) = match addr {
        PPB_FIRST..=PPB_LAST => (PPB_FIRST, PPB_LAST),
        _ if addr > PPB_LAST => (PPB_LAST + 1, u32::MAX),
        _ => (addr & !eighth, addr | eighth),
    };
    Segment { first, last, generation: 0, permits, tex_s_c_b, region: BACKGROUND }
}
