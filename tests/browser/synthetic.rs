//! Synthetic input for the tests of the page: a small fixed-priority scheduler with budgets, gates and a domain that faults plays a
//! gateway for 0.4 s. Nothing here is a run of Cofferdam; the tool itself only ever reports on real runs.

use abi::Error;
use abi::trace::{Event, Fault, IDLE};
use manager::note::{GrantNote, Holder, Note};
use record::{
    CacheCounts, DomainCounters, End, EndReason, ExceptionCount, Masked, Mode, RunEvent, Spread, Summary,
    TranslationCounts, VectorTime, Walks, Window, Witness,
};
use report::describe::*;
use spec::TablePlace;

pub const CPU_HZ: u64 = 216_000_000;
pub const TICKS: u64 = 25_000_000;
/// Cycles of one step of the scheduler: 1 us.
const STEP: u64 = 216;
const BOOT: u64 = 400_000;
const ROGUE: u8 = 5;
const STEPS: u64 = 400_000;

fn us(micros: u64) -> u64 {
    micros * TICKS / 1_000_000
}

fn area(name: &str, base: u64, kib: u64, access: &str, memory: &str, pages: u32) -> Area {
    let (name, access, memory) = (name.into(), access.into(), memory.into());
    let bytes = kib * 1024;
    let (spec, level, cycles) = if pages == 0 { ("deterministic", "deterministic", 0) } else { ("l2", "l1", 180) };
    let (spec, level, bound_cycles, bound_method) = (spec.into(), level.into(), Some(cycles), "derived".into());
    let pinned = pages == 0;
    let kept = if pinned { "pinned".into() } else { "tcm".into() };
    Area {
        name,
        base,
        bytes,
        access,
        memory,
        pinned,
        pages,
        spec,
        level,
        bound_cycles,
        bound_method,
        shared: false,
        kept,
        on_demand: false,
    }
}

/// Three registers for the areas that are always there; the others serve a table that is half used.
fn account(areas: &[Area]) -> Account {
    let pinned = areas.iter().filter(|area| area.pinned).count() as u32;
    Account {
        pinned,
        paged: 8 - pinned,
        table: "tcm".into(),
        table_bytes: 2304,
        table_used: 1152,
        promises: Vec::new(),
        envelopes: Vec::new(),
    }
}

fn domains() -> Vec<Domain> {
    let shared = || Area { shared: true, ..area("series", 0x6080_0000, 1024, "rw", "SDRAM", 4) };
    let names = ["control", "store", "script", "vision", "console", "rogue"];
    let code = [
        (0x0022_0000, 16),
        (0x0024_0000, 768),
        (0x0030_0000, 384),
        (0x0036_0000, 512),
        (0x003e_0000, 16),
        (0x003e_8000, 8),
    ];
    let data = [
        (0x2000_8000, 8),
        (0x2000_c000, 16),
        (0x2001_0000, 16),
        (0x2002_0000, 256),
        (0x2000_a000, 4),
        (0x2000_b000, 2),
    ];
    let mut all = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let small = matches!(index, 0 | 4 | 5);
        let mut areas = vec![
            area("code", code[index].0, code[index].1, "rx", "flash", if small { 0 } else { 8 }),
            area("data", data[index].0, data[index].1, "rw", if index == 3 { "SRAM" } else { "DTCM" }, 0),
        ];
        match index {
            1 => areas.extend([area("heap", 0x6000_0000, 4096, "rw", "SDRAM", 16), shared()]),
            2 => areas.extend([
                Area { shared: true, access: "r".into(), ..shared() },
                area("heap", 0x6040_0000, 4096, "rw", "SDRAM", 16),
            ]),
            4 => areas.push(area("uart", 0x4000_4000, 4, "rw", "devices", 0)),
            _ => {}
        }
        let kib = 1024;
        let text = code[index].1 * kib * 6 / 10;
        all.push(Domain {
            index: index as u8,
            name: (*name).into(),
            color: index as u8,
            hostile: index as u8 == ROGUE,
            fault_policy: if index as u8 == ROGUE { FaultPolicy::Restart } else { FaultPolicy::Stop },
            account: account(&areas),
            areas,
            image: ImageSizes { text, rodata: text / 3, data: data[index].1 * 100, bss: data[index].1 * 500 },
        });
    }
    all
}

