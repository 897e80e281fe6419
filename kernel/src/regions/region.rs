//! A region that is mapped or unmapped at run time.

use abi::{Error, access};
use protect::regions::{Registers, Unit};
use protect::{Access, AccessKind, Data, MemType, Span};
use units::{Bytes, PhysAddr, PhysRange, VirtAddr};

use crate::arch::Asked;

/// A region that is mapped or unmapped at run time.
#[derive(Clone, Copy, Debug)]
pub struct Region<R> {
    /// Its registers, without a slot.
    pub(super) regs: R,
    /// It has a register of its own.
    pub(super) pinned: bool,
    pub(super) execute: bool,
}

/// Every bit that means something here.
const ACCESS: u32 = access::READ | access::WRITE | access::EXECUTE | access::PINNED;
/// The smallest region that is paged: no instruction transfers more than 128 bytes, so its data lies in two of them at most.
const LEAST_PAGED: u64 = system::regions::LEAST_PAGED_BYTES as u64;

impl<R: Registers> Region<R> {
    /// The region that is exactly the memory asked for.
    ///
    /// # Errors
    /// As for [`crate::arch::Protection::mapping`].
    pub(super) fn of<U: Unit<Regs = R>>(asked: &Asked<u32>) -> Result<Self, Error> {
        let &Asked { at: VirtAddr(at), access: bits, memory } = asked;
        let (write, execute) = (bits & access::WRITE != 0, bits & access::EXECUTE != 0);
        let pinned = bits & access::PINNED != 0;
        let bytes = memory.size().0;
        let sound = bits & access::READ != 0 && bits & !ACCESS == 0 && !(write && execute);
        if !sound || (!pinned && bytes < LEAST_PAGED) {
            return Err(Error::BadArgument);
        }
        if memory.base() != PhysAddr(at.into()) {
            return Err(Error::BadAddress);
        }
        let rights = Access { data: if write { Data::Rw } else { Data::Ro }, exec: execute };
        let regs = U::exact(Span::new(at, bytes), rights, MemType::WriteBack).ok_or(Error::BadArgument)?;
        Ok(Region { regs, pinned, execute })
    }

    pub(super) fn paged(regs: R) -> Self {
        Region { regs, pinned: false, execute: regs.grants(AccessKind::Exec) }
    }

    /// The memory that it permits: one run, as [`Region::of`] makes it.
    pub(super) fn memory(&self) -> PhysRange {
        let run = self.regs.runs().next().unwrap_or(Span::new(0, 0));
        PhysRange::at(PhysAddr(run.base), Bytes(run.len as u32))
    }
}
