//! Random systems against a model that knows nothing of chunks, units and tables: for each domain, what each page of its address space is and
//! what it may do there. Whatever is placed gives every domain what it asked for and nothing else; whatever cannot be is refused.

use std::collections::BTreeMap;

use protect::vmsa::Unit;
use spec::{AccessLevel, Costs, Linear, MemoryClass, Method, Platform, Rule, TablePlace, TemporalSpec, Work};
use system::area::{DEVICE, EXECUTE, LOCKED, NEAR, READ, SHARED, WRITE};
use system::pages::{PAGE, SPLIT, TABLE};

use super::plan;
use crate::elf::{Kernel, Program};
use crate::error::PlaceError;
use crate::layout::ImageSizes;
use crate::plan::{DomainSpot, Plan, Spot, info_bytes, stack_bytes};
use crate::*;

const DDR: (u32, u32) = (0x0010_0000, 0x1000_0000);
const TABLES: (u32, u32) = (0xfffe_0000, 0x1_f000);
const UART: u32 = 0xe000_0000;
const DEVICE_OFFSET: u32 = 0x8000_0000;
const MIB: u32 = 1 << 20;
const RIGHTS: u32 = READ | WRITE | EXECUTE;

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

fn area(spec: TemporalSpec, extra: u32) -> AreaRequest {
    AreaRequest { memory: 0, spec, at: None, extra }
}

/// A domain that asks for least, and its program.
fn small(name: &str, level: AccessLevel) -> (DomainRequest<'static>, Program) {
    let spec = TemporalSpec::level(level);
    let thread = ThreadRequest {
        name: "main".into(),
        entry: None,
        argument: 0,
        stack_bytes: 1024,
        priority: 1,
        budget: 0,
        period: 0,
        deadline: 0,
    };
    let domain = DomainRequest {
        name: name.into(),
        elf: &[],
        code: area(spec, 0),
        data: area(spec, 0),
        stack: area(spec, 0),
        heap: None,
        envelopes: Vec::new(),
        ledger: false,
        misses: (u32::MAX, 0),
        devices: Vec::new(),
        shared: Vec::new(),
        files: Vec::new(),
        policy: 0,
        fault_notification: None,
        paged_slots: 0,
        replacement: 0,
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
        name: name.into(),
        file: Vec::new(),
        sections: Vec::new(),
        symbols: Vec::new(),
        relocations: vec![crate::elf::Relocation { kind: 2, section: 0, address: 0, symbol: 0 }],
        code: crate::elf::Segment { base: 0x1000, bytes: code, file_bytes: code },
        data: crate::elf::Segment { base: 0x80_0000, bytes: data, file_bytes: data / 2 },
        entry: 0x1000,
        sizes: ImageSizes::default(),
    }
}

