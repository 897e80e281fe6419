//! The demand area of a domain: pages that get a frame at their first touch.
//!
//! The domain makes regions of it and frees them; its frames are the domain's alone, as many as admission has reserved. A frame is cleared
//! before its first use, in steps: while one is being cleared its page is not mapped, so that the access faults again and goes on with it.

use abi::{Error, region};
use rtmmu::{Access, Frame, Frames, Owner, Page, Region, Rights, Taken, Translation};
use system::Area;
use system::rtmmu::{PAGE, Space};
use units::{Bytes, PhysAddr, VirtAddr};

use super::arch::RtmmuArch;
use super::mapping::{frame, page};
use super::words::{DomainSpace, TableWords};

/// Bytes that one step clears.
pub const CLEAR_BYTES: u32 = 256;
const _: () = assert!(PAGE.is_multiple_of(CLEAR_BYTES));

pub(super) struct Demand<A: RtmmuArch> {
    first: Page,
    end: Page,
    owner: Owner,
    frames: Frames<TableWords<A>>,
    /// Bytes that are clear of the first frame that has not been used yet. A frame is cleared in
    /// steps, so this survives between two touches.
    clear: u32,
}

impl<A: RtmmuArch> Demand<A> {
    /// The demand area of domain number `domain` that begins with this area.
    pub fn new(domain: usize, own: &Space, area: &Area) -> Option<Self> {
        let first = page(VirtAddr(area.base))?;
        let count = area.bytes / PAGE;
        let links = TableWords::new(PhysAddr(own.links), count);
        Some(Demand {
            first,
            end: Page(first.0 + own.demand_pages),
            owner: Owner(domain as u8),
            frames: Frames::new(links, frame(PhysAddr(area.physical)), count),
            clear: 0,
        })
    }

    /// Returns true if any of these pages is part of it.
    pub fn meets(&self, first: Page, pages: u32) -> bool {
        pages > 0 && first < self.end && self.first.0 < first.0.saturating_add(pages)
    }

    /// The frame that an access would take, if it is the first touch of a page of the area.
    ///
    /// # Bound
    /// A search and seven reads: those of [`rtmmu::Space::is_first_touch`], and the link of a frame.
    pub fn is_untouched(&self, space: &DomainSpace<A>, page: Page, access: Access) -> Option<Taken> {
        let touches = self.meets(page, 1) && space.is_first_touch(page, access);
        touches.then(|| self.frames.next(self.owner)).flatten()
    }

    /// A domain was refused an access: a step of mapping the page, if this is its first touch and there is a frame for it. Whether the
    /// access is to be repeated.
    ///
    /// # Bound
    /// [`CLEAR_BYTES`] bytes, or [`rtmmu::Space::map_page`]; before that [`Demand::is_untouched`].
    pub fn touch(&mut self, space: &mut DomainSpace<A>, page: Page, access: Access, arch: &mut A) -> bool {
        let Some(next) = self.is_untouched(space, page, access) else { return false };
        if next.clear {
            if self.clear_step(next.frame, arch) {
                return true;
            }
            self.clear = 0;
        }
        space.map_page(page, self.owner, &mut self.frames).is_ok()
    }

    /// Clears a part of a frame, so that no step is long. Returns false when all of it was clear.
    fn clear_step(&mut self, frame: Frame, arch: &mut A) -> bool {
        if self.clear == PAGE {
            return false;
        }
        // SAFETY: a frame of the domain's own, which is mapped nowhere.
        unsafe { arch.zero(PhysAddr(frame.0 * PAGE + self.clear), Bytes(CLEAR_BYTES)) };
        self.clear += CLEAR_BYTES;
        true
    }

