//! The trace port, whose records say which domain is current.

use abi::trace::status_at_end;
use record::{RunEvent, ViolationKind};

use super::{CoreObserver, Family, InsnOf};
use crate::Seen;

/// Numbers of `abi::trace::Event` that the observer acts on.
mod number {
    pub const SWITCH: u8 = abi::trace::Event::Switch as u8;
    pub const GATE_ENTER: u8 = abi::trace::Event::GateEnter as u8;
    pub const GATE_EXIT: u8 = abi::trace::Event::GateExit as u8;
    pub const FAULT: u8 = abi::trace::Event::Fault as u8;
    pub const MISS: u8 = abi::trace::Event::Miss as u8;
    pub const MARK: u8 = abi::trace::Event::Mark as u8;
    pub const END: u8 = abi::trace::Event::End as u8;
}

impl<F: Family> CoreObserver<F> {
    /// A store to the port. What other code than the kernel's stores there is no record: neither is it the end of the run.
    #[cold]
    pub(crate) fn trace_port(&mut self, insn: &InsnOf<F>, seen: &impl Seen, address: u32) {
        let value = seen.value();
        if self.kernel == 0 {
            self.violation(ViolationKind::Write, insn.pc(), address, seen.bytes(), None);
            return;
        }
        if address == self.port {
            self.payload = value as u32;
            // STRD stores both words at once.
            if seen.bytes() == 8 {
                self.traced(insn, (value >> 32) as u32);
            }
        } else if address == self.port + 4 {
            self.traced(insn, value as u32);
        }
    }

    fn traced(&mut self, insn: &InsnOf<F>, header: u32) {
        // No event has number 0: this is the port being cleared at boot.
        if header as u8 == 0 {
            return;
        }
        let event = RunEvent {
            cycle: self.event_cycle(insn),
            core: self.id,
            event: header as u8,
            domain: (header >> 8) as u8,
            detail: (header >> 16) as u16,
            payload: self.payload,
        };
        self.record(event);
        self.shared.log.borrow_mut().last_header = header;
        self.follow(insn, event);
        if let Some(status) = status_at_end(header, self.payload) {
            self.shared.ended.set(Some(status));
            self.tick_by(0);
        }
    }

    /// Acts on a record of the trace port, stored by `insn`.
    fn follow(&mut self, insn: &InsnOf<F>, event: RunEvent) {
        match event.event {
            number::SWITCH | number::GATE_ENTER | number::GATE_EXIT => self.enter(insn, event),
            number::FAULT => self.keep_context(event),
            number::MISS => self.accounts.missed(event.domain),
            number::MARK => self.disturb_when_marked(event.detail, event.domain),
            number::END => self.shared.trace_status.set(Some(event.payload)),
            _ => {}
        }
    }

    fn enter(&mut self, insn: &InsnOf<F>, event: RunEvent) {
        let domain = event.domain;
        let cycle = self.event_cycle(insn);
        self.settle(self.charged_behind(insn), insn.after);
        self.exceptions.start_counting(cycle);
        self.leave_slice(insn.pc());
        self.witness.recorded(&event, self.domain);
        F::switched(self, insn.pc());
        if domain != self.domain {
            self.accounts.entered(domain);
        }
        self.domain = domain;
        self.disturb_domain(domain, cycle);
        self.enter_slice();
    }

    /// Cycle at which `insn` of the block that runs is over.
    fn event_cycle(&self, insn: &InsnOf<F>) -> u64 {
        self.clock.now() - self.charged_behind(insn)
    }
}
