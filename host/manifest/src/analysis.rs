//! Admission of time: the response-time analysis of `sched::response` applied to a manifest.

use std::collections::BTreeSet;

use sched::response::{self, Costs, Gate, Response, Thread};

use crate::board::Board;
use crate::check::time::{callees, reach};
use crate::diagnostic::Refusal;
use crate::quantity::Time;
use crate::schema::{Budget, Manifest};

/// The bound that admission computed for a thread with a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Number of the thread over all domains.
    pub thread: usize,
    /// Bound on the response time, in ticks.
    pub response: u64,
    /// The deadline, in ticks.
    pub deadline: u64,
}

/// A thread with what the analysis needs of it.
struct Subject<'m> {
    place: String,
    name: String,
    domain: usize,
    declared: &'m crate::Thread,
    budget: usize,
}

fn subjects(manifest: &Manifest) -> Vec<Subject<'_>> {
    let mut all = Vec::new();
    for (domain, (name, d)) in manifest.domain.iter().enumerate() {
        for (i, declared) in d.thread.iter().enumerate() {
            let Some(budget) = manifest.budget.get_index_of(&declared.budget) else { continue };
            let place = format!("domain.{name}.thread[{i}]");
            all.push(Subject { place, name: format!("{name}.{}", declared.name), domain, declared, budget });
        }
    }
    all
}

fn ticks(time: Time, board: &Board) -> u64 {
    time.ticks(board.ticks_per_second).unwrap_or(u64::MAX)
}

/// What the kernel adds, in ticks, rounded up.
fn costs(manifest: &Manifest, board: &Board, cpu_hz: u64) -> Costs {
    let rate = u64::from(board.ticks_per_second);
    let of = |cycles: u64| (cycles * rate).div_ceil(cpu_hz);
    Costs {
        switch: of(board.kernel.switch_cycles),
        miss: of(board.kernel.miss_cycles),
        masked: of(board.kernel.masked_in(manifest)),
        excess: (board.enforcement_ns * rate).div_ceil(1_000_000_000),
    }
}

/// How often a thread can be released within one period of its budget.
pub(crate) fn releases(period: u64, budget: u64) -> u64 {
    let harmonic = budget.is_multiple_of(period) || period.is_multiple_of(budget);
    budget.div_ceil(period) + u64::from(!harmonic)
}

/// Response-time analysis of every thread with a deadline; call it on a manifest that [`crate::check`] has admitted.
/// `cpu_hz` is the clock of the profile.
///
/// # Errors
/// CF0402 for each deadline that can be missed, with the computed response time; CF0401 for a demand above its budget;
/// CF0408 when the budgets promise more time than there is.
pub fn analyse(manifest: &Manifest, board: &Board, cpu_hz: u64) -> Result<Vec<Bound>, Vec<Refusal>> {
    let costs = costs(manifest, board, cpu_hz);
    let subjects = subjects(manifest);
    let gates = gates(manifest, &subjects, board);
    let (mut bounds, mut refused) = (Vec::new(), Vec::new());
    for (thread, subject) in subjects.iter().enumerate() {
        let (Some(period), Some(deadline)) = (subject.declared.period, subject.declared.deadline()) else { continue };
        let own = match demand(manifest, board, &subjects, thread, ticks(period, board)) {
            Ok(own) => own,
            Err(refusal) => {
                refused.push(*refusal);
                continue;
            }
        };
        let deadline = ticks(deadline, board);
        let list = contenders(manifest, board, &subjects, thread, own, deadline);
        match response::response(&list, &gates, &costs, 0) {
            Ok(found) => bounds.push(Bound { thread, response: found.response, deadline }),
            Err(response::Refusal::Late { computed, .. }) => refused.push(late(subject, board, deadline, &computed)),
            Err(_) => refused.push(impossible(subject)),
        }
    }
    refused.extend(utilisation(manifest));
    if refused.is_empty() { Ok(bounds) } else { Err(refused) }
}