fn threads() -> Vec<Thread> {
    let thread = |index: u16, name: &str, domain, priority, period: u64, deadline: u64, bound: u64| Thread {
        index,
        name: name.into(),
        domain,
        priority,
        budget: index,
        period_ticks: (period > 0).then(|| us(period)),
        deadline_ticks: (deadline > 0).then(|| us(deadline)),
        response_bound_ticks: (bound > 0).then(|| us(bound)),
        wcet_ticks: None,
        reload_ticks: 0,
    };
    vec![
        thread(0, "control", 0, 1, 1000, 500, 118),
        thread(1, "store", 1, 10, 0, 0, 0),
        thread(2, "script", 2, 12, 0, 0, 0),
        thread(3, "vision", 3, 14, 0, 0, 0),
        thread(4, "console", 4, 5, 20_000, 10_000, 1_460),
        thread(5, "rogue", 5, 20, 0, 0, 0),
    ]
}

/// The description that goes with [`events`].
pub fn system() -> SystemDescription {
    let budget = |index, name: &str, period, capacity| Budget {
        index,
        name: name.into(),
        period_ticks: us(period),
        capacity_ticks: us(capacity),
    };
    let memory = |name: &str, base, kib: u64, used: u64| Memory {
        name: name.into(),
        base,
        capacity: kib * 1024,
        used: used * 1024,
        stands_in_for: Vec::new(),
        offset: 0,
    };
    let symbol = |address, size, name: &str| Symbol { address, size, name: name.into(), domain: Some(ROGUE) };
    let parameter = |name: &str, value: &str, source: &str| Parameter {
        name: name.into(),
        value: value.into(),
        source: source.into(),
    };
    SystemDescription {
        copies: Vec::new(),
        system: "gateway (synthetic)".into(),
        board: "mps2-an500".into(),
        profile: Profile {
            name: "stm32f767".into(),
            summary: "Synthetic input of the page's test.".into(),
            parameters: vec![
                parameter("core.clock", "216 MHz", "data sheet, section 1"),
                parameter("dcache", "16 KiB, 4 ways, 32-byte lines", "reference manual, section 2"),
            ],
            caveats: vec![
                "Dual issue is modelled by a cost per class of instruction, not by a pipeline.".into(),
                "No other bus master is active; DMA would add waiting times that are not shown here.".into(),
            ],
        },
        ticks_per_second: TICKS,
        timer_exception: None,
        regions: None,
        cpu_hz: CPU_HZ,
        enforcement_ticks: 250,
        masked_bound_cycles: Some(900),
        costs: Costs { entry_cycles: 300, exit_cycles: 500, early_cycles: 200 },
        stacks: Vec::new(),
        ends_at_limit: false,
        domains: domains(),
        threads: threads(),
        budgets: vec![
            budget(0, "control", 1000, 150),
            budget(1, "store", 10_000, 4000),
            budget(2, "script", 10_000, 3000),
            budget(3, "vision", 10_000, 2000),
            budget(4, "console", 20_000, 1500),
            budget(5, "rogue", 10_000, 1000),
        ],
        gates: vec![
            Gate { index: 0, name: "console.write".into(), domain: 4, ceiling: 1, bound_ticks: us(60) },
            Gate { index: 1, name: "store.query".into(), domain: 1, ceiling: 8, bound_ticks: us(400) },
        ],
        interrupts: vec![Interrupt { line: 0, name: "uart".into(), domain: 4, separation_ticks: None }],
        handlers: Vec::new(),
        outputs: Vec::new(),
        memories: vec![
            memory("ITCM", 0, 16, 9),
            memory("flash", 0x0020_0000, 2048, 1740),
            memory("DTCM", 0x2000_0000, 128, 79),
            memory("SRAM", 0x2002_0000, 384, 256),
            memory("SDRAM", 0x6000_0000, 32 * 1024, 9216),
        ],
        checks: checks(["register pinned", "registers pinned"], ["region", "regions"], ["table", ""], false),
        keeping: registers(),
        effort: None,
        manager: None,
        console: None,
        kernel_areas: vec![
            area("vectors, hot code", 0, 9, "rx", "ITCM", 0),
            area("code, tables", 0x0020_0000, 40, "rx", "flash", 0),
            area("data, stack", 0x2000_0000, 32, "rw", "DTCM", 0),
        ],
        kernel_image: ImageSizes { text: 21_400, rodata: 3_100, data: 120, bss: 14_800 },
        own_spaces: false,
        symbols: vec![
            symbol(0x003e_8200, 64, "rogue::read_foreign"),
            symbol(0x003e_8240, 64, "rogue::write_foreign"),
            symbol(0x003e_8280, 64, "rogue::call_foreign"),
            symbol(0x003e_82c0, 96, "rogue::overflow_stack"),
        ],
    }
}

