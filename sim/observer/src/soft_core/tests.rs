use std::fs::File;

use abi::Call;
use record::{ClockWatch, ContextWatch, DomainWatch, EventsReader, MeterWatch, ProbeWatch, Range, StackWatch};

use super::*;

const CHIP: &str =
    "name = \"chip\"\ncore_clock = { value = 50_000_000, unit = \"hz\", source = \"assumption: a test\" }\n";

fn watch(directory: &Path) -> Watch {
    let stack =
        |domain, start| StackWatch { domain, thread: Some(domain.into()), range: Range { start, end: start + 16 } };
    let context = |domain: u8, space| ContextWatch { domain, space: Some(space), code: Vec::new() };
    Watch {
        profile: ProfileSource::Text(CHIP.into()),
        events: directory.join("events.bin"),
        summary: directory.join("summary.json"),
        trace_port: Some(0x100),
        clock: Some(ClockWatch { register: 0x200, down: false }),
        // Both domains have their stack at the same address.
        meter: Some(MeterWatch {
            contexts: vec![context(0, 0x1000), context(1, 0)],
            stacks: vec![stack(0, 0x8000_0000), stack(1, 0x8000_0000)],
            clock: Vec::new(),
        }),
        ..Watch::default()
    }
}

fn header(event: Event, domain: u8) -> u32 {
    abi::trace::header(event, domain, 0)
}