/// The thread under analysis first, then every other budget at the level of its most important thread.
fn contenders(
    manifest: &Manifest,
    board: &Board,
    subjects: &[Subject<'_>],
    of: usize,
    own: u64,
    deadline: u64,
) -> Vec<Thread> {
    let subject = &subjects[of];
    let mut list = vec![Thread {
        level: subject.declared.priority as u8,
        capacity: own,
        period: ticks(subject.declared.period.unwrap_or_default(), board),
        deadline: Some(deadline),
        misses: u64::from(subject.declared.misses),
    }];
    for (index, budget) in manifest.budget.values().enumerate() {
        let users = subjects.iter().filter(|s| s.budget == index);
        let Some(level) = users.map(|s| s.declared.priority as u8).min() else { continue };
        if index == subject.budget {
            continue;
        }
        let (capacity, period) = (ticks(budget.capacity, board), ticks(budget.period, board));
        list.push(Thread { level, capacity, period, deadline: None, misses: 0 });
    }
    list
}

/// What one release may need before it completes: its declared time, or all of a budget that it shares.
fn demand(
    manifest: &Manifest,
    board: &Board,
    subjects: &[Subject<'_>],
    thread: usize,
    period: u64,
) -> Result<u64, Box<Refusal>> {
    let subject = &subjects[thread];
    let budget: &Budget = &manifest.budget[subject.budget];
    let capacity = ticks(budget.capacity, board);
    let alone = subjects.iter().filter(|s| s.budget == subject.budget).count() == 1;
    if !alone {
        return Ok(capacity);
    }
    let releases = releases(period, ticks(budget.period, board));
    let granted = capacity / releases;
    let asked = subject.declared.wcet.map_or(granted, |time| ticks(time, board));
    if asked == 0 || asked > granted {
        let shown = |ticks: u64| format!("{:.1} us", ticks as f64 * 1e6 / f64::from(board.ticks_per_second));
        return Err(Box::new(
            Refusal::at(
                "CF0401",
                format!("{}.wcet", subject.place),
                format!("`{}` needs more than its budget grants", subject.name),
            )
            .value(format!("{} for each release, up to {releases} in a period of the budget", shown(asked)))
            .limit(format!("{} of {} for each", shown(granted), budget.capacity))
            .rule("all releases within a period of the budget are paid from its capacity")
            .remedy(format!(
                "raise the capacity of `{}`, or give the thread a budget of its own period",
                subject.declared.budget
            )),
        ));
    }
    Ok(asked)
}

fn late(subject: &Subject<'_>, board: &Board, deadline: u64, computed: &Response) -> Refusal {
    let us = |ticks: u64| format!("{:.1} us", ticks as f64 * 1e6 / f64::from(board.ticks_per_second));
    let terms = format!(
        "own time {}, masked paths {}, gates below {}, others of its priority or above {}",
        us(computed.own),
        us(computed.blocking_masked),
        us(computed.blocking_gate),
        us(computed.interference)
    );
    Refusal::at("CF0402", format!("{}.deadline", subject.place), format!("`{}` can miss its deadline", subject.name))
        .value(format!("deadline {}", us(deadline)))
        .limit(format!("response time at least {} = {terms}", us(computed.response)))
        .rule("the worst response time over all budgets does not exceed the deadline")
        .remedy(
            "make it more important, lower the capacity of budgets of its priority or above, or extend the deadline",
        )
}

fn impossible(subject: &Subject<'_>) -> Refusal {
    Refusal::at("CF0402", subject.place.clone(), format!("`{}` cannot be analysed", subject.name))
        .rule("budgets and periods are more than nothing")
        .remedy("correct the other refusals first")
}

/// The sum of all budgets is at most one processor.
fn utilisation(manifest: &Manifest) -> Option<Refusal> {
    let share = |b: &Budget| b.capacity.0 as f64 / b.period.0 as f64;
    let sum: f64 = manifest.budget.values().map(share).sum();
    let (name, _) = manifest.budget.iter().max_by(|a, b| share(a.1).total_cmp(&share(b.1)))?;
    (sum > 1.0).then(|| {
        Refusal::at("CF0408", format!("budget.{name}.capacity"), "the budgets promise more time than there is")
            .value(format!("{:.1} % of the processor", sum * 100.0))
            .limit("100 %")
            .rule("the capacities of all budgets, each over its period, sum to at most one processor")
            .remedy(format!(
                "lower capacities by {:.1} % of the processor, for example that of `{name}`",
                (sum - 1.0) * 100.0
            ))
    })
}

/// Each gate that somebody can reach, with its least important caller.
fn gates(manifest: &Manifest, subjects: &[Subject<'_>], board: &Board) -> Vec<Gate> {
    let callees = callees(manifest);
    let direct = reach(manifest);
    let mut lowest: Vec<Option<u32>> = vec![None; callees.len()];
    for subject in subjects {
        let mut seen = BTreeSet::new();
        let mut open: Vec<usize> = direct[subject.domain].iter().copied().collect();
        while let Some(gate) = open.pop() {
            if seen.insert(gate) {
                let level = lowest[gate].get_or_insert(0);
                *level = (*level).max(subject.declared.priority);
                open.extend(&direct[callees[gate].domain]);
            }
        }
    }
    let reached = callees.iter().zip(lowest).filter_map(|(callee, level)| Some((callee, level?)));
    reached
        .map(|(callee, level)| Gate {
            ceiling: callee.gate.ceiling as u8,
            bound: ticks(callee.gate.bound, board),
            lowest_caller: level as u8,
        })
        .collect()
}