struct Play {
    events: Vec<RunEvent>,
    now: u64,
    seed: u64,
    current: Option<usize>,
    left: [u64; 6],
    work: [u64; 6],
    ran: [u64; 6],
    inside: Option<u64>,
    attack: usize,
    restart_at: Option<u64>,
    faults: u16,
    misses: [u64; 6],
}

impl Play {
    fn put(&mut self, event: Event, domain: u8, detail: u16, payload: u32) {
        self.events.push(RunEvent {
            core: record::CoreId::FIRST,
            cycle: self.now,
            event: event as u8,
            domain,
            detail,
            payload,
        });
    }

    fn random(&mut self, below: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) % below
    }

    fn release(&mut self, step: u64, system: &SystemDescription) {
        for budget in &system.budgets {
            if step.is_multiple_of(budget.period_ticks / 25) {
                self.left[usize::from(budget.index)] = budget.capacity_ticks / 25;
                self.put(Event::Replenish, IDLE, budget.index, budget.capacity_ticks as u32);
            }
        }
        for (thread, base, spread) in [(0usize, 52, 18), (4, 240, 420)] {
            let Some(period) = system.threads[thread].period_ticks else { continue };
            if step.is_multiple_of(period / 25) {
                self.work[thread] = base + self.random(spread);
                self.now += 90 + self.random(60);
                self.put(Event::Release, thread as u8, thread as u16, (step * 25) as u32);
            }
        }
    }

    fn pick(&self, system: &SystemDescription) -> Option<usize> {
        if self.inside.is_some() && self.work[0] == 0 && self.left[1] > 0 {
            return Some(1);
        }
        let ready = (0..6).filter(|&t| self.work[t] > 0 && self.left[t] > 0);
        ready.min_by_key(|&t| system.threads[t].priority)
    }

    fn switch(&mut self, next: Option<usize>) {
        if next == self.current {
            return;
        }
        self.current = next;
        match next {
            Some(1) if self.inside.is_some() => self.put(Event::Switch, 4, 1, 0),
            Some(thread) => self.put(Event::Switch, thread as u8, thread as u16, 0),
            None => self.put(Event::Switch, IDLE, 0, 0),
        }
    }

    fn miss(&mut self, thread: usize) {
        let chance = [0, 160, 120, 400, 0, 0][thread];
        if chance == 0 || self.random(chance) != 0 {
            return;
        }
        let (entry, back) = (record::observed::EXCEPTION_ENTRY, record::observed::EXCEPTION_RETURN);
        self.events.push(RunEvent {
            core: record::CoreId::FIRST,
            cycle: self.now,
            event: entry,
            domain: thread as u8,
            detail: 4,
            payload: 0,
        });
        self.now += 90;
        let address = 0x6000_0000 + self.random(8 << 20) as u32;
        self.put(Event::Miss, thread as u8, 5, address);
        self.now += 50 + self.random(22);
        self.events.push(RunEvent {
            core: record::CoreId::FIRST,
            cycle: self.now,
            event: back,
            domain: thread as u8,
            detail: 4,
            payload: 0,
        });
        self.misses[thread] += 1;
    }

    fn gate(&mut self) {
        match self.inside {
            None if self.ran[1].is_multiple_of(900) => {
                self.put(Event::GateEnter, 4, 1, 0);
                self.inside = Some(18 + self.random(16));
            }
            Some(0) => {
                self.put(Event::GateExit, 1, 1, 0);
                self.inside = None;
            }
            _ => {}
        }
        self.inside = self.inside.map(|left| left - 1);
    }

    fn rogue(&mut self) {
        let attacks = [
            (Fault::Data, 0x2000_8010u32, 0x003e_8204u32),
            (Fault::Data, 0x6000_0100, 0x003e_8248),
            (Fault::Execute, 0x0024_0400, 0x0024_0400),
            (Fault::Stack, 0x2000_aff8, 0x003e_82c6),
            (Fault::Usage, 0x003e_82a2, 0x003e_82a2),
        ];
        if self.ran[5].is_multiple_of(37) {
            let (call, error) = [(7, Error::BadHandle), (9, Error::NotInGate), (19, Error::NoRight)][self.attack % 3];
            self.put(Event::Refused, ROGUE, call, error.status());
        }
        if !self.ran[5].is_multiple_of(2400) {
            return;
        }
        let (kind, address, pc) = attacks[self.attack % attacks.len()];
        self.attack += 1;
        self.put(Event::Fault, ROGUE, kind as u16, address);
        self.put(Event::FaultPc, ROGUE, 0, pc);
        self.work[5] = 0;
        self.restart_at = Some(self.now + 31_000);
    }

    fn run(&mut self, thread: usize) {
        self.left[thread] -= 1;
        self.ran[thread] += 1;
        self.miss(thread);
        match thread {
            1 => self.gate(),
            5 => self.rogue(),
            0 | 4 => {
                self.work[thread] -= 1;
                if self.work[thread] == 0 {
                    self.put(Event::Complete, thread as u8, thread as u16, 0);
                }
            }
            _ => {}
        }
        if self.left[thread] == 0 && self.work[thread] > 0 {
            self.put(Event::BudgetOut, thread as u8, thread as u16, 0);
        }
    }
}

