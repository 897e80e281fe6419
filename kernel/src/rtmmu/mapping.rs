//! One mapping: a region with all its pages mapped.

use abi::{Error, access};
use protect::AccessKind;
use rtmmu::{Access, Frame, Page, Rights};
use system::rtmmu::{BASE, PAGE};
use units::{Bytes, PhysAddr, PhysRange, VirtAddr};

use crate::arch::Asked;

/// Pages that follow one another, virtually and physically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    pub(super) first: Page,
    pub(super) frame: Frame,
    pub(super) pages: u32,
    pub(super) rights: Rights,
}

impl Mapping {
    /// The mapping of exactly the memory asked for.
    ///
    /// # Errors
    /// As for [`crate::arch::Protection::mapping`].
    pub(super) fn of(asked: &Asked<u32>) -> Result<Mapping, Error> {
        let &Asked { at, access: bits, memory } = asked;
        // Nothing is executed that is mapped while domains run, as on other processors. The hardware keeps nothing, so that nothing can be pinned.
        let rights = match (bits & access::READ != 0, bits & access::WRITE != 0) {
            _ if bits & (access::EXECUTE | access::PINNED) != 0 => return Err(Error::BadArgument),
            (true, false) => Rights::R,
            (true, true) => Rights::RW,
            (false, _) => return Err(Error::BadArgument),
        };
        let (phys, bytes) = (PhysAddr::<u32>::narrow(memory.base()), Bytes::<u32>::narrow(memory.size()));
        if !(at.0 | phys.0 | bytes.0).is_multiple_of(PAGE) {
            return Err(Error::BadArgument);
        }
        let first = page(at).ok_or(Error::BadAddress)?;
        // A frame's number has as many bits as a page's: the hardware would drop those above, and show other memory.
        if memory.end().0 > u64::from(BASE) {
            return Err(Error::BadAddress);
        }
        Ok(Mapping { first, frame: frame(phys), pages: bytes.0 / PAGE, rights })
    }

    pub(super) fn memory(&self) -> PhysRange {
        PhysRange::at(PhysAddr(self.frame.0 * PAGE), Bytes(self.pages * PAGE))
    }
}

/// The page of an address, if it is translated.
pub(super) fn page(VirtAddr(address): VirtAddr<u32>) -> Option<Page> {
    Some(Page(address.checked_sub(BASE)? / PAGE))
}

/// The address of a page; the end of the address space for the page behind the last one.
pub(super) fn address(Page(page): Page) -> VirtAddr<u32> {
    VirtAddr(BASE.saturating_add(page.saturating_mul(PAGE)))
}

pub(super) fn frame(PhysAddr(address): PhysAddr<u32>) -> Frame {
    Frame(address / PAGE)
}

/// Use of a page that the kernel makes on a domain's behalf.
pub(super) fn used(kind: AccessKind) -> Access {
    match kind {
        AccessKind::Read => Access::Load,
        AccessKind::Write => Access::Store,
        AccessKind::Exec => Access::Fetch,
    }
}