    /// Makes free pages one region, or up to three: `cuts` has bits of [`region`].
    ///
    /// # Errors
    /// `BAD_ADDRESS`: not all of them are part of it. `BAD_ARGUMENT`: other bits. `BAD_STATE`: not all of them are free.
    ///
    /// # Bound
    /// [`rtmmu::Space::map_vrh`] and [`rtmmu::Space::split`] twice.
    pub fn map(&mut self, space: &mut DomainSpace<A>, first: Page, pages: u32, cuts: u32) -> Result<(), Error> {
        let end = first.0.checked_add(pages).ok_or(Error::BadAddress)?;
        if pages == 0 || first < self.first || end > self.end.0 {
            return Err(Error::BadAddress);
        }
        if cuts & !(region::FIRST_ALONE | region::LAST_ALONE) != 0 {
            return Err(Error::BadArgument);
        }
        space.map_vrh(first, pages, Rights::RW).map_err(|_| Error::BadState)?;
        // Nothing is mapped in the region yet, so that it can be split.
        let cut = |bit: u32, at: u32| (cuts & bit != 0).then_some(Page(at));
        let at = [cut(region::FIRST_ALONE, first.0 + 1), cut(region::LAST_ALONE, end - 1)];
        for at in at.into_iter().flatten().filter(|at| at.0 < end) {
            space.split(at).map_err(|_| Error::BadState)?;
        }
        Ok(())
    }

    /// Frees regions, one behind the other; their frames are free at once. If pages have to be visited, some of one region: the first page of the rest,
    /// and how many regions that is.
    ///
    /// # Errors
    /// `BAD_ARGUMENT`: so many are never freed at once. `BAD_ADDRESS`: the first page is not part of it. `BAD_STATE`: not so many regions begin
    /// here, one behind the other. Nothing has changed then.
    ///
    /// # Bound
    /// [`region::MOST`] times a region looked at and [`rtmmu::Space::unmap_region`], whatever their sizes.
    pub fn unmap(&mut self, space: &mut DomainSpace<A>, first: Page, count: u32) -> Result<Option<(Page, u32)>, Error> {
        if !(1..=region::MOST).contains(&count) {
            return Err(Error::BadArgument);
        }
        if !self.meets(first, 1) {
            return Err(Error::BadAddress);
        }
        let mut headers = [first; region::MOST as usize];
        let headers = &mut headers[..count as usize];
        // A single region needs no look here: its release says whether it is there. Several are
        // looked at first, so that a refusal changes nothing.
        if let [_, _, ..] = headers {
            let mut at = first;
            for header in headers.iter_mut() {
                let region = self.region(space, at)?;
                *header = region.first;
                at = region.end;
            }
        }
        for (index, header) in headers.iter().enumerate() {
            let freed = space.unmap_region(*header, &mut self.frames).map_err(|_| Error::BadState)?;
            let left = count - index as u32;
            if let Some(rest) = freed.rest {
                return Ok(Some((rest, left)));
            }
            // Where the pages of a region have to be visited, one region is enough for a step.
            if let Some(next) = headers.get(index + 1).filter(|_| A::Tables::PAGES_AT_ONCE.is_some()) {
                return Ok(Some((*next, left - 1)));
            }
        }
        Ok(None)
    }

    fn region(&self, space: &DomainSpace<A>, first: Page) -> Result<Region, Error> {
        if !self.meets(first, 1) {
            return Err(Error::BadAddress);
        }
        let region = space.region(first).map_err(|_| Error::BadAddress)?;
        if region.first == first && region.rights.is_some() { Ok(region) } else { Err(Error::BadState) }
    }

    /// At a restart: frees the region of a page of the area, if it is one, or a step of it; the page behind what was freed. When the last one is free the
    /// frames are as they were at the start, so that a new life finds nothing of the former one.
    ///
    /// # Bound
    /// As [`Demand::unmap`] for one.
    pub fn shed(&mut self, space: &mut DomainSpace<A>, page: Page) -> Option<Page> {
        if !self.meets(page, 1) {
            return None;
        }
        let region = space.region(page).ok()?;
        let mut next = region.end;
        if region.rights.is_some() {
            // The region was just seen, so this cannot fail.
            let freed = space.unmap_region(region.first, &mut self.frames).ok()?;
            next = freed.rest.unwrap_or(next);
        }
        if self.frames.forget() {
            self.clear = 0;
        }
        Some(next)
    }
}
