//! Random systems against a model that knows nothing of chunks, units and tables: for each domain, what each page of its address space is and
//! what it may do there. Whatever is placed gives every domain what it asked for and nothing else; whatever cannot be is refused.

mod model;

use manifest::SchemeName;
use manifest::resolved::*;
use manifest::{FaultPolicy, Replacement};
use spec::{
    AccessLevel, Costs, Hardware, Linear, MemoryClass, Method, Platform, Rule, Sizes, TablePlace, TemporalSpec, Work,
};
use system::area::{NEAR, PINNED};
use system::vmsav7::{PAGE, TABLE};

use crate::elf::{Kernel, Program};
use crate::error::PlaceError;
use crate::placed::ImageSizes;
use crate::plan::Plan;
use crate::spot::Spot;
use model::{holds, justified};

const DDR: (u32, u32) = (0x0010_0000, 0x1000_0000);
const TABLES: (u32, u32) = (0xfffe_0000, 0x1_f000);
/// Index of the memory on the chip.
const OCM: usize = 1;
const UART: u32 = 0xe000_0000;
const DEVICE_OFFSET: u32 = 0x8000_0000;
const MIB: u32 = 1 << 20;

/// xorshift32 (Marsaglia 2003).
struct Random(u32);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 % limit
    }

    /// Sizes of all orders, and those at borders of pages, large pages and sections.
    fn bytes(&mut self, most_log2: u32) -> u32 {
        let border = [PAGE, 16 * PAGE, MIB][self.below(3) as usize];
        match self.below(4) {
            0 if border >> most_log2 == 0 => border + self.below(3) - 1,
            _ => {
                let log2 = self.below(most_log2).max(4);
                1 + self.below(1 << log2)
            }
        }
    }

    fn spec(&mut self) -> TemporalSpec {
        let levels = [AccessLevel::BestEffort, AccessLevel::BestEffort, AccessLevel::L2, AccessLevel::L2];
        let rare = [AccessLevel::L1, AccessLevel::Deterministic];
        TemporalSpec::level(if self.below(12) == 0 {
            rare[self.below(2) as usize]
        } else {
            levels[self.below(4) as usize]
        })
    }
}

fn area(spec: TemporalSpec, extra: u32) -> Area {
    Area { memory: 0, spec, at: None, extra }
}

/// A domain that asks for least, and its program.
fn small(name: &str, level: AccessLevel) -> (Domain, Program) {
    let spec = TemporalSpec::level(level);
    let thread = Thread {
        name: "main".into(),
        entry: None,
        argument: 0,
        stack_bytes: 1024,
        priority: 1,
        budget: 0,
        period: None,
        deadline: None,
        own_deadline: false,
        wcet: None,
        misses: 0,
        calls: Vec::new(),
        activations: 0,
        reload: None,
    };
    let domain = Domain {
        name: name.into(),
        code: area(spec, 0),
        data: area(spec, 0),
        stack: area(spec, 0),
        heap: None,
        envelopes: Vec::new(),
        ledger: false,
        misses: (u32::MAX, 0),
        devices: Vec::new(),
        shared: Vec::new(),
        shares: Vec::new(),
        files: Vec::new(),
        fault: FaultPolicy::Stop,
        hostile: false,
        interrupts: Vec::new(),
        handlers: None,
        fault_notification: None,
        paged_slots: 0,
        replacement: Replacement::BitPlru,
        cap_slots: 0,
        awaited: false,
        threads: vec![thread],
        gates: Vec::new(),
        caps: Vec::new(),
        callers: Vec::new(),
    };
    (domain, program(name, 3000, 500))
}

/// A program that can be moved.
fn program(name: &str, code: u32, data: u32) -> Program {
    Program {
        isa: crate::isa::Isa::of_target("armv7a-none-eabihf").expect("there is a table"),
        name: name.into(),
        file: Vec::new(),
        sections: Vec::new(),
        symbols: Vec::new(),
        relocations: vec![crate::elf::Relocation { kind: 2, section: 0, address: 0, symbol: 0 }],
        code: crate::elf::program::Segment { base: 0x1000, bytes: code, file_bytes: code, align: 8 },
        data: crate::elf::program::Segment { base: 0x80_0000, bytes: data, file_bytes: data / 2, align: 8 },
        entry: 0x1000,
        sizes: ImageSizes::default(),
        local: None,
    }
}

