//! A core with security states that no emulator runs: who may access what, and exceptions.

use crate::support::{BX_LR, NOP, Told, loads, observe, runs, stores};
use record::{
    Architecture, AttributionWatch, HandlersOwner, HandlersWatch, MeterWatch, ProfileSource, Range, Summary,
    ViolationKind, Watch, observed,
};

/// Code of the kernel and of a domain, both Secure; the trace port; data of the domain; code and data that are Non-secure.
const KERNEL: Range = Range { start: 0x1000_0100, end: 0x1000_0400 };
const DOMAIN: u32 = 0x1000_8000;
const PORT: u32 = 0x3800_0000;
const DATA: u32 = 0x3800_1000;
const HANDLERS: u32 = 0x0020_0000;
const SHARED: u32 = 0x2820_0000;
/// Handlers of the kernel for SecureFault and a system call.
const ON_FAULT: u32 = 0x1000_0200;
const ON_CALL: u32 = 0x1000_0300;
/// Distance of the alias at which Secure code finds Non-secure registers.
const ALIAS: u32 = 0x2_0000;

fn watch() -> Watch {
    Watch {
        profile: ProfileSource::Constant {
            architecture: Architecture::Armv8M,
            cpu_hz: 20_000_000,
            cycles_per_instruction: 1,
            cycles_per_access: 0,
        },
        attribution: Some(AttributionWatch { secure: 1 << 28, callable: 0 }),
        trace_port: Some(PORT),
        kernel_text: vec![KERNEL],
        vectors: vec![ON_FAULT, ON_CALL],
        ..Watch::default()
    }
}

/// Start-up: Non-secure code and data, a domain's code and data in the Secure unit, and an empty Non-secure unit with a background.
fn start() -> Vec<Told> {
    let sau = |region: u32, base: u32, bytes: u32| {
        let control = 0xe000_ed00;
        [stores(control + 0xd8, region), stores(control + 0xdc, base), stores(control + 0xe0, (base + bytes - 32) | 1)]
    };
    let mpu = |region: u32, base: u32, bytes: u32| {
        let unit = 0xe000_ed90;
        [stores(unit + 8, region), stores(unit + 12, base), stores(unit + 16, ((base & !31) + bytes - 32) | 1)]
    };
    let switch = u32::from(abi::trace::Event::Switch as u8) | 3 << 8;
    [
        &[runs(KERNEL.start)][..],
        &sau(0, HANDLERS, 0x4000),
        &sau(1, SHARED, 0x4000),
        &[stores(0xe000_edd0, 1)],
        // Code: read-only, executable. Data: read and write, never executed.
        &mpu(0, DOMAIN | 0b110, 0x1000),
        &mpu(1, DATA | 0b011, 0x400),
        &mpu(2, SHARED | 0b011, 0x400),
        &[stores(0xe000_edc0, 0xff), stores(0xe000_ed94, 5), stores(0xe000_ed94 + ALIAS, 5)],
        &[stores(PORT, 0), stores(PORT + 4, switch)],
    ]
    .concat()
}

fn run(name: &str, watch: Watch, more: &[Told]) -> Summary {
    let told = start().into_iter().chain(more.iter().copied());
    observe(name, watch, told.map(|told| (0, told)).collect()).0
}

fn violations(summary: &Summary) -> Vec<(ViolationKind, u32, u32)> {
    summary.violations.iter().map(|seen| (seen.kind, seen.pc, seen.address)).collect()
}

#[test]
fn a_domain_accesses_what_its_regions_say_of_every_byte() {
    let last = DATA + 0x3fc;
    let more = [
        runs(DOMAIN),
        loads(DOMAIN + 0xffc),
        stores(last, 1),
        loads(SHARED),
        // From here on: beyond the end in part, read-only, the kernel's, Non-secure memory that is not given to it.
        loads(last + 2),
        stores(DOMAIN, 1),
        stores(PORT + 0x40, 1),
        loads(SHARED + 0x400),
        runs(DOMAIN + 0xffe),
        runs(DATA),
    ];
    let summary = run("regions", watch(), &more);
    use ViolationKind::{Execute, Read, Write};
    let denied = [(Read, last + 2), (Write, DOMAIN), (Write, PORT + 0x40), (Read, SHARED + 0x400)]
        .map(|(kind, at)| (kind, DOMAIN, at));
    let denied: Vec<_> = denied.into_iter().chain([(Execute, DATA, DATA)]).collect();
    assert_eq!(violations(&summary), denied);
    assert_eq!(summary.architecture, Architecture::Armv8M);
    assert!(summary.violations.iter().all(|seen| seen.domain == 3));
}

