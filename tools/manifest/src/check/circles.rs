//! Gates whose callees may call a gate of their callers.

use std::collections::{BTreeSet, VecDeque};

use super::time::{Callee, callees, reach};
use crate::diagnostic::{Also, Refusal};
use crate::grant::Object;
use crate::references::grants;
use crate::schema::Manifest;

/// CF0413 for each circle of gates that capabilities permit, once for the same domains. It is a warning: the kernel keeps such a call from
/// doing harm, and a domain's threads may have the capability for calls that close no circle.
pub fn circles(manifest: &Manifest) -> Vec<Refusal> {
    let (callees, direct) = (callees(manifest), reach(manifest));
    let next = |gate: usize| direct[callees[gate].domain].iter().copied();
    let (mut told, mut found) = (BTreeSet::new(), Vec::new());
    for first in 0..callees.len() {
        let Some(circle) = shortest(first, callees.len(), next) else { continue };
        // A domain that can call its own gate has that capability for its threads, if it has any.
        let of = manifest.domain.get_index(callees[first].domain);
        if circle.len() == 1 && of.is_some_and(|(_, domain)| !domain.thread.is_empty()) {
            continue;
        }
        let domains: BTreeSet<usize> = circle.iter().map(|gate| callees[*gate].domain).collect();
        if told.insert(domains) {
            found.push(warning(manifest, &callees, &circle));
        }
    }
    found
}

/// The fewest gates that lead from one back to itself, beginning with it.
fn shortest<I: Iterator<Item = usize>>(first: usize, gates: usize, next: impl Fn(usize) -> I) -> Option<Vec<usize>> {
    let mut before = vec![None; gates];
    let mut open = VecDeque::from([first]);
    while let Some(gate) = open.pop_front() {
        for called in next(gate) {
            if called == first {
                let way = std::iter::successors(Some(gate), |gate| before[*gate].filter(|_| *gate != first));
                let mut way: Vec<usize> = way.collect();
                way.reverse();
                return Some(way);
            }
            if before[called].is_none() {
                before[called] = Some(gate);
                open.push_back(called);
            }
        }
    }
    None
}

fn warning(manifest: &Manifest, callees: &[Callee<'_>], circle: &[usize]) -> Refusal {
    let followed = circle.iter().skip(1).chain(circle.first());
    let edges: Vec<(usize, usize)> = circle.iter().copied().zip(followed.copied()).collect();
    let mut also: Vec<Also> = edges.iter().filter_map(|(from, to)| permitted(manifest, callees, *from, *to)).collect();
    let last = also.pop().unwrap_or_default();
    let names: Vec<&str> = edges.iter().map(|(gate, _)| callees[*gate].name.as_str()).collect();
    let (first, whole) = (names[0], format!("{} -> {}", names.join(" -> "), names[0]));
    let message = match names.as_slice() {
        [one] => format!("the gate `{one}` may call itself"),
        _ => format!("the gate `{first}` may be called from within itself"),
    };
    Refusal::at("CF0413", last.place, message)
        .value(whole)
        .rule(
            "a thread that is inside a gate cannot enter it again: the call that closes the circle returns `busy` at once, or \
             `no budget` where a gate's bound does not fit into what its caller has left of its own",
        )
        .remedy(format!(
            "remove this use, if no thread of the domain needs it; or make sure that its gates never call `{first}`, or expect the error"
        ))
        .also(also)
}

/// The use by which the domain of one gate may call another.
fn permitted(manifest: &Manifest, callees: &[Callee<'_>], from: usize, to: usize) -> Option<Also> {
    let domain = callees[from].domain;
    let (holder, _) = manifest.domain.get_index(domain)?;
    let held = grants(manifest, domain).ok()?;
    let by = held.iter().find(|grant| grant.object == Object::Gate(to))?;
    let label = format!("lets `{}` call `{}`", callees[from].name, callees[to].name);
    Some(Also { place: format!("domain.{holder}.uses.{}", by.name), note: label.clone(), label })
}
