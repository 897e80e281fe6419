//! The texts of refusals, with the smallest change that would be admitted.

use sched::response::Response;

use super::culprits::{self, Culprit, STRETCH, Way};
use super::system::{Analysis, Beside};
use super::terms::list;
use super::units::{us, written};
use crate::diagnostic::Refusal;
use crate::resolved::Budget;

/// CF0402: a deadline that can be missed.
pub fn late(system: &Analysis<'_>, thread: usize, beside: &Beside, found: &Response) -> Refusal {
    let subject = &system.subjects[thread];
    let deadline = system.deadline(thread).unwrap_or(0);
    let terms = list(system, thread, beside, found);
    let total = us(system, found.terms.total());
    let sum = terms.iter().map(|term| format!("{} {}", term.kind, us(system, term.ticks))).collect::<Vec<_>>();
    let key = if subject.declared.own_deadline { "deadline" } else { "period" };
    let culprits = culprits::find(system, thread, beside, found);
    let remedy = remedy(system, thread, beside, &culprits);
    Refusal::at("CF0402", format!("{}.{key}", subject.place), format!("`{}` can miss its deadline", subject.name))
        .value(format!("deadline {}", us(system, deadline)))
        .needs(format!("response time at least {total} = {}", sum.join(" + ")))
        .rule("the worst response time, with all that others can do meanwhile, does not exceed the deadline")
        .remedy(remedy)
        .also(culprits.into_iter().map(|culprit| culprit.also).collect())
}

/// The smallest single changes that are enough: of the budget that gives up the least share of the processor, or else of the largest
/// culprit that can help, and of the deadline.
fn remedy(system: &Analysis<'_>, thread: usize, beside: &Beside, culprits: &[Culprit]) -> String {
    let subject = &system.subjects[thread];
    let all = || culprits.iter().flat_map(|culprit| &culprit.ways);
    let least = |a: &&Way, b: &&Way| a.share.unwrap_or(f64::MAX).total_cmp(&b.share.unwrap_or(f64::MAX));
    let mut ways: Vec<String> =
        all().min_by(least).map(|way| format!("give `{}` {}", way.to, way.change)).into_iter().collect();
    let period = subject.declared.period.map_or(0, u64::from);
    if let Ok(found) = system.respond(thread, period, beside) {
        let deadline = written(system, found.window, true);
        ways.push(format!("give `{}` a deadline of at least {deadline}", subject.name));
    }
    match ways.as_slice() {
        [] => "no single change of what adds most, and no deadline within the period, is enough: make it more important, or \
               lower several capacities of its priority or above"
            .into(),
        ways => ways.join(", or "),
    }
}

/// Time that a job takes from its budget, in words.
fn parts(system: &Analysis<'_>, thread: usize) -> String {
    let (job, costs) = (system.job(thread), &system.costs);
    let own = job.own(costs);
    let all = [
        ("wcet", own.wcet),
        ("misses", own.misses),
        ("calls", own.gates),
        ("slack of calls", own.slack),
        ("reload", own.reload),
        ("activations", job.price(costs) - own.wcet - own.misses - own.gates - own.slack - own.reload),
    ];
    let shown = all.iter().filter(|(_, ticks)| *ticks > 0);
    shown.map(|(name, ticks)| format!("{name} {}", us(system, *ticks))).collect::<Vec<_>>().join(" + ")
}

/// CF0401: a price above the budget.
pub fn price(system: &Analysis<'_>, thread: usize) -> Refusal {
    let subject = &system.subjects[thread];
    let budget = system.payer(thread);
    let (jobs, job) = (system.jobs(thread), system.job(thread));
    let (capacity, taken) = (system.left_by_handlers(thread), system.taken(thread));
    let price = job.price(&system.costs);
    let needed = jobs.saturating_mul(price.saturating_add(u64::from(job.wcet == 0)));
    let beside_wcet = price - job.wcet;
    let left = (capacity / jobs).saturating_sub(beside_wcet);
    let key = if subject.declared.wcet.is_some() { ".wcet" } else { ".budget" };
    let enough = needed.saturating_add(taken);
    let within = enough <= system.budget(thread).0;
    let larger = || format!("`{budget}` a capacity of {}", written(system, enough, true));
    let mut ways: Vec<String> = if within { Some(larger()) } else { longer(system, thread) }.into_iter().collect();
    if left > 0 && subject.declared.wcet.is_some() {
        ways.push(format!("the thread a wcet of at most {}", written(system, left, false)));
    }
    let remedy = match ways.as_slice() {
        [] => format!(
            "no capacity of `{budget}` is enough, with a longer period neither: lower what the thread calls, or the capacities of handlers"
        ),
        ways => format!("give {}", ways.join(", or ")),
    };
    let message = format!("`{}` needs more than its budget grants", subject.name);
    Refusal::at("CF0401", format!("{}{key}", subject.place), message)
        .value(format!("{} for each job = {}", us(system, price), parts(system, thread)))
        .limit(format!(
            "{} for each of up to {jobs} in a period of the budget{}",
            us(system, capacity / jobs),
            handlers_take(system, taken)
        ))
        .rule("all jobs within a period of the budget are paid from its capacity, with their calls and activations")
        .remedy(remedy)
}

