//! One mapping: what a call asks for, or what tables say.

use abi::{Error, access};
use protect::MemType;
use protect::vmsav7::{Attributes, Found, PAGE_BYTES, Placement, Rights, Unit};
use units::{Bytes, PhysAddr, PhysRange, VirtAddr};

use crate::arch::Asked;

/// Pages that follow one another, virtually and physically.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    pub(super) virt: VirtAddr<u32>,
    pub(super) phys: PhysAddr<u32>,
    pub(super) bytes: Bytes<u32>,
    pub(super) attributes: Attributes,
    /// No walk to it leaves the chip.
    pub(super) near: bool,
    /// Its entry is kept in the TLB.
    pub(super) locked: bool,
}

impl Mapping {
    /// The mapping of exactly the memory asked for.
    ///
    /// # Errors
    /// As for [`crate::arch::Protection::mapping`].
    pub(super) fn of(asked: &Asked<u32>) -> Result<Mapping, Error> {
        let &Asked { at: virt, access: bits, memory } = asked;
        // Nothing is executed that is mapped while domains run. It was written by way of a data
        // cache, and fetches would find, in memory or in an instruction cache, what was there
        // before.
        let rights = match (bits & access::READ != 0, bits & access::WRITE != 0) {
            _ if bits & access::EXECUTE != 0 => return Err(Error::BadArgument),
            (true, false) => Rights::UserConst,
            (true, true) => Rights::UserData,
            (false, _) => return Err(Error::BadArgument),
        };
        let (phys, bytes) = (PhysAddr::<u32>::narrow(memory.base()), Bytes::<u32>::narrow(memory.size()));
        let locked = bits & access::PINNED != 0;
        let unit = Unit::of_bytes(bytes.0).is_some() && (virt.0 | phys.0).is_multiple_of(bytes.0);
        if !(virt.0 | phys.0 | bytes.0).is_multiple_of(PAGE_BYTES) || (locked && !unit) {
            return Err(Error::BadArgument);
        }
        let attributes = Attributes::new(rights, MemType::WriteBack, false, false).ok_or(Error::BadArgument)?;
        Ok(Mapping { virt, phys, bytes, attributes, near: bits & access::NEAR != 0, locked })
    }

    /// The page at an address, as it was found.
    pub(super) fn found(at: VirtAddr<u32>, found: &Found) -> Mapping {
        let bytes = found.unit.bytes();
        let near = found.table.is_some_and(Placement::stays_on_chip);
        let (virt, phys) = (VirtAddr(at.0 & !(bytes - 1)), PhysAddr(found.physical.0 & !(bytes - 1)));
        Mapping { virt, phys, bytes: Bytes(bytes), attributes: found.attributes, near, locked: false }
    }

    /// Placements that its second-level tables may have, in the order in which they are looked for.
    pub(super) fn places(&self) -> &'static [Placement] {
        if self.near { &[Placement::OnChip, Placement::LockedWays] } else { &[Placement::OffChip] }
    }

    pub(super) fn memory(&self) -> PhysRange {
        PhysRange::at(self.phys, self.bytes)
    }

    /// Returns true if a page that was found is a part of it, and no more.
    pub(super) fn is_at(&self, at: VirtAddr<u32>, found: &Found) -> bool {
        let (offset, bytes) = (at.minus(self.virt), Bytes(found.unit.bytes()));
        found.attributes == self.attributes
            && found.physical == self.phys.plus(offset)
            && at.0 & (bytes.0 - 1) == 0
            && bytes <= self.bytes.minus(offset)
    }
}
