//! The scheme as the kernel asks for it.

use abi::Error;
use protect::AccessKind;
use rtmmu::{Access, Frame, Page, Region};
use system::System;
use system::objects::Size;
use system::rtmmu::{PAGE, Rtmmu};
use units::{Bytes, PhysAddr, PhysRange, VirtAddr};

use super::mapping::{address, page, used};
use super::{Demand, DomainSpace, Loaded, Mapping, PAGES, Progress, RtmmuArch, Spaces, boot, cost};
use crate::arch::{Asked, BootContext, Hardware, Len, Next, NodeConstraints, Own, Phys, Protection, Step, Virt};
use crate::boot::{BootError, Pool};

impl<A: RtmmuArch<Protection = Self>> Spaces<A> {
    fn region(&self, page: Page) -> Option<Region> {
        self.space.as_ref()?.region(page).ok()
    }

    /// Part of the tables that is in force while the domain runs; of the idle loop none.
    #[inline(always)]
    pub(crate) fn loaded(&self) -> Option<Loaded> {
        let Spaces { first, pages_log2, .. } = *self;
        (self.on != 0).then_some(Loaded { first, pages_log2 })
    }

    fn frame(&self, page: Page, access: Access) -> Option<Frame> {
        self.space.as_ref()?.translate(page, access)
    }

    /// Its space with its demand area, if it has one.
    fn on_demand(&mut self) -> Option<(&mut DomainSpace<A>, &mut Demand<A>)> {
        self.space.as_mut().zip(self.demand.as_mut())
    }

    /// Returns true if exactly this mapping is there.
    fn holds(&self, mapping: &Mapping) -> bool {
        let Mapping { first, frame, pages, rights } = *mapping;
        let whole = Region { first, end: Page(first.0 + pages), rights: Some(rights), mapped: pages };
        self.region(first) == Some(whole) && self.frame(first, Access::Load) == Some(frame)
    }
}

impl<A: RtmmuArch<Protection = Self>> Protection<A> for Spaces<A> {
    type Shared = ();
    type Idle = ();
    type Mapping = Mapping;
    type Progress = Progress;
    type Scheme = Rtmmu;
    const PHYSICAL: bool = false;
    /// False, because a region is freed as it was made.
    const PARTS: bool = false;
    /// The tables of a domain have their size from the start: no gift is small enough.
    const GIFT: NodeConstraints = NodeConstraints { align: PAGE, least: u32::MAX, most: u32::MAX };
    const LEAF: Size = Size { bytes: 0, align: 4 };
    const NODE: Size = Size { bytes: 0, align: 4 };

    fn shared(_: &mut Pool<A>) -> Result<(), BootError> {
        Ok(())
    }

    fn set_aside(tables: &System<'_>, index: usize) -> impl Iterator<Item = (Phys<A>, Len<A>)> + use<A> {
        let own = tables.own_domain::<Rtmmu>(index);
        core::iter::once((own.tree.into(), own.tree_bytes().into()))
    }

    fn make(context: &mut BootContext<'_, A>, index: usize) -> Result<Self, BootError> {
        boot::make(context, index)
    }

    fn idle((): &mut (), (): &()) -> Result<Self, BootError> {
        Ok(Spaces { first: 0, pages_log2: 0, on: 0, space: None, demand: None })
    }

    #[inline(always)]
    fn load(&self, arch: &mut A) {
        arch.load_space(self.loaded());
    }

    fn mapping(asked: &Asked<u32>) -> Result<Mapping, Error> {
        Mapping::of(asked)
    }

    fn memory(mapping: &Mapping) -> PhysRange {
        mapping.memory()
    }

    fn neighbours(&self, _: &Mapping) -> [Option<PhysAddr>; 2] {
        [None; 2]
    }

    /// Looks only whether it meets the demand area. Whether the pages are free is found when the
    /// region is made, which changes nothing if they are not.
    fn compare_step(&self, mapping: &Mapping, _: &mut Progress) -> Result<Step, Error> {
        let free = !self.demand.as_ref().is_some_and(|demand| demand.meets(mapping.first, mapping.pages));
        if free { Ok(Step::Done(cost::REGION)) } else { Err(Error::BadState) }
    }

    /// # Bound
    /// One region made, or [`PAGES`] pages mapped.
    fn enter_step(&mut self, mapping: &Mapping, progress: &mut Progress, _: Hardware<'_, A>) -> Result<Step, Error> {
        let Mapping { first, frame, pages, rights } = *mapping;
        let space = self.space.as_mut().ok_or(Error::BadState)?;
        if progress.region.is_none() {
            space.map_vrh(first, pages, rights).map_err(refused)?;
            progress.region = Some(first);
            return Ok(Step::More(cost::REGION));
        }
        let until = pages.min(progress.mapped + PAGES);
        for page in progress.mapped..until {
            space.map_to(Page(first.0 + page), Frame(frame.0 + page)).map_err(refused)?;
        }
        progress.mapped = until;
        Ok(if until < pages { Step::More(cost::PAGES) } else { Step::Done(cost::PAGES) })
    }

