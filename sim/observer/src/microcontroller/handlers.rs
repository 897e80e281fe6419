//! Handlers of a domain that interrupts reach without the kernel. They run in place of whatever they interrupt, a thread or the kernel, to
//! which nothing of it is charged.

use super::{Microcontroller, Modelled, Protects};
use crate::block::flag;
use crate::exceptions::Moment;
use crate::meter;
use crate::per_core::{BlockOf, CoreObserver};

/// What a handler has interrupted.
pub(super) struct Displaced {
    kernel: u32,
    domain: u8,
    meter: meter::Displaced,
    since: Moment,
}

impl<C: Modelled, P: Protects> CoreObserver<Microcontroller<C, P>> {
    /// Whether code runs privileged: the kernel, and handlers in their state.
    #[inline]
    pub(super) fn is_privileged(&self) -> bool {
        self.kernel != 0 || self.family.displaced.is_some() && self.exceptions.innermost().is_some()
    }

    /// Whether the state of handlers runs, but no handler: nothing may be executed then.
    #[inline]
    pub(super) fn is_displaced_thread(&self) -> bool {
        self.family.displaced.is_some() && self.exceptions.innermost().is_none()
    }

    /// Code of the state of handlers runs.
    pub(super) fn displace(&mut self, tb: &BlockOf<Microcontroller<C, P>>) {
        if self.family.displaced.is_none() {
            let owner = self.shared.watch.handlers.as_ref().map_or(self.domain, |handlers| handlers.domain);
            self.settle(0, 0);
            self.end_stretch(self.clock.now());
            let (kernel, domain) = (self.kernel, self.domain);
            self.family.displaced =
                Some(Displaced { kernel, domain, meter: self.meter.displace(owner), since: self.moment() });
            self.become_domain(tb.pc, owner);
        }
        self.kernel = 0;
    }

    /// Secure code runs while handlers have something interrupted. `true`: it is their way in, which is theirs; otherwise what was interrupted goes on, or an exception
    /// was `entered`.
    pub(super) fn replace(&mut self, tb: &BlockOf<Microcontroller<C, P>>, entered: bool) -> bool {
        let way_in = self.shared.watch.handlers.as_ref().is_some_and(|handlers| handlers.way_in.holds(tb.pc, 1));
        if way_in && !entered {
            self.kernel = flag::KERNEL;
            return true;
        }
        let Some(Displaced { kernel, domain, meter, since }) = self.family.displaced.take() else { return false };
        if !entered {
            self.settle(0, 0);
            self.end_stretch(self.clock.now());
            self.meter.replace(meter);
            self.kernel = kernel;
        }
        self.exceptions.exclude(since, self.moment());
        self.become_domain(tb.pc, domain);
        false
    }

    /// Another domain's code runs, without the kernel having said so.
    fn become_domain(&mut self, pc: u32, domain: u8) {
        if self.domain != domain {
            self.leave_slice(pc);
            self.domain = domain;
            self.enter_slice();
        }
    }
}
