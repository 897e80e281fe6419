//! Makes a system tight: budgets hold as little as admission lets them, and a victim computes as much.

use crate::board::Drive;
use crate::plan::{Job, Plan};

/// The least bound over deadline of a tight victim.
pub const TIGHT: f64 = 0.9;

/// The jobs of a plan, in the order of threads.
fn jobs(plan: &mut Plan) -> Vec<&mut Job> {
    plan.domains.iter_mut().flat_map(|domain| &mut domain.threads).filter_map(|thread| thread.job.as_mut()).collect()
}

/// Takes from the budget that pays for each job what admission does not ask for.
fn empty(drive: &dyn Drive, plan: &mut Plan) {
    for budget in 0..plan.budgets.len() {
        let (mut low, mut high) = (0, plan.budgets[budget].extra_us);
        while low < high {
            let middle = low.midpoint(high);
            plan.budgets[budget].extra_us = middle;
            if drive.admit(plan).is_ok() { high = middle } else { low = middle + 1 }
        }
        plan.budgets[budget].extra_us = high;
    }
}

/// Makes a victim of an admitted plan tight: its work grows as far as the plan stays admitted, and where a step of the bound keeps that
/// from being enough, its deadline is shortened. `None` when neither makes it tight.
pub fn tighten(drive: &dyn Drive, plan: &Plan, victim: usize) -> Option<Plan> {
    let mut plan = plan.clone();
    empty(drive, &mut plan);
    let plan = &plan;
    let with = |change: &dyn Fn(&mut Job)| {
        let mut plan = plan.clone();
        change(jobs(&mut plan)[victim]);
        plan
    };
    let admitted = |plan: &Plan| drive.admit(plan).ok().and_then(|bounds| bounds.get(victim).copied());
    let (mut low, mut high) = {
        let mut plan = plan.clone();
        let job = &*jobs(&mut plan)[victim];
        (job.work_us, job.deadline_us)
    };
    while low + 1 < high {
        let middle = low.midpoint(high);
        let grown = with(&|job| job.work_us = middle);
        if admitted(&grown).is_some() { low = middle } else { high = middle }
    }
    let grown = with(&|job| job.work_us = low);
    let ratio = admitted(&grown)?;
    if ratio >= TIGHT {
        return Some(grown);
    }
    let shorter = with(&|job| {
        job.work_us = low;
        job.deadline_us = ((job.deadline_us as f64 * ratio * 1.02) as u64 + 1).min(job.deadline_us);
    });
    admitted(&shorter).filter(|ratio| *ratio >= TIGHT).map(|_| shorter)
}