fn with(domains: Vec<Domain>) -> System {
    let costs = Costs { main_tlb: 7, walk_on_chip: 52, walk_locked_ways: 60 };
    let linear = Linear { base: 100, each: 10 };
    let memory = Memory {
        name: "ddr".into(),
        base: DDR.0,
        bytes: DDR.1,
        reserved: 0,
        code_page: 1,
        rom: true,
        class: Some(MemoryClass::OffChip),
        offset: 0,
        block: None,
        gates: Vec::new(),
    };
    let on_chip = Memory {
        name: "ocm".into(),
        base: TABLES.0,
        bytes: TABLES.1,
        rom: false,
        class: Some(MemoryClass::OnChip),
        offset: DEVICE_OFFSET,
        gates: Vec::new(),
        ..memory
    };
    let work = Work { method: Method::Derived, map: linear, release: linear };
    let sizes = Sizes { lock_slots: 4, ways: 8, way_bytes: 64 << 10, window_base: 0x4000_0000 };
    System {
        name: "a system".into(),
        board: "a board".into(),
        cpu_hz: 1,
        ticks_per_second: 1,
        switching: Default::default(),
        overrun: 0,
        protection: SchemeName::Vmsav7,
        secure: None,
        frame_bytes: 0,
        platform: Platform::new(
            Hardware::Pages(spec::Pages::new(costs, work, sizes)),
            &[MemoryClass::OnChip, MemoryClass::OffChip],
        ),
        memories: vec![memory, on_chip],
        table_memory: None,
        pages: Some(Pages {
            tables: Some(OCM),
            one_place: false,
            locked_ways: 0,
            locked_bytes: 0,
            prefetch: false,
            device_offset: DEVICE_OFFSET,
        }),
        domains,
        exact: false,
        outputs: Vec::new(),
        shared: Vec::new(),
        files: Vec::new(),
        frames: Vec::new(),
        budgets: Vec::new(),
        notifications: Vec::new(),
        limit_ns: 0,
    }
}

fn kernel() -> Kernel {
    let symbol = |name: &str| crate::elf::Symbol {
        name: name.into(),
        value: 0,
        bytes: 0,
        section: None,
        absolute: false,
        named: true,
    };
    let symbols = ["__kernel_objects_start", "__kernel_objects_end"].map(symbol).to_vec();
    let isa = crate::isa::Isa::of_target("armv7a-none-eabihf").expect("there is a table");
    Kernel { isa, processors: None, segments: Vec::new(), entry: 0, symbols, sizes: ImageSizes::default() }
}

/// In these tests the path of a file says how many bytes it has.
fn contents(file: &File) -> Vec<u8> {
    vec![0; file.path.parse().unwrap()]
}

fn placed(system: &System, programs: &[Program]) -> Result<Plan, PlaceError> {
    let files: Vec<Vec<u8>> = system.files.iter().map(contents).collect();
    crate::schemes::plan(system, &kernel(), programs, &files, &[])
}

/// Puts areas of a domain into the memory on the chip, which has no room for whole units.
fn on_chip(random: &mut Random, domain: &mut Domain) {
    let spec = TemporalSpec::level([AccessLevel::BestEffort, AccessLevel::L2][random.below(2) as usize]);
    let small = |random: &mut Random| Area { memory: OCM, spec, at: None, extra: random.bytes(13) };
    domain.data = small(random);
    if random.below(2) == 0 {
        domain.stack = small(random);
    }
    let envelope = spec::Envelope { spec, live: 1, largest: 1, count: 1 };
    domain.envelopes.push(Envelope { area: small(random), on_demand: None, envelope, default: false });
}

