//! Gates beside handlers: what is charged to whom handlers interrupt counts towards the bound of the gate that it is in. A declared bound is what the callee has for
//! itself, and the time of handlers comes on top.

use std::collections::BTreeSet;

use sched::response::Contender;

use super::system::Analysis;
use super::units::{us, written};
use crate::board::Board;
use crate::diagnostic::Refusal;
use crate::resolved::System;

/// A window that is longer has no end, as far as a gate is concerned: ticks that a bound can have.
const LONGEST: u64 = i32::MAX as u64;

/// Adds to the bound of each gate what handlers can take of it.
///
/// # Errors
/// CF0415 for a gate of which they can take all; CF0404 for one that a caller's budget can never pay for then.
pub fn widen(system: &mut System, board: &Board) -> Vec<Refusal> {
    if !system.has_handlers() {
        return Vec::new();
    }
    let analysis = Analysis::new(system, board);
    let taken: Vec<Option<u64>> = (0..system.gates().count()).map(|gate| taken(&analysis, gate)).collect();
    let endless: Vec<Refusal> =
        taken.iter().enumerate().filter(|(_, t)| t.is_none()).map(|(g, _)| endless(&analysis, g)).collect();
    if !endless.is_empty() {
        return endless;
    }
    let found = payable(&analysis, &taken);
    let gates = system.domains.iter_mut().flat_map(|domain| domain.gates.iter_mut());
    for (gate, taken) in gates.zip(taken) {
        gate.handlers = taken.unwrap_or(0) as u32;
        gate.bound = gate.bound.saturating_add(gate.handlers);
    }
    found
}

/// Most that handlers take from a gate's bound while its callee has all of the declared one for itself: what they are not counted for, within the time that passes
/// meanwhile, with all budgets that are more important than the ceiling, and all of the handlers' time. `None`: without an end.
fn taken(analysis: &Analysis<'_>, gate: usize) -> Option<u64> {
    let (_, own) = analysis.system.gates().nth(gate)?;
    let above = above(analysis, own.ceiling);
    let costs = &analysis.costs;
    let alone = u64::from(own.bound).saturating_add(costs.late).saturating_add(costs.under_way());
    let mut window = alone;
    loop {
        let budgets = above.iter().fold(0u64, |sum, budget| sum.saturating_add(budget.within(window, costs).ticks()));
        let next = alone.saturating_add(budgets).saturating_add(analysis.displaced(window));
        if next > LONGEST {
            return None;
        }
        if next == window {
            return Some(analysis.charged(window));
        }
        window = next;
    }
}

/// The budgets that pay for a thread that is more important than a ceiling.
fn above(analysis: &Analysis<'_>, ceiling: u32) -> Vec<Contender> {
    let levels = |budget: usize| {
        let payees = analysis.subjects.iter().filter(move |subject| subject.declared.budget == budget);
        payees.map(|subject| subject.declared.priority)
    };
    let contender = |(index, budget): (usize, &crate::resolved::Budget)| {
        let level = levels(index).min().filter(|level| *level < ceiling && budget.period > 0)?;
        Some(Contender {
            level: level as u8,
            period: budget.period.into(),
            capacity: budget.capacity.into(),
            step: 1,
            threads: levels(index).count() as u32,
            arranges: analysis.arranged_by(index),
        })
    };
    analysis.system.budgets.iter().enumerate().filter_map(contender).collect()
}

fn name(analysis: &Analysis<'_>, gate: usize) -> (String, String) {
    let named = analysis.system.gates().nth(gate);
    named.map_or_else(Default::default, |(domain, gate)| {
        let domain = &analysis.system.domains[domain].name;
        (format!("domain.{domain}.gate.{}.bound", gate.name), format!("{domain}.{}", gate.name))
    })
}

fn handlers(analysis: &Analysis<'_>) -> String {
    analysis.handlers.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The last part of a remedy, if slips are part of what handlers take.
fn or_accept(analysis: &Analysis<'_>) -> String {
    let named =
        |names| format!(", or give the handlers of {names} `slips = \"accepted\"`: bounds then hold but for slips");
    analysis.slipping().map_or_else(String::new, named)
}

/// CF0415.
fn endless(analysis: &Analysis<'_>, gate: usize) -> Refusal {
    let (place, name) = name(analysis, gate);
    Refusal::at("CF0415", place, format!("handlers can take all of the time of `{name}`"))
        .value(format!("handlers of {}, and budgets more important than the ceiling", handlers(analysis)))
        .limit("less than all of the processor")
        .rule(
            "a callee has the declared bound for itself, beside handlers whose time is charged to whom they interrupt",
        )
        .remedy(format!("lower capacities of handlers, or of more important budgets{}", or_accept(analysis)))
}

/// CF0404: a caller whose budget can never cover the bound with what handlers take of it.
fn payable(analysis: &Analysis<'_>, taken: &[Option<u64>]) -> Vec<Refusal> {
    let mut found = Vec::new();
    for subject in &analysis.subjects {
        let budget = &analysis.system.budgets[subject.declared.budget];
        let mut told = BTreeSet::new();
        for gate in analysis.reaches(subject.domain) {
            let own = analysis.system.gates().nth(gate).map_or(0, |(_, gate)| u64::from(gate.bound));
            let taken = taken.get(gate).copied().flatten().unwrap_or(0);
            let needed = own.saturating_add(taken);
            if needed <= budget.capacity.into() || !told.insert(gate) {
                continue;
            }
            let (place, name) = name(analysis, gate);
            let text =
                format!("`{}` can never pay for `{name}` beside handlers of {}", subject.name, handlers(analysis));
            let refusal = Refusal::at("CF0404", place, text)
                .value(format!("bound {}, and {} that handlers can take of it", us(analysis, own), us(analysis, taken)))
                .limit(format!("budget `{}` has a capacity of {}", budget.name, us(analysis, budget.capacity.into())))
                .rule("a gate is entered only with as much budget left as its bound and what handlers can take of it")
                .remedy(format!(
                    "give `{}` a capacity of at least {}, or lower capacities of handlers{}",
                    budget.name,
                    written(analysis, needed, true),
                    or_accept(analysis)
                ));
            found.push(refusal);
        }
    }
    found
}