fn request(domains: Vec<DomainRequest<'static>>) -> Request<'static> {
    let costs = Costs { main_tlb: 7, walk_on_chip: 52, walk_locked_ways: 60 };
    let linear = Linear { base: 100, each: 10 };
    let memory = Memory {
        name: "ddr".into(),
        base: DDR.0,
        bytes: DDR.1,
        reserved: 0,
        rom: true,
        class: Some(MemoryClass::OffChip),
    };
    Request {
        cpu_hz: 1,
        ticks_per_second: 1,
        platform: Platform::cortex_a9(costs, Work { method: Method::Derived, map: linear, release: linear }),
        memories: vec![memory],
        pages: Some(Pages {
            tables_name: "tables".into(),
            tables: TABLES,
            locked_ways: 0,
            locked_bytes: 0,
            prefetch: false,
            device_offset: DEVICE_OFFSET,
        }),
        kernel: &[],
        domains,
        shared: Vec::new(),
        files: Vec::new(),
        frames: Vec::new(),
        budgets: Vec::new(),
        notifications: Vec::new(),
        interrupts: Vec::new(),
    }
}

fn kernel() -> Kernel {
    let symbol = |name: &str| crate::elf::Symbol { name: name.into(), value: 0, bytes: 0, section: None, named: true };
    let symbols = ["__kernel_objects_start", "__kernel_objects_end"].map(symbol).to_vec();
    Kernel { segments: Vec::new(), entry: 0, symbols, sizes: ImageSizes::default() }
}

fn placed(request: &Request, programs: &[Program]) -> Result<Plan, PlaceError> {
    plan(request, request.pages.as_ref().unwrap(), &kernel(), programs)
}

/// A system of one to sixteen domains.
fn system(random: &mut Random) -> (Request<'static>, Vec<Program>) {
    let (mut domains, mut programs) = (Vec::new(), Vec::new());
    let shared = (0..random.below(4)).map(|index| {
        let at = (random.below(4) == 0).then(|| DDR.0 + DDR.1 / 2 + (8 + index) * MIB);
        SharedRequest { name: format!("shared{index}"), bytes: random.bytes(18), memory: 0, at }
    });
    let shared: Vec<_> = shared.collect();
    let files: Vec<_> = (0..random.below(3))
        .map(|index| FileRequest {
            name: format!("file{index}"),
            contents: vec![0; random.bytes(17) as usize],
            memory: 0,
        })
        .collect();
    for index in 0..1 + random.below(16) {
        let (mut domain, _) = small(&format!("d{index}"), AccessLevel::BestEffort);
        for request in [&mut domain.code, &mut domain.data, &mut domain.stack] {
            (request.spec, request.extra) = (random.spec(), random.below(3) * random.bytes(16));
        }
        domain.threads[0].stack_bytes = random.bytes(15);
        if random.below(2) == 0 {
            let area = area(random.spec(), random.bytes(22));
            domain.heap = Some(HeapRequest { area, page_log2: None, interleave: None });
        }
        for _ in 0..random.below(3) {
            let spec = random.spec();
            let envelope = spec::Envelope { spec, live: 1, largest: 1, count: 1 };
            domain.envelopes.push(EnvelopeRequest { area: area(spec, random.bytes(18)), envelope, default: false });
        }
        domain.shared = (0..shared.len())
            .filter(|_| random.below(2) == 0)
            .map(|shared| SharedUse {
                shared,
                write: index % 2 == 0,
                spec: TemporalSpec::level(if shared == 0 { AccessLevel::L2 } else { AccessLevel::BestEffort }),
            })
            .collect();
        domain.files = (0..files.len()).map(|file| FileUse { file, spec: TemporalSpec::default() }).collect();
        if index == 0 {
            domain.devices.push(("uart0".into(), UART, 0x1000));
            domain.ledger = true;
        }
        domains.push(domain);
        programs.push(program(&format!("d{index}"), random.bytes(19), random.bytes(17)));
    }
    let mut request = request(domains);
    (request.shared, request.files) = (shared, files);
    if let Some(pages) = request.pages.as_mut().filter(|_| random.below(3) == 0) {
        pages.locked_ways = 1;
        pages.locked_bytes = system::pages::WAY_BYTES - TABLE;
    }
    request.frames = vec![FramesRequest { name: "pool".into(), bytes: random.bytes(20), memory: 0 }];
    (request, programs)
}

/// What a domain asked for: name, bytes, rights, and a specification of which nothing may be weaker.
fn asked(request: &Request, domain: &DomainRequest, program: &Program) -> Vec<(String, u64, u32, TemporalSpec)> {
    let own = |name: &str, bytes: u32, rights, area: &AreaRequest| {
        (name.to_owned(), u64::from(bytes) + u64::from(area.extra), rights, area.spec)
    };
    let stack = stack_bytes(domain).next_multiple_of(32);
    let mut all =
        vec![own("code", program.code.bytes.next_multiple_of(8) + info_bytes(domain), READ | EXECUTE, &domain.code)];
    let data = own("data", program.data.bytes.next_multiple_of(8), READ | WRITE, &domain.data);
    if domain.data.spec.access == AccessLevel::BestEffort {
        all.push((String::from("stack"), u64::from(stack), READ | WRITE, domain.stack.spec));
        all.push(data);
    } else {
        all.push((data.0, data.1 + u64::from(stack), data.2, data.3));
    }
    all.extend(domain.heap.iter().map(|heap| own("heap", 0, READ | WRITE, &heap.area)));
    let arenas = domain.envelopes.iter().enumerate();
    all.extend(arenas.map(|(index, envelope)| own(&format!("arena{index}"), 0, READ | WRITE, &envelope.area)));
    let device = TemporalSpec::level(AccessLevel::L2);
    all.extend(domain.devices.iter().map(|(name, _, bytes)| (name.clone(), u64::from(*bytes), READ | WRITE, device)));
    all.extend(domain.shared.iter().map(|used| {
        let shared = &request.shared[used.shared];
        (shared.name.clone(), u64::from(shared.bytes), READ | if used.write { WRITE } else { 0 }, used.spec)
    }));
    all.extend(domain.files.iter().map(|used| {
        let file = &request.files[used.file];
        (file.name.clone(), file.contents.len() as u64, READ, used.spec)
    }));
    all
}

/// Page of a domain's address space to page of memory, rights and flags.
type Space = BTreeMap<u32, (u32, u32, u32)>;

/// Maps what the kernel maps.
fn space(spot: &DomainSpot, domain: u32) -> Space {
    let mut pages = Space::new();
    for entry in spot.entries(domain) {
        assert!(
            entry.base.is_multiple_of(PAGE) && entry.physical.is_multiple_of(PAGE) && entry.bytes.is_multiple_of(PAGE)
        );
        for offset in (0..entry.bytes).step_by(PAGE as usize) {
            let said = (entry.physical + offset, entry.flags & RIGHTS, entry.flags);
            assert_eq!(pages.insert(entry.base + offset, said), None, "mapped twice: {entry:x?}");
        }
    }
    pages
}

/// Every byte that was asked for is there, with exactly the rights and at least as well kept; no page has a byte more than its area
/// is rounded up to.
fn gives_what_was_asked(spot: &DomainSpot, pages: &Space, asked: &[(String, u64, u32, TemporalSpec)]) {
    let mut units: BTreeMap<u32, u64> = BTreeMap::new();
    let mut expected = 0;
    for (name, bytes, rights, spec) in asked {
        let Some(area) = spot.areas.iter().find(|area| area.name == *name) else { panic!("{name} is missing") };
        assert!(u64::from(area.bytes) >= *bytes, "{name}: {} of {bytes} bytes", area.bytes);
        let device = area.memory == DEVICE;
        assert_eq!(area.physical, if device { area.base + DEVICE_OFFSET } else { area.base }, "{name}");
        let last = area.base + (*bytes).max(1) as u32 - 1;
        for page in (area.base & !(PAGE - 1)..=last).step_by(PAGE as usize) {
            let (physical, have, flags) = pages[&page];
            assert_eq!((physical - page, have), (area.physical - area.base, *rights), "{name} at {page:#x}");
            let kept = match spec.access {
                AccessLevel::BestEffort => 0,
                AccessLevel::L2 | AccessLevel::L3 => flags & (NEAR | LOCKED),
                AccessLevel::L1 | AccessLevel::Deterministic => flags & LOCKED,
            };
            assert!(kept != 0 || spec.access == AccessLevel::BestEffort, "{name}: weaker than {spec}");
        }
        if area.flags & LOCKED != 0 {
            let (base, bytes) = area.mapped.unwrap();
            units.entry(base).or_insert(0);
            *units.get_mut(&base).unwrap() += u64::from(bytes);
            assert!(area.base >= base, "{name}");
        } else {
            expected += u64::from(area.bytes);
            let rounded = (*bytes).max(1).next_multiple_of(PAGE.into());
            assert_eq!(u64::from(area.bytes), rounded, "{name} is wider than its pages");
        }
    }
    // What is locked is one unit, and no smaller one holds what lies there.
    for (base, bytes) in &units {
        let unit = Unit::ALL.into_iter().find(|unit| u64::from(unit.bytes()) == *bytes).expect("one unit");
        assert!(base.is_multiple_of(unit.bytes()));
        let inside = spot.areas.iter().filter(|area| area.mapped.unwrap().0 == *base && area.flags & LOCKED != 0);
        let known = inside.filter_map(|area| Some((area, asked.iter().find(|asked| asked.0 == area.name)?)));
        let end = known.map(|(area, asked)| u64::from(area.base - base) + asked.1).max().unwrap();
        assert!(end <= *bytes, "the unit holds what it is for");
        assert!(
            Unit::ALL.into_iter().all(|smaller| smaller.bytes() >= unit.bytes() || u64::from(smaller.bytes()) < end)
        );
    }
    let ledger = spot.areas.iter().find(|area| area.name == "ledger").map_or(0, |area| u64::from(area.bytes));
    let mapped = pages.len() as u64 * u64::from(PAGE);
    assert_eq!(mapped, expected + units.values().sum::<u64>() + ledger, "nothing else is mapped");
}

/// No page below a stack, so that one that overflows meets nothing of its domain.
fn guards(spot: &DomainSpot, pages: &Space) {
    let Some(stack) = spot.areas.iter().find(|area| area.base == spot.stacks) else { panic!("no stack") };
    let below = stack.mapped.unwrap().0 - 1;
    let near = stack.flags & NEAR != 0 && stack.bytes < MIB;
    assert!(!near || !pages.contains_key(&(below & !(PAGE - 1))), "{stack:x?}");
}

/// A domain's tables: no aligned MiB that a table translates has both kinds, and there is memory for each.
fn tables(plan: &Plan, spot: &DomainSpot, index: u32) -> Vec<(u32, u32)> {
    let entries: Vec<system::Area> = spot.entries(index).collect();
    let mut kinds: BTreeMap<u32, bool> = BTreeMap::new();
    for entry in &entries {
        for mib in system::pages::touched(entry).filter(|mib| system::pages::is_in_table(entry, *mib)) {
            let near = entry.flags & NEAR != 0;
            // What is locked goes with either.
            if entry.flags & LOCKED == 0 {
                assert_eq!(*kinds.entry(mib).or_insert(near), near, "both kinds in MiB {mib:#x}");
            }
        }
    }
    let near = kinds.values().filter(|near| **near).count() as u32;
    assert!(near * TABLE <= spot.table.1, "{near} near tables in {} bytes", spot.table.1);
    assert!(kinds.len() as u32 * TABLE <= spot.table.1 + spot.far.1);
    let on_chip = |base: u32, bytes: u32| base >= TABLES.0 && base - TABLES.0 + bytes <= TABLES.1;
    let ways = plan.locked_ways;
    let locked = |base: u32, bytes: u32| base >= ways.base && base - ways.base + bytes <= ways.bytes;
    let root = (spot.root.0, SPLIT.table_bytes(), spot.root.1);
    for (base, bytes, place) in [root, spot.table].into_iter().filter(|table| table.1 > 0) {
        let (on_chip, locked) = (on_chip(base, bytes), locked(base, bytes));
        assert_eq!((on_chip, locked), (place == TablePlace::OnChip, place == TablePlace::LockedWays), "{base:#x}");
    }
    assert!(spot.root.1 != TablePlace::OffChip || near == 0, "a near table behind a first-level table off the chip");
    assert!(spot.root.0.is_multiple_of(SPLIT.table_bytes()) && plan.near_tables <= TABLES.1);
    let mut own = vec![(spot.root.0, SPLIT.table_bytes()), (spot.table.0, spot.table.1), (spot.far.0, spot.far.1)];
    own.retain(|range| range.1 > 0);
    own
}

fn holds(plan: &Plan, request: &Request, programs: &[Program]) {
    let spaces: Vec<Space> = plan.domains.iter().zip(0..).map(|(spot, index)| space(spot, index)).collect();
    // Physical page to its owner; shared memory and files apart.
    let mut owners: BTreeMap<u32, usize> = BTreeMap::new();
    let mut private = plan.frames.clone();
    private.push((plan.tables, crate::plan::TABLES_BYTES as u32));
    for (index, (spot, domain)) in plan.domains.iter().zip(&request.domains).enumerate() {
        gives_what_was_asked(spot, &spaces[index], &asked(request, domain, &programs[index]));
        guards(spot, &spaces[index]);
        private.extend(tables(plan, spot, index as u32));
        for (physical, _, flags) in spaces[index].values() {
            assert!(
                *flags & SHARED != 0 || owners.insert(*physical, index).is_none(),
                "{physical:#x} is somebody else's"
            );
        }
    }
    let reached = |(base, bytes): (u32, u32), page: u32| page < base + bytes && base < page + PAGE;
    for space in &spaces {
        for (physical, ..) in space.values() {
            assert!(private.iter().all(|range| !reached(*range, *physical)), "{physical:#x} is the kernel's");
        }
    }
    for (position, first) in private.iter().enumerate() {
        for second in &private[position + 1..] {
            assert!(first.0 >= second.0 + second.1 || second.0 >= first.0 + first.1, "{first:x?} {second:x?}");
        }
    }
    // Shared memory is where the others have it, and nobody writes what is nobody's to write.
    for (physical, ..) in spaces.iter().flat_map(BTreeMap::values).filter(|page| page.1 & WRITE != 0) {
        assert!(plan.read_only.iter().all(|range| !reached(*range, *physical)), "{physical:#x} is read only");
    }
}

/// Whether a refusal names what there is too little of.
fn justified(request: &Request, programs: &[Program], error: &PlaceError) -> bool {
    let each = request.domains.iter().zip(programs).map(|(domain, program)| asked(request, domain, program));
    // Bytes to be locked by domain and rights; domains with anything near.
    let (mut units, mut near): (BTreeMap<(usize, u32), u64>, usize) = (BTreeMap::new(), 0);
    for (index, asked) in each.enumerate() {
        for (_, bytes, rights, _) in asked.iter().filter(|asked| asked.3.access >= AccessLevel::L1) {
            *units.entry((index, *rights)).or_insert(0) += bytes + 64;
        }
        near += usize::from(asked.iter().any(|asked| asked.3.access == AccessLevel::L2));
    }
    match error {
        PlaceError::Refused { refusal, .. } => refusal.rule == Rule::LockSlots && units.len() > 4,
        PlaceError::Unit { .. } => units.values().any(|bytes| *bytes > u64::from(MIB)),
        // A first-level table, and some second-level ones.
        PlaceError::Full { what, .. } => {
            let ways = request.pages.as_ref().map_or(0, |pages| pages.locked_bytes);
            what.starts_with("table of domain") && near as u32 * (SPLIT.table_bytes() + 6 * TABLE) > TABLES.1 + ways
        }
        _ => false,
    }
}

#[test]
fn every_domain_gets_what_it_asked_for_and_nothing_else() {
    let (mut placed_systems, mut refused) = (0, 0);
    for seed in 1..=400 {
        let (request, programs) = system(&mut Random(seed));
        match placed(&request, &programs) {
            Ok(plan) => {
                holds(&plan, &request, &programs);
                placed_systems += 1;
            }
            Err(error) => {
                assert!(justified(&request, &programs, &error), "seed {seed}: {error}");
                refused += 1;
            }
        }
    }
    assert!(placed_systems > 200 && refused > 40, "{placed_systems} placed, {refused} refused");
}

fn alike(count: usize, level: AccessLevel) -> (Request<'static>, Vec<Program>) {
    let all = (0..count).map(|index| small(&format!("d{index}"), level));
    let (domains, programs): (Vec<_>, Vec<_>) = all.unzip();
    (request(domains), programs)
}

/// First-level tables take 8 KiB, and each domain one second-level table of 1 KiB, of 124 KiB.
#[test]
fn near_tables_run_out_and_are_refused() {
    for (count, level, fits) in
        [(13, AccessLevel::L2, true), (14, AccessLevel::L2, false), (30, AccessLevel::BestEffort, true)]
    {
        let (request, programs) = alike(count, level);
        match placed(&request, &programs) {
            Ok(plan) => {
                assert!(fits, "{count} domains");
                holds(&plan, &request, &programs);
                assert_eq!(plan.near_tables == 0, level == AccessLevel::BestEffort);
            }
            Err(PlaceError::Full { what, memory, .. }) => {
                assert!(!fits && memory == "tables" && what.starts_with("table of domain d"), "{what} in {memory}");
            }
            Err(error) => panic!("{count}: {error}"),
        }
    }
}

/// Code and data of a domain have other rights and take a unit each; four of them are all that the chip has.
#[test]
fn locked_entries_run_out_and_are_refused() {
    let (request, programs) = alike(2, AccessLevel::Deterministic);
    let plan = placed(&request, &programs).unwrap();
    holds(&plan, &request, &programs);
    assert_eq!(plan.domains.iter().flat_map(|spot| &spot.areas).filter(|area| area.flags & LOCKED != 0).count(), 4);
    let (request, programs) = alike(3, AccessLevel::Deterministic);
    let refused = placed(&request, &programs).unwrap_err();
    assert!(matches!(&refused, PlaceError::Refused { refusal, .. } if refusal.rule == Rule::LockSlots), "{refused:?}");
}

#[test]
fn areas_with_the_same_rights_share_one_locked_unit() {
    let (mut request, programs) = alike(1, AccessLevel::Deterministic);
    let spec = TemporalSpec::level(AccessLevel::Deterministic);
    request.domains[0].heap = Some(HeapRequest { area: area(spec, 50_000), page_log2: None, interleave: None });
    let plan = placed(&request, &programs).unwrap();
    holds(&plan, &request, &programs);
    let find = |name: &str| plan.domains[0].areas.iter().find(|area: &&Spot| area.name == name).unwrap();
    let (data, heap, code) = (find("data"), find("heap"), find("code"));
    assert_eq!((data.mapped, heap.mapped), (Some((data.base, 64 << 10)), Some((data.base, 0))));
    let behind = (data.base + data.bytes).next_multiple_of(64);
    assert_eq!((heap.base, heap.base + heap.bytes), (behind, data.base + (64 << 10)));
    assert_eq!(code.mapped, Some((code.base, PAGE)), "other rights, another unit");
}

#[test]
fn more_than_a_section_cannot_be_locked() {
    for (bytes, fits) in [(MIB, true), (MIB + 1, false)] {
        let (mut request, mut programs) = alike(1, AccessLevel::BestEffort);
        programs[0] = program("d0", 100, 0);
        let spec = TemporalSpec::level(AccessLevel::Deterministic);
        request.domains[0].heap = Some(HeapRequest { area: area(spec, bytes), page_log2: None, interleave: None });
        match placed(&request, &programs) {
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
    let (mut request, programs) = alike(3, AccessLevel::BestEffort);
    request.shared = vec![SharedRequest { name: "s".into(), bytes: 5000, memory: 0, at: None }];
    let levels = [AccessLevel::L2, AccessLevel::BestEffort, AccessLevel::BestEffort];
    for (domain, level) in request.domains.iter_mut().zip(levels) {
        domain.shared = vec![SharedUse { shared: 0, write: false, spec: TemporalSpec::level(level) }];
    }
    let plan = placed(&request, &programs).unwrap();
    holds(&plan, &request, &programs);
    let roots: Vec<TablePlace> = plan.domains.iter().map(|spot| spot.root.1).collect();
    assert_eq!(
        roots,
        [TablePlace::OnChip, TablePlace::OffChip, TablePlace::OffChip],
        "only who asked has tables on the chip"
    );
    let bases: Vec<u32> = plan.domains.iter().map(|spot| spot.areas.last().unwrap().base).collect();
    assert!(bases.iter().all(|base| *base == bases[0]), "{bases:x?}");
}
