//! Takes a failing system apart while it still fails.

use crate::board::Drive;
use crate::judge::{Harm, harms};
use crate::plan::Plan;

/// Most runs.
const RUNS: usize = 120;

/// The smallest plan found that is admitted and still does harm, with its harms. `told` hears of each step.
pub fn minimise(drive: &mut dyn Drive, plan: &Plan, told: &mut dyn FnMut(&str)) -> Option<(Plan, Vec<Harm>)> {
    let mut runs = 0;
    let mut fails = |plan: &Plan| {
        if runs == RUNS || drive.admit(plan).is_err() {
            return None;
        }
        runs += 1;
        let harms = harms(&drive.run(plan).ok()?.report);
        (!harms.is_empty()).then_some(harms)
    };
    let mut best = (plan.clone(), fails(plan)?);
    loop {
        let smaller = smaller(&best.0);
        let found = smaller.into_iter().find_map(|(what, plan)| Some((what, fails(&plan)?, plan)));
        let Some((what, harms, plan)) = found else { return Some(best) };
        told(&what);
        best = (plan, harms);
    }
}

/// Versions of a plan without one of its parts, the largest parts first.
fn smaller(plan: &Plan) -> Vec<(String, Plan)> {
    let mut all = Vec::new();
    let mut offer = |what: String, change: &dyn Fn(&mut Plan)| {
        let mut smaller = plan.clone();
        change(&mut smaller);
        if smaller != *plan {
            all.push((what, smaller));
        }
    };
    for (at, domain) in plan.domains.iter().enumerate() {
        let name = domain.name.clone();
        offer(format!("without {name}"), &|plan| without(plan, at));
    }
    for (at, domain) in plan.domains.iter().enumerate() {
        for index in 0..domain.threads.len() {
            if domain.threads.len() > 1 {
                offer(format!("without {}.t{index}", domain.name), &|plan| {
                    drop(plan.domains[at].threads.remove(index))
                });
            }
        }
        offer(format!("{} without its gate", domain.name), &|plan| no_gate(plan, at));
        offer(format!("{} without a warden", domain.name), &|plan| plan.domains[at].warden = None);
    }
    for (at, domain) in plan.domains.iter().enumerate() {
        for (index, thread) in domain.threads.iter().enumerate() {
            let who = format!("{}.t{index}", domain.name);
            let thread_of = move |plan: &mut Plan| plan.domains[at].threads[index].clone();
            let put = move |plan: &mut Plan, thread| plan.domains[at].threads[index] = thread;
            for act in 0..thread.first.len().saturating_sub(usize::from(thread.job.is_some())) {
                offer(format!("{who} without an act before its loop"), &|plan| {
                    let mut thread = thread_of(plan);
                    thread.first.remove(act);
                    put(plan, thread);
                });
            }
            for act in (0..thread.then.len()).filter(|_| thread.then.len() > 1) {
                offer(format!("{who} without an act"), &|plan| {
                    let mut thread = thread_of(plan);
                    thread.then.remove(act);
                    put(plan, thread);
                });
            }
            offer(format!("{who} without a call"), &|plan| {
                if let Some(job) = &mut plan.domains[at].threads[index].job {
                    (job.calls, job.float) = (None, false);
                }
            });
        }
    }
    all
}

/// A plan without a domain and what others do with it. The budget that then pays for nobody stays.
fn without(plan: &mut Plan, at: usize) {
    no_gate(plan, at);
    let gone = plan.domains.remove(at);
    for domain in &mut plan.domains {
        if domain.warden.as_ref() == Some(&gone.name) {
            domain.warden = None;
        }
    }
}

fn no_gate(plan: &mut Plan, at: usize) {
    let name = plan.domains[at].name.clone();
    plan.domains[at].gate = None;
    for domain in &mut plan.domains {
        domain.calls.retain(|callee| *callee != name);
        for job in domain.threads.iter_mut().filter_map(|thread| thread.job.as_mut()) {
            job.calls = job.calls.take().filter(|callee| *callee != name);
        }
    }
}
