//! The scheme as the kernel asks for it.

use abi::Error;
use protect::vmsav7::{Found, Privilege, Progress as Edited, TABLE_BYTES, TABLE_ENTRIES};
use protect::{AccessKind, MemType};
use system::System;
use system::objects::Size;
use system::vmsav7::Vmsav7;
use units::{Bytes, PhysAddr, PhysRange, VirtAddr};

use super::{Mapping, OWN_PAGES, PageArch, Pages, Progress, Slots, boot, cost, refused};
use crate::arch::{Asked, BootContext, Hardware, Len, Next, NodeConstraints, Own, Phys, Protection, Step, Virt};
use crate::boot::{BootError, Pool};

impl<A: PageArch<Protection = Pages<A>>> Protection<A> for Pages<A> {
    type Shared = Slots;
    type Idle = ();
    type Mapping = Mapping;
    type Progress = Progress;
    type Untouched = ();

    type Scheme = Vmsav7;
    const PHYSICAL: bool = false;
    // Parts can be taken out, but mappings go in one at a time: each writes all of its entries.
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

    /// Nothing to compare here: the tables look at the whole range before they change anything.
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
            // The slot stays free until it is used, because no other edit begins before this one
            // ends.
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
        // A locked mapping is one page, so no more than one entry can lie in the range.
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
        // The slot is free from now on, so [`Protection::evict`] does not lock the entry again. The
        // entry itself goes with the invalidation of its page, before another edit can take the
        // slot.
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
    /// One step of a search, one of the comparison with the areas, and [`OWN_PAGES`] looked up that follow what it has found.
    fn next_mapped(&self, shared: &Slots, from: Virt<A>, own: impl Own<A>) -> Next<A> {
        let (Some(tables), Some(asid)) = (&self.tables, self.identifier()) else { return Next::End };
        let (first, found) = match tables.next_step(from) {
            protect::vmsav7::Next::Found(at, found) => (at, found),
            protect::vmsav7::Next::From(later) => return Next::From(later),
            protect::vmsav7::Next::End => return Next::End,
        };
        let mapping = Mapping::found(first, &found);
        let mut at = mapping.virt.plus(mapping.bytes);
        let Some(bytes) = own(first, found.physical) else { return Next::Unsure(first) };
        if bytes < at.minus(first) {
            let locked = shared.kept(asid, mapping.virt, mapping.bytes).is_some();
            return Next::Found(Mapping { locked, ..mapping }, at);
        }
        // The pages that follow are the domain's own as long as they lie as the area does. Several
        // are passed in a step, because a domain begins with many.
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

    /// Invalidates all entries of the identifier, so that nothing is used that the domain's former
    /// life has left in the TLB. Locked entries go with them, and are locked again.
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
