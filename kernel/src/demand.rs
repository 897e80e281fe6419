//! Memory that is mapped at its first touch. A domain makes regions of its own demand area and frees them: no capability is needed, because the pages
//! and the frames are its own, and nobody else has them ([`crate::arch::Protection::touch`]).

use abi::Error;
use protect::AccessKind;

use crate::arch::{Arch, Hardware, Len, Phys, Protection, Virt};
use crate::kernel::Kernel;
use crate::outcome::{DONE, Outcome};

impl<A: Arch> Kernel<A> {
    /// The running thread was refused an access to data. Whether it was the first touch of a page, so that the access is to be repeated: the page is mapped,
    /// or its frame was cleared a bit further.
    ///
    /// # Bound
    /// [`Protection::touch`].
    pub fn on_touch(&mut self, at: Virt<A>, kind: AccessKind) -> bool {
        self.running().is_some() && self.touch(self.here(), at, kind)
    }

    /// Physical address of an aligned word of the running thread's domain, if it is memory that the domain may access so.
    ///
    /// # Bound
    /// A look-up.
    pub fn reach(&self, at: Virt<A>, kind: AccessKind) -> Option<Phys<A>> {
        self.domains[usize::from(self.here())].protection.physical(at, kind).map(|(at, _)| at)
    }

    fn touch(&mut self, domain: u8, at: Virt<A>, kind: AccessKind) -> bool {
        let loaded = self.is_loaded(domain);
        let hardware = Hardware { arch: &mut self.core.arch, shared: &mut self.shared, loaded };
        self.domains[usize::from(domain)].protection.touch(at, kind, hardware)
    }

    /// Before a copy on a domain's behalf: a step of mapping the first or the last page of its range, if that was not touched yet.
    #[inline(always)]
    pub(crate) fn touch_ends(&mut self, domain: u8, base: Virt<A>, len: Len<A>, kind: AccessKind) -> bool {
        // A copy is shorter than a page.
        let last = base.plus(len.minus(1.into()));
        A::Protection::DEMAND && (self.touch(domain, base, kind) || self.touch(domain, last, kind))
    }

    /// `REGION_MAP`.
    ///
    /// # Bound
    /// [`Protection::map_region`].
    #[inline(never)]
    pub(crate) fn region_map(&mut self, at: u32, pages: u32, cuts: u32) -> Result<Outcome, Error> {
        let domain = usize::from(self.here());
        self.domains[domain].protection.map_region(at.into(), pages, cuts)?;
        DONE
    }

    /// `REGION_UNMAP`: one step.
    ///
    /// # Bound
    /// [`Protection::unmap_regions`].
    #[inline(never)]
    pub(crate) fn region_unmap(&mut self, at: u32, count: u32) -> Result<Outcome, Error> {
        let domain = usize::from(self.here());
        match self.domains[domain].protection.unmap_regions(at.into(), count)? {
            Some((at, left)) => Ok(Outcome::Values(at.0.into() as u32, left)),
            None => DONE,
        }
    }
}