#[test]
fn two_regions_that_overlap_deny_what_both_contain() {
    let unit = 0xe000_ed90;
    let kernel = [
        stores(unit + 8, 5),
        stores(unit + 12, (DATA + 0x3e0) | 0b011),
        stores(unit + 16, (DATA + 0x7e0) | 1),
        runs(DOMAIN),
        stores(DATA + 0x3dc, 1),
        stores(DATA + 0x3e0, 1),
        stores(DATA + 0x400, 1),
    ];
    let summary = run("overlap", watch(), &kernel);
    assert_eq!(violations(&summary), [(ViolationKind::Write, DOMAIN, DATA + 0x3e0)]);
}

#[test]
fn the_address_of_code_decides_in_which_state_it_runs() {
    // Non-secure code is checked by the Non-secure unit, which has no region: nothing is open to it that is not privileged.
    let off = stores(0xe000_ed94 + ALIAS, 0);
    let more = [
        off,
        Told::Has("control_ns", 1),
        runs(HANDLERS),
        loads(SHARED + 0x3000),
        loads(DATA),
        stores(SHARED + 0x3ffe, 1),
        Told::Runs(HANDLERS + 0x3ffc, 3, BX_LR),
        runs(DOMAIN),
        loads(SHARED + 0x3000),
    ];
    let summary = run("states", watch(), &more);
    use ViolationKind::{Execute, Read, Write};
    let denied = [
        (Read, HANDLERS, DATA),
        (Write, HANDLERS, SHARED + 0x3ffe),
        (Execute, HANDLERS + 0x3ffc, HANDLERS + 0x3ffc),
        (Read, DOMAIN, SHARED + 0x3000),
    ];
    assert_eq!(violations(&summary), denied);
}

/// Its unit is on, and has no region.
#[test]
fn thread_mode_of_handlers_is_privileged_as_they_have_set_it() {
    let on = stores(0xe000_ed94 + ALIAS, 5);
    for (n_priv, denied) in [(0, vec![]), (1, vec![(ViolationKind::Read, HANDLERS, SHARED + 0x3000)])] {
        let more = [on, Told::Has("control_ns", n_priv), runs(HANDLERS), loads(SHARED + 0x3000)];
        let seen = violations(&run(&format!("privileged{n_priv}"), watch(), &more));
        let seen: Vec<_> = seen.into_iter().filter(|(kind, ..)| *kind != ViolationKind::Execute).collect();
        assert_eq!(seen, denied);
    }
}

/// A handler makes its statics read-only, in its own unit, and stores to them while that unit is off, or is for all priorities but negative ones.
#[test]
fn the_unit_of_handlers_denies_nothing_while_it_is_off() {
    let unit = 0xe000_ed90;
    let own = SHARED + 0x10;
    let region = [stores(unit + 8, 0), stores(unit + 12, SHARED | 0b100), stores(unit + 16, (SHARED + 0x3fe0) | 1)];
    let begin = [stores(unit + 4 + ALIAS, 5), Told::Has("xpsr", 20), Told::Has("faultmask_ns", 0), runs(HANDLERS)];
    let on = |control: u32, mask: u32| [stores(unit + 4, control), Told::Has("faultmask_ns", mask), stores(own, 1)];
    let whole: Vec<Told> = begin.into_iter().chain(region).chain(on(5, 0)).collect();
    let seen = |name: &str, more: &[Told]| violations(&run(name, watch(), &[&whole[..], more].concat()));
    let denied = (ViolationKind::Write, HANDLERS, own);
    assert_eq!(seen("unit-on", &[]), [denied]);
    // ENABLE and HFNMIENA: off; off, whatever HFNMIENA says; on for all but negative priorities; on for these, too.
    for (name, control, mask, is_open) in
        [("off", 4, 0, true), ("off-2", 6, 0, true), ("spared", 5, 1, true), ("unit-all", 7, 1, false)]
    {
        let expected = if is_open { vec![denied] } else { vec![denied; 2] };
        assert_eq!(seen(name, &on(control, mask)), expected, "{name}");
    }
    // Attribution denies what is Secure, whatever the unit says.
    let secure = [&on(5, 1)[..], &[stores(DATA, 1)]].concat();
    assert_eq!(seen("secure", &secure), [denied, (ViolationKind::Write, HANDLERS, DATA)]);
}

