//! Random systems, and what the analysis says of them.

use std::vec::Vec;

use sched::response::{Contender, Gate as GateTerm, Grid, Job, Line, Set, Share, Sharer, Thread as Subject};
use sched::response::{Sharing, response, sharing};
use system::build::Builder;
use system::{Area, Budget, Cap, Domain, Frames, Gate, Interrupt, Notification, Thread, area, frames, policy};
use testing::Rng;

use super::COSTS;

/// A thread that does what it declares, and has a bound.
#[derive(Clone, Copy, Debug)]
pub struct Victim {
    pub priority: u8,
    /// Index of its budget in [`System::budgets`].
    pub budget: usize,
    /// Its deadline, too.
    pub period: u32,
    pub wcet: u32,
    /// True if each job calls the gate.
    pub calls: bool,
}

/// A thread that does anything.
#[derive(Clone, Copy, Debug)]
pub struct Hostile {
    pub priority: u8,
    /// Index of its budget in [`System::budgets`].
    pub budget: usize,
}

/// Threads are numbered victims first. Each is in the domain of its budget's number. The last domain has the gate.
#[derive(Clone, Debug)]
pub struct System {
    pub victims: Vec<Victim>,
    pub hostile: Vec<Hostile>,
    pub budgets: Vec<(u32, u32)>,
    pub gate: (u8, u32),
    /// Ticks that a victim loses each time that it goes on after others.
    pub reload: u32,
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

/// Draws a system: one or two budgets with victims, to which others may belong, and one to four budgets of hostile threads.
pub fn random(rng: &mut Rng) -> System {
    let gate =
        (2 + rng.below(3) as u8, if rng.chance(3) { 150 + rng.below(2_500) } else { 150 + rng.below(600) } as u32);
    let reload = if rng.chance(3) { 5 + rng.below(30) as u32 } else { 0 };
    let mut system = System { victims: Vec::new(), hostile: Vec::new(), budgets: Vec::new(), gate, reload };
    for index in 0..if rng.chance(3) { 2 } else { 1 } {
        system.budgets.push((5_000 * (1 + rng.below(8)) as u32, 0));
        victims_of(&mut system, index, rng);
    }
    let first = system.budgets.len();
    let count = 1 + rng.below(4) as usize;
    let mut left = 75;
    for index in 0..count {
        let share = 3 + rng.below(left / 2) as u32;
        left -= u64::from(share) / 2;
        let period = if rng.chance(2) { 5_000 * (1 + rng.below(6)) as u32 } else { 2_500 + rng.below(30_000) as u32 };
        system.budgets.push((period, (period * share / 100).max(700)));
        if rng.chance(6) {
            // Less than an activation, which `check` refuses: such a budget is its own threads' affair.
            let period = 300 + rng.below(3_000) as u32;
            system.budgets[first + index] = (period, (period * share / 200).clamp(4, 339));
        }
    }
    let hostile = |rng: &mut Rng, budget| Hostile { priority: 2 + rng.below(5) as u8, budget };
    system.hostile.extend((first..first + count).map(|budget| hostile(rng, budget)));
    // Some systems have one crowded budget.
    let crowd = if rng.chance(5) { Some(first) } else { None };
    for _ in 0..if crowd.is_some() { 5 + rng.below(15) } else { rng.below(4) } {
        let budget = crowd.unwrap_or(first + rng.below(count as u64) as usize);
        system.hostile.push(hostile(rng, budget));
    }
    system
}

/// Adds the threads of a victim's budget, and leaves it no more capacity than it needs.
fn victims_of(system: &mut System, budget: usize, rng: &mut Rng) {
    let grid = system.budgets[budget].0;
    let victim = |rng: &mut Rng, period: u32, share: u64| {
        let priority = 2 + rng.below(4) as u8;
        let calls = rng.chance(2) && system.gate.0 <= priority;
        let wcet = (u64::from(period.min(grid)) * share / 100) as u32;
        Victim { priority, budget, period, wcet, calls }
    };
    let share = 4 + rng.below(if budget == 0 { 40 } else { 15 });
    let period = grid * [1, 1, 1, 1, 2, 3][rng.below(6) as usize];
    let mut all = vec![victim(rng, period, share)];
    let sharers = if rng.chance(3) { 1 + rng.below(2) } else { 0 };
    for _ in 0..sharers {
        let period = match rng.below(4) {
            0 => grid / 2,
            1 => grid,
            2 => 2 * grid,
            _ => grid / 2 + rng.below(grid.into()) as u32,
        };
        let share = 3 + rng.below(12);
        all.push(victim(rng, period, share));
    }
    system.victims.extend(all);
    let least = system.victims.iter().filter(|victim| victim.budget == budget).map(|victim| victim.priority).max();
    if rng.chance(4) {
        let priority = least.unwrap_or(0) + 1 + rng.below(2) as u8;
        system.hostile.push(Hostile { priority, budget });
    }
    let needs = |of| match sharing(grid.into(), 0, &shares(system, budget), of, &COSTS) {
        Sharing::Exceeded { demand } => demand,
        _ => u64::from(grid),
    };
    let count = system.victims.iter().filter(|victim| victim.budget == budget).count();
    let needed = (0..count).map(needs).max().unwrap_or(0);
    // The threads that will interrupt are not drawn yet.
    let reloads = u64::from(system.reload) * 150 * count as u64;
    system.budgets[budget].1 = (needed + reloads).min(grid.into()) as u32;
}

/// Needs of a victim's job, but for what it loses to others.
fn plain(system: &System, of: usize) -> Job {
    let victim = &system.victims[of];
    let calls = u64::from(victim.calls);
    Job { wcet: victim.wcet.into(), calls, bounds: calls * u64::from(system.gate.1), ..Job::default() }
}

/// How often a job of a victim goes on after others at most.
pub fn resumptions(system: &System, of: usize) -> u64 {
    let victim = &system.victims[of];
    beside(system, of).view().resumptions(victim.priority, &plain(system, of), victim.period.into())
}

fn job(system: &System, of: usize) -> Job {
    let reload = if system.reload > 0 { resumptions(system, of) * u64::from(system.reload) } else { 0 };
    Job { reload, ..plain(system, of) }
}

/// The threads of a budget, victims first.
pub fn shares(system: &System, budget: usize) -> Vec<Share> {
    let reservation = Some(system.gate.1.into());
    let victims = system.victims.iter().enumerate().filter(|(_, victim)| victim.budget == budget);
    let victims = victims.map(|(of, victim)| Share {
        level: victim.priority,
        period: Some(victim.period.into()),
        price: Some(job(system, of).price(&COSTS)),
        reservation,
        arranges: 1,
    });
    let hostile = system.hostile.iter().filter(|thread| thread.budget == budget);
    victims
        .chain(hostile.map(|thread| Share {
            level: thread.priority,
            period: None,
            price: None,
            reservation,
            arranges: 1,
        }))
        .collect()
}

/// The bounds of the victims' responses, if all are admitted.
pub fn bounds(system: &System) -> Option<Vec<u64>> {
    let used: f64 = system.budgets.iter().map(|(period, capacity)| f64::from(*capacity) / f64::from(*period)).sum();
    if used > 1.0 {
        return None;
    }
    (0..system.victims.len()).map(|of| bound(system, of)).collect()
}

/// Everything beside a victim; sharers are without their prices.
struct Beside {
    own: Grid,
    budgets: Vec<Contender>,
    sharers: Vec<Sharer>,
    gates: Vec<GateTerm>,
    lines: [Line; 1],
}

impl Beside {
    fn view(&self) -> Set<'_> {
        let Beside { own, budgets, sharers, gates, lines } = self;
        Set { own: *own, budgets, sharers, gates, lines, costs: COSTS }
    }
}

