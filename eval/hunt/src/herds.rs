//! Herds: 10 to 30 threads of one budget. The kernel can spend time on each of them at every boundary, and admission has priced one.

use crate::parts::{budget, domain, one_job, thread, warden};
use crate::plan::{Act, Domain, Pace, Plan, SETTLE_US};
use crate::random::Random;

/// The most threads of a system beside that of a domain with handlers.
const THREADS: usize = 31;
/// Periods and capacities of the budget of a herd that presses. The second kind holds little more than an activation, so that a thread leaves it in
/// debt for several periods.
const BUDGETS: [[[u64; 2]; 2]; 2] = [[[600, 1100], [25, 40]], [[100, 300], [25, 45]]];
/// Periods of a victim with a long window.
const WINDOWS: &[u64] = &[20_000, 30_000, 50_000];

/// Makes a herd of a hostile domain: 10 to 30 threads of the budget of its first, which is no longer everything that others have.
pub fn gather(random: &mut Random, plan: &mut Plan) {
    let all: usize = plan.domains.iter().map(|domain| domain.threads.len()).sum();
    let Some(domain) = plan.domains.iter_mut().find(|domain| domain.hostile && !domain.timer) else { return };
    let most = THREADS - (all - domain.threads.len());
    let count = (random.within(Domain::HERD as u64, 30) as usize).min(most);
    let first = &domain.threads[0];
    let (budget, least, levels) = (first.budget, first.priority, random.within(1, 3) as u32);
    domain.threads = (0..count as u32).map(|at| thread(least + at % levels, budget)).collect();
}

/// A herd that is more important than a single victim with a long window, and nobody else. Time that nobody pays for at a boundary adds up over many
/// boundaries. With short windows and many budgets it stays below the constant terms of a bound, and no hunt noticed it.
pub fn pressed(random: &mut Random) -> Plan {
    let mut plan = Plan { limit_us: 0, budgets: Vec::new(), domains: Vec::new() };
    let window_us = *random.one(WINDOWS);
    let work_us = window_us * random.within(20, 40) / 100;
    one_job(&mut plan, 31, [window_us, work_us]);

    let [periods, percents] = *random.one(&BUDGETS);
    let period_us = random.within(periods[0], periods[1]);
    let capacity_us = period_us * random.within(percents[0], percents[1]) / 100;
    let pays = budget(&mut plan, period_us, capacity_us);
    let mut herd = domain("thief0".into(), true);
    // Each with a priority of its own, or several with the same.
    let levels = *random.one(&[30, 30, 3, 1]);
    herd.threads = (0..random.within(26, 29) as u32).map(|at| thread(at % levels, pays)).collect();
    plan.domains.push(herd);
    if random.percent(50) {
        warden(random, &mut plan);
    }
    plan.limit_us = window_us * Pace::USUAL.jobs_of(window_us) + SETTLE_US;
    plan
}

/// What the threads of a herd do: mostly all the same.
pub fn arm(random: &mut Random, plan: &Plan, domain: &mut Domain, periods: &[u64]) {
    let budget = domain.threads.first().map_or(0, |thread| thread.budget);
    let (period, capacity) = (plan.budgets[budget].period_us, plan.capacity_us(budget));
    let victims = *random.one(periods);
    let ways: [(&[&str], Vec<Act>); 6] = [
        (&[], vec![Act::plain("spin")]),
        (&[], vec![Act::plain("sleep 1")]),
        (&[], vec![Act::plain("yield")]),
        // All of them just before a boundary, or a release.
        (&["grid"], vec![Act::plain(format!("until {period}us -{}us", random.within(0, 40)))]),
        (&["grid"], vec![Act::plain(format!("until {victims}us -{}us", random.within(0, 40)))]),
        (&[], vec![Act::plain(format!("work {}us", capacity / 8 + 1)), Act::plain("sleep 1")]),
    ];
    let other = random.within(0, 5) as usize;
    // Where a herd presses, mostly all of it is ready at each boundary.
    let usual =
        if plan.has_long_window() { *random.one(&[0, 0, 1, 1, 2, 3, 4, 5]) } else { random.within(0, 5) as usize };
    for thread in &mut domain.threads {
        let (first, then) = &ways[if random.percent(85) { usual } else { other }];
        thread.first.extend(first.iter().map(|act| Act::plain(*act)));
        thread.then.extend(then.iter().cloned());
    }
    // One faults, where somebody restarts them all: the most important one, which runs whatever the others do.
    if let (Some(_), Some(faults)) = (&domain.warden, domain.threads.first_mut()) {
        faults.first.clear();
        faults.then = vec![Act::plain("sleep 3000us"), Act::plain("fault")];
    }
}
