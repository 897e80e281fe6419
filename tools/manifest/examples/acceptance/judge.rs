//! The analysis that ships, the same without one of its terms, and plain response-time analysis of periodic threads.

use sched::response::{Contender, Costs, Grid, Job, Set, Sharer, Thread, response};
use sched::switching::Switching;

use crate::sets::Task;

/// A judge, by the terms that it counts.
pub struct Judge {
    pub name: &'static str,
    /// Others count as budgets: capacity before and after a boundary. Otherwise by job, released together.
    budgets: bool,
    /// Known phases.
    lattice: bool,
    /// Carry-in of budgets, and their overdrafts.
    carried: bool,
    late: bool,
    masked: bool,
    /// Switches, and activations in prices.
    switching: bool,
}

const OURS: Judge =
    Judge { name: "check", budgets: true, lattice: true, carried: true, late: true, masked: true, switching: true };

pub fn judges() -> Vec<Judge> {
    vec![
        OURS,
        Judge { name: "deadline-monotonic analysis", budgets: false, carried: false, ..OURS },
        Judge { name: "check without the lattice", lattice: false, ..OURS },
        Judge { name: "check with jobs for budgets", budgets: false, ..OURS },
        Judge { name: "check without what is carried", carried: false, ..OURS },
        Judge { name: "check without late timers", late: false, ..OURS },
        Judge { name: "check without masked paths", masked: false, ..OURS },
        Judge { name: "check without switches", switching: false, ..OURS },
    ]
}

impl Judge {
    /// Whether thread `i` meets its deadline.
    pub fn admits(&self, set: &[Task], i: usize, costs: &Costs) -> bool {
        let mut costs = *costs;
        if !self.late {
            costs.late = 0;
        }
        if !self.masked {
            costs.masked = 0;
        }
        if !self.switching {
            costs.switching = Switching::default();
        }
        let job = |task: &Task| Job { wcet: task.wcet, misses: 0, calls: 0, bounds: 0, activations: 0, reload: 0 };
        // Each budget grants what a job takes.
        let price = |task: &Task| job(task).price(&costs);
        let fits = set.iter().all(|task| price(task) <= task.period);
        if !fits || set.iter().map(|task| price(task) as f64 / task.period as f64).sum::<f64>() > 1.0 {
            return false;
        }
        let mut contenders = Vec::new();
        let mut sharers = Vec::new();
        let mut carried = 0;
        for task in &set[..i] {
            let step = if self.lattice { gcd(task.period, set[i].period) } else { 1 };
            let budget =
                Contender { level: 0, period: task.period, capacity: price(task), step, threads: 1, arranges: 0 };
            let extra = budget.within(0, &costs).carried;
            if self.budgets && self.carried {
                contenders.push(budget);
            } else {
                carried += if self.carried { extra } else { 0 };
                sharers.push((budget, price(task)));
            }
        }
        let deadline = set[i].period;
        let subject = Thread { level: 1, deadline, job: Job { wcet: set[i].wcet + carried, ..job(&set[i]) } };
        if self.budgets {
            return if self.carried {
                holds(&subject, &contenders, &[], &costs)
            } else {
                bare(&subject, &sharers, &costs)
            };
        }
        let jobs: Vec<Sharer> = sharers
            .iter()
            .map(|(budget, price)| Sharer {
                level: 0,
                period: budget.period,
                deadline,
                price: *price,
                activations: 1,
                together: true,
            })
            .collect();
        holds(&subject, &[], &jobs, &costs)
    }
}

fn holds(thread: &Thread, budgets: &[Contender], sharers: &[Sharer], costs: &Costs) -> bool {
    // Released at the boundaries of its budget, and done by the next: no timer comes in vain.
    response(thread, &Set { own: Grid::default(), budgets, sharers, gates: &[], lines: &[], costs: *costs }).is_ok()
}

/// Budgets without what they carry: the same iteration, for the one variant that the library does not have.
fn bare(thread: &Thread, budgets: &[(Contender, u64)], costs: &Costs) -> bool {
    let own = thread.job.own(costs).total() + costs.late + costs.under_way();
    let mut window = own;
    loop {
        let others: u64 = budgets.iter().map(|(budget, _)| budget.within(window, costs).capacity).sum();
        let next = own + others + window.div_ceil(costs.look) * u64::from(costs.switching.early);
        if next > thread.deadline || next == window {
            return next == window;
        }
        window = next;
    }
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
