//! One mapping: what the words of a call describe.

use abi::Error;
use protect::MemType;
use protect::vmsav7::{Attributes, Found, PAGE_BYTES, Placement, Rights, Unit};
use units::PhysRange;

use crate::frames::physical;
use crate::protection::{Words, access};

/// Pages that follow one another, virtually and physically.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    pub(super) virt: u32,
    pub(super) phys: u32,
    pub(super) bytes: u32,
    pub(super) attributes: Attributes,
    /// No walk to it leaves the chip.
    pub(super) near: bool,
    /// Its entry is kept in the TLB.
    pub(super) locked: bool,
}

impl Mapping {
    /// See [`crate::protection::Protection::decode`]: `base` is the first page and the number of pages less one, `shape` the offset in the
    /// frames.
    pub(super) fn decode(words: Words, frames: PhysRange) -> Result<Mapping, Error> {
        let Words { access: bits, base, shape } = words;
        let known = access::READ | access::WRITE | access::PINNED | access::NEAR;
        let (virt, pages) = (base & !(PAGE_BYTES - 1), (base & (PAGE_BYTES - 1)) + 1);
        let bytes = pages * PAGE_BYTES;
        // Nothing is executed that is mapped while domains run: whoever wrote it did so by way of a data cache, behind which fetches would
        // find, in memory or in an instruction cache, what was there before.
        let rights = match (bits & access::READ != 0, bits & access::WRITE != 0) {
            (true, false) => Rights::UserConst,
            (true, true) => Rights::UserData,
            (false, _) => return Err(Error::BadArgument),
        };
        let locked = bits & access::PINNED != 0;
        let phys = (frames.base().0 as u32).checked_add(shape).ok_or(Error::BadAddress)?;
        let exact = Unit::of_bytes(bytes).is_some() && (virt | phys).is_multiple_of(bytes);
        if bits & !known != 0 || !phys.is_multiple_of(PAGE_BYTES) || (locked && !exact) {
            return Err(Error::BadArgument);
        }
        let attributes = Attributes::new(rights, MemType::WriteBack, false, false).ok_or(Error::BadArgument)?;
        let near = bits & access::NEAR != 0;
        let mapping = Mapping { virt, phys, bytes, attributes, near, locked };
        let range = mapping.run().ok_or(Error::BadAddress)?;
        if frames.contains_range(range) { Ok(mapping) } else { Err(Error::BadAddress) }
    }

    /// The page at an address, as it was found.
    pub(super) fn of(at: u32, found: &Found) -> Mapping {
        let bytes = found.unit.bytes();
        let near = found.table.is_some_and(Placement::stays_on_chip);
        let (virt, phys) = (at & !(bytes - 1), found.physical & !(bytes - 1));
        Mapping { virt, phys, bytes, attributes: found.attributes, near, locked: false }
    }

    /// Placements that its second-level tables may have, in the order in which they are looked for.
    pub(super) fn places(&self) -> &'static [Placement] {
        if self.near { &[Placement::OnChip, Placement::LockedWays] } else { &[Placement::OffChip] }
    }

    /// The physical memory that it makes accessible.
    pub(super) fn run(&self) -> Option<PhysRange> {
        physical(self.phys, self.bytes)
    }

    /// Whether a page that was found is a part of it, and no more.
    pub(super) fn is_at(&self, at: u32, found: &Found) -> bool {
        let (offset, bytes) = (at - self.virt, found.unit.bytes());
        found.attributes == self.attributes
            && found.physical == self.phys + offset
            && at & (bytes - 1) == 0
            && bytes <= self.bytes - offset
    }
}
