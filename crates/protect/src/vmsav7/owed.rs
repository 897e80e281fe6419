//! Invalidations that are owed to the TLBs before a step counts.

use units::VirtAddr;

use super::memory::TableMemory;
use super::tables::Tables;
use super::work::Progress;

/// An address-space identifier, never 0: 0 stands for no domain, while `TTBR0` changes (ARM DDI 0406C B3.10.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Asid(pub(super) u8);

impl Asid {
    /// The identifier with this number, `None` for 0.
    pub const fn new(number: u8) -> Option<Asid> {
        if number == 0 { None } else { Some(Asid(number)) }
    }

    /// The number, for `CONTEXTIDR.ASID`.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// The operations of the hardware that tables need. An implementation performs each before it returns, in order.
pub trait Maintenance {
    /// Makes what was written to tables visible to walks: `DSB`, after a clean by address where walks do not look into the data cache
    /// (DDI 0406C B3.10.1).
    fn publish(&mut self);

    /// Removes entries for this address in this space, locked ones, too: `TLBIMVA`, on all cores that use the space.
    fn invalidate_page(&mut self, asid: Asid, address: VirtAddr<u32>);

    /// Removes every entry of this space, locked ones, too: `TLBIASID`.
    fn invalidate_space(&mut self, asid: Asid);

    /// Waits until invalidations have happened and no instruction uses what they removed: `BPIALL` where code was unmapped, `DSB`,
    /// `ISB`.
    fn complete(&mut self);
}

/// A step of an edit that has written its descriptors and is not done yet. [`Owed::settle`]
/// performs what is owed and says how the edit goes on. Nothing else says that, so that no caller
/// can forget an invalidation. If this is dropped, the edit stays where it is: each further step
/// returns the same debt.
#[must_use = "a step is done when what it owes has been settled"]
#[derive(Debug)]
pub struct Owed<'a, M: TableMemory> {
    pub(super) tables: &'a mut Tables<M>,
}

impl<M: TableMemory> Owed<'_, M> {
    /// Addresses whose entries are to be invalidated: one for each page, section or table that was taken out.
    pub fn addresses(&self) -> &[VirtAddr<u32>] {
        self.tables.debt.addresses()
    }

    /// Performs what is owed for the space of this identifier, or `None` if the space has no
    /// identifier now and no TLB holds anything of it. If larger pages are split, the smaller ones
    /// are written after the invalidation and before this returns (break before make, DDI 0406C
    /// B3.10.1).
    ///
    /// # Time complexity
    /// One invalidation for each of [`Owed::addresses`], at most [`WINDOWS`](super::WINDOWS) of them, and 16 stores.
    pub fn settle(self, asid: Option<Asid>, hardware: &mut impl Maintenance) -> Progress {
        let tables = self.tables;
        if tables.debt.wrote {
            hardware.publish();
        }
        if let Some(asid) = asid {
            tables.debt.addresses().iter().for_each(|address| hardware.invalidate_page(asid, *address));
        }
        if tables.debt.wrote {
            hardware.complete();
        }
        if tables.conclude() {
            hardware.publish();
            hardware.complete();
        }
        tables.progress()
    }
}

impl<M: TableMemory> Tables<M> {
    /// One step of the edit under way: looks at, or changes, about `entries` descriptors, at least 16 and at most 256. A step that has not been
    /// settled is returned again instead.
    ///
    /// # Time complexity
    /// See the type.
    pub fn advance(&mut self, entries: u32) -> Owed<'_, M> {
        self.owe(entries);
        Owed { tables: self }
    }
}
