//! Culprits that delay a thread most, and the smallest single change of each with which its deadline holds. Every change is tried on a copy of
//! the system, by the analysis itself.

use sched::response::Response;

use super::holds::{failing, holds};
use super::system::{Analysis, Beside};
use super::terms::{Kind, Term, list};
use super::units::{us, written};
use crate::diagnostic::Also;
use crate::resolved::{System, Thread};
use crate::schema::Slips;

/// How many are named.
const NAMED: usize = 5;
/// By how much a period is lengthened at most, in whole multiples: a multiple keeps its boundaries where releases are.
pub(super) const STRETCH: u32 = 16;
/// The least important priority.
const LEAST: u32 = 31;

/// A contributor to a response, and the changes that would be enough if only it changed.
pub struct Culprit {
    /// Its part of the response, with its place in the manifest.
    pub also: Also,
    /// The changes, each enough alone, as "give `rogue` a capacity of at most 473 us".
    pub ways: Vec<Way>,
}

/// A change that is enough.
pub struct Way {
    /// In words, as "a capacity of at most 473 us".
    pub change: String,
    /// Name of the part that is to be given it.
    pub to: String,
    /// Share of the processor that it costs; nothing where that is unknown.
    pub share: Option<f64>,
}

/// Identity of the culprit, in numbers of the system.
enum Part {
    Budget(usize),
    Gate(usize),
    Wcet(usize),
    Handlers(usize),
    Other,
}

/// A search for the changes with which one deadline holds.
struct Search<'a, 'm> {
    analysis: &'a Analysis<'m>,
    thread: usize,
    /// Threads that are late, as it is.
    failing: Vec<usize>,
}

/// The largest parts of a response, the largest first.
pub fn find(analysis: &Analysis<'_>, thread: usize, beside: &Beside, found: &Response) -> Vec<Culprit> {
    let mut terms = list(analysis, thread, beside, found);
    terms.retain(|term| !matches!(term.kind, Kind::Late | Kind::Switch | Kind::Masked | Kind::Clock));
    terms.sort_by_key(|term| std::cmp::Reverse(term.ticks));
    terms.truncate(NAMED);
    let search = Search { analysis, thread, failing: failing(analysis) };
    terms.iter().map(|term| search.culprit(term, found.terms.total())).collect()
}

impl Search<'_, '_> {
    fn culprit(&self, term: &Term, total: u64) -> Culprit {
        let (part, place) = self.part(&term.kind);
        let ways = match part {
            Part::Budget(budget) => self.budget(budget),
            Part::Gate(gate) => self.bound(gate),
            Part::Wcet(thread) => self.wcet(thread),
            Part::Handlers(domain) => self.handlers(domain),
            Part::Other => Vec::new(),
        };
        let share = format!("{} %", (term.ticks * 100).checked_div(total).unwrap_or(0));
        let label = format!("{}: {}, {share}", term.kind, us(self.analysis, term.ticks));
        let detail = match &term.kind {
            Kind::Budget { hits, capacity, carried, .. } => format!(
                ", {hits} x {} and {} carried in or overdrawn",
                us(self.analysis, *capacity),
                us(self.analysis, *carried)
            ),
            _ => String::new(),
        };
        let enough: Vec<&str> = ways.iter().map(|way| way.change.as_str()).collect();
        let enough = match (&part, enough.as_slice()) {
            (Part::Other, _) => String::new(),
            (_, []) => "; no change of it alone is enough".into(),
            (_, ways) => format!("; enough alone: {}", ways.join(", or ")),
        };
        let note = format!("{label}{detail}{enough}");
        Culprit { also: Also { place, label, note }, ways }
    }

