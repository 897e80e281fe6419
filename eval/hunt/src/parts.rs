//! Budgets, threads and domains from which every kind of system is put together.

use crate::plan::{Act, Budget, Domain, EXTRA_US, Job, Plan, Thread};
use crate::random::Random;

/// Adds a budget, and returns its position.
pub fn budget(plan: &mut Plan, period_us: u64, least_us: u64) -> usize {
    plan.budgets.push(Budget { period_us, least_us, extra_us: EXTRA_US });
    plan.budgets.len() - 1
}

/// A thread that does nothing.
pub fn thread(priority: u32, budget: usize) -> Thread {
    Thread { priority, budget, job: None, first: Vec::new(), then: Vec::new() }
}

/// A domain without threads.
pub fn domain(name: String, hostile: bool) -> Domain {
    Domain {
        name,
        hostile,
        threads: Vec::new(),
        gate: None,
        calls: Vec::new(),
        timer: false,
        warden: None,
        handlers: None,
    }
}

/// Adds a domain with one job, which is due at the end of its period, and returns its budget.
pub fn one_job(plan: &mut Plan, priority: u32, [period_us, work_us]: [u64; 2]) -> usize {
    let mut new = domain(format!("victim{}", plan.domains.len()), false);
    let pays = budget(plan, period_us, 0);
    let mut main = thread(priority, pays);
    main.job = Some(Job { period_us, deadline_us: period_us, work_us, calls: None, float: false });
    main.first.push(Act::plain("period"));
    new.threads.push(main);
    plan.domains.push(new);
    pays
}

/// A domain that restarts a thief whenever it faults.
pub fn warden(random: &mut Random, plan: &mut Plan) {
    let pays = budget(plan, 2000, 100);
    let mut new = domain("warden".into(), false);
    let mut revives = thread(random.within(0, 14) as u32, pays);
    revives.then.push(Act::plain("revive 2"));
    new.threads.push(revives);
    if let Some(ward) = plan.domains.iter_mut().find(|domain| domain.hostile) {
        ward.warden = Some(new.name.clone());
    }
    plan.domains.push(new);
}
