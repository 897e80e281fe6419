//! Following the trace port: which domain is current.

use record::RunEvent;

use crate::block::InsnInfo;
use crate::observer::Observer;

/// Numbers of `abi::trace::Event` that the observer acts on.
mod number {
    pub const SWITCH: u8 = abi::trace::Event::Switch as u8;
    pub const GATE_ENTER: u8 = abi::trace::Event::GateEnter as u8;
    pub const GATE_EXIT: u8 = abi::trace::Event::GateExit as u8;
    pub const MISS: u8 = abi::trace::Event::Miss as u8;
    pub const END: u8 = abi::trace::Event::End as u8;
}

/// Acts on a record of the trace port, stored by `insn`.
pub fn follow(observer: &mut Observer, insn: &InsnInfo, event: RunEvent) {
    match event.event {
        number::SWITCH | number::GATE_ENTER | number::GATE_EXIT => enter(observer, insn, event.domain),
        number::MISS => observer.accounts.missed(event.domain),
        number::END => observer.trace_status = Some(event.payload),
        _ => {}
    }
}

fn enter(observer: &mut Observer, insn: &InsnInfo, domain: u8) {
    observer.settle(insn.cost_after, insn.after);
    observer.exceptions.start_counting(event_cycle(insn));
    observer.leave_slice(insn.pc);
    if domain != observer.domain {
        observer.accounts.entered(domain);
    }
    observer.domain = domain;
    observer.enter_slice();
}

fn event_cycle(insn: &InsnInfo) -> u64 {
    crate::clock::CLOCK.now() - u64::from(insn.cost_after)
}
