//! Draws a system from its seed.

use crate::parts::{budget, domain, thread, warden};
use crate::plan::{Act, Budget, EXTRA_US, Gate, Job, LEAST_GATE_US, PAYER_US, Pace, Plan, SETTLE_US, Thread};
use crate::random::Random;
use crate::strategy;
use crate::{handlers, herds};

/// Periods of victims. A run is as long as the longest needs for its jobs.
const PERIODS: [&[u64]; 6] =
    [&[500, 1000], &[1000, 2000], &[500, 1000, 2000], &[700, 1000, 1300], &[1000], &[800, 1100, 2000]];
const LONG: &[u64] = &[1000, 2500, 5000];
/// Periods of other budgets.
const OTHERS: &[u64] = &[500, 1000, 1000, 2000, 3000, 5000];

/// How much there is in a system.
struct Shape {
    /// How many victims there can be, and how many thieves.
    domains: [&'static [u64]; 2],
    /// Periods of victims.
    periods: &'static [&'static [u64]],
    /// Priorities of victims, the most important first.
    victims: [u64; 2],
    /// The least priority of a thief.
    thief: u64,
    /// Threads of most thieves, at most.
    threads: u64,
    /// In so many of a hundred cases a thief's further thread shares the budget of the one before.
    shares: u64,
    /// Periods of thieves' budgets.
    others: &'static [u64],
    /// Percent of the processor that all thieves have together.
    percent: [u64; 2],
}

/// Many budgets and short periods: what they carry into a victim's window is most of its bound.
const CROWD: Shape = Shape {
    domains: [&[1, 2, 3], &[1, 2, 3, 4]],
    periods: &PERIODS,
    victims: [1, 12],
    thief: 14,
    threads: 3,
    shares: 50,
    others: OTHERS,
    percent: [5, 35],
};
/// A few, with larger budgets: a victim's bound is mostly its own time and capacities, so that what a kernel lets slip shows.
const FEW: Shape = Shape {
    domains: [&[1, 1, 1, 2], &[1, 1, 2]],
    periods: &[&[2000, 4000], &[3000], &[2500, 4000], &[2700, 3700]],
    victims: [6, 12],
    thief: 7,
    threads: 2,
    shares: 100,
    others: &[1000, 2000, 2000, 3000, 5000],
    percent: [10, 40],
};
/// Of a hundred systems, so many are crowds.
const CROWD_PERCENT: u64 = 20;
/// Of a hundred hostile budgets, so many have a thread that spends everything.
const SPENDS_PERCENT: u64 = 80;
/// Of a hundred victims with one job, so many share its budget with less important threads that pay prices before its release.
const PAYERS_PERCENT: u64 = 20;

/// Of a hundred systems, so many have a herd, windows of 100 ms, a budget around the price of an activation, and handlers.
const APART_PERCENT: [u64; 4] = [30, 12, 15, 30];
/// Of a hundred herds, so many press on a single victim with a long window.
const PRESSED_PERCENT: u64 = 50;
/// The period of victims with long windows.
const LONGEST: &[u64] = &[100_000];

