//! The two registers of a region as plain data, and the words the compiler is asked in.

use crate::regions::{Key, LEAST_PAGED_LOG2, Registers, share_a_byte};
use crate::{Access, AccessKind, Data, MemType, Span};

/// Sub-regions exist from this region size on (256 bytes).
pub const SUBREGION_MIN_LOG2: u32 = 8;
/// `MPU_RBAR.VALID`: the write selects the slot in its low four bits.
pub const RBAR_VALID: u32 = 1 << 4;

/// `MPU_RASR.ENABLE`.
pub(crate) const RASR_ENABLE: u32 = 1;
/// `MPU_RASR.XN`.
pub(crate) const RASR_XN: u32 = 1 << 28;
/// The low bits of `MPU_RBAR` that hold VALID and REGION, never address.
pub(crate) const RBAR_SLOT_MASK: u32 = 0x1f;

impl Access {
    /// `MPU_RASR.AP` and `XN`.
    pub(crate) const fn bits(self) -> u32 {
        let ap = match self.data {
            Data::None => 0b001,
            Data::Ro => 0b010,
            Data::Rw => 0b011,
        };
        ap << 24 | if self.exec { 0 } else { RASR_XN }
    }
}

impl MemType {
    /// `MPU_RASR.TEX`, `C` and `B`. The S bit is never set, because a Cortex-M7 does not cache
    /// shareable memory.
    pub(crate) const fn bits(self) -> u32 {
        const TEX1: u32 = 1 << 19;
        const C: u32 = 1 << 17;
        const B: u32 = 1 << 16;
        match self {
            Self::WriteBack => TEX1 | C | B,
            Self::WriteThrough => C,
            Self::NonCacheable => TEX1,
            Self::Device => B,
            Self::StronglyOrdered => 0,
        }
    }
}

/// One region: the values for `MPU_RBAR` and `MPU_RASR`. As the compiler returns it, `rbar` holds the address alone; a
/// [slot](crate::regions::slots) adds VALID and the slot number.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionRegs {
    /// Base address register.
    pub rbar: u32,
    /// Attribute and size register.
    pub rasr: u32,
}

impl RegionRegs {
    /// A region that is switched off.
    pub const DISABLED: Self = Self { rbar: 0, rasr: 0 };
    /// A region that is switched off and whose size and sub-region fields say so, too: [`RegionRegs::contains`] is false for every
    /// address.
    pub const NOWHERE: Self = Self { rbar: 0, rasr: 0xff3e };

    /// The same region addressed to a hardware slot (`slot` is taken modulo 16, as the field is four bits wide).
    pub const fn at_slot(self, slot: u32) -> Self {
        Self { rbar: self.base() | RBAR_VALID | (slot & 0xf), rasr: self.rasr }
    }

    /// Base address, without slot bits.
    pub const fn base(self) -> u32 {
        self.rbar & !RBAR_SLOT_MASK
    }

    /// log2 of the size in bytes, 5..=32 for a legal region.
    pub const fn size_log2(self) -> u32 {
        (self.rasr >> 1 & 0x1f) + 1
    }

    /// The sub-region disable bits: bit `k` set means that the k-th eighth is not part of the region.
    pub const fn srd(self) -> u32 {
        self.rasr >> 8 & 0xff
    }

    /// Returns true if the region is switched on.
    pub const fn is_enabled(self) -> bool {
        self.rasr & RASR_ENABLE != 0
    }

    /// Returns true if size, alignment and sub-region bits obey PMSAv7; what does not is
    /// UNPREDICTABLE in hardware.
    pub const fn is_well_formed(self) -> bool {
        let n = self.size_log2();
        n >= 5 && (self.base() as u64) & ((1 << n) - 1) == 0 && (n >= SUBREGION_MIN_LOG2 || self.srd() == 0)
    }

    /// log2 of an eighth of the region: 2..=29 for a well-formed region.
    #[inline(always)]
    pub const fn eighth_log2(self) -> u32 {
        (self.rasr.wrapping_sub(4)) >> 1 & 0x1f
    }

    /// Returns true if this enabled, well-formed region contains `addr`, sub-regions considered.
    #[inline(always)]
    pub const fn contains(self, addr: u32) -> bool {
        // The number of the eighth in which the address lies. Below 256 bytes SRD is zero and
        // eighths are only arithmetic. Slot bits lie below the smallest eighth and do not disturb.
        // An address outside of the block differs above its eighths, so the number is 8 or more.
        let eighth = (addr ^ self.rbar) >> self.eighth_log2();
        eighth < 8 && self.rasr >> 8 >> eighth & 1 == 0
    }
}

impl Registers for RegionRegs {
    const DISABLED: Self = Self::DISABLED;
    const NOWHERE: Self = Self::NOWHERE;

