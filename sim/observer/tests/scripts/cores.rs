//! Two cores that no emulator runs: each has a state of its own, and records say whose they are.

use crate::support::{loads, observe, runs, stores};
use observer::EndReason;
use record::{Range, ViolationKind, Watch};

/// Code of the kernel and of a domain, the trace port, and what no domain may read.
const KERNEL: Range = Range { start: 0x100, end: 0x200 };
const DOMAIN: u32 = 0x800;
const PORT: u32 = 0x2000_0000;
const DENIED: u32 = 0x2000_1000;
/// `MPU_CTRL`, and its bit that switches the unit on.
const MPU_CTRL: u32 = 0xe000_ed94;

#[test]
fn each_core_has_its_own_domain_permissions_and_counters() {
    let switch = u32::from(abi::trace::Event::Switch as u8);
    let switch_to = |core: usize, domain: u32| {
        [(core, runs(KERNEL.start)), (core, stores(PORT, 0)), (core, stores(PORT + 4, switch | domain << 8))]
    };
    let reads = |core| [(core, runs(DOMAIN)), (core, loads(DENIED))];
    // Core 1 switches its protection unit on, with no region: its domain may access nothing. Core 0 leaves it off.
    let script = [
        &switch_to(0, 3)[..],
        &switch_to(1, 4),
        &[(1, stores(MPU_CTRL, 0b101))],
        &reads(0),
        &reads(1),
        &reads(0),
        &[(0, runs(KERNEL.start)), (1, runs(KERNEL.start))],
    ];
    let watch = Watch { cores: 2, trace_port: Some(PORT), kernel_text: vec![KERNEL], ..Watch::default() };
    let (summary, events, _) = observe("permissions", watch, script.concat());

    let seen: Vec<_> = summary.violations.iter().map(|seen| (seen.core.0, seen.domain, seen.kind)).collect();
    let entry = ViolationKind::KernelEntry;
    assert_eq!(seen, [(1, 4, ViolationKind::Execute), (1, 4, ViolationKind::Read), (0, 3, entry), (1, 4, entry)]);
    let counted = summary.domains.iter().filter(|domain| domain.domain != record::IDLE);
    let counted: Vec<_> = counted.map(|of| (of.core.0, of.domain, of.instructions, of.kernel_instructions)).collect();
    assert_eq!(counted, [(0, 3, 2, 1), (1, 4, 1, 1)]);
    let switches = events.iter().filter(|event| u32::from(event.event) == switch);
    assert_eq!(switches.map(|event| (event.core.0, event.domain)).collect::<Vec<_>>(), [(0, 3), (1, 4)]);
    assert_eq!(summary.instructions, 7);
}

#[test]
fn a_limit_ends_the_run_on_whichever_core_reaches_it() {
    let watch = Watch { cores: 2, instruction_limit: 1, ..Watch::default() };
    let (_, _, ended) = observe("limit", watch, vec![(1, runs(KERNEL.start))]);
    assert_eq!(ended, Some(EndReason::InstructionLimit));
}