/// The events of the play, with the counters that belong to them.
pub fn run(system: &SystemDescription) -> (Vec<RunEvent>, Summary) {
    let mut play = Play {
        events: Vec::new(),
        now: BOOT,
        seed: 7,
        current: None,
        left: [0; 6],
        work: [0, 1, 1, 1, 0, 1],
        ran: [0; 6],
        inside: None,
        attack: 0,
        restart_at: None,
        faults: 0,
        misses: [0; 6],
    };
    play.put(Event::Start, IDLE, 0, 0);
    for step in 0..STEPS {
        play.now = play.now.max(BOOT + step * STEP);
        if play.restart_at.is_some_and(|at| at <= play.now) {
            play.restart_at = None;
            play.faults += 1;
            play.work[5] = 1;
            play.put(Event::Restart, ROGUE, play.faults, 0);
        }
        play.release(step, system);
        let next = play.pick(system);
        play.switch(next);
        if let Some(thread) = next {
            play.run(thread);
        }
    }
    play.now = play.now.max(BOOT + STEPS * STEP);
    play.put(Event::End, IDLE, 0, 0);
    let summary = summary(&play);
    (play.events, summary)
}

fn summary(play: &Play) -> Summary {
    let counters = |thread: usize| DomainCounters {
        domain: thread as u8,
        instructions: play.ran[thread] * 170,
        kernel_instructions: play.ran[thread] * 6,
        cycles: play.ran[thread] * 207,
        kernel_cycles: play.ran[thread] * 9,
        sleep_cycles: 0,
        entries: play.ran[thread] / 20,
        icache: CacheCounts { hits: play.ran[thread] * 168, misses: play.ran[thread] * (thread as u64) },
        dcache: CacheCounts { hits: play.ran[thread] * 50, misses: play.ran[thread] * (thread as u64) / 2 },
        data_accesses: play.ran[thread] * 52,
        paged_misses: play.misses[thread],
        ..DomainCounters::default()
    };
    let busy: u64 = play.ran.iter().sum();
    let window = Window {
        core: record::CoreId::FIRST,
        pc: 0x120,
        exception: 14,
        start_cycle: BOOT + 9_000,
        cycles: 612,
        instructions: 141,
        waits: record::Waits::default(),
    };
    let spread = |count, min, median, max| Spread { count, min, median, max };
    Summary {
        counter: None,
        version: record::SUMMARY_VERSION,
        profile: "stm32f767".into(),
        architecture: record::Architecture::Armv7M,
        modelled: true,
        exact: false,
        mode: Mode::Quantum,
        quantum_cycles: 1000,
        longest_block_cycles: 0,
        cpu_hz: CPU_HZ,
        cycles: play.now,
        sleep_cycles: (STEPS - busy) * STEP,
        instructions: busy * 176,
        domains: (0..6).map(counters).collect(),
        exceptions: [(4, 0), (11, 0), (14, 3), (24, 1)]
            .map(|(number, chained)| ExceptionCount {
                core: record::CoreId::FIRST,
                number,
                taken: 900,
                tail_chained: chained * 90,
            })
            .to_vec(),
        masked: Masked {
            longest: Some(window),
            longest_to_thread: Some(Window { cycles: 844, instructions: 190, ..window }),
            vectors: vec![VectorTime {
                core: record::CoreId::FIRST,
                exception: 4,
                cycles: spread(900, 140, 150, 162),
                instructions: spread(900, 70, 74, 81),
                waits: window.waits,
            }],
            calls: Vec::new(),
        },
        violations: Vec::new(),
        violations_total: 0,
        witness: Witness {
            slices: 96,
            checked_slices: 96,
            hashed_bytes: 96 * 302_080,
            changed_slices: 0,
            stores: 8812,
            stores_outside: 0,
        },
        probes: Vec::new(),
        areas: Vec::new(),
        disturbances: 0,
        faults: Vec::new(),
        broken_stretches: 0,
        clock: None,
        regions: None,
        use_recorded: false,
        events: play.events.len() as u64,
        end: End { reason: EndReason::Exit, status: Some(0), trace_status: Some(0) },
        host_seconds: 1.9,
        mips: 31.4,
    }
}

