//! Memory that is mapped at its first touch. A domain makes regions of its own demand area and frees them: no capability is needed, because the pages
//! and the frames are its own, and nobody else has them ([`crate::arch::Protection::touch`]).

use abi::Error;
use protect::AccessKind;

use crate::arch::{Arch, Hardware, Len, Phys, Protection, Untouched, Virt};
use crate::kernel::Kernel;
use crate::objects::Activation;
use crate::outcome::{DONE, Outcome};
use crate::table::Ref;

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
        let hardware = Hardware { arch: &mut self.arch, shared: &mut self.shared, loaded };
        self.domains[usize::from(domain)].protection.touch(at, kind, hardware)
    }

    /// Takes a step of mapping the first or the last page of a callee's own range before a copy, if
    /// that was not touched yet. The callee pays for its own pages, so they need not be refused as
    /// a caller's are.
    #[inline(always)]
    pub(crate) fn touch_ends(&mut self, callee: u8, base: Virt<A>, len: Len<A>, kind: AccessKind) -> bool {
        A::Protection::DEMAND && Self::ends(base, len).into_iter().any(|at| self.touch(callee, at, kind))
    }

    /// Returns true if the first or the last page of a caller's range was never touched, before a
    /// copy between the caller and its callee. Mapping the page takes time for which the gate's
    /// bound does not stand. So the callee is refused and gives the error back, and the caller
    /// touches the page at its own expense ([`Kernel::told`]).
    #[inline(always)]
    pub(crate) fn meets_untouched(&mut self, caller: u8, base: Virt<A>, len: Len<A>, kind: AccessKind) -> bool {
        if !A::Protection::DEMAND {
            return false;
        }
        let protection = &self.domain(caller).protection;
        let Some(at) = Self::ends(base, len).into_iter().find(|at| protection.is_untouched(*at, kind)) else {
            return false;
        };
        let gate = self.activations.at_mut(self.resume);
        gate.untouched.note(at);
        // So that the way back is not the short one.
        gate.disturbed = true;
        true
    }

    /// The first and the last byte of a copy. They are in all pages that it touches, because a copy
    /// is shorter than a page.
    fn ends(base: Virt<A>, len: Len<A>) -> [Virt<A>; 2] {
        [base, base.plus(len.minus(1.into()))]
    }

    /// What the caller is told when a gate returns. `UNTOUCHED` is the kernel's word: it comes with an address of a page of the caller that was
    /// found untouched in this call, and from a callee that has met none it is `BAD_ADDRESS`. The caller may touch that address without a look at it.
    pub(crate) fn told(&mut self, gate: Ref<Activation<A>>, status: u32, value: u32) -> (u32, u32) {
        let untouched = self.activations.at_mut(gate).untouched.take();
        match untouched {
            _ if status != Error::Untouched.status() || !A::Protection::DEMAND => (status, value),
            Some(at) => (status, at.wide().0 as u32),
            None => (Error::BadAddress.status(), value),
        }
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
