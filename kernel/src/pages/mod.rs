//! Protection of a domain on a processor with page tables: its tables, its identifier, and its
//! entries that are kept in the TLB. Edits are those of [`protect::vmsav7::Tables`], which settle
//! with the TLB in every step.
//!
//! Identifiers are fixed at boot, one for each domain: a restart is the only reuse of one, and invalidates it first.

mod arch;
mod boot;
mod mapping;
mod words;

use abi::Error;
use protect::vmsav7::{
    Asid, Found, LOCK_SLOTS, Privilege, Progress as Edited, Refused, TABLE_BYTES, TABLE_ENTRIES, Tables,
};
use protect::{AccessKind, MemType};
use system::objects::Size;
use system::vmsav7::Vmsav7;
use system::{Scheme, System};
use units::{Bytes, PhysAddr, PhysRange, VirtAddr};

use crate::arch::{Len, Phys, Virt};
use crate::boot::{BootError, Pool};
use crate::protection::{Asked, BootContext, Hardware, Next, NodeConstraints, Protection, Step};

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
    /// Of the idle loop none.
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
    /// First address of its page.
    address: VirtAddr<u32>,
    /// The domain began with it: it stays.
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

    /// Whether a mapping that is there is kept as it says, and can be taken out.
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
    /// Bytes of it that were looked at.
    looked: Bytes<u32>,
    /// The edit of the tables has begun.
    begun: bool,
    /// Places for its tables that were tried and had none.
    tried: usize,
}

impl Progress {
    /// Whether a refusal, after which nothing has changed, leaves another place to try.
    fn tries_again(&mut self, mapping: &Mapping, refused: Refused) -> bool {
        self.begun = false;
        self.tried += 1;
        let place = matches!(refused, Refused::NoTables { .. } | Refused::Placement { .. });
        place && self.tried < mapping.places().len()
    }
}

/// Costs of steps, in tens of instructions, roughly.
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

    /// A step of the edit under way.
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

    /// Keeps the entry for a page in the TLB.
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

/// Error that a refusal of the tables is to who asked.
fn refused(refused: Refused) -> Error {
    match refused {
        Refused::NoTables { .. } | Refused::Placement { .. } => Error::Full,
        Refused::Mapped { .. } | Refused::NotMapped { .. } | Refused::Busy => Error::BadState,
        Refused::Misaligned | Refused::Outside | Refused::Rights => Error::BadArgument,
    }
}

impl<A: PageArch<Protection = Pages<A>>> Protection<A> for Pages<A> {
    type Shared = Slots;
    type Idle = ();
    type Mapping = Mapping;
    type Progress = Progress;

    const SCHEME: Scheme = Scheme::Vmsav7;
    const PHYSICAL: bool = false;
    // One at a time: all of its entries are written.
    const PARTS: bool = true;
    const GIFT: NodeConstraints = NodeConstraints { align: TABLE_BYTES, least: TABLE_BYTES, most: TABLE_BYTES };
    const LEAF: Size = Size { bytes: 0, align: 1 };
    const NODE: Size = Self::LEAF;

    fn shared(_: &mut Pool<A>) -> Result<Slots, BootError> {
        Ok(Slots::default())
    }

    fn set_aside(tables: &System<'_>, index: usize) -> impl Iterator<Item = (Phys<A>, Len<A>)> + use<A> {
        tables.own_domain::<Vmsav7>(index).parts().into_iter().map(|(base, bytes, _)| (base.into(), bytes.into()))
    }

    fn make(context: &mut BootContext<'_, A>, index: usize) -> Result<Pages<A>, BootError> {
        boot::make(context, index)
    }

    fn idle(_: &mut Slots, (): &()) -> Result<Pages<A>, BootError> {
        Ok(Pages { root: PhysAddr(0), asid: 0, tables: None })
    }

    #[inline(always)]
    fn load(&self, arch: &mut A) {
        arch.load_space(self.space());
    }

