//! Time as declared: budgets, priorities, deadlines, gates and who can pay for them.

use std::collections::BTreeSet;

use units::NS_PER_SECOND;

use crate::board::Board;
use crate::diagnostic::Refusal;
use crate::grant::Object;
use crate::quantity::Time;
use crate::references::grants;
use crate::schema::{Domain, Gate, Manifest};

pub(super) fn check(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let mut found = ticks(manifest, board);
    found.extend(budgets(manifest));
    found.extend(idle(manifest, board));
    found.extend(owners(manifest));
    found.extend(threads(manifest));
    found.extend(gates(manifest));
    found
}

/// Every time with its place.
fn times(manifest: &Manifest) -> Vec<(String, Time)> {
    let mut all = vec![("run.limit".to_owned(), manifest.run.limit)];
    for (name, budget) in &manifest.budget {
        all.push((format!("budget.{name}.period"), budget.period));
        all.push((format!("budget.{name}.capacity"), budget.capacity));
    }
    for (name, domain) in &manifest.domain {
        for (i, thread) in domain.thread.iter().enumerate() {
            let fields = [
                ("period", thread.period),
                ("deadline", thread.deadline),
                ("wcet", thread.wcet),
                ("reload", thread.reload),
            ];
            let given = fields.into_iter().filter_map(|(key, time)| Some((key, time?)));
            all.extend(given.map(|(key, time)| (format!("domain.{name}.thread[{i}].{key}"), time)));
        }
        let separations = domain.interrupt.iter().filter_map(|(key, line)| Some((key, line.separation?)));
        all.extend(separations.map(|(key, time)| (format!("domain.{name}.interrupt.{key}.separation"), time)));
        if let Some(handlers) = &domain.handlers {
            all.push((format!("domain.{name}.handlers.period"), handlers.period));
            all.push((format!("domain.{name}.handlers.capacity"), handlers.capacity));
        }
        all.extend(domain.gate.iter().map(|(g, gate)| (format!("domain.{name}.gate.{g}.bound"), gate.bound)));
    }
    all
}

/// Times are whole ticks that fit the kernel's words, and not nothing.
fn ticks(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let rate = board.ticks_per_second;
    let tick = Time(board.rate().ns_in(1).floor());
    // A capacity has to be told from debt in a word.
    let most = |place: &str| {
        let word = if place.ends_with(".capacity") { sched::budget::Budget::LARGEST } else { u32::MAX };
        u64::from(word)
    };
    let longest = |place: &str| Time(most(place) * tick.0 / NS_PER_SECOND * NS_PER_SECOND);
    let wrong = times(manifest).into_iter().filter(|(place, time)| {
        let fits = |ticks: u64| ticks > 0 && (ticks <= most(place) || place == "run.limit");
        !time.ticks(rate).is_some_and(fits)
    });
    wrong
        .map(|(place, time)| {
            let (longest, most) = (longest(&place), most(&place));
            Refusal::at("CF0406", place, format!("{time} is no time that the kernel can count"))
                .value(time.to_string())
                .limit(format!("a multiple of {tick}, up to {longest}"))
                .rule(format!("time is counted in ticks of {tick}"))
                .remedy(format!("write {}", Time((time.0 / tick.0).clamp(1, most) * tick.0)))
        })
        .collect()
}

fn budgets(manifest: &Manifest) -> Vec<Refusal> {
    let mut found = Vec::new();
    for (name, budget) in &manifest.budget {
        if budget.capacity > budget.period {
            found.push(
                Refusal::at(
                    "CF0401",
                    format!("budget.{name}.capacity"),
                    format!("budget `{name}` promises more than its period"),
                )
                .value(format!("{} every {}", budget.capacity, budget.period))
                .limit(budget.period.to_string())
                .rule("a capacity is at most the period")
                .remedy(format!("write `capacity = \"{}\"` or less", budget.period)),
            );
        }
    }
    found
}

/// A budget pays an activation for each time that one of its threads is woken or goes on at a boundary. One that grants no more is always in debt.
fn idle(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let activation = u64::from(board.switching().activation());
    let small = |time: Time| time.ticks(board.ticks_per_second).is_some_and(|ticks| ticks <= activation);
    let of_ticks = |ticks| Time(board.rate().ns_in(ticks).floor());
    let least = Time(of_ticks(activation + 1).0.div_ceil(1_000) * 1_000);
    let too_small = manifest.budget.iter().filter(|(_, budget)| small(budget.capacity));
    too_small
        .map(|(name, budget)| {
            let period =
                if budget.period < least { format!(" and a period of {least} or more") } else { String::new() };
            let message = format!("the threads of budget `{name}` would hardly ever run");
            Refusal::at("CF0416", format!("budget.{name}.capacity"), message)
                .value(budget.capacity.to_string())
                .limit(format!("more than {}, which an activation costs on `{}`", of_ticks(activation), board.name))
                .rule("a budget pays an activation each time that a thread of it is woken, or goes on at a boundary")
                .remedy(format!("write `capacity = \"{least}\"` or more{period}"))
        })
        .collect()
}

/// A budget pays for the threads of one domain: another's could empty it.
fn owners(manifest: &Manifest) -> Vec<Refusal> {
    let mut found = Vec::new();
    for budget in manifest.budget.keys() {
        let of = |d: &Domain| d.thread.iter().position(|thread| thread.budget == *budget);
        let mut users = manifest.domain.iter().filter_map(|(name, d)| Some((name, of(d)?)));
        let Some((owner, _)) = users.next() else { continue };
        found.extend(users.map(|(other, i)| {
            Refusal::at(
                "CF0411",
                format!("domain.{other}.thread[{i}].budget"),
                format!("the domains `{owner}` and `{other}` share the budget `{budget}`"),
            )
            .value(budget.as_str())
            .limit(format!("threads of `{owner}`"))
            .rule("a budget pays for the threads of one domain, so that no other domain can empty it")
            .remedy(format!("give `{other}` a budget of its own"))
        }));
    }
    found
}