    #[inline(always)]
    fn at_slot(self, slot: u32) -> Self {
        RegionRegs::at_slot(self, slot)
    }

    #[inline(always)]
    fn slot(self) -> u32 {
        self.rbar & 0x7
    }

    /// VALID and the slot are what the hardware wants to be told.
    #[inline(always)]
    fn stored(self) -> Self {
        self
    }

    fn plain(self) -> Self {
        Self { rbar: self.base(), rasr: self.rasr }
    }

    fn is_enabled(self) -> bool {
        RegionRegs::is_enabled(self)
    }

    fn is_well_formed(self) -> bool {
        RegionRegs::is_well_formed(self)
    }

    /// An eighth of 256 bytes says the same as a region of 32.
    fn can_be_paged(self) -> bool {
        self.size_log2() >= LEAST_PAGED_LOG2 && self.srd() != 0xff
    }

    #[inline(always)]
    fn contains(self, addr: u32) -> bool {
        RegionRegs::contains(self, addr)
    }

    fn grants(self, kind: AccessKind) -> bool {
        let data = self.rasr >> 24 & 7;
        match kind {
            AccessKind::Read => data == 0b010 || data == 0b011,
            AccessKind::Write => data == 0b011,
            AccessKind::Exec => self.rasr & RASR_XN == 0 && (data == 0b010 || data == 0b011),
        }
    }

    fn is_normal(self) -> bool {
        const TEX_OR_C: u32 = 7 << 19 | 1 << 17;
        self.rasr & TEX_OR_C != 0
    }

    /// A region with disabled eighths goes on to the end of the eighth only.
    fn last_from(self, addr: u32) -> u32 {
        let below = if self.srd() == 0 { (1u64 << self.size_log2()) - 1 } else { (1 << self.eighth_log2()) - 1 };
        addr | below as u32
    }

    /// At most four.
    fn runs(self) -> impl Iterator<Item = Span> {
        let eighth = if self.srd() == 0 { 1 << self.size_log2() } else { 1u64 << self.eighth_log2() };
        // One bit for each eighth; a region without disabled eighths is one piece.
        let mut on = if self.srd() == 0 { 1 } else { !self.srd() & 0xff };
        core::iter::from_fn(move || {
            if on == 0 {
                return None;
            }
            let first = on.trailing_zeros();
            let count = (on >> first).trailing_ones();
            on &= !(((1 << count) - 1) << first);
            let base = u64::from(self.base()) + u64::from(first) * eighth;
            Some(Span::new(base as u32, u64::from(count) * eighth))
        })
    }

    fn meets(self, other: Self) -> bool {
        let larger = self.size_log2().max(other.size_log2());
        // Two aligned blocks are apart, or one lies in the other.
        (self.base() ^ other.base()).checked_shr(larger).unwrap_or(0) == 0 && share_a_byte(self, other)
    }

    /// Aligned powers of two: at most four, one for each quarter. Adjacent keys that could be one are one.
    fn keys(self) -> impl Iterator<Item = Key> {
        let (n, srd) = (self.size_log2(), self.srd());
        let mut eighth = 0u32;
        core::iter::from_fn(move || {
            while eighth < 8 && srd >> eighth & 1 != 0 {
                eighth += 1;
            }
            if eighth >= 8 {
                return None;
            }
            // The largest aligned run from here: 8, 4, 2 or 1 eighths.
            let mut run_log2 = 3;
            while eighth & ((1 << run_log2) - 1) != 0 || srd >> eighth & ((1 << (1 << run_log2)) - 1) != 0 {
                run_log2 -= 1;
            }
            let size_log2 = n - 3 + run_log2;
            let base = self.base() + (u64::from(eighth) << (n - 3)) as u32;
            eighth += 1 << run_log2;
            Some(Key { base, last: base | ((1u64 << size_log2) - 1) as u32 })
        })
    }

    fn link(next: u32) -> Self {
        Self { rbar: next, rasr: 0 }
    }

    fn next(self) -> u32 {
        self.rbar
    }
}

/// The bytes of a region from its first to its last enabled sub-region; `None` if it is off or all are disabled. Exact
/// when the enabled sub-regions are adjacent, as they are in everything the compiler returns.
pub const fn span_of(regs: RegionRegs) -> Option<Span> {
    if !regs.is_enabled() || !regs.is_well_formed() || regs.srd() == 0xff {
        return None;
    }
    let size = 1u64 << regs.size_log2();
    if regs.srd() == 0 {
        return Some(Span::new(regs.base(), size));
    }
    let on = !regs.srd() & 0xff;
    let first = on.trailing_zeros();
    let past = 32 - on.leading_zeros();
    let eighth = size / 8;
    Some(Span::new(regs.base() + first * eighth as u32, (past - first) as u64 * eighth))
}
