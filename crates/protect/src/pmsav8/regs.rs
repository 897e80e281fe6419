//! The two registers of a region as plain data, and the compiler.

use crate::regions::{GRANULE_BYTES, Key, LEAST_PAGED_LOG2, Registers, pctrie};
use crate::{Access, AccessKind, Data, MemType, Span};

/// `MPU_RBAR.XN`.
pub(super) const XN: u32 = 1;
/// `MPU_RBAR.AP[2]`: read-only at either privilege.
pub(super) const READ_ONLY: u32 = 1 << 2;
/// `MPU_RBAR.AP[1]`: unprivileged code may access it.
pub(super) const UNPRIVILEGED: u32 = 1 << 1;
/// `MPU_RBAR.SH`: always 0, so that a leaf can keep two bits of its slot here.
const SH: u32 = 3 << 3;
/// `MPU_RLAR.PXN` of Armv8.1-M, reserved in Armv8.0-M: the third bit of the slot.
const PXN: u32 = 1 << 4;
/// `MPU_RLAR.EN`.
const ENABLE: u32 = 1;
/// The bits of either register that are no address.
const LOW: u32 = GRANULE_BYTES - 1;

/// `MPU_MAIR0` and `MPU_MAIR1`: the attributes that [`MemType`] has in `MPU_RLAR.AttrIndx` (DDI 0553 D1.2).
pub const MAIR: [u32; 2] = [0x0444_aaff, 0x0000_0000];

impl MemType {
    /// Its index in [`MAIR`]: write-back, write-through without write allocation, non-cacheable, Device-nGnRE, Device-nGnRnE.
    const fn index(self) -> u32 {
        match self {
            Self::WriteBack => 0,
            Self::WriteThrough => 1,
            Self::NonCacheable => 2,
            Self::Device => 3,
            Self::StronglyOrdered => 4,
        }
    }
}

/// One region: the values for `MPU_RBAR` and `MPU_RLAR`. In a leaf, SH and PXN, which are 0 in what is stored, hold the slot.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionRegs {
    /// Base address register.
    pub rbar: u32,
    /// Limit address register.
    pub rlar: u32,
}

/// Returns the one region that permits exactly `asked`. `None` if the range is empty, is not made
/// of whole granules, or ends above 2^32; or if it would be executed and is a device or cannot be
/// read.
///
/// # Time complexity
/// O(1).
pub const fn exact(asked: Span, access: Access, memory: MemType) -> Option<RegionRegs> {
    let granule = GRANULE_BYTES as u64;
    let whole = (asked.base as u64).is_multiple_of(granule) && asked.len.is_multiple_of(granule);
    if asked.len == 0 || asked.end() > 1 << 32 || !whole {
        return None;
    }
    if access.exec && (memory.is_device() || matches!(access.data, Data::None)) {
        return None;
    }
    let rights = match access.data {
        Data::None => 0,
        Data::Ro => READ_ONLY | UNPRIVILEGED,
        Data::Rw => UNPRIVILEGED,
    };
    let limit = (asked.end() - granule) as u32;
    let xn = if access.exec { 0 } else { XN };
    Some(RegionRegs { rbar: asked.base | rights | xn, rlar: limit | memory.index() << 1 | ENABLE })
}

impl RegionRegs {
    /// First address.
    pub const fn base(self) -> u32 {
        self.rbar & !LOW
    }

    /// Last address.
    pub const fn last(self) -> u32 {
        self.rlar | LOW
    }

    /// The memory attribute's index.
    pub const fn attribute(self) -> u32 {
        self.rlar >> 1 & 7
    }
}

impl Registers for RegionRegs {
    const DISABLED: Self = Self { rbar: 0, rlar: 0 };
    const NOWHERE: Self = Self { rbar: !LOW, rlar: 0 };

    #[inline(always)]
    fn at_slot(self, slot: u32) -> Self {
        let plain = self.stored();
        Self { rbar: plain.rbar | (slot & 3) << 3, rlar: plain.rlar | (slot >> 2 & 1) << 4 }
    }

    #[inline(always)]
    fn slot(self) -> u32 {
        (self.rbar & SH) >> 3 | (self.rlar & PXN) >> 2
    }

    #[inline(always)]
    fn stored(self) -> Self {
        Self { rbar: self.rbar & !SH, rlar: self.rlar & !PXN }
    }

    fn plain(self) -> Self {
        self.stored()
    }

    fn is_enabled(self) -> bool {
        self.rlar & ENABLE != 0
    }

    /// The attribute's index must be one that [`MAIR`] defines.
    fn is_well_formed(self) -> bool {
        self.base() <= self.last() && self.attribute() <= MemType::StronglyOrdered.index()
    }

    fn can_be_paged(self) -> bool {
        self.last() - self.base() >= (1 << LEAST_PAGED_LOG2) - 1
    }

    #[inline(always)]
    fn contains(self, addr: u32) -> bool {
        self.base() <= addr && addr <= self.last()
    }

    fn grants(self, kind: AccessKind) -> bool {
        self.rbar & UNPRIVILEGED != 0
            && match kind {
                AccessKind::Read => true,
                AccessKind::Write => self.rbar & READ_ONLY == 0,
                AccessKind::Exec => self.rbar & XN == 0,
            }
    }

    fn is_normal(self) -> bool {
        self.attribute() <= MemType::NonCacheable.index()
    }

    fn last_from(self, _: u32) -> u32 {
        self.last()
    }

    fn runs(self) -> impl Iterator<Item = Span> {
        let bytes = u64::from(self.last()) - u64::from(self.base()) + 1;
        core::iter::once(Span::new(self.base(), bytes))
    }

    /// At most nine: from the base up to the boundary of the next level's blocks, and down again to the last byte.
    fn keys(self) -> impl Iterator<Item = Key> {
        let end = u64::from(self.last()) + 1;
        let mut at = u64::from(self.base());
        core::iter::from_fn(move || {
            let fits = |shift: u32| at.is_multiple_of(1 << shift) && at + (1 << shift) <= end;
            let shift = pctrie::SHIFTS.into_iter().find(|shift| fits(*shift))?;
            let window = (at + 1).next_multiple_of(1 << pctrie::window_log2(shift));
            let past = window.min(end >> shift << shift);
            let key = Key { base: at as u32, last: (past - 1) as u32 };
            at = past;
            Some(key)
        })
    }

    fn link(next: u32) -> Self {
        Self { rbar: next, rlar: 0 }
    }

    fn next(self) -> u32 {
        self.rbar
    }
}
