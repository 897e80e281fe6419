//! Random systems, and what the analysis says of them.

use std::vec::Vec;

use sched::response::{Contender, Gate as GateTerm, Grid, Job, Line, Set, Thread as Subject, response};
use system::build::Builder;
use system::{Area, Budget, Cap, Domain, Frames, Gate, Interrupt, Notification, Thread, area, frames, policy};
use testing::Rng;

use super::COSTS;

/// A thread that is not the victim.
#[derive(Clone, Copy, Debug)]
pub struct Hostile {
    pub priority: u8,
    /// Which of [`System::budgets`] pays.
    pub budget: usize,
}

/// Thread 0 is the victim, alone in domain 0 on budget 0. Hostile threads are in the domain of their budget's number. The last domain has the gate.
#[derive(Clone, Debug)]
pub struct System {
    pub wcet: u32,
    pub priority: u8,
    /// Whether each job of the victim calls the gate.
    pub calls: bool,
    /// Period and capacity; of the victim, whose period is its budget's, too.
    pub budgets: Vec<(u32, u32)>,
    pub hostile: Vec<Hostile>,
    /// Ceiling and bound.
    pub gate: (u8, u32),
}

/// Handles that every domain has.
pub const GATE: u32 = 0;
pub const LINE: u32 = 1;
pub const SERVER: u32 = 2;
pub const BUDGET: u32 = 3;
pub fn word(index: u32) -> u32 {
    4 + index
}
/// Notifications; line 3 is bound to the last.
pub const WORDS: u32 = 4;

/// Draws a system: two to six hostile threads on one to four budgets, of any priority around the victim's.
pub fn random(rng: &mut Rng) -> System {
    let count = 1 + rng.below(4) as usize;
    let mut budgets = vec![(5_000 * (1 + rng.below(8)) as u32, 0)];
    let mut left = 75;
    for _ in 0..count {
        let share = 3 + rng.below(left / 2) as u32;
        left -= u64::from(share) / 2;
        let period = if rng.chance(2) { 5_000 * (1 + rng.below(6)) as u32 } else { 2_500 + rng.below(30_000) as u32 };
        budgets.push((period, (period * share / 100).max(700)));
    }
    let hostile = |rng: &mut Rng, budget| Hostile { priority: 2 + rng.below(5) as u8, budget };
    let mut threads: Vec<Hostile> = (1..=count).map(|budget| hostile(rng, budget)).collect();
    for _ in 0..rng.below(4) {
        let budget = 1 + rng.below(count as u64) as usize;
        threads.push(hostile(rng, budget));
    }
    let priority = 2 + rng.below(4) as u8;
    let wcet = u64::from(budgets[0].0) * (4 + rng.below(40)) / 100;
    let activation = COSTS.switching.activation();
    let bound = 150 + rng.below(600) as u32;
    let ceiling = 2 + rng.below(3) as u8;
    let calls = rng.chance(2) && ceiling <= priority;
    let mut system = System { wcet: wcet as u32, priority, calls, budgets, hostile: threads, gate: (ceiling, bound) };
    let call = if calls { bound + COSTS.slack() as u32 } else { 0 };
    system.budgets[0].1 = (wcet as u32 + call + activation).min(system.budgets[0].0);
    system
}