fn beside(system: &System, of: usize) -> Beside {
    let victim = &system.victims[of];
    let (grid, period) = (u64::from(system.budgets[victim.budget].0), u64::from(victim.period));
    let releases = gcd(grid, period);
    let all = system.victims.iter().map(|victim| (victim.priority, victim.budget));
    let all: Vec<(u8, usize)> =
        all.chain(system.hostile.iter().map(|thread| (thread.priority, thread.budget))).collect();
    let contender = |(index, &(of, capacity)): (usize, &(u32, u32))| {
        let users = all.iter().filter(|(_, budget)| *budget == index && index != victim.budget);
        Some(Contender {
            level: users.clone().map(|(priority, _)| *priority).min()?,
            period: of.into(),
            capacity: capacity.into(),
            step: gcd(releases, of.into()),
            threads: users.count() as u32,
            arranges: 1,
        })
    };
    let others = system.victims.iter().enumerate().filter(|(other, v)| *other != of && v.budget == victim.budget);
    let sharer = |(_, other): (usize, &Victim)| {
        let together = grid.is_multiple_of(other.period.into()) && period.is_multiple_of(other.period.into());
        let (period, activations) = (other.period.into(), 1 + u64::from(other.calls));
        Sharer { level: other.priority, period, deadline: period, price: 0, activations, together }
    };
    let (ceiling, longest) = system.gate;
    let callers = all.iter().map(|(priority, _)| *priority).filter(|priority| *priority >= ceiling);
    let gate = |lowest_caller| GateTerm { ceiling, bound: longest.into(), lowest_caller };
    let waits = all.iter().any(|(priority, budget)| *budget == victim.budget && *priority > victim.priority);
    let woken = all.iter().enumerate().filter(|(other, _)| *other != of).map(|(_, (priority, _))| *priority);
    Beside {
        own: Grid { period: grid, step: releases, timers: 1 + u64::from(waits) },
        budgets: system.budgets.iter().enumerate().filter_map(contender).collect(),
        sharers: others.map(sharer).collect(),
        gates: callers.max().map(gate).into_iter().collect(),
        lines: [Line { wakes: woken.min() }],
    }
}