    fn mapping(asked: &Asked<u32>) -> Result<Mapping, Error> {
        Mapping::of(asked)
    }

    fn memory(mapping: &Mapping) -> PhysRange {
        mapping.memory()
    }

    /// # Bound
    /// Two look-ups.
    fn neighbours(&self, mapping: &Mapping) -> [Option<PhysAddr>; 2] {
        let at = |virt: Option<u32>, phys: Option<u32>| {
            let found = self.tables.as_ref()?.lookup(VirtAddr(virt?))?;
            (Some(found.physical.0) == phys).then(|| found.physical.wide())
        };
        let Mapping { virt: VirtAddr(virt), phys: PhysAddr(phys), bytes: Bytes(bytes), .. } = *mapping;
        [at(virt.checked_sub(1), phys.checked_sub(1)), at(virt.checked_add(bytes), phys.checked_add(bytes))]
    }

    /// Nothing: the tables look at the whole range before they change anything.
    fn compare_step(&self, _: &Mapping, _: &mut Progress) -> Result<Step, Error> {
        Ok(Step::Done(cost::LOOK))
    }

    /// # Bound
    /// [`ENTRIES`] descriptors, see [`Tables`]; or one entry locked.
    fn enter_step(
        &mut self,
        mapping: &Mapping,
        progress: &mut Progress,
        hardware: Hardware<'_, A>,
    ) -> Result<Step, Error> {
        if !progress.begun {
            // It stays free: nobody else's edit begins before this one ends.
            if mapping.locked && hardware.shared.free().is_none() {
                return Err(Error::Full);
            }
            return match self.begin(mapping, progress) {
                Err(reason) if !progress.tries_again(mapping, reason) => Err(refused(reason)),
                _ => Ok(Step::More(cost::LOOK)),
            };
        }
        match self.advance(hardware.arch) {
            Edited::More => Ok(Step::More(cost::EDIT)),
            Edited::Done if mapping.locked => {
                self.lock(mapping.virt, false, hardware.shared, hardware.arch)?;
                Ok(Step::Done(cost::LOCK))
            }
            Edited::Done => Ok(Step::Done(cost::EDIT)),
            Edited::Refused(reason) if progress.tries_again(mapping, reason) => Ok(Step::More(cost::LOOK)),
            Edited::Refused(reason) => Err(refused(reason)),
        }
    }

    /// Looks whether all of it is there, in pages that are all within it, so that none has to be split.
    ///
    /// # Bound
    /// One page, large page or section looked up.
    fn withdraw_step(
        &mut self,
        mapping: &Mapping,
        progress: &mut Progress,
        hardware: Hardware<'_, A>,
    ) -> Result<Step, Error> {
        let asid = self.identifier().ok_or(Error::BadState)?;
        let tables = self.tables.as_mut().ok_or(Error::BadState)?;
        let at = mapping.virt.plus(progress.looked);
        // A mapping that is kept is one unit: no more than one entry can lie in the range.
        let whole = |found: &Found| !mapping.locked || Bytes(found.unit.bytes()) == mapping.bytes;
        let found =
            tables.lookup(at).filter(|found| mapping.is_at(at, found) && whole(found)).ok_or(Error::BadState)?;
        progress.looked = progress.looked.plus(Bytes(found.unit.bytes()));
        if progress.looked < mapping.bytes {
            return Ok(Step::More(cost::LOOK));
        }
        if !hardware.shared.agrees(asid, mapping) {
            return Err(Error::BadState);
        }
        // No page is cut, so that no table is taken.
        tables.unmap(mapping.virt, mapping.bytes, mapping.places()[0]).map_err(refused)?;
        // From now on nobody locks it again ([`Protection::evict`]); the entry goes with the invalidation of its page, before another edit
        // can take the slot.
        if let Some((slot, _)) = hardware.shared.kept(asid, mapping.virt, mapping.bytes) {
            hardware.shared.slots[slot] = None;
        }
        progress.begun = true;
        Ok(Step::Done(cost::LOOK))
    }

