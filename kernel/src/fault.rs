//! Faults, and the end of threads and domains.
//!
//! Stopping a domain is O(1): its epoch changes, and whatever belongs to an older epoch is found dead when it would run
//! next.

use abi::trace::{Event, Fault, header};
use abi::{Error, Kind, rights};
use system::Domain as DomainEntry;
use system::policy;

use crate::arch::{Arch, Virt};
use crate::kernel::Kernel;
use crate::objects::{Activation, Domain, FaultReport, State};
use crate::outcome::Outcome;
use crate::table::Ref;
use crate::virtual_processor::VirtualProcessor;

/// Exit code of a domain that faulted and is not restarted.
pub const FAULTED: u32 = 0xfa;

impl<A: Arch> Kernel<A> {
    /// The running thread faulted for good.
    ///
    /// # Bound
    /// O(1) and one [`Kernel::dispatch`].
    #[cold]
    pub fn on_fault(&mut self, fault: Fault, address: Virt<A>, pc: Virt<A>) {
        if self.running().is_none() {
            // The idle loop touches nothing, so a fault here means that the kernel itself is wrong.
            self.arch.end(u32::MAX);
            return;
        }
        let domain = self.here();
        // The trace and the report have words, whatever the width of an address.
        if self.fault_in(domain, fault, address.wide().0 as u32, pc.wide().0 as u32) {
            // The thread pays for waking the supervisor (rule (c)): out of its budget, and out of
            // the bounds of the gates that the call came from, which have kept the slack for that.
            let now = self.arch.ticks();
            self.pay_at(now, self.activation);
        }
        self.recheck = true;
        self.dispatch();
    }

    /// A direct handler did what its domain is stopped for. The thread that runs is often another
    /// domain's, and has nothing to do with it. Returns the ticks that the handlers' server is to
    /// pay for waking the supervisor.
    ///
    /// # Bound
    /// As [`Kernel::on_fault`].
    #[cold]
    pub fn on_handlers_fault(&mut self, domain: u8, fault: Fault, address: Virt<A>) -> u32 {
        let woken = self.fault_in(domain, fault, address.wide().0 as u32, 0);
        self.recheck = true;
        self.dispatch();
        if woken { self.activation } else { 0 }
    }

    /// `OCCUPY`.
    ///
    /// # Bound
    /// That of [`VirtualProcessor::occupy`].
    pub(crate) fn occupy(&mut self, handle: u32) -> Result<Outcome, Error> {
        let domain = self.lookup(handle, Kind::Domain, rights::WRITE)?.object() as u8;
        if !self.arch.virtual_processor().occupy(domain) {
            return Err(Error::BadState);
        }
        self.arch.trace(header(Event::Occupy, domain, 0), 0);
        Ok(Outcome::Values(0, 0))
    }

    /// Records a fault of a domain and stops it. Returns true if that has woken its supervisor:
    /// whoever is to blame pays for an activation.
    pub(crate) fn fault_in(&mut self, index: u8, fault: Fault, address: u32, pc: u32) -> bool {
        self.arch.trace(header(Event::Fault, index, fault as u16), address);
        self.arch.trace(header(Event::FaultPc, index, fault as u16), pc);
        let domain = self.domain_mut(index);
        if domain.fault.kind == 0 {
            domain.fault = FaultReport { kind: fault as u8, address };
        }
        let supervisor = domain.fault_notification;
        self.stop_domain(index);
        let woken = supervisor.is_some_and(|notification| self.notify(notification, 1 << (index & 31)));
        let entry: DomainEntry = self.tables.get(usize::from(index));
        if entry.policy != policy::RESTART {
            self.finished(index, FAULTED);
        }
        woken
    }

    /// Stops a domain: nothing of it runs again until it has been restarted.
    ///
    /// # Bound
    /// O(1).
    pub(crate) fn stop_domain(&mut self, index: u8) {
        if let Some(domain) = self.domains.find(usize::from(index)) {
            self.end_domain(domain);
        }
        self.arch.virtual_processor().stopped(index);
        self.recheck = true;
    }

    /// As [`Kernel::stop_domain`], for a domain whose own thread ends it: nothing else is to be
    /// looked at.
    #[inline(always)]
    fn end_domain(&mut self, domain: Ref<Domain<A>>) {
        let domain = self.domains.at_mut(domain);
        // A stopped domain has no activations; counting again and again would only bring an old epoch round.
        if domain.life.runs() {
            domain.epoch = domain.epoch.wrapping_add(1);
        }
        domain.life = domain.life.stopped();
    }

    /// `FAULT_NEXT`. A function of its own, as [`Kernel::budget_query`].
    #[inline(never)]
    pub(crate) fn fault_next(&mut self, handle: u32) -> Result<Outcome, Error> {
        let cap = self.lookup(handle, Kind::Domain, rights::READ)?;
        let report = core::mem::take(&mut self.domain_mut(cap.object() as u8).fault);
        Ok(Outcome::Values(u32::from(report.kind), report.address))
    }

    #[inline(always)]
    pub(crate) fn exit(&mut self, code: u32) -> Result<Outcome, Error> {
        self.outside_gates()?;
        let Activation { domain: here, place, .. } = *self.top();
        self.block_current(State::Ended);
        let domain = self.domains.at_mut(here);
        domain.living = domain.living.saturating_sub(1);
        if domain.living > 0 && code == 0 {
            return Ok(Outcome::Later);
        }
        let index = (place >> 8) as u8;
        self.arch.trace(header(Event::Exit, index, 0), code);
        self.end_domain(here);
        self.arch.virtual_processor().stopped(index);
        if self.domains.at(here).awaited {
            self.finished(index, code);
        }
        Ok(Outcome::Later)
    }

    /// Notes that a domain will not run any more. The run ends when the last domain that it waits
    /// for has finished.
    #[inline(never)]
    fn finished(&mut self, index: u8, code: u32) {
        if !core::mem::replace(&mut self.domain_mut(index).awaited, false) {
            return;
        }
        if self.status == 0 {
            self.status = code;
        }
        self.awaited -= 1;
        if self.awaited == 0 {
            self.arch.trace(header(Event::End, index, 0), self.status);
            self.arch.end(self.status);
        }
    }
}
