//! Admission of time: the analysis of `sched::response` applied to a system. docs/time.md, "The bound", is the specification.

mod culprits;
mod gates;
mod holds;
mod refuse;
mod reload;
mod system;
mod terms;
mod units;

use sched::response::Refusal as Late;

use crate::board::Board;
use crate::diagnostic::Refusal;
use crate::resolved::{Budget, System};
pub(crate) use gates::widen;
use holds::{Unpaid, paid};
pub(crate) use sched::response::jobs_in;
use system::Analysis;
pub use terms::{Kind, Term};

/// The bound that admission computed for a thread with a deadline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Number of the thread over all domains.
    pub thread: usize,
    /// Bound on the response time, in ticks.
    pub response: u64,
    /// The deadline, in ticks.
    pub deadline: u64,
    /// Terms of which the bound is the sum; none of nothing.
    pub terms: Vec<Term>,
    /// Times in a job that its declared `wcet` has to hold with lines of caches that others have put out: how often it can go on after them, if it
    /// declares no `reload` and the chip has caches, otherwise 0.
    pub unpriced_resumptions: u64,
}

/// Response-time analysis of every thread with a deadline; call it on the system of a manifest that [`crate::check`] has admitted.
///
/// # Errors
/// CF0402 for each deadline that can be missed, with the computed response time; CF0401 for a price above its budget; CF0410 for
/// a budget that its sharers can empty; CF0408 when the budgets promise more time than there is.
pub fn analyse(resolved: &System, board: &Board) -> Result<Vec<Bound>, Vec<Refusal>> {
    let system = Analysis::new(resolved, board);
    let (mut bounds, mut refused) = (Vec::new(), Vec::new());
    for thread in 0..system.subjects.len() {
        match one(&system, thread) {
            Some(Ok(bound)) => bounds.push(bound),
            Some(Err(refusal)) => refused.push(*refusal),
            None => {}
        }
    }
    refused.extend(utilisation(resolved));
    if refused.is_empty() { Ok(bounds) } else { Err(refused) }
}

/// The bound of a thread, `None` if it has no deadline.
fn one(system: &Analysis<'_>, thread: usize) -> Option<Result<Bound, Box<Refusal>>> {
    let deadline = system.deadline(thread)?;
    if let Err(unpaid) = paid(system, thread) {
        return Some(Err(Box::new(match unpaid {
            Unpaid::Nothing => refuse::impossible(system, thread),
            Unpaid::Price => refuse::price(system, thread),
            Unpaid::Emptied { by } => refuse::emptied(system, thread, by),
            Unpaid::Exceeded { demand } => refuse::exceeded(system, thread, demand),
        })));
    }
    let set = system.set(thread);
    Some(match system.respond(thread, deadline, &set) {
        Ok(found) => {
            let terms = terms::list(system, thread, &set, &found);
            let unpriced_resumptions = system.unpriced_resumptions(thread);
            Ok(Bound { thread, response: found.window, deadline, terms, unpriced_resumptions })
        }
        Err(Late::Late(found)) => Err(Box::new(refuse::late(system, thread, &set, &found))),
        Err(Late::Budget(_)) => Err(Box::new(refuse::impossible(system, thread))),
    })
}

/// The sum of all budgets is at most one processor.
fn utilisation(system: &System) -> Option<Refusal> {
    let share = |b: &Budget| f64::from(b.capacity) / f64::from(b.period);
    let handlers: f64 = system.handlers().map(|(_, h)| f64::from(h.capacity) / f64::from(h.period.max(1))).sum();
    let sum: f64 = system.budgets.iter().map(share).sum::<f64>() + handlers;
    let name = &system.budgets.iter().max_by(|a, b| share(a).total_cmp(&share(b)))?.name;
    (sum > 1.0).then(|| {
        Refusal::at("CF0408", format!("budget.{name}.capacity"), "the budgets promise more time than there is")
            .value(format!("{:.1} % of the processor", sum * 100.0))
            .limit("100 %")
            .rule("the capacities of all budgets and of handlers, each over its period, sum to at most one processor")
            .remedy(format!(
                "lower capacities by {:.1} % of the processor, for example that of `{name}`",
                (sum - 1.0) * 100.0
            ))
    })
}