#[test]
fn every_cycle_has_an_owner() {
    let directory = std::env::temp_dir().join(format!("cofferdam-soft-core-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let watch = watch(&directory);
    let mut observer = SoftCore::begin(watch.clone()).unwrap();
    let mut see = |cycle, instructions, happened| observer.see(At { cycle, instructions }, happened);
    see(50, 20, Happened::Traced { header: header(Event::Switch, 1), payload: 0 });
    see(100, 40, Happened::Left { pc: 4, sp: 0x8000_0010, space: 0 });
    see(300, 50, Happened::Entered { exception: CALL, pc: 8, call: 4 });
    see(330, 60, Happened::Clock { value: 1000 });
    see(340, 65, Happened::Traced { header: header(Event::Switch, record::IDLE), payload: 0 });
    see(1350, 70, Happened::Woke { slept: 1000, exception: Some(23) });
    see(1360, 75, Happened::Clock { value: 2030 });
    see(1370, 80, Happened::Traced { header: header(Event::Switch, 0), payload: 0 });
    see(1410, 90, Happened::Left { pc: 4, sp: 0x8000_0010, space: 0x1000 });
    observer.finish(At { cycle: 1510, instructions: 95 }, EndReason::Exit).unwrap();

    let summary = Summary::from_json(&fs::read_to_string(&watch.summary).unwrap()).unwrap();
    let of = |domain: u8| *summary.domain(domain).unwrap();
    assert_eq!((of(1).cycles, of(1).kernel_cycles, of(1).instructions), (200, 50 + 40, 10));
    assert_eq!((of(0).cycles, of(0).kernel_cycles), (100, 40));
    assert_eq!((of(record::IDLE).sleep_cycles, of(record::IDLE).kernel_cycles), (1000, 50 + 10 + 20));
    let all: u64 = summary.domains.iter().map(|own| own.cycles + own.kernel_cycles + own.sleep_cycles).sum();
    assert_eq!((all, summary.cycles, summary.sleep_cycles), (1510, 1510, 1000));
    assert!(summary.exact && summary.broken_stretches == 0);
    // The call until the core slept, and the timer from when it woke.
    let longest = summary.masked.longest.unwrap();
    assert_eq!((longest.exception, longest.cycles), (23, 60));
    let clock = summary.clock.unwrap();
    assert_eq!((clock.reads, clock.counts, clock.cycles), (2, 1030, 1030));

    let events: Vec<RunEvent> =
        EventsReader::new(File::open(&watch.events).unwrap()).unwrap().map(Result::unwrap).collect();
    let ran: Vec<(u8, u16, u32)> = events
        .iter()
        .filter(|event| event.event == observed::RAN)
        .map(|event| (event.domain, event.detail, event.payload))
        .collect();
    assert_eq!(ran, [(1, 1, 200), (0, 0, 100)]);
    let counted: u32 = events
        .iter()
        .filter(|event| [observed::RAN, observed::HANDLED, observed::SLEPT].contains(&event.event))
        .map(|event| event.payload)
        .sum();
    assert_eq!(counted, 1510);
    fs::remove_dir_all(&directory).unwrap();
}

/// Both domains have code at the address at which the probe starts; a handler's stretch begins when the exception is taken.
#[test]
fn a_probe_starts_in_its_own_domain() {
    let directory = std::env::temp_dir().join(format!("cofferdam-probes-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let probe =
        |start, end, start_domain| ProbeWatch { name: "p".into(), start, end, start_domain, end_domain: Some(0) };
    let probes = vec![probe(0x8000_1000, 0x8000_2000, Some(0)), probe(0x40, 0x8000_2000, None)];
    let watch = Watch { probes, vectors: vec![0x40], ..watch(&directory) };
    let mut observer = SoftCore::begin(watch.clone()).unwrap();
    let mut see = |cycle, happened| observer.see(At { cycle, instructions: cycle / 2 }, happened);
    see(10, Happened::Traced { header: header(Event::Switch, 0), payload: 0 });
    see(20, Happened::Reached { pc: 0x8000_1000 });
    see(30, Happened::Entered { exception: 23, pc: 0x8000_1004, call: 0 });
    see(32, Happened::Reached { pc: 0x40 });
    see(40, Happened::Traced { header: header(Event::Switch, 1), payload: 0 });
    see(50, Happened::Reached { pc: 0x8000_1000 });
    see(60, Happened::Reached { pc: 0x8000_2000 });
    see(70, Happened::Traced { header: header(Event::Switch, 0), payload: 0 });
    see(80, Happened::Reached { pc: 0x8000_2000 });
    observer.finish(At { cycle: 100, instructions: 50 }, EndReason::Exit).unwrap();
    let summary = Summary::from_json(&fs::read_to_string(&watch.summary).unwrap()).unwrap();
    let seen: Vec<_> = summary.probes.iter().map(|probe| (probe.cycles.count, probe.cycles.max)).collect();
    assert_eq!(seen, [(1, 60), (1, 50)]);
    fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn what_cannot_be_observed_is_refused() {
    let directory = std::env::temp_dir();
    let refused = [
        Watch { adverse: true, ..watch(&directory) },
        Watch { cores: 2, ..watch(&directory) },
        Watch { debugger: true, ..watch(&directory) },
        Watch { profile: ProfileSource::Text("name = \"chip\"".into()), ..watch(&directory) },
        Watch { profile: ProfileSource::default(), ..watch(&directory) },
    ];
    assert!(refused.into_iter().all(|watch| SoftCore::begin(watch).is_err()));
}

#[test]
fn stores_in_slices_of_a_hostile_domain_are_judged_one_by_one() {
    let directory = std::env::temp_dir().join(format!("cofferdam-soft-core-stores-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let own = |domain: u8, start: u32, hostile| DomainWatch {
        domain,
        hostile,
        ram: vec![Range { start, end: start + 0x100 }],
        may_store: vec![Range { start: 0x8000, end: 0x8100 }],
    };
    let domains = vec![own(0, 0x4000, false), own(1, 0x5000, true)];
    let watch = Watch { domains, ..watch(&directory) };
    let mut observer = SoftCore::begin(watch.clone()).unwrap();
    let mut cycle = 0;
    let mut see = |happened| {
        cycle += 10;
        observer.see(At { cycle, instructions: cycle }, happened);
    };
    let switch = |domain| Happened::Traced { header: header(Event::Switch, domain), payload: 0 };
    let stored = |kernel, physical| Happened::Stored { physical, kernel };
    // Nobody is hostile yet.
    see(stored(true, 0x4000));
    see(switch(0));
    see(stored(true, 0x5000));
    see(stored(false, 0x5000));
    see(switch(1));
    for harmless in [(true, 0x5000), (false, 0x50fc), (false, 0x80fc), (true, 0x0), (true, 0x40fc + 4)] {
        see(stored(harmless.0, harmless.1));
    }
    see(switch(1));
    for harmful in [(true, 0x4000), (true, 0x40fc), (false, 0x4000), (false, 0x6000)] {
        see(stored(harmful.0, harmful.1));
    }
    see(switch(0));
    see(stored(true, 0x4000));
    // A callee's answer in its caller's memory, and no more than that.
    let gate = |event, domain| Happened::Traced { header: header(event, domain), payload: 0 };
    let call = |call: Call| Happened::Entered { exception: super::CALL, pc: 0x8000_1000, call: call as u32 };
    see(gate(Event::GateEnter, 1));
    see(call(Call::GateCopyOut));
    see(stored(true, 0x4000));
    see(Happened::Left { pc: 0x8000_1004, sp: 0x8000_0008, space: 0 });
    see(call(Call::Yield));
    see(stored(true, 0x4004));
    see(gate(Event::GateExit, 0));
    see(stored(true, 0x4000));
    observer.finish(At { cycle: 1000, instructions: 1000 }, EndReason::Exit).unwrap();
    let summary = Summary::from_json(&fs::read_to_string(&watch.summary).unwrap()).unwrap();
    let witness = summary.witness;
    assert_eq!((witness.slices, witness.checked_slices, witness.changed_slices), (3, 3, 2));
    assert_eq!((witness.stores, witness.stores_outside), (4, 2));
    let found: Vec<_> = summary.violations.iter().map(|found| (found.kind, found.address, found.victim)).collect();
    let [changed, store] = [ViolationKind::MemoryChanged, ViolationKind::HostileStore];
    let expected = [
        (changed, 0x4000, Some(0)),
        (changed, 0x40fc, Some(0)),
        (store, 0x4000, None),
        (store, 0x6000, None),
        (changed, 0x4004, Some(0)),
    ];
    assert_eq!(found, expected);
    fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn the_first_faults_of_a_domain_have_their_places_and_kinds_of_access() {
    let directory = std::env::temp_dir().join(format!("cofferdam-soft-core-faults-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let watch = watch(&directory);
    let mut observer = SoftCore::begin(watch.clone()).unwrap();
    let mut see = |cycle, happened| observer.see(At { cycle, instructions: cycle }, happened);
    see(10, Happened::Traced { header: header(Event::Switch, 1), payload: 0 });
    see(20, Happened::Left { pc: 0x8000_1000, sp: 0x8000_0008, space: 0 });
    let causes = [3, 4, 5, 6, 7, 2, 8, 23];
    for (number, exception) in (0_u64..).zip(causes.into_iter().cycle().take(20)) {
        see(30 + 20 * number, Happened::Entered { exception, pc: 0x8000_1000 + number as u32, call: 0 });
        if number == 1 {
            see(40, Happened::Held { number: 3, values: [7, 8] });
            see(40, Happened::OnStack { address: 0x8000_0008, values: [1, 2] });
            see(40, Happened::OnStack { address: 0x8000_0010, values: [3, 4] });
        }
        see(40 + 20 * number, Happened::Traced { header: header(Event::Fault, 1), payload: 0 });
    }
    observer.finish(At { cycle: 1000, instructions: 1000 }, EndReason::Exit).unwrap();
    let summary = Summary::from_json(&fs::read_to_string(&watch.summary).unwrap()).unwrap();
    assert_eq!(summary.faults.len(), CONTEXTS_PER_DOMAIN);
    let deeds = summary.faults.iter().map(|fault| fault.instruction).take(8);
    let [trap, read, write] = [Deed::Trap, Deed::Read, Deed::Write].map(Some);
    assert_eq!(deeds.collect::<Vec<_>>(), [trap, read, read, write, write, None, None, None]);
    for (number, fault) in (0..).zip(&summary.faults) {
        assert_eq!((fault.cycle, fault.domain, fault.stack_of), (40 + 20 * u64::from(number), 1, Some(1)));
        assert_eq!(fault.registers[32], Some(0x8000_1000 + number));
        let held = number == 1;
        assert_eq!(fault.registers[2..6], [None, held.then_some(7), held.then_some(8), None]);
        assert_eq!((fault.stack_at, fault.stack.len()), if held { (0x8000_0008, 16) } else { (0, 0) });
    }
    fs::remove_dir_all(&directory).unwrap();
}