    /// The number and the place of what a term is about.
    fn part(&self, kind: &Kind) -> (Part, String) {
        let (analysis, system) = (self.analysis, self.analysis.system);
        let own = &analysis.subjects[self.thread];
        let gate = |number: usize| {
            let (domain, gate) = system.gates().nth(number)?;
            Some((Part::Gate(number), format!("domain.{}.gate.{}.bound", system.domains[domain].name, gate.name)))
        };
        let known = match kind {
            Kind::Budget { name, .. } => {
                let number = system.budgets.iter().position(|budget| budget.name == *name);
                number.map(|number| (Part::Budget(number), format!("budget.{name}.capacity")))
            }
            Kind::Gate(name) => {
                let named = |(domain, gate): (usize, &crate::resolved::Gate)| {
                    format!("{}.{}", system.domains[domain].name, gate.name) == *name
                };
                system.gates().position(named).and_then(gate)
            }
            Kind::Sharer(name) => {
                let number = analysis.subjects.iter().position(|subject| subject.name == *name);
                number.map(|number| (Part::Wcet(number), format!("{}.wcet", analysis.subjects[number].place)))
            }
            Kind::Wcet if own.declared.wcet.is_some() => Some((Part::Wcet(self.thread), format!("{}.wcet", own.place))),
            Kind::Handlers(name) => {
                let number = system.domains.iter().position(|domain| domain.name == *name);
                number.map(|number| (Part::Handlers(number), format!("domain.{name}.handlers.capacity")))
            }
            Kind::Calls => {
                let bound = |(number, count): &&(usize, u32)| {
                    let bound = system.gates().nth(*number).map_or(0, |(_, gate)| gate.bound);
                    u64::from(bound) * u64::from(*count)
                };
                own.declared.calls.iter().max_by_key(bound).and_then(|(number, _)| gate(*number))
            }
            // Without a `wcet`, a job takes all that its budget leaves.
            Kind::Wcet => Some((Part::Other, format!("budget.{}.capacity", analysis.payer(self.thread)))),
            Kind::Misses | Kind::Activations | Kind::Reload => {
                Some((Part::Other, format!("{}.{}", own.place, kind.word())))
            }
            _ => None,
        };
        known.unwrap_or((Part::Other, String::new()))
    }

    /// Whether the deadline holds in a system that is changed so.
    fn enough(&self, change: impl FnOnce(&mut System)) -> bool {
        let mut system = self.analysis.system.clone();
        change(&mut system);
        holds(&Analysis::new(&system, self.analysis.board), self.thread)
    }

    /// Whether, on top of that, nobody is late who was not.
    fn harmless(&self, change: impl FnOnce(&mut System)) -> bool {
        let mut system = self.analysis.system.clone();
        change(&mut system);
        failing(&Analysis::new(&system, self.analysis.board)).iter().all(|late| self.failing.contains(late))
    }

