//! Texts about faults.

use abi::trace::{Event, Fault};
use record::{Deed, FaultContext, Summary};

use super::{START, at, summary, system};
use crate::describe::{Area, Handlers, Stack, SystemDescription};

/// The report of one fault at 100 with this context.
fn told(fault: Fault, address: u32, context: FaultContext) -> String {
    let area = |name: &str, base, access: &str| Area {
        name: name.to_owned(),
        base,
        bytes: 0x100,
        access: access.to_owned(),
        memory: if name == "uart" { "device" } else { "ram" }.to_owned(),
        ..Area::default()
    };
    let mut system = system();
    system.domains[0].areas =
        vec![area("code", 0x1_0000, "rx"), area("data", 0x2_0000, "rw"), area("uart", 0x4_0000, "rw")];
    system.domains[1].areas = vec![area("heap", 0x3_0000, "rw")];
    system.kernel_areas = vec![area("tables", 0x5_0000, "r")];
    system.stacks = vec![Stack { domain: 0, thread: Some(0), base: 0x2_0000, bytes: 0x800 }];
    let domain = system.domains[0].index;
    let seen = Summary { faults: vec![FaultContext { cycle: 100, domain, ..context }], ..summary(500) };
    let events =
        [START, at(100, Event::Fault, domain, fault as u16, address), at(100, Event::FaultPc, domain, fault as u16, 0)];
    let report = super::report(&system, &seen, events);
    let fault = &report.faults[0];
    let name = &report.domains[0].name;
    fault.text.strip_prefix(&format!("{name}: ")).unwrap_or(&fault.text).to_owned()
}

fn doing(instruction: Deed) -> FaultContext {
    FaultContext { instruction: Some(instruction), status: Some(u32::MAX), ..FaultContext::default() }
}

#[test]
fn every_reason_has_its_words() {
    let data = |address, deed| told(Fault::Data, address, doing(deed));
    assert_eq!(data(0, Deed::Write), "write to 0x0: no area here; null pointer?");
    assert_eq!(data(0xffc, Deed::Read), "read from 0xffc: no area here; null pointer?");
    assert_eq!(data(0x1_0004, Deed::Write), "write to 0x10004: `code` is read-only");
    assert_eq!(data(0x2_0100, Deed::Write), "write to 0x20100: no area here; 1 byte above `data`");
    assert_eq!(data(0x1_fff0, Deed::Read), "read from 0x1fff0: no area here; 16 bytes below `data`");
    assert!(data(0x3_0010, Deed::Read).starts_with("read from 0x30010: `heap` of domain "));
    assert_eq!(data(0x5_0000, Deed::Other), "access to 0x50000: the kernel's (tables)");
    assert_eq!(data(0x4_0000, Deed::Write), "write to 0x40000: device `uart` does not take an access like this");
    assert_eq!(data(0x9000_0000, Deed::Read), "read from 0x90000000: no area here");
    assert_eq!(told(Fault::Execute, 0x2_0000, doing(Deed::Other)), "execution at 0x20000: `data` is not executable");
    let usage = |deed| told(Fault::Usage, 0x1_0000, doing(deed));
    assert_eq!(usage(Deed::Write), "unaligned write");
    assert_eq!(usage(Deed::Divide), "division by zero");
    assert_eq!(usage(Deed::Undefined), "undefined instruction");
    assert_eq!(usage(Deed::System), "privileged instruction: domains run unprivileged");
    assert_eq!(usage(Deed::Trap), "trap instruction: an abort, or an assertion that failed");
    let arm = FaultContext { status: Some(0), ..doing(Deed::Other) };
    assert_eq!(told(Fault::Usage, 0, arm), "jump to code of another instruction set: bit 0 of the address was clear");
}

#[test]
fn a_stack_that_overflows_is_named_with_its_size() {
    let context = FaultContext { stack_of: Some(0), ..FaultContext::default() };
    let text = told(Fault::Stack, 0x1_fff0, context.clone());
    assert!(text.starts_with("stack of ") && text.ends_with(" (2 KiB) overflowed by 16 bytes"), "{text}");
    let text = told(Fault::Stack, 0x9_0000, context);
    assert!(text.starts_with("the stack pointer left the stack of ") && text.ends_with("for 0x90000"), "{text}");
}

#[test]
fn a_fault_without_context_or_of_an_unknown_kind_is_told_all_the_same() {
    assert_eq!(told(Fault::Data, 0, FaultContext::default()), "access to 0x0: no area here; null pointer?");
}

/// Of a handler's fault there is no program counter, and the thread that it interrupted has nothing to do with it.
#[test]
fn a_fault_in_a_handler_is_not_its_threads() {
    let mut system = system();
    let domain = system.domains[0].index;
    let event = |kind: Fault, address, pc| {
        [START, at(100, Event::Fault, domain, kind as u16, address), at(100, Event::FaultPc, domain, kind as u16, pc)]
    };
    let text = |system: &SystemDescription, events| {
        let report = super::report(system, &summary(500), events);
        (report.faults[0].in_handler, report.faults[0].text.clone())
    };
    assert!(!text(&system, event(Fault::Data, 0, 0)).0, "it has no handlers");
    system.handlers = vec![Handlers { domain, period_ticks: 100, capacity_ticks: 10, beyond_ticks: 0 }];
    assert!(!text(&system, event(Fault::Data, 0, 4)).0, "its thread did it");
    let name = &system.domains[0].name;
    let (in_handler, told) = text(&system, event(Fault::Data, 0x2000_0000, 0));
    assert!(in_handler);
    assert_eq!(told, format!("{name}, in a handler: access to 0x20000000: not open to its handlers"));
}