/// The smallest multiple of its budget's period with which a capacity within it pays its jobs: where a call or handlers take much once, and little in each period.
fn longer(system: &Analysis<'_>, thread: usize) -> Option<String> {
    let number = system.subjects[thread].declared.budget;
    let now = &system.system.budgets[number];
    let paying = |times: u32| {
        let period = now.period.checked_mul(times)?;
        let mut changed = system.system.clone();
        changed.budgets[number] = Budget { period, capacity: period, ..now.clone() };
        let other = Analysis::new(&changed, system.board);
        let price = other.job(thread).price(&other.costs);
        let price = if system.subjects[thread].declared.wcet.is_some() {
            price
        } else {
            system.job(thread).price(&system.costs) + 1
        };
        let capacity = other.jobs(thread).saturating_mul(price).saturating_add(other.taken(thread));
        (capacity <= period.into()).then_some((period, capacity))
    };
    let (period, capacity) = (2..=STRETCH).find_map(paying)?;
    let [period, capacity] = [period.into(), capacity].map(|ticks| written(system, ticks, true));
    Some(format!("`{}` a period of {period} and a capacity of {capacity}", now.name))
}

/// Says what handlers take from a budget, if they do.
fn handlers_take(system: &Analysis<'_>, taken: u64) -> String {
    if taken == 0 {
        return String::new();
    }
    let slips = system.slipping().map_or_else(String::new, |names| {
        format!(", whose slips count (those of {names}) unless they have `slips = \"accepted\"`")
    });
    format!(", without {} for handlers{slips}", us(system, taken))
}

/// CF0410: a sharer can empty the budget of a thread with a deadline.
pub fn emptied(system: &Analysis<'_>, thread: usize, by: usize) -> Refusal {
    let (subject, other) = (&system.subjects[thread], &system.subjects[by]);
    let budget = system.payer(thread);
    let mut remedy = format!("give `{}` a budget of its own", subject.name);
    let refusal = if thread == by {
        remedy = format!("declare its `wcet`, or {remedy}");
        let message = format!("`{}` shares `{budget}` without a wcet", subject.name);
        Refusal::at("CF0410", subject.place.clone(), message).value("no `wcet`")
    } else {
        let message = format!("`{}` can find `{budget}` emptied by `{}`", subject.name, other.name);
        let value = match (other.declared.period, other.declared.wcet) {
            (None, _) => "it runs when it likes: no `period`",
            (_, None) => "its jobs have no limit: no `wcet`",
            _ => "its jobs are limited, those of others are not",
        };
        Refusal::at("CF0410", format!("{}.budget", subject.place), message).value(format!("`{}`: {value}", other.name))
    };
    refusal
        .limit(format!(
            "every sharer with `period` and `wcet`; or `{}` more important than all that have none, and its period a multiple \
             of the budget's",
            subject.name
        ))
        .rule("a thread with a deadline never finds its budget empty")
        .remedy(remedy)
}

/// CF0410: the threads of a budget can need more than it has.
pub fn exceeded(system: &Analysis<'_>, thread: usize, demand: u64) -> Refusal {
    let subject = &system.subjects[thread];
    let budget = system.payer(thread);
    let (capacity, taken) = (system.left_by_handlers(thread), system.taken(thread));
    let message = format!("`{}` can find `{budget}` emptied by its sharers", subject.name);
    Refusal::at("CF0410", format!("{}.budget", subject.place), message)
        .value(format!("{} in a period of the budget", us(system, demand)))
        .limit(format!("a capacity of {}{}", us(system, capacity), handlers_take(system, taken)))
        .rule("a thread with a deadline never finds its budget empty")
        .remedy(format!(
            "give `{budget}` a capacity of {}, or `{}` a budget of its own",
            written(system, demand + taken, true),
            subject.name
        ))
}

/// For what [`crate::check`] refuses with a better reason.
pub fn impossible(system: &Analysis<'_>, thread: usize) -> Refusal {
    let subject = &system.subjects[thread];
    Refusal::at("CF0402", subject.place.clone(), format!("`{}` cannot be analysed", subject.name))
        .rule("budgets and periods are more than nothing")
        .remedy("correct the other refusals first")
}