fn bound(system: &System, of: usize) -> Option<u64> {
    let victim = &system.victims[of];
    let (grid, capacity) = system.budgets[victim.budget];
    let before = system.victims[..of].iter().filter(|other| other.budget == victim.budget).count();
    let shares = shares(system, victim.budget);
    match sharing(grid.into(), capacity.into(), &shares, before, &COSTS) {
        Sharing::Covered { .. } | Sharing::Full { .. } => {}
        _ => return None,
    }
    let mut beside = beside(system, of);
    let prices = shares.iter().enumerate().filter(|(position, _)| *position != before);
    for (sharer, price) in beside.sharers.iter_mut().zip(prices.filter_map(|(_, share)| share.price)) {
        sharer.price = price;
    }
    let subject = Subject { level: victim.priority, deadline: victim.period.into(), job: job(system, of) };
    response(&subject, &beside.view()).ok().map(|found| found.window)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

pub fn tables(system: &System) -> Builder {
    let domains = system.budgets.len() as u32 + 1;
    let mut stacks = vec![0; domains as usize];
    let mut thread = |priority: u8, budget: usize, period: u32| {
        let domain = budget as u32;
        // Addresses of stacks do not matter, because no thread executes anything here.
        let offset = stacks[budget] % 8 * 0x200;
        stacks[budget] += 1;
        Thread {
            domain,
            entry: 0x20_0101 + domain * 0x1000,
            stack_base: 0x2002_0000 + domain * 0x2000 + offset,
            stack_bytes: 0x200,
            priority: priority.into(),
            budget: domain,
            period,
            ..Thread::default()
        }
    };
    let victims = system.victims.iter().map(|victim| (victim.priority, victim.budget, victim.period));
    let hostile = system.hostile.iter().map(|hostile| (hostile.priority, hostile.budget, 0));
    let threads = victims.chain(hostile).map(|(priority, budget, period)| thread(priority, budget, period)).collect();
    let server = domains - 1;
    Builder {
        ticks_per_second: 25_000_000,
        cpu_hz: 216_000_000,
        switching: COSTS.switching,
        overrun: COSTS.overrun() as u32,
        frames: vec![
            Frames { base: 0x20_0000, bytes: 0x20_0000, kind: frames::ROM, marks: 0 },
            Frames { base: 0x2000_0000, bytes: 0x1000, kind: frames::KERNEL, marks: 0 },
            Frames { base: 0x2002_0000, bytes: 0x6_0000, kind: frames::USER, marks: 0 },
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
        interrupts: vec![Interrupt { line: 3, notification: WORDS - 1, bits: 1, direct: 0 }],
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
    let data = area::READ | area::WRITE | area::PINNED | area::CLEAR;
    [
        (0x20_0000 + domain * 0x1000, 0x1000, code, area::WRITE_THROUGH),
        (0x2002_0000 + domain * 0x2000, 0x2000, data, area::NORMAL),
    ]
    .map(|(base, bytes, flags, memory)| Area { domain, base, bytes, flags, memory, physical: 0 })
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
