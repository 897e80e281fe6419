//! Protection of a domain on a processor with page tables: its tables, its identifier, and its
//! entries that are kept in the TLB. Edits are those of [`protect::vmsav7::Tables`], which settle
//! with the TLB in every step.
//!
//! Identifiers are fixed at boot, one for each domain: a restart is the only reuse of one, and invalidates it first.

mod arch;
mod boot;
mod mapping;
mod protection;
mod words;

use abi::Error;
use protect::vmsav7::{Asid, LOCK_SLOTS, Progress as Edited, Refused, Tables};
use units::{Bytes, PhysAddr, VirtAddr};

pub use arch::PageArch;
pub use mapping::Mapping;
use words::TableWords;

/// The tables of one domain.
#[repr(C)]
pub struct Pages<A: PageArch> {
    /// Physical address of the first-level table; of the idle loop 0. The entry code loads this and the next one.
    root: PhysAddr<u32>,
    /// Number of the identifier; of the idle loop 0.
    asid: u32,
    /// The idle loop has none, because nothing but the kernel is mapped then.
    tables: Option<Tables<TableWords<A>>>,
}

/// Offsets at which the entry code finds the space of a domain, in bytes.
pub mod layout {
    /// Physical address of the first-level table.
    pub const ROOT: usize = 0;
    /// The identifier.
    pub const ASID: usize = 4;
}

/// An entry that is kept in the TLB.
#[derive(Clone, Copy, Debug)]
struct Locked {
    asid: Asid,
    address: VirtAddr<u32>,
    /// The domain began with it, so it stays.
    first: bool,
}

/// The slots of the chip for entries that are kept.
#[derive(Debug, Default)]
pub struct Slots {
    slots: [Option<Locked>; LOCK_SLOTS],
}

impl Slots {
    fn free(&self) -> Option<usize> {
        self.slots.iter().position(Option::is_none)
    }

    /// The first entry that is kept of a domain in a range, and its slot.
    fn kept(&self, asid: Asid, base: VirtAddr<u32>, bytes: Bytes<u32>) -> Option<(usize, Locked)> {
        let mut slots = self.slots.iter().enumerate().filter_map(|(slot, locked)| Some((slot, (*locked)?)));
        slots.find(|(_, locked)| locked.asid == asid && locked.address.minus(base) < bytes)
    }

    /// Returns true if a mapping that is there is locked as it says, and can be taken out. An entry
    /// that the domain began with stays.
    fn agrees(&self, asid: Asid, mapping: &Mapping) -> bool {
        match self.kept(asid, mapping.virt, mapping.bytes) {
            Some((_, locked)) => mapping.locked && locked.address == mapping.virt && !locked.first,
            None => !mapping.locked,
        }
    }

    /// Identifier and address of what is kept, by slot.
    #[cfg(any(test, feature = "simulation"))]
    pub(crate) fn held(&self) -> [Option<(Asid, VirtAddr<u32>)>; LOCK_SLOTS] {
        self.slots.map(|slot| slot.map(|locked| (locked.asid, locked.address)))
    }
}

/// How far a mapping has come.
#[derive(Debug, Default)]
pub struct Progress {
    looked: Bytes<u32>,
    /// The edit of the tables has begun, so that a failure has to take it back.
    begun: bool,
    /// Places for its tables that were tried and had none, so that the next try goes on behind
    /// them.
    tried: usize,
}

impl Progress {
    /// Returns true if a refusal leaves another place for tables to try. It has changed nothing, so
    /// the next try begins anew.
    fn tries_again(&mut self, mapping: &Mapping, refused: Refused) -> bool {
        self.begun = false;
        self.tried += 1;
        let place = matches!(refused, Refused::NoTables { .. } | Refused::Placement { .. });
        place && self.tried < mapping.places().len()
    }
}

/// Costs of steps, in tens of instructions, roughly: they decide how many steps one kernel entry
/// takes (`edit`).
mod cost {
    /// A look at a page.
    pub const LOOK: u32 = 12;
    /// A step of an edit: [`super::ENTRIES`] descriptors, and what they owe.
    pub const EDIT: u32 = 60;
    /// Locking an entry.
    pub const LOCK: u32 = 10;
}

/// Descriptors of a step of an edit.
const ENTRIES: u32 = 16;
/// Pages, large pages and sections, one behind the other, that a step of a search passes, because the domain began with them.
const OWN_PAGES: usize = 4;

impl<A: PageArch> Pages<A> {
    fn identifier(&self) -> Option<Asid> {
        Asid::new(self.asid as u8)
    }

    fn advance(&mut self, arch: &mut A) -> Edited {
        let asid = self.identifier();
        match &mut self.tables {
            Some(tables) => tables.advance(ENTRIES).settle(asid, arch),
            None => Edited::Done,
        }
    }
}

impl<A: PageArch<Protection = Pages<A>>> Pages<A> {
    /// Begins to map, with tables where they are to be tried next.
    fn begin(&mut self, mapping: &Mapping, progress: &mut Progress) -> Result<(), Refused> {
        let place = mapping.places()[progress.tried];
        if let Some(tables) = &mut self.tables {
            tables.map(mapping.virt, mapping.phys, mapping.bytes, mapping.attributes, place)?;
        }
        progress.begun = true;
        Ok(())
    }

    /// Keeps the entry for a page in the TLB, so that an access to the page never walks the tables.
    fn lock(&self, address: VirtAddr<u32>, first: bool, shared: &mut Slots, arch: &mut A) -> Result<(), Error> {
        let asid = self.identifier().ok_or(Error::BadState)?;
        let slot = shared.free().ok_or(Error::Full)?;
        shared.slots[slot] = Some(Locked { asid, address, first });
        arch.lock_entry(slot, self.root, asid, address);
        Ok(())
    }

    /// The first-level table and the identifier; of the idle loop none.
    #[inline(always)]
    pub(crate) fn space(&self) -> Option<(PhysAddr<u32>, Asid)> {
        self.identifier().map(|asid| (self.root, asid))
    }
}

fn refused(refused: Refused) -> Error {
    match refused {
        Refused::NoTables { .. } | Refused::Placement { .. } => Error::Full,
        Refused::Mapped { .. } | Refused::NotMapped { .. } | Refused::Busy => Error::BadState,
        Refused::Misaligned | Refused::Outside | Refused::Rights => Error::BadArgument,
    }
}