/// What handlers are denied in their unit is not what the kernel has left its own FAULTMASK set for.
#[test]
fn a_mask_of_secure_state_opens_nothing_to_a_domain() {
    let more = [Told::Has("faultmask_s", 1), runs(DOMAIN), stores(DATA + 0x400, 1)];
    assert_eq!(violations(&run("secure-mask", watch(), &more)), [(ViolationKind::Write, DOMAIN, DATA + 0x400)]);
}

#[test]
fn a_secure_fault_takes_its_instruction_back() {
    const STACK: u32 = DATA + 0x200;
    let frame = |pc: u32| (0..8).map(move |word| Told::Holds(STACK + word * 4, if word == 6 { pc } else { 7 }));
    let enter = |number: u32, lr: u32| [Told::Has("xpsr", number), Told::Has("lr", lr), Told::Has("psp_s", STACK)];
    let thread = [Told::Has("xpsr", 0)];
    let more: Vec<Told> = [Told::Runs(DOMAIN, 4, BX_LR)]
        .into_iter()
        .chain(frame(DOMAIN + 4))
        .chain(enter(7, 0xffff_fffd))
        .chain([Told::Runs(ON_FAULT, 2, BX_LR)])
        .chain(thread)
        .chain([Told::Runs(DOMAIN + 0x10, 1, NOP)])
        .chain(enter(11, 0xffff_fffd))
        .chain([Told::Runs(ON_CALL, 3, BX_LR)])
        .chain(thread)
        .chain([runs(DOMAIN + 0x20)])
        .collect();
    let summary = run("faults", watch(), &more);
    assert_eq!(violations(&summary), []);
    let taken: Vec<_> = summary.exceptions.iter().map(|count| (count.number, count.taken)).collect();
    assert_eq!(taken, [(7, 1), (11, 1)]);
    let own = summary.domains.iter().find(|counted| counted.domain == 3).expect("it ran");
    // Two of the block that faulted, one behind the fault, one behind the call.
    assert_eq!((own.instructions, own.kernel_instructions), (4, 5));
    assert_eq!(summary.masked.calls.iter().map(|call| call.call).collect::<Vec<_>>(), [7]);
}

/// Handlers in this code, entered at its begin; their line and the meter's.
const ON_LINE: u16 = 16 + 4;
const ON_LOOK: u16 = 16 + 5;
const STACK: u32 = DATA + 0x200;

fn with_handlers() -> Watch {
    let owner =
        HandlersOwner { domain: 3, code: Range { start: HANDLERS, end: HANDLERS + 0x4000 }, entries: vec![HANDLERS] };
    let handlers = HandlersWatch {
        served: 0,
        owners: vec![owner],
        way_in: Range::default(),
        above: vec![ON_LOOK],
        exceptions: vec![ON_LINE],
        counter: None,
    };
    let meter = Some(MeterWatch::default());
    Watch { handlers: Some(handlers), meter, vectors: vec![ON_FAULT, ON_CALL, HANDLERS], ..watch() }
}

/// The frame of a thread that goes on at an address.
fn frame(pc: u32) -> impl Iterator<Item = Told> {
    (0..8).map(move |word| Told::Holds(STACK + word * 4, if word == 6 { pc } else { 7 }))
}

fn enter(number: u16, lr: u32) -> [Told; 3] {
    [Told::Has("xpsr", number.into()), Told::Has("lr", lr), Told::Has("psp_s", STACK)]
}