    /// # Bound
    /// [`ENTRIES`] descriptors, see [`Tables`].
    fn leave_step(&mut self, _: &Mapping, progress: &mut Progress, hardware: Hardware<'_, A>) -> Step {
        if !progress.begun {
            return Step::Done(cost::LOOK);
        }
        if self.advance(hardware.arch) == Edited::More {
            return Step::More(cost::EDIT);
        }
        Step::Done(cost::EDIT)
    }

    fn permits(&self, base: Virt<A>, len: Len<A>, kind: AccessKind) -> bool {
        self.tables.as_ref().is_some_and(|tables| tables.permits(base, len, kind))
    }

    fn physical(&self, address: Virt<A>, kind: AccessKind) -> Option<(Phys<A>, Len<A>)> {
        let found = self.tables.as_ref()?.lookup(address)?;
        let (rights, memory) = (found.attributes.rights(), found.attributes.memory());
        let allowed =
            rights.permits(Privilege::User, kind) && !matches!(memory, MemType::Device | MemType::StronglyOrdered);
        let bytes = found.unit.bytes();
        allowed.then_some((found.physical, Bytes(bytes - (address.0 & (bytes - 1)))))
    }

    /// # Bound
    /// One step of a search, one look at the areas, and [`OWN_PAGES`] looked up that follow what it has found.
    fn next_mapped(&self, shared: &Slots, from: Virt<A>, own: impl Fn(Virt<A>, Phys<A>) -> Len<A>) -> Next<A> {
        let (Some(tables), Some(asid)) = (&self.tables, self.identifier()) else { return Next::End };
        let (first, found) = match tables.next_step(from) {
            protect::vmsav7::Next::Found(at, found) => (at, found),
            protect::vmsav7::Next::From(later) => return Next::From(later),
            protect::vmsav7::Next::End => return Next::End,
        };
        let mapping = Mapping::found(first, &found);
        let mut at = mapping.virt.plus(mapping.bytes);
        let bytes = own(first, found.physical);
        if bytes < at.minus(first) {
            let locked = shared.kept(asid, mapping.virt, mapping.bytes).is_some();
            return Next::Found(Mapping { locked, ..mapping }, at);
        }
        // The pages that follow are the domain's own as long as they lie as the area does.
        for _ in 1..OWN_PAGES {
            let offset = at.minus(first);
            match tables.lookup(at) {
                Some(next)
                    if next.physical == found.physical.plus(offset)
                        && Bytes(next.unit.bytes()) <= bytes.minus(offset) =>
                {
                    at = at.plus(Bytes(next.unit.bytes()));
                }
                _ => break,
            }
        }
        Next::From(at)
    }

    fn give(&mut self, base: Phys<A>, _: Len<A>) -> u32 {
        // [`Self::GIFT`] is one table. To clear it now would take too long at once.
        let given = self.tables.as_mut().is_some_and(|tables| tables.lend(base).is_ok());
        if given { TABLE_ENTRIES } else { 0 }
    }

    /// The identifier begins anew: nothing that the domain's former life has left in the TLB is
    /// used. The entries that are kept go with it, and are locked again.
    fn evict(&mut self, hardware: Hardware<'_, A>) {
        let Some(asid) = self.identifier() else { return };
        hardware.arch.invalidate_space(asid);
        hardware.arch.complete();
        for (slot, kept) in hardware.shared.slots.iter_mut().enumerate() {
            let Some(locked) = kept.filter(|locked| locked.asid == asid) else { continue };
            if self.tables.as_ref().is_some_and(|tables| tables.lookup(locked.address).is_some()) {
                hardware.arch.lock_entry(slot, self.root, asid, locked.address);
            } else {
                // Touching it would be a fault of the kernel.
                *kept = None;
            }
        }
    }
}
