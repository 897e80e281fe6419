//! Systems with a domain whose handler never returns and is asked for again and again, so that it takes all that handlers can.

use crate::parts::{budget, domain, one_job, thread};
use crate::plan::{Handlers, Plan, SETTLE_US};
use crate::random::Random;

/// Periods of victims: long beside what a cut-off takes, so that admission has room for handlers.
const PERIODS: &[u64] = &[10_000, 20_000, 40_000];
/// The range of periods in milliseconds, and of capacities in microseconds: first with the counter, then with the sampler. With the sampler handlers can hide many
/// capacities before they are found, and admission counts them all; so only small capacities are admitted.
const BUDGETS: [[[u64; 2]; 2]; 2] = [[[5, 20], [30, 400]], [[20, 60], [10, 60]]];

/// Refills of handlers, and jobs, that a run has at least.
const REFILLS: u64 = 8;

/// One or two victims, a hostile domain with a budget, and one with handlers. A gate's caller would have to pay for handlers inside, which few budgets can.
pub fn system(random: &mut Random) -> Plan {
    let mut plan = Plan { limit_us: 0, budgets: Vec::new(), domains: Vec::new() };
    let period_us = *random.one(PERIODS);
    for _ in 0..random.within(1, 2) {
        let work_us = period_us * random.within(5, 25) / 100;
        let pays = one_job(&mut plan, random.within(2, 9) as u32, [period_us, work_us]);
        // Admission takes off a budget what handlers can take of it.
        plan.budgets[pays].extra_us = period_us * 40 / 100;
    }
    let mut thief = domain("thief0".into(), true);
    let period = *random.one(&[1000, 2000, 5000]);
    let pays = budget(&mut plan, period, period * random.within(5, 20) / 100);
    thief.threads.push(thread(random.within(0, 9) as u32, pays));
    plan.domains.push(thief);

    let mut direct = domain("direct".into(), random.percent(50));
    let pays = budget(&mut plan, 5000, 200);
    direct.threads.push(thread(15, pays));
    let sampled = random.percent(50);
    let [periods, capacities] = BUDGETS[usize::from(sampled)];
    // Off the grid of the victims, so that a refill comes at each moment of a job.
    let period_us = random.within(periods[0], periods[1]) * 1000 + random.within(0, 9) * 20;
    let capacity_us = random.within(capacities[0], capacities[1]);
    direct.handlers = Some(Handlers { period_us, capacity_us, sampled });
    plan.domains.push(direct);
    plan.limit_us = period_us.max(PERIODS[PERIODS.len() - 1]) * REFILLS + SETTLE_US;
    plan
}