/// Draws a system whose hostile threads do nothing yet, for a board on which interrupts reach handlers without the kernel or not. It need not be one
/// that `check` admits.
pub fn generate(random: &mut Random, has_handlers: bool) -> Plan {
    let mut apart = random.apart();
    let [herd, long, small, direct] = APART_PERCENT.map(|percent| apart.percent(percent));
    if herd && apart.percent(PRESSED_PERCENT) {
        // The next draw of this system is another one.
        random.word();
        return herds::pressed(&mut apart);
    }
    if direct && has_handlers {
        random.word();
        return handlers::system(&mut apart);
    }
    let shape = if random.percent(CROWD_PERCENT) { &CROWD } else { &FEW };
    let [victims, thieves] = shape.domains.map(|counts| *random.one(counts));
    let thieves = thieves.min(6 - victims);
    let periods = if random.percent(5) { LONG } else { *random.one(shape.periods) };
    let periods = if long { LONGEST } else { periods };
    let mut plan = Plan { limit_us: 0, budgets: Vec::new(), domains: Vec::new() };
    let timer = random.percent(40).then(|| random.within(0, thieves - 1));
    for index in 0..victims {
        victim(random, &mut plan, index, shape, periods);
        if plan.domains[index as usize].threads.len() == 1 && random.percent(PAYERS_PERCENT) {
            let free = timer.is_none() && plan.domains.iter().all(|domain| !domain.timer);
            payers(random, &mut plan, free);
        }
    }
    let percent = random.within(shape.percent[0], shape.percent[1]).div_ceil(thieves);
    for index in 0..thieves {
        thief(random, &mut plan, index, shape, percent, timer == Some(index));
    }
    if random.percent(50) {
        gate(random, &mut plan);
    }
    if random.percent(15) {
        served(random, &mut plan);
    }
    if random.percent(20) && plan.domains.len() < 7 {
        warden(random, &mut plan);
    }
    if small {
        narrow(&mut apart, &mut plan);
    }
    if herd {
        herds::gather(&mut apart, &mut plan);
    }
    plan.limit_us =
        periods_of(&plan).iter().max().map_or(0, |longest| longest * Pace::USUAL.jobs_of(*longest)) + SETTLE_US;
    plan
}

/// Gives a hostile budget a short period and about the price of an activation, or less.
fn narrow(random: &mut Random, plan: &mut Plan) {
    let Some(thread) = plan.domains.iter().filter(|domain| domain.hostile).flat_map(|domain| &domain.threads).last()
    else {
        return;
    };
    let period_us = *random.one(&[50, 100, 150, 300, 700]);
    plan.budgets[thread.budget] = Budget { period_us, least_us: random.within(1, period_us / 2), extra_us: EXTRA_US };
}

/// Periods of the victims.
fn periods_of(plan: &Plan) -> Vec<u64> {
    let jobs = plan.domains.iter().flat_map(|domain| &domain.threads).filter_map(|thread| thread.job.as_ref());
    jobs.map(|job| job.period_us).collect()
}

/// Draws what hostile threads do with what admission has left them.
pub fn arm(random: &mut Random, plan: &mut Plan) {
    let victims = periods_of(plan);
    for index in 0..plan.domains.len() {
        if !plan.domains[index].hostile || plan.domains[index].handlers.is_some() {
            continue;
        }
        let mut domain = plan.domains[index].clone();
        if domain.is_herd() {
            let mut apart = random.apart();
            herds::arm(&mut apart, plan, &mut domain, &victims);
            plan.domains[index] = domain;
            continue;
        }
        for at in 0..domain.threads.len() {
            let mut thread = domain.threads[at].clone();
            let last = domain.threads[at + 1..].iter().all(|other| other.budget != thread.budget);
            let serves = domain.timer && domain.threads.len() == 1;
            if last && !serves && random.percent(SPENDS_PERCENT) {
                strategy::spend(random, plan, &mut thread);
            } else {
                strategy::draw(random, plan, &domain, &mut thread, &victims);
            }
            domain.threads[at] = thread;
        }
        plan.domains[index] = domain;
    }
}

/// A domain with one job, or two that share a budget.
fn victim(random: &mut Random, plan: &mut Plan, index: u64, shape: &Shape, periods: &[u64]) {
    let mut new = domain(format!("victim{index}"), false);
    let jobs = if random.percent(20) { 2 } else { 1 };
    let period = *random.one(periods);
    let pays = budget(plan, period, 0);
    for at in 0..jobs {
        let period_us = if at == 0 || random.percent(50) { period } else { *random.one(periods) };
        let work_us = period_us * random.within(3, 25) / 100;
        let deadline_us = period_us * random.within(60, 100) / 100;
        let mut thread = thread(random.within(shape.victims[0], shape.victims[1]) as u32, pays);
        let float = random.percent(15);
        thread.job = Some(Job { period_us, deadline_us, work_us, calls: None, float });
        if random.percent(60) {
            thread.first.push(Act::plain("grid"));
            thread.first.push(Act::plain(format!("until {period_us}us {}us", random.within(0, period_us))));
        }
        thread.first.push(Act::plain("period"));
        new.threads.push(thread);
    }
    plan.domains.push(new);
}