/// A system of one to sixteen domains.
fn any_system(random: &mut Random) -> (System, Vec<Program>) {
    let (mut domains, mut programs) = (Vec::new(), Vec::new());
    let shared = (0..random.below(4)).map(|index| {
        let at = (random.below(4) == 0).then(|| DDR.0 + DDR.1 / 2 + (8 + index) * MIB);
        Shared { name: format!("shared{index}"), bytes: random.bytes(18), memory: 0, at }
    });
    let shared: Vec<_> = shared.collect();
    let files: Vec<_> = (0..random.below(3))
        .map(|index| File { name: format!("file{index}"), path: random.bytes(17).to_string(), memory: 0 })
        .collect();
    for index in 0..1 + random.below(16) {
        let (mut domain, _) = small(&format!("d{index}"), AccessLevel::BestEffort);
        for wanted in [&mut domain.code, &mut domain.data, &mut domain.stack] {
            (wanted.spec, wanted.extra) = (random.spec(), random.below(3) * random.bytes(16));
        }
        domain.threads[0].stack_bytes = random.bytes(15);
        if random.below(6) == 0 {
            on_chip(random, &mut domain);
        }
        if random.below(2) == 0 {
            let area = area(random.spec(), random.bytes(22));
            domain.heap = Some(Heap { area, page_log2: None, interleave: None });
        }
        for _ in 0..random.below(3) {
            let spec = random.spec();
            let envelope = spec::Envelope { spec, live: 1, largest: 1, count: 1 };
            domain.envelopes.push(Envelope {
                area: area(spec, random.bytes(18)),
                on_demand: None,
                envelope,
                default: false,
            });
        }
        domain.shared = (0..shared.len())
            .filter(|_| random.below(2) == 0)
            .map(|shared| SharedUse {
                name: format!("shared{shared}"),
                shared,
                write: index % 2 == 0,
                spec: TemporalSpec::level(if shared == 0 { AccessLevel::L2 } else { AccessLevel::BestEffort }),
            })
            .collect();
        domain.files = (0..files.len())
            .map(|file| FileUse { name: format!("file{file}"), file, spec: TemporalSpec::default() })
            .collect();
        if index == 0 {
            domain.devices.push(Device { name: "uart0".into(), base: UART, bytes: 0x1000, kind: 0, open: false });
            domain.ledger = true;
        }
        let most = if domain.data.memory == OCM { 14 } else { 17 };
        domains.push(domain);
        programs.push(program(&format!("d{index}"), random.bytes(19), random.bytes(most)));
    }
    let mut system = with(domains);
    (system.shared, system.files) = (shared, files);
    if let Some(pages) = system.pages.as_mut().filter(|_| random.below(3) == 0) {
        pages.locked_ways = 1;
        pages.locked_bytes = system::vmsav7::WAY_BYTES - TABLE;
    }
    system.frames =
        vec![Frames { name: "pool".into(), bytes: random.bytes(20), marks: None, quotas: Vec::new(), memory: 0 }];
    (system, programs)
}

#[test]
fn every_domain_gets_what_it_asked_for_and_nothing_else() {
    let (mut placed_systems, mut refused) = (0, 0);
    for seed in 1..=400 {
        let (system, programs) = any_system(&mut Random(seed));
        match placed(&system, &programs) {
            Ok(plan) => {
                holds(&plan, &system, &programs);
                placed_systems += 1;
            }
            Err(error) => {
                assert!(justified(&system, &programs, &error), "seed {seed}: {error}");
                refused += 1;
            }
        }
    }
    assert!(placed_systems > 200 && refused > 40, "{placed_systems} placed, {refused} refused");
}

fn alike(count: usize, level: AccessLevel) -> (System, Vec<Program>) {
    let all = (0..count).map(|index| small(&format!("d{index}"), level));
    let (domains, programs): (Vec<_>, Vec<_>) = all.unzip();
    (with(domains), programs)
}

/// First-level tables take 8 KiB, and each domain one second-level table of 1 KiB, of 124 KiB.
#[test]
fn near_tables_run_out_and_are_refused() {
    for (count, level, fits) in
        [(13, AccessLevel::L2, true), (14, AccessLevel::L2, false), (30, AccessLevel::BestEffort, true)]
    {
        let (system, programs) = alike(count, level);
        match placed(&system, &programs) {
            Ok(plan) => {
                assert!(fits, "{count} domains");
                holds(&plan, &system, &programs);
                assert_eq!(plan.near_tables.1 == 0, level == AccessLevel::BestEffort);
            }
            Err(PlaceError::Full { what, memory, .. }) => {
                assert!(!fits && memory == "ocm" && matches!(what, Item::Of(Part::Table, _)), "{what} in {memory}");
            }
            Err(error) => panic!("{count}: {error}"),
        }
    }
}

/// Code and data of a domain have other rights and take a unit each; four of them are all that the chip has.
#[test]
fn locked_entries_run_out_and_are_refused() {
    let (system, programs) = alike(2, AccessLevel::Deterministic);
    let plan = placed(&system, &programs).unwrap();
    holds(&plan, &system, &programs);
    assert_eq!(plan.domains.iter().flat_map(|spot| &spot.areas).filter(|area| area.flags & PINNED != 0).count(), 4);
    let (system, programs) = alike(3, AccessLevel::Deterministic);
    let refused = placed(&system, &programs).unwrap_err();
    assert!(matches!(&refused, PlaceError::Refused(refused) if refused.refusal.rule == Rule::LockSlots), "{refused:?}");
}