/// The bound of the victim's response, if it is admitted.
pub fn bound(system: &System) -> Option<u64> {
    let (period, capacity) = system.budgets[0];
    let calls = u64::from(system.calls);
    let job = Job { wcet: system.wcet.into(), calls, bounds: calls * u64::from(system.gate.1), ..Job::default() };
    if job.price(&COSTS) > capacity.into() {
        return None;
    }
    let used: f64 = system.budgets.iter().map(|(period, capacity)| f64::from(*capacity) / f64::from(*period)).sum();
    let contender = |(index, &(of, capacity)): (usize, &(u32, u32))| {
        let users = system.hostile.iter().filter(|thread| thread.budget == index);
        Some(Contender {
            level: users.clone().map(|thread| thread.priority).min()?,
            period: of.into(),
            capacity: capacity.into(),
            step: gcd(of.into(), period.into()),
            threads: users.count() as u32,
            calls: true,
        })
    };
    let budgets: Vec<Contender> = system.budgets.iter().enumerate().skip(1).filter_map(contender).collect();
    let (ceiling, longest) = system.gate;
    let callers = system.hostile.iter().filter(|thread| thread.priority >= ceiling).map(|thread| thread.priority);
    let gates: Vec<GateTerm> = callers
        .max()
        .map(|lowest_caller| GateTerm { ceiling, bound: longest.into(), lowest_caller })
        .into_iter()
        .collect();
    let lines = [Line { wakes: system.hostile.iter().map(|thread| thread.priority).min() }];
    let set = Set {
        own: Grid { period: period.into(), step: period.into(), timers: 1 },
        budgets: &budgets,
        sharers: &[],
        gates: &gates,
        lines: &lines,
        costs: COSTS,
    };
    let subject = Subject { level: system.priority, deadline: period.into(), job };
    let found = response(&subject, &set).ok()?;
    (used <= 1.0).then_some(found.window)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The tables.
pub fn tables(system: &System) -> Builder {
    let domains = system.budgets.len() as u32 + 1;
    let mut stacks = vec![0; domains as usize];
    let mut thread = |domain: u32, priority: u8, budget: usize, period: u32| {
        let offset = stacks[domain as usize] * 0x200;
        stacks[domain as usize] += 1;
        Thread {
            domain,
            entry: 0x20_0101 + domain * 0x1000,
            stack_base: 0x2002_0000 + domain * 0x2000 + offset,
            stack_bytes: 0x200,
            priority: priority.into(),
            budget: budget as u32,
            period,
            ..Thread::default()
        }
    };
    let mut threads = vec![thread(0, system.priority, 0, system.budgets[0].0)];
    for hostile in &system.hostile {
        threads.push(thread(hostile.budget as u32, hostile.priority, hostile.budget, 0));
    }
    let server = domains - 1;
    Builder {
        ticks_per_second: 25_000_000,
        cpu_hz: 216_000_000,
        switching: COSTS.switching,
        frames: vec![
            Frames { base: 0x20_0000, bytes: 0x20_0000, kind: frames::ROM },
            Frames { base: 0x2000_0000, bytes: 0x1000, kind: frames::KERNEL },
            Frames { base: 0x2002_0000, bytes: 0x6_0000, kind: frames::USER },
        ],
        domains: (0..domains).map(domain_entry).collect(),
        areas: (0..domains).flat_map(areas).collect(),
        budgets: system.budgets.iter().map(|&(period, capacity)| Budget { period, capacity, misses: 0 }).collect(),
        threads,
        gates: vec![Gate {
            domain: server,
            entry: 0x20_0201 + server * 0x1000,
            stack_base: 0x2002_1000 + server * 0x2000,
            stack_bytes: 0x400,
            ceiling: system.gate.0.into(),
            bound: system.gate.1,
        }],
        notifications: (0..WORDS).map(|_| Notification { initial: 0 }).collect(),
        interrupts: vec![Interrupt { line: 3, notification: WORDS - 1, bits: 1 }],
        caps: (0..domains).flat_map(|domain| caps(domain, server)).collect(),
        ..Builder::default()
    }
}

fn domain_entry(index: u32) -> Domain {
    Domain {
        data_base: 0x2002_1c00 + index * 0x2000,
        data_source: 0x20_4000,
        data_bytes: 16,
        zero_bytes: 16,
        info: 0x20_0000 + index * 0x1000,
        gate_return: 0x20_0101 + index * 0x1000,
        policy: policy::RESTART,
        cap_slots: 12,
        first_area: 2 * index,
        areas: 2,
        ..Domain::default()
    }
}

fn areas(domain: u32) -> [Area; 2] {
    let code = area::READ | area::EXECUTE | area::PINNED;
    let data = area::READ | area::WRITE | area::PINNED;
    [
        (0x20_0000 + domain * 0x1000, 0x1000, code, area::WRITE_THROUGH),
        (0x2002_0000 + domain * 0x2000, 0x2000, data, area::NORMAL),
    ]
    .map(|(base, bytes, flags, memory)| Area {
        domain,
        base,
        bytes,
        flags,
        memory,
        page_log2: 0,
        disabled: 0,
        physical: 0,
    })
}

fn caps(domain: u32, server: u32) -> Vec<Cap> {
    let cap = |slot, kind, object| Cap { domain, slot, kind, object, rights: 7, badge: 1 };
    let mut caps = vec![
        cap(GATE, abi::Kind::Gate as u32, 0),
        cap(LINE, abi::Kind::Interrupt as u32, 0),
        cap(BUDGET, abi::Kind::Budget as u32, domain.min(server - 1)),
    ];
    if domain != server {
        caps.push(cap(SERVER, abi::Kind::Domain as u32, server));
    }
    caps.extend((0..WORDS).map(|index| cap(word(index), abi::Kind::Notification as u32, index)));
    caps
}