fn threads(manifest: &Manifest) -> Vec<Refusal> {
    let mut found = Vec::new();
    for (name, domain) in &manifest.domain {
        for (i, thread) in domain.thread.iter().enumerate() {
            let place = format!("domain.{name}.thread[{i}]");
            found.extend(priority(format!("{place}.priority"), thread.priority));
            found.extend(core(format!("{place}.core"), thread.core));
            let Some(deadline) = thread.deadline else { continue };
            if thread.period.is_none_or(|period| deadline > period) {
                let period = thread.period.map_or("no period".to_owned(), |p| p.to_string());
                found.push(
                    Refusal::at(
                        "CF0405",
                        format!("{place}.deadline"),
                        format!("`{name}.{}` cannot have this deadline", thread.name),
                    )
                    .value(deadline.to_string())
                    .limit(format!("the period: {period}"))
                    .rule("a deadline counts from a periodic release and ends before the next one")
                    .remedy("give the thread a period of at least the deadline"),
                );
            }
        }
        for (gate, declared) in &domain.gate {
            found.extend(priority(format!("domain.{name}.gate.{gate}.ceiling"), declared.ceiling));
        }
    }
    found
}

fn priority(place: String, value: u32) -> Option<Refusal> {
    (value > 31).then(|| {
        Refusal::at("CF0407", place, "there is no such priority")
            .value(value.to_string())
            .limit("0 (most important) to 31")
            .rule("priorities are 0 to 31")
            .remedy("choose a number from 0 to 31")
    })
}

fn core(place: String, number: u32) -> Option<Refusal> {
    (number > 0).then(|| {
        Refusal::at("CF0412", place, "the kernel does not run on this core")
            .value(number.to_string())
            .limit("0")
            .rule("a thread runs on a core of the kernel's, which has one")
            .remedy("leave `core` out, or write `core = 0`")
    })
}

/// A gate with the domain that has it.
pub(crate) struct Callee<'m> {
    pub domain: usize,
    place: String,
    pub name: String,
    pub gate: &'m Gate,
}

pub(crate) fn callees(manifest: &Manifest) -> Vec<Callee<'_>> {
    let all = manifest.domain.iter().enumerate();
    all.flat_map(|(domain, (owner, d))| {
        d.gate.iter().map(move |(name, gate)| Callee {
            domain,
            place: format!("domain.{owner}.gate.{name}"),
            name: format!("{owner}.{name}"),
            gate,
        })
    })
    .collect()
}

/// The gates that each domain can call.
pub(crate) fn reach(manifest: &Manifest) -> Vec<BTreeSet<usize>> {
    let gate = |object| if let Object::Gate(index) = object { Some(index) } else { None };
    let of = |domain| grants(manifest, domain).unwrap_or_default().into_iter().filter_map(|g| gate(g.object)).collect();
    (0..manifest.domain.len()).map(of).collect()
}

/// Ceilings and bounds against every thread that can reach the gate, also through other gates.
fn gates(manifest: &Manifest) -> Vec<Refusal> {
    let callees = callees(manifest);
    let direct = reach(manifest);
    let mut found = Vec::new();
    for (domain, (name, d)) in manifest.domain.iter().enumerate() {
        for thread in &d.thread {
            let mut seen = BTreeSet::new();
            let mut open: Vec<(usize, u32, String)> = Vec::new();
            let caller = format!("{name}.{}", thread.name);
            open.extend(direct[domain].iter().map(|g| (*g, thread.priority, caller.clone())));
            while let Some((gate, priority, from)) = open.pop() {
                let callee = &callees[gate];
                found.extend(ceiling(callee, priority, &from));
                if !seen.insert(gate) {
                    continue;
                }
                let budget = manifest.budget.get_key_value(&thread.budget);
                found.extend(budget.and_then(|(b, budget)| payable(callee, &caller, b, budget.capacity)));
                let through = |g: &usize| (*g, callee.gate.ceiling, callee.name.clone());
                open.extend(direct[callee.domain].iter().map(through));
            }
        }
    }
    let mut told = BTreeSet::new();
    found.retain(|r| told.insert((r.place.clone(), r.message.clone())));
    found
}

fn ceiling(callee: &Callee<'_>, priority: u32, from: &str) -> Option<Refusal> {
    (callee.gate.ceiling > priority).then(|| {
        Refusal::at(
            "CF0403",
            format!("{}.ceiling", callee.place),
            format!("`{from}` is more important than the ceiling of `{}`", callee.name),
        )
        .value(format!("ceiling {}, caller's priority {priority}", callee.gate.ceiling))
        .limit(format!("a ceiling of 0 to {priority}"))
        .rule("no caller is more important than the gate's ceiling (0 is the most important)")
        .remedy(format!("write `ceiling = {priority}`"))
    })
}

fn payable(callee: &Callee<'_>, caller: &str, budget: &str, capacity: Time) -> Option<Refusal> {
    (callee.gate.bound > capacity).then(|| {
        Refusal::at(
            "CF0404",
            format!("{}.bound", callee.place),
            format!("`{caller}` can never pay for `{}`", callee.name),
        )
        .value(format!("bound {}", callee.gate.bound))
        .limit(format!("budget `{budget}` has a capacity of {capacity}"))
        .rule("a gate is entered only with as much budget left as its bound")
        .remedy(format!("give `{budget}` a capacity of at least {}, or shorten the gate", callee.gate.bound))
    })
}
