//! The terms of a bound, for people and machines.

use std::fmt;

use sched::response::Response;

use super::system::{Analysis, Beside};

/// A term of docs/time.md, "The bound".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// G: the timer of the release is late.
    Late,
    /// E + X + 2 Y: the thread's own activation, but for the switch away from it.
    Switch,
    /// Its own execution.
    Wcet,
    /// Its misses of paged regions.
    Misses,
    /// The bounds of the gates that it calls.
    Calls,
    /// Time that their callees can cost beyond.
    Slack,
    /// Activations that it arranges.
    Activations,
    /// Its losses to caches that others have used.
    Reload,
    /// M: a masked path that is under way at the release.
    Masked,
    /// A gate, by name, that somebody less important is in.
    Gate(String),
    /// Interrupts paid before.
    Lines,
    /// Jobs of another thread, by name, of the same budget.
    Sharer(String),
    /// Another budget.
    Budget {
        /// Its name.
        name: String,
        /// How often its capacity is spent.
        hits: u64,
        /// The capacity, in ticks.
        capacity: u64,
        /// Activations paid before, and what it is overdrawn by, in ticks.
        carried: u64,
    },
    /// The kernel's looks at its clock, and timers in vain.
    Clock,
    /// Handlers of a domain, by name, that interrupts reach without the kernel.
    Handlers(String),
}

/// Contribution of one kind to a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The kind.
    pub kind: Kind,
    /// How much.
    pub ticks: u64,
}

impl Kind {
    /// One word, for machines.
    pub fn word(&self) -> &'static str {
        match self {
            Kind::Late => "late",
            Kind::Switch => "switch",
            Kind::Wcet => "wcet",
            Kind::Misses => "misses",
            Kind::Calls => "calls",
            Kind::Slack => "slack",
            Kind::Activations => "activations",
            Kind::Reload => "reload",
            Kind::Masked => "masked",
            Kind::Gate(_) => "gate",
            Kind::Lines => "lines",
            Kind::Sharer(_) => "sharer",
            Kind::Budget { .. } => "budget",
            Kind::Clock => "clock",
            Kind::Handlers(_) => "handlers",
        }
    }

    /// The name of what contributes, if it has one.
    pub fn of(&self) -> Option<&str> {
        match self {
            Kind::Gate(name) | Kind::Sharer(name) | Kind::Handlers(name) | Kind::Budget { name, .. } => Some(name),
            _ => None,
        }
    }

    /// Whether it is the thread's own job.
    pub fn is_own(&self) -> bool {
        matches!(
            self,
            Kind::Switch | Kind::Wcet | Kind::Misses | Kind::Calls | Kind::Slack | Kind::Activations | Kind::Reload
        )
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of() {
            Some(name) => write!(f, "{} `{name}`", self.word()),
            None => f.write_str(self.word()),
        }
    }
}

/// The terms of a response that are more than nothing.
pub fn list(system: &Analysis<'_>, thread: usize, beside: &Beside, found: &Response) -> Vec<Term> {
    let (terms, own, level) = (&found.terms, &found.terms.own, system.level(thread));
    let term = |kind, ticks| Term { kind, ticks };
    let mut all = vec![
        term(Kind::Late, terms.late),
        term(Kind::Switch, own.switch),
        term(Kind::Wcet, own.wcet),
        term(Kind::Misses, own.misses),
        term(Kind::Calls, own.gates),
        term(Kind::Slack, own.slack),
        term(Kind::Activations, own.activations),
        term(Kind::Reload, own.reload),
        term(Kind::Masked, terms.masked),
    ];
    all.extend(terms.gate_at.map(|at| term(Kind::Gate(system.gates[at].0.clone()), terms.gate)));
    all.push(term(Kind::Lines, terms.lines));
    let sharers = beside.sharers.iter().filter(|(_, sharer)| sharer.level <= level);
    all.extend(sharers.map(|(name, sharer)| term(Kind::Sharer(name.clone()), sharer.within(found.window))));
    for (name, budget) in beside.budgets.iter().filter(|(_, budget)| budget.level <= level) {
        let part = budget.within(found.window, &system.costs);
        let (hits, carried) = (part.hits, part.carried);
        let kind = Kind::Budget { name: name.clone(), hits, capacity: budget.capacity, carried };
        all.push(term(kind, part.ticks()));
    }
    all.push(term(Kind::Clock, terms.kernel));
    let handlers = system.handlers.iter();
    all.extend(handlers.map(|(name, own)| term(Kind::Handlers((*name).to_owned()), own.within(found.window))));
    all.retain(|term| term.ticks > 0);
    all
}