    /// The largest value below `now` that is enough, in ticks: a response does not decrease with it.
    fn largest(&self, now: u32, set: impl Fn(&mut System, u32)) -> Option<u32> {
        let enough = |value: u32| self.enough(|system| set(system, value));
        if now < 2 || !enough(1) {
            return None;
        }
        let (mut good, mut bad) = (1, now);
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            *if enough(middle) { &mut good } else { &mut bad } = middle;
        }
        Some(good).filter(|value| self.harmless(|system| set(system, *value)))
    }

    fn budget(&self, budget: usize) -> Vec<Way> {
        let now = &self.analysis.system.budgets[budget];
        let to = now.name.clone();
        let mut ways = Vec::new();
        if let Some(capacity) = self.largest(now.capacity, |system, ticks| system.budgets[budget].capacity = ticks) {
            let share = f64::from(now.capacity - capacity) / f64::from(now.period.max(1));
            let change = format!("a capacity of at most {}", written(self.analysis, capacity.into(), false));
            ways.push(Way { change, to: to.clone(), share: Some(share) });
        }
        let longer = (2..=STRETCH).filter_map(|times| now.period.checked_mul(times));
        let mut longer =
            longer.map(|period| (period, move |system: &mut System| system.budgets[budget].period = period));
        if let Some((period, _)) = longer.find(|(_, set)| self.enough(set) && self.harmless(set)) {
            let change = format!("a period of {}", written(self.analysis, period.into(), true));
            ways.push(Way { change, to: to.clone(), share: None });
        }
        ways.extend(self.below(budget).map(|change| Way { change, to, share: None }));
        ways
    }

    /// All threads of a budget just less important than the late one.
    fn below(&self, budget: usize) -> Option<String> {
        let level = u32::from(self.analysis.level(self.thread)) + 1;
        let lower = |system: &mut System| {
            let threads = system.domains.iter_mut().flat_map(|domain| domain.threads.iter_mut());
            for thread in threads.filter(|thread| thread.budget == budget) {
                thread.priority = thread.priority.max(level);
            }
        };
        (level <= LEAST && self.enough(lower) && self.harmless(lower))
            .then(|| format!("priority {level} or a larger number (less important) for its threads"))
    }

    fn bound(&self, gate: usize) -> Vec<Way> {
        let Some((domain, now)) = self.analysis.system.gates().nth(gate) else { return Vec::new() };
        let to = format!("{}.{}", self.analysis.system.domains[domain].name, now.name);
        let set = |system: &mut System, ticks: u32| {
            if let Some(gate) = system.domains.iter_mut().flat_map(|domain| domain.gates.iter_mut()).nth(gate) {
                gate.bound = ticks;
            }
        };
        let bound = self.largest(now.bound, set);
        let change = |ticks: u32| format!("a bound of at most {}", written(self.analysis, ticks.into(), false));
        // What is declared is without the handlers' part, which does not grow when it shrinks.
        let bound = bound.and_then(|ticks| ticks.checked_sub(now.handlers)).filter(|ticks| *ticks > 0);
        bound.map(|ticks| Way { change: change(ticks), to, share: None }).into_iter().collect()
    }

    fn handlers(&self, domain: usize) -> Vec<Way> {
        let Some(now) = self.analysis.system.domains[domain].handlers else { return Vec::new() };
        let capacity = self.largest(now.capacity, |system, ticks| {
            system.domains[domain].handlers = Some(crate::resolved::Handlers { capacity: ticks, ..now });
        });
        let way = |ticks: u32| Way {
            change: format!("a capacity of at most {}", written(self.analysis, ticks.into(), false)),
            to: format!("{}.handlers", self.analysis.system.domains[domain].name),
            share: Some(f64::from(now.capacity - ticks) / f64::from(now.period.max(1))),
        };
        capacity.map(way).into_iter().chain(self.slips(domain)).collect()
    }

    /// The change that leaves slips to chance, if it is enough: last, because the deadline then holds but for them.
    fn slips(&self, domain: usize) -> Option<Way> {
        let accepted = |system: &mut System| {
            if let Some(own) = &mut system.domains[domain].handlers {
                own.slips = Slips::Accepted;
            }
        };
        let counted = self.analysis.system.domains[domain].handlers.is_some_and(|own| own.slips == Slips::Counted);
        (counted && self.enough(accepted) && self.harmless(accepted)).then(|| Way {
            change: "`slips = \"accepted\"`, so that no bound counts the faults that its handlers can slip to others"
                .into(),
            to: format!("{}.handlers", self.analysis.system.domains[domain].name),
            share: None,
        })
    }

    fn wcet(&self, thread: usize) -> Vec<Way> {
        let subject = &self.analysis.subjects[thread];
        let Some(now) = subject.declared.wcet else { return Vec::new() };
        let set = |system: &mut System, ticks: u32| {
            let mut threads = system.domains.iter_mut().flat_map(|domain| domain.threads.iter_mut());
            if let Some(Thread { wcet, .. }) = threads.nth(thread) {
                *wcet = Some(ticks);
            }
        };
        let wcet = self.largest(now, set);
        let change = |ticks: u32| format!("a wcet of at most {}", written(self.analysis, ticks.into(), false));
        wcet.map(|ticks| Way { change: change(ticks), to: subject.name.clone(), share: None }).into_iter().collect()
    }
}
