//! Following the trace port: which domain is current.

use record::RunEvent;

use crate::api::{MemInfo, api};
use crate::block::InsnInfo;
use crate::clock::CLOCK;
use crate::observer::Observer;

/// Numbers of `abi::trace::Event` that the observer acts on.
mod number {
    pub const SWITCH: u8 = abi::trace::Event::Switch as u8;
    pub const GATE_ENTER: u8 = abi::trace::Event::GateEnter as u8;
    pub const GATE_EXIT: u8 = abi::trace::Event::GateExit as u8;
    pub const MISS: u8 = abi::trace::Event::Miss as u8;
    pub const MARK: u8 = abi::trace::Event::Mark as u8;
    pub const END: u8 = abi::trace::Event::End as u8;
}

/// Acts on a record of the trace port, stored by `insn`.
pub fn follow(observer: &mut Observer, insn: &InsnInfo, event: RunEvent) {
    match event.event {
        number::SWITCH | number::GATE_ENTER | number::GATE_EXIT => enter(observer, insn, event.domain),
        number::MISS => observer.accounts.missed(event.domain),
        number::MARK => observer.disturb_when_marked(event.detail, event.domain),
        number::END => observer.trace_status = Some(event.payload),
        _ => {}
    }
}

fn enter(observer: &mut Observer, insn: &InsnInfo, domain: u8) {
    let cycle = observer.event_cycle(insn);
    observer.settle(observer.charged_behind(insn), insn.after);
    observer.exceptions.start_counting(cycle);
    observer.leave_slice(insn.pc);
    observer.switched(insn.pc);
    if domain != observer.domain {
        observer.accounts.entered(domain);
    }
    observer.domain = domain;
    observer.disturb_domain(domain, cycle);
    observer.enter_slice();
}

impl Observer {
    /// Cycle at which `insn` of the block that runs is over.
    fn event_cycle(&self, insn: &InsnInfo) -> u64 {
        CLOCK.now() - self.charged_behind(insn)
    }

    /// A store to the port.
    #[cold]
    pub(crate) fn trace_port(&mut self, insn: &InsnInfo, info: MemInfo, address: u32) {
        // SAFETY: `info` belongs to the callback that is running.
        let value = unsafe { (api().qemu_plugin_mem_get_value)(info) };
        if address == self.port {
            self.payload = value.low as u32;
            // STRD stores both words at once.
            // SAFETY: as above.
            if unsafe { (api().qemu_plugin_mem_size_shift)(info) } == 3 {
                self.traced(insn, (value.low >> 32) as u32);
            }
        } else if address == self.port + 4 {
            self.traced(insn, value.low as u32);
        }
    }

    fn traced(&mut self, insn: &InsnInfo, header: u32) {
        // No event has number 0: this is the port being cleared at boot.
        if header as u8 == 0 {
            return;
        }
        let event = RunEvent {
            cycle: self.event_cycle(insn),
            event: header as u8,
            domain: (header >> 8) as u8,
            detail: (header >> 16) as u16,
            payload: self.payload,
        };
        self.log.event(event);
        self.log.last_header = header;
        follow(self, insn, event);
    }
}