/// A console output as a run might have printed it.
pub const CONSOLE: &str = "store    1461 days of weather in, 4 queries\nstore    average maximum by weather: drizzle 15.93, fog 16.76, \
    rain 13.45, snow 5.57, sun 19.86\nscript   covariance of the two series: 41.3172\nvision   astronaut: person 0.72\nvision   \
    brick: person 0.34\nrogue    <b>not markup</b> & \"quotes\"\n";

fn promise(kept: &str, level: &str, cycles: u32, method: &str) -> Promise {
    Promise { kept: kept.into(), level: level.into(), cycles, method: method.into() }
}

fn checks(slot: [&str; 2], part: [&str; 2], tables: [&str; 2], walks: bool) -> Checks {
    let [slot, part, tables] = [slot, part, tables].map(|words| words.map(str::to_owned));
    Checks { slot, part, tables, walks }
}

fn short(kept: &str) -> &str {
    match kept {
        "tcm" => "paged, TCM",
        "on-chip" => "on-chip RAM",
        other => other,
    }
}

fn way(kept: &str, text: &str, promised: Option<Promise>, degree: Degree, terms: [&str; 2]) -> Keeping {
    let [own, others] = terms.map(str::to_owned);
    Keeping {
        kept: kept.into(),
        text: text.into(),
        short: short(kept).into(),
        promise: promised,
        independence: Independence { degree, kept: own, not_kept: others },
    }
}

/// How a chip with region registers keeps checks.
fn registers() -> Vec<Keeping> {
    let own = ["registers and table are each domain's own", ""];
    let derived = promise("pinned", "deterministic", 0, "derived from the platform description");
    let observed = promise("tcm", "l1", 180, "observed maximum");
    vec![
        way("pinned", "region registers of its own", Some(derived), Degree::Full, own),
        way(
            "tcm",
            "paged over the other region registers, tables in tightly coupled memory",
            Some(observed),
            Degree::Full,
            own,
        ),
    ]
}