/// Gives the last domain less important threads that share its job's budget and pay prices in a burst, just before the release. `free`: no
/// other domain wants the timer.
fn payers(random: &mut Random, plan: &mut Plan, free: bool) {
    let Some(domain) = plan.domains.last_mut() else { return };
    let &[Thread { priority, budget, job: Some(ref job), .. }] = &domain.threads[..] else { return };
    let period = job.period_us;
    domain.timer = free && random.percent(60);
    let (price, many) = if domain.timer { ("ack", 1) } else { *random.one(&[("signal 1", 1), ("yield", 2)]) };
    // Admission asks a victim's budget to hold more for each thread that shares it and pays prices.
    plan.budgets[budget].extra_us += many * PAYER_US;
    let [before, step, times] = [(2, 25), (0, 9), (4, strategy::BURST)].map(|(least, most)| random.within(least, most));
    for _ in 0..many {
        let mut pays = thread(priority + 1, budget);
        pays.first.push(Act::plain("grid"));
        pays.first.extend(domain.timer.then(|| Act::plain("timer 2s")));
        pays.then = strategy::burst([period, before, step], price, times);
        domain.threads.push(pays);
    }
}

/// A hostile domain with one budget or more, which have about so much of the processor.
fn thief(random: &mut Random, plan: &mut Plan, index: u64, shape: &Shape, percent: u64, timer: bool) {
    let mut new = domain(format!("thief{index}"), true);
    new.timer = timer;
    let threads = if random.percent(10) { random.within(4, 8) } else { random.within(1, shape.threads) };
    let (mut pays, mut left) = (None, percent.max(1));
    for _ in 0..threads {
        let shares = pays.filter(|_| random.percent(shape.shares));
        let pays = *pays.insert(shares.unwrap_or_else(|| {
            let period = *random.one(shape.others);
            let takes = random.within(left.div_ceil(2), left);
            left = (left - takes).max(1);
            budget(plan, period, (period * takes / 100).max(20))
        }));
        new.threads.push(thread(random.within(0, shape.thief) as u32, pays));
    }
    plan.domains.push(new);
}

/// Gives a domain a gate, and others the right to call it; victims call it in each job.
fn gate(random: &mut Random, plan: &mut Plan) {
    let callee = if random.percent(60) {
        let mut server = domain("server".into(), false);
        let pays = budget(plan, 2000, 50);
        let mut idle = thread(15, pays);
        idle.then.push(Act::plain("sleep 100ms"));
        server.threads.push(idle);
        plan.domains.push(server);
        plan.domains.len() - 1
    } else {
        let hostile: Vec<usize> = (0..plan.domains.len()).filter(|index| plan.domains[*index].hostile).collect();
        *random.one(&hostile)
    };
    let name = plan.domains[callee].name.clone();
    let bound_us = random.within(LEAST_GATE_US, 90);
    let mut ceiling = 31;
    for index in 0..plan.domains.len() {
        if index == callee && !plan.domains[index].hostile || random.percent(30) {
            continue;
        }
        let caller = &mut plan.domains[index];
        caller.calls.push(name.clone());
        ceiling = caller.threads.iter().map(|thread| thread.priority).fold(ceiling, u32::min);
        for pays in caller.threads.iter().map(|thread| thread.budget) {
            // Each budget of a caller covers a call.
            plan.budgets[pays].least_us = plan.budgets[pays].least_us.max(bound_us + 5);
        }
        for job in caller.threads.iter_mut().filter_map(|thread| thread.job.as_mut()) {
            job.calls = random.percent(70).then(|| name.clone());
        }
    }
    plan.domains[callee].gate = Some(Gate { ceiling, bound_us });
}

/// A thread of the first victim's kind that hostile domains can wake.
fn served(random: &mut Random, plan: &mut Plan) {
    let mut new = domain("served".into(), false);
    let pays = budget(plan, *random.one(OTHERS), 60);
    let mut waits = thread(random.within(0, 10) as u32, pays);
    waits.then.extend([Act::plain("wait 1"), Act::plain("work 3us")]);
    new.threads.push(waits);
    plan.domains.push(new);
}