/// A vector leads into the middle of the code of handlers: what runs there is privileged, and what it has interrupted goes on as it was.
#[test]
fn a_handler_begins_wherever_its_vector_leads() {
    let other = u32::from(abi::trace::Event::Switch as u8) | 4 << 8;
    let more: Vec<Told> = [stores(PORT, 0), stores(PORT + 4, other), runs(DOMAIN), stores(DATA, 1)]
        .into_iter()
        .chain(enter(ON_LINE, 0xffff_fff8))
        .chain([Told::Has("control_ns", 1), runs(HANDLERS + 0x80), stores(SHARED + 0x3000, 1)])
        .chain([Told::Runs(HANDLERS + 0x82, 1, BX_LR), Told::Has("xpsr", 0)])
        .chain([runs(DOMAIN + 2), stores(DATA, 1), stores(SHARED + 0x3000, 1)])
        .collect();
    let summary = run("middle", with_handlers(), &more);
    // The thread's unit does not permit what is the handlers'.
    assert_eq!(violations(&summary), [(ViolationKind::Write, DOMAIN + 2, SHARED + 0x3000)]);
    assert!(summary.violations.iter().all(|seen| seen.domain == 4), "{:?}", summary.violations);
}

/// A handler's first instruction fails, over a call of the kernel. The fault ends that exception, which nobody has seen, and the call goes on.
#[test]
fn an_exception_that_was_not_seen_ends_no_other() {
    let more: Vec<Told> = [runs(DOMAIN)]
        .into_iter()
        .chain(frame(DOMAIN + 2))
        .chain(enter(11, 0xffff_fffd))
        .chain([runs(ON_CALL)])
        // It leads to nothing; the kernel returns to the end of the handler, and that to the call.
        .chain(enter(7, 0xffff_ffb1))
        .chain([Told::Runs(ON_FAULT, 1, BX_LR), Told::Has("xpsr", ON_LINE.into())])
        .chain([Told::Runs(KERNEL.start, 1, BX_LR), Told::Has("xpsr", 11)])
        .chain([Told::Runs(ON_CALL + 2, 100, BX_LR), Told::Has("xpsr", 0), runs(DOMAIN + 2)])
        .collect();
    let summary = run("unseen", with_handlers(), &more);
    assert_eq!(violations(&summary), []);
    let call = summary.masked.vectors.iter().find(|times| times.exception == 11).expect("it was taken");
    assert!(call.instructions.max > 100, "{call:?}");
}

/// A look of the meter above a handler is told apart from what the handler uses, and from what it has interrupted.
#[test]
fn looks_above_a_handler_are_told_apart_from_it() {
    let more: Vec<Told> = [runs(DOMAIN)]
        .into_iter()
        .chain(frame(DOMAIN + 2))
        .chain(enter(ON_LINE, 0xffff_fff8))
        .chain([Told::Runs(HANDLERS, 10, NOP)])
        // A look, of which no frame is on a Secure stack.
        .chain(enter(ON_LOOK, 0xffff_ffb1))
        .chain([Told::Runs(ON_CALL, 100, BX_LR), Told::Has("xpsr", ON_LINE.into())])
        .chain([Told::Runs(HANDLERS + 0x20, 20, BX_LR), Told::Has("xpsr", 0)])
        .chain([runs(DOMAIN + 2)])
        .collect();
    let told = start().into_iter().chain(more).map(|told| (0, told)).collect();
    let (summary, events, _) = observe("looks", with_handlers(), told);
    assert_eq!(violations(&summary), []);
    let of = |event: u8| {
        events.iter().filter(move |seen| seen.event == event).map(|seen| (seen.domain, seen.detail, seen.payload))
    };
    // Entries and returns take 12 cycles each. That from the look is the handler's again, as its counter has it.
    assert_eq!(of(observed::LOOKED).collect::<Vec<_>>(), [(3, ON_LOOK, 112)]);
    assert_eq!(of(observed::SERVED).collect::<Vec<_>>(), [(3, ON_LINE, 66)]);
}