/// The same system on a chip with page tables, of which a domain grants memory in the run.
pub fn on_pages(mut system: SystemDescription) -> SystemDescription {
    let never = "entries of other domains never answer for it";
    let derived = "derived from the platform description";
    let (locked, near) = (promise("pinned", "deterministic", 7, derived), promise("on-chip", "l2", 52, derived));
    system.checks = checks(
        ["locked entry", "locked entries"],
        ["entry of the TLB", "entries of the TLB"],
        ["first-level table", "second-level tables on the chip"],
        true,
    );
    system.manager = Some(MANAGER);
    system.effort = Some(Effort { map: (9000, 120), release: (12_000, 150), method: derived.into() });
    system.keeping = vec![
        way(
            "pinned",
            "locked entry of the TLB",
            Some(locked.clone()),
            Degree::InPart,
            ["its entries stay in the main TLB", "the micro-TLB is emptied at each switch"],
        ),
        way(
            "on-chip",
            "tables in on-chip memory",
            Some(near.clone()),
            Degree::InPart,
            [never, "others displace its TLB entries"],
        ),
        way(
            "off-chip",
            "tables off the chip",
            None,
            Degree::None,
            [never, "others displace its TLB entries and the cache lines of its tables"],
        ),
    ];
    for domain in &mut system.domains {
        domain.account.promises = vec![locked.clone(), near.clone()];
        domain.account.table = "on-chip".into();
        for area in &mut domain.areas {
            let (kept, spec, promised) = match area.pages {
                0 if domain.index == 0 => ("pinned", "deterministic", Some(&locked)),
                0 => ("on-chip", "l2 independent allow-partial", Some(&near)),
                _ => ("off-chip", "best-effort", None),
            };
            (area.kept, area.spec) = (kept.into(), spec.into());
            (area.level, area.bound_method) = promised.map(|p| (p.level.clone(), p.method.clone())).unwrap_or_default();
            area.bound_cycles = promised.map(|promised| promised.cycles);
            area.pages = area.pages.max(1);
        }
    }
    system
}

/// The domain that grants memory on that chip.
const MANAGER: u8 = 4;

/// The manager's grants: some memory again and again.
pub fn grants() -> Vec<RunEvent> {
    let told = |client, index: u32, spec, pinned, place| GrantNote {
        client,
        base: 0x4000_0000 + index * 0x2_0000,
        bytes: if pinned { 0x1_0000 } else { 0x1_8000 },
        spec,
        write: true,
        holder: if index == 0 { Holder::Owner } else { Holder::Private },
        pinned,
        place,
        descriptors: if pinned { 16 } else { 24 },
    };
    let mut notes = vec![
        Note::Granted(told(1, 0, 2 | 8 | 128, false, TablePlace::OnChip)),
        Note::Granted(GrantNote {
            holder: Holder::Member,
            write: false,
            ..told(2, 0, 2 | 8 | 128, false, TablePlace::OnChip)
        }),
        Note::Granted(told(0, 1, 4, true, TablePlace::OnChip)),
        Note::Ended { client: 0, base: 0x4002_0000 },
    ];
    for index in 2..9 {
        notes.push(Note::Granted(told(3, index, 0, false, TablePlace::OffChip)));
        notes.extend((index > 4).then_some(Note::Ended { client: 3, base: 0x4000_0000 + index * 0x2_0000 }));
    }
    let marks = notes.iter().flat_map(Note::marks).zip(1u64..);
    let event = |((detail, payload), step): ((u16, u32), u64)| RunEvent {
        core: record::CoreId::FIRST,
        cycle: BOOT + step * 40_000,
        event: Event::Mark as u8,
        domain: MANAGER,
        detail,
        payload,
    };
    marks.map(event).collect()
}

/// The counts of translation on that chip.
pub fn translated(summary: &mut Summary) {
    for (index, domain) in summary.domains.iter_mut().enumerate() {
        let n = domain.instructions / 400;
        let walks = |near: u64, far: u64| Walks { on_chip: near, memory: far, ..Walks::default() };
        let far = if index < 3 { 0 } else { n / 30 };
        domain.translation = TranslationCounts {
            micro_misses: n + n / 10 + far + n / 3,
            locked_hits: if index == 0 { n / 3 } else { 0 },
            main_hits: if index == 0 { n } else { n + n / 3 },
            data_walks: walks(n / 20, far),
            fetch_walks: walks(n / 10 - n / 20, 0),
            data_stall_cycles: n * 9,
            fetch_stall_cycles: n * 4,
        };
    }
}