    /// The region is free at once, whatever its size, unless its pages have to be visited: then the first of them.
    ///
    /// # Bound
    /// One region looked at, and [`rtmmu::Space::forget_region`].
    fn withdraw_step(&mut self, mapping: &Mapping, progress: &mut Progress, _: Hardware<'_, A>) -> Result<Step, Error> {
        if !self.holds(mapping) {
            return Err(Error::BadState);
        }
        let space = self.space.as_mut().ok_or(Error::BadState)?;
        progress.region = space.forget_region(mapping.first).map_err(refused)?.rest;
        Ok(Step::Done(cost::REGION))
    }

    /// # Bound
    /// [`rtmmu::Space::forget_region`].
    fn leave_step(&mut self, _: &Mapping, progress: &mut Progress, _: Hardware<'_, A>) -> Step {
        if let Some((space, region)) = self.space.as_mut().zip(progress.region) {
            let freed = space.forget_region(region);
            debug_assert!(freed.is_ok(), "the region that this edit has made or found");
            progress.region = freed.ok().and_then(|freed| freed.rest);
        }
        if progress.region.is_some() { Step::More(cost::PAGES) } else { Step::Done(cost::REGION) }
    }

    /// # Time complexity
    /// Five reads for each page of the range.
    fn permits(&self, base: Virt<A>, len: Len<A>, kind: AccessKind) -> bool {
        let last = len.0.checked_sub(1).and_then(|more| base.0.checked_add(more));
        let (Some(first), Some(last)) = (page(base), last) else { return false };
        let Some(last) = page(VirtAddr(last)) else { return false };
        let frames = (first.0..=last.0).map(|page| self.frame(Page(page), used(kind)));
        frames.into_iter().all(|frame| frame.is_some_and(|frame| A::is_memory(PhysAddr(frame.0 * PAGE))))
    }

    fn physical(&self, at: Virt<A>, kind: AccessKind) -> Option<(Phys<A>, Len<A>)> {
        let frame = PhysAddr(self.frame(page(at)?, used(kind))?.0 * PAGE);
        let within = at.0 % PAGE;
        A::is_memory(frame).then_some((frame.plus(Bytes(within)), Bytes(PAGE - within)))
    }

    /// # Bound
    /// One region looked at.
    fn next_mapped(&self, (): &(), from: Virt<A>, own: impl Own<A>) -> Next<A> {
        let first = page(from).unwrap_or(Page(0));
        let Some(region) = self.region(first) else { return Next::End };
        let (at, end) = (address(region.first), address(region.end));
        let pages = region.end.0 - region.first.0;
        let frame = self.frame(region.first, Access::Load);
        let Some((rights, frame)) = region.rights.zip(frame) else { return Next::From(end) };
        let mapping = Mapping { first: region.first, frame, pages, rights };
        match own(at, PhysAddr(frame.0 * PAGE)) {
            None => Next::Unsure(at),
            Some(bytes) if bytes.0 >= pages * PAGE => Next::From(end),
            Some(_) => Next::Found(mapping, end),
        }
    }

    fn give(&mut self, _: Phys<A>, _: Len<A>) -> u32 {
        0
    }

    /// Does nothing, because the hardware keeps nothing of what a domain has used.
    fn evict(&mut self, _: Hardware<'_, A>) {}

    const DEMAND: bool = true;
    type Untouched = Option<Virt<A>>;

    fn is_untouched(&self, at: Virt<A>, kind: AccessKind) -> bool {
        let (Some(space), Some(demand), Some(page)) = (&self.space, &self.demand, page(at)) else { return false };
        demand.is_untouched(space, page, used(kind)).is_some()
    }

    fn touch(&mut self, at: Virt<A>, kind: AccessKind, hardware: Hardware<'_, A>) -> bool {
        let (Some((space, demand)), Some(page)) = (self.on_demand(), page(at)) else { return false };
        demand.touch(space, page, used(kind), hardware.arch)
    }

    fn map_region(&mut self, at: Virt<A>, pages: u32, cuts: u32) -> Result<(), Error> {
        let (space, demand) = self.on_demand().ok_or(Error::BadAddress)?;
        demand.map(space, first_of(at)?, pages, cuts)
    }

    fn unmap_regions(&mut self, at: Virt<A>, count: u32) -> Result<Option<(Virt<A>, u32)>, Error> {
        let (space, demand) = self.on_demand().ok_or(Error::BadAddress)?;
        let left = demand.unmap(space, first_of(at)?, count)?;
        Ok(left.map(|(page, count)| (address(page), count)))
    }

    fn shed_step(&mut self, from: Virt<A>) -> Option<Virt<A>> {
        let (space, demand) = self.on_demand()?;
        demand.shed(space, page(from)?).map(address)
    }
}

/// The page that begins at an address.
fn first_of(at: VirtAddr<u32>) -> Result<Page, Error> {
    if at.0.is_multiple_of(PAGE) { page(at).ok_or(Error::BadAddress) } else { Err(Error::BadArgument) }
}

fn refused(refused: rtmmu::Error) -> Error {
    match refused {
        // The domain's tables end before it.
        rtmmu::Error::Range | rtmmu::Error::NoFrame => Error::Full,
        _ => Error::BadState,
    }
}
