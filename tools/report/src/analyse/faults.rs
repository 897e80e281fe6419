//! Faults and what became of the domains.

use abi::trace::Fault;
use record::{Architecture, FaultContext, RunEvent, Summary};

use crate::MAX_FAULTS;
use crate::describe::SystemDescription;
use crate::fault::{self, Account};
use crate::place::{nearest, symbol_of};
use crate::schema::{FaultReport, Outcome};

/// The faults seen so far.
#[derive(Debug, Default)]
pub struct Faults {
    contexts: Vec<FaultContext>,
    architecture: Architecture,
    list: Vec<FaultReport>,
    /// Index in `list` of each domain's latest fault, while nothing became of the domain.
    open: Vec<Option<usize>>,
    /// Faults by domain.
    pub counts: Vec<u64>,
    /// Restarts by domain.
    pub restarts: Vec<u64>,
}

impl Faults {
    /// For so many domains; with what the observer kept of faults.
    pub fn new(domains: usize, summary: &Summary) -> Faults {
        Faults {
            contexts: summary.faults.clone(),
            architecture: summary.architecture,
            open: vec![None; domains],
            counts: vec![0; domains],
            restarts: vec![0; domains],
            ..Faults::default()
        }
    }

    /// A fault; false when there is no such domain. Of a call that ran too long: for how many cycles handlers have interrupted it, and whose.
    pub fn fault(
        &mut self,
        event: &RunEvent,
        (thread, handlers): (Option<String>, (u64, Option<u8>)),
        system: &SystemDescription,
    ) -> bool {
        let domain = usize::from(event.domain);
        let Some(count) = self.counts.get_mut(domain) else { return false };
        *count += 1;
        self.open[domain] = (self.list.len() < MAX_FAULTS).then_some(self.list.len());
        if self.open[domain].is_none() {
            return true;
        }
        let kind = Fault::from_number(event.detail.to_le_bytes()[0]).filter(|_| event.detail < 256);
        let address = u64::from(event.payload);
        let placed = kind.is_none_or(|kind| kind != Fault::GateOverrun);
        let context = self.contexts.iter().find(|kept| kept.cycle == event.cycle && kept.domain == event.domain);
        let place = (event.domain, address);
        let unknown = || Account { what: format!("fault of kind {}", event.detail), ..Account::default() };
        let mut account =
            kind.map_or_else(unknown, |kind| fault::account(system, kind, place, context, self.architecture));
        let handlers = if placed { None } else { handlers.1.zip(Some(handlers.0)) };
        if let Some((whose, cycles)) = handlers {
            let name = system.domains.iter().find(|domain| domain.index == whose).map_or("?", |domain| &domain.name);
            let time = units::Rate::hz(system.cpu_hz.max(1)).us(cycles);
            account.why = format!("handlers of {name} took {time:.1} us of that; the call was unwound");
        }
        let name = system.domains.iter().find(|domain| domain.index == event.domain);
        let mut told = FaultReport {
            at: event.cycle,
            domain: event.domain,
            thread,
            kind: kind.map_or_else(|| format!("kind {}", event.detail), |kind| kind.name().to_owned()),
            address,
            pc: None,
            symbol: None,
            in_handler: false,
            handlers_of: handlers.map(|(whose, _)| whose),
            nearest: if placed { nearest(system, event.domain, address) } else { None },
            outcome: Outcome::Stopped,
            recovery_cycles: None,
            access: account.access,
            what: account.what,
            reason: account.why,
            calls: Vec::new(),
            calls_end: None,
            text: String::new(),
        };
        told.text = fault::text(&told, name.map_or("?", |domain| &domain.name));
        self.list.push(told);
        true
    }

    /// The program counter of the domain's latest fault: none if a handler did it.
    pub fn pc(&mut self, event: &RunEvent, system: &SystemDescription) {
        let has_handlers = system.handlers.iter().any(|handlers| handlers.domain == event.domain);
        if let Some(fault) = self.latest(event.domain) {
            fault.pc = Some(u64::from(event.payload));
            let kind = Fault::from_number(event.detail.to_le_bytes()[0]).filter(|_| has_handlers && event.payload == 0);
            if let Some(account) = kind.and_then(|kind| fault::of_handler(kind, fault.address)) {
                (fault.in_handler, fault.nearest, fault.access) = (true, None, None);
                (fault.what, fault.reason) = (account.what, account.why);
            }
            fault.symbol = symbol_of(system, event.domain, u64::from(event.payload));
            let name = system.domains.iter().find(|domain| domain.index == event.domain);
            fault.text = fault::text(fault, name.map_or("?", |domain| &domain.name));
        }
    }

    /// The domain was restarted; false when there is no such domain.
    pub fn restart(&mut self, event: &RunEvent) -> bool {
        let domain = usize::from(event.domain);
        if let Some(fault) = self.latest(event.domain) {
            fault.outcome = Outcome::Restarted;
            fault.recovery_cycles = Some(event.cycle.saturating_sub(fault.at));
            self.open[domain] = None;
        }
        self.restarts.get_mut(domain).map(|restarts| *restarts += 1).is_some()
    }

    fn latest(&mut self, domain: u8) -> Option<&mut FaultReport> {
        let index = (*self.open.get(usize::from(domain))?)?;
        self.list.get_mut(index)
    }

    /// The faults, in the order in which they happened.
    pub fn into_list(self) -> Vec<FaultReport> {
        self.list
    }
}
