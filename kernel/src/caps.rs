//! Capabilities: copying, granting, deleting, revoking.

use core::sync::atomic::Ordering::Relaxed;

use abi::{Error, Kind, rights};
use system::Cap as CapEntry;

use crate::arch::Arch;
use crate::kernel::Kernel;
use crate::objects::Cap;
use crate::outcome::{DONE, Outcome};

impl<A: Arch> Kernel<A> {
    /// The capability in a slot of the running thread's domain, of any kind: copying and granting
    /// need no more.
    fn any(&self, handle: u32) -> Result<Cap, Error> {
        let kind = self.domain(self.here()).caps.get(handle as usize).ok_or(Error::BadHandle)?.kind;
        if kind == Kind::Empty {
            return Err(Error::BadHandle);
        }
        self.lookup(handle, kind, 0)
    }

    /// Puts one initial capability into its slot if it belongs to the domain and was not revoked,
    /// and marks it, so that a restart does not empty the slot.
    #[inline(never)]
    pub(crate) fn install(&mut self, index: u8, record: &CapEntry) {
        if record.domain != u32::from(index) {
            return;
        }
        let Some(kind) = Kind::from_number(record.kind as u8) else { return };
        let Some(place) = self.place_of(kind, record.object as usize) else { return };
        let word = if kind == Kind::Gate { record.badge } else { record.object };
        let mut cap = Cap { kind, rights: record.rights as u8 | Cap::INITIAL, generation: 0, word, place };
        cap.generation = self.generation(&cap);
        let held = &mut self.domain_mut(index).caps[record.slot as usize];
        if cap.generation == 0 {
            *held = cap;
        } else if held.generation == cap.generation && held.is_to_same(&cap) {
            held.rights |= Cap::INITIAL;
        }
    }

    #[inline(never)]
    pub(crate) fn cap_copy(&mut self, from: u32, to: u32, mask: u32) -> Result<Outcome, Error> {
        let here = self.here();
        self.transfer(from, here, to, mask)
    }

    #[inline(never)]
    pub(crate) fn cap_grant(&mut self, domain: u32, from: u32, to: u32, mask: u32) -> Result<Outcome, Error> {
        let target = self.lookup(domain, Kind::Domain, rights::WRITE)?;
        if self.any(from)?.rights & rights::GRANT == 0 {
            return Err(Error::NoRight);
        }
        self.transfer(from, target.object() as u8, to, mask)
    }

    fn transfer(&mut self, from: u32, domain: u8, to: u32, mask: u32) -> Result<Outcome, Error> {
        let cap = self.any(from)?;
        let kept = cap.rights & mask as u8;
        if mask > u32::from(rights::ALL) || kept == 0 || u32::from(kept) != mask {
            return Err(Error::NoRight);
        }
        let slot = self.domain_mut(domain).caps.get_mut(to as usize).ok_or(Error::BadSlot)?;
        if slot.kind != Kind::Empty {
            return Err(Error::BadSlot);
        }
        *slot = Cap { rights: kept, ..cap };
        DONE
    }

    #[inline(never)]
    pub(crate) fn cap_delete(&mut self, handle: u32) -> Result<Outcome, Error> {
        let here = self.here();
        let slot = self.domain_mut(here).caps.get_mut(handle as usize).ok_or(Error::BadHandle)?;
        if slot.kind == Kind::Empty {
            return Err(Error::BadHandle);
        }
        *slot = Cap::EMPTY;
        DONE
    }

    /// `REVOKE`: the object's generation changes; only the caller's own capability follows.
    ///
    /// # Bound
    /// O(1).
    #[inline(never)]
    pub(crate) fn revoke(&mut self, handle: u32) -> Result<Outcome, Error> {
        let cap = self.any(handle)?;
        if cap.rights & rights::GRANT == 0 {
            return Err(Error::NoRight);
        }
        let index = usize::from(cap.object());
        // A generation that comes round could revive an old capability, so an object whose generations are used up
        // refuses further revocation.
        if cap.generation >= u16::MAX - 1 {
            return Err(Error::Full);
        }
        let fresh = cap.generation + 1;
        let generation = match cap.kind {
            Kind::Gate => cap.gate().map(|gate| &mut self.activations.at_mut(gate).generation),
            Kind::Notification => Some(&mut self.notifications[index].generation),
            Kind::Domain => Some(&mut self.domains[index].generation),
            Kind::Thread => Some(&mut self.threads[index].generation),
            Kind::Budget => self.budgets.get_mut(index).map(|budget| &mut budget.generation),
            Kind::Interrupt => Some(&mut self.interrupts[index].generation),
            Kind::Frames => Some(&mut self.ranges[index].generation),
            Kind::Empty => return Err(Error::WrongKind),
        };
        match generation {
            Some(generation) => *generation = fresh,
            None => self.server(index).into_iter().for_each(|server| server.store(fresh, Relaxed)),
        }
        let here = self.here();
        self.domain_mut(here).caps[handle as usize].generation = fresh;
        DONE
    }
}