#[test]
fn areas_with_the_same_rights_share_one_locked_unit() {
    let (mut system, programs) = alike(1, AccessLevel::Deterministic);
    let spec = TemporalSpec::level(AccessLevel::Deterministic);
    system.domains[0].heap = Some(Heap { area: area(spec, 50_000), page_log2: None, interleave: None });
    let plan = placed(&system, &programs).unwrap();
    holds(&plan, &system, &programs);
    let find = |name: &str| plan.domains[0].areas.iter().find(|area: &&Spot| area.part.name() == name).unwrap();
    let (data, heap, code) = (find("data"), find("heap"), find("code"));
    assert_eq!((data.mapped, heap.mapped), (Some((data.base, 64 << 10)), Some((data.base, 0))));
    let behind = (data.base + data.bytes).next_multiple_of(64);
    assert_eq!((heap.base, heap.base + heap.bytes), (behind, data.base + (64 << 10)));
    assert_eq!(code.mapped, Some((code.base, PAGE)), "other rights, another unit");
}

#[test]
fn more_than_a_section_cannot_be_locked() {
    for (bytes, fits) in [(MIB, true), (MIB + 1, false)] {
        let (mut system, mut programs) = alike(1, AccessLevel::BestEffort);
        programs[0] = program("d0", 100, 0);
        let spec = TemporalSpec::level(AccessLevel::Deterministic);
        system.domains[0].heap = Some(Heap { area: area(spec, bytes), page_log2: None, interleave: None });
        match placed(&system, &programs) {
            Ok(plan) => assert!(fits && plan.domains[0].areas.iter().any(|area| area.mapped == Some((area.base, MIB)))),
            Err(PlaceError::Unit { asked, most, .. }) => {
                assert!(!fits && (asked, most) == (u64::from(bytes), u64::from(MIB)));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Memory that two domains share lies at one place; best effort and near beside each other agree on the nearer tables.
#[test]
fn a_share_that_one_domain_has_near_is_apart_from_what_others_have_far() {
    let (mut system, programs) = alike(3, AccessLevel::BestEffort);
    system.shared = vec![Shared { name: "s".into(), bytes: 5000, memory: 0, at: None }];
    let levels = [AccessLevel::L2, AccessLevel::BestEffort, AccessLevel::BestEffort];
    for (domain, level) in system.domains.iter_mut().zip(levels) {
        domain.shared = vec![SharedUse { name: "s".into(), shared: 0, write: false, spec: TemporalSpec::level(level) }];
    }
    let plan = placed(&system, &programs).unwrap();
    holds(&plan, &system, &programs);
    let roots: Vec<TablePlace> = plan.domains.iter().map(|spot| spot.root.2).collect();
    assert_eq!(
        roots,
        [TablePlace::OnChip, TablePlace::OffChip, TablePlace::OffChip],
        "only who asked has tables on the chip"
    );
    let bases: Vec<u32> = plan.domains.iter().map(|spot| spot.areas.last().unwrap().base).collect();
    assert!(bases.iter().all(|base| *base == bases[0]), "{bases:x?}");
}

/// A near area of more than a MiB ends in a table, too: what is far comes no nearer than the next MiB.
#[test]
fn what_is_far_lies_in_no_mib_in_which_a_large_near_area_ends() {
    let (mut system, programs) = alike(1, AccessLevel::BestEffort);
    let heap = area(TemporalSpec::level(AccessLevel::L2), MIB + PAGE);
    system.domains[0].heap = Some(Heap { area: heap, page_log2: None, interleave: None });
    // Too large for what is left of a MiB in front of the heap.
    let spec = TemporalSpec::default();
    let envelope = spec::Envelope { spec, live: 1, largest: 1, count: 1 };
    let arena = area(spec, MIB - 15 * PAGE);
    system.domains[0].envelopes.push(Envelope { area: arena, on_demand: None, envelope, default: false });
    let plan = placed(&system, &programs).unwrap();
    holds(&plan, &system, &programs);
    // Otherwise its tables would have to be near, too.
    let near = plan.domains[0].areas.iter().filter(|area| area.flags & NEAR != 0);
    assert!(near.map(|area| &area.part).eq([&Part::Heap]));
}
