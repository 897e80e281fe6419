//! The conformance suite as data: what must hold on every target, and on the kernel core over a simulated processor.
//!
//! A [`Row`] is a few threads and gates of one fixed cast ([`Actor`]), each with a script of [`Step`]s, and what must have come of it at
//! the end. The same rows are performed by domains on each target (`tests/conformance`) and by an interpreter that feeds a kernel on a
//! simulated processor (`kernel/src/tests/conformance`). Both ask this crate what a step is on their machine ([`Step::action`]), whether
//! what came of it is right ([`Step::judge`]), and in the end whether the row holds ([`verdict`]).
//!
//! Each row starts with every domain of the cast freshly restarted and full budgets, [`START_US`] after a replenishment, and lasts
//! [`LENGTH_US`]. docs/conformance.md has the table.
#![no_std]
#![forbid(unsafe_code)]

mod cast;
mod rows;
mod setting;
pub mod step;
mod verdict;

pub use foreign::{Places, places};

pub use cast::{ACTORS, Actor, DOMAINS, Dom, HANDS, Hand};
pub use rows::{row, rows};
pub use setting::{INITIAL, LENGTH_US, NOTICE_US, PERIOD_US, START_US, UNTYPED_BYTES, selected, stretch};
pub use step::{Action, Arg, Place, Scene, Seen, Step, Told};
pub use verdict::{Record, Shortfall, verdict};

use abi::trace::Fault;

/// How a part ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All of its steps are performed.
    Done,
    /// Its last step does not come back: it faults, waits for ever, or somebody stops it.
    Stays,
}

/// The steps of one thread or gate in one of its lives: a thread begins a life when its domain is
/// started again, a gate with each call.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The thread or gate.
    pub actor: Actor,
    /// In how many lives in a row.
    pub lives: u32,
    /// Its steps, in order.
    pub steps: &'static [Step],
    /// How it ends.
    pub end: End,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// The rule that it checks.
    pub checks: &'static str,
    /// The document and section that state the rule.
    pub doc: &'static str,
    /// Parts; several of one actor are its lives, in order.
    pub parts: &'static [Part],
    /// Domains that have an unread fault report at the end, and of which kinds it may be. All others have none.
    pub faults: Faults,
}

/// A part that is performed once, to its end.
const fn does(actor: Actor, steps: &'static [Step]) -> Part {
    Part { actor, lives: 1, steps, end: End::Done }
}

/// A part that is performed once, and whose last step does not come back.
const fn stays(actor: Actor, steps: &'static [Step]) -> Part {
    Part { actor, lives: 1, steps, end: End::Stays }
}

/// Unread fault reports.
type Faults = &'static [(Dom, &'static [Fault])];

/// A row.
const fn make(
    name: &'static str,
    checks: &'static str,
    doc: &'static str,
    parts: &'static [Part],
    faults: Faults,
) -> Row {
    Row { name, checks, doc, parts, faults }
}

impl Row {
    /// The part that an actor performs in a life, counted from 0; the last one goes on.
    pub fn part(&self, actor: Actor, life: u32) -> Option<&'static Part> {
        let mut before = 0;
        let mut last = None;
        for part in self.parts.iter().filter(|part| part.actor == actor) {
            last = Some(part);
            before += part.lives;
            if life < before {
                break;
            }
        }
        last
    }

    /// The kind of evidence in a row that holds: something is done, refused or ended by a fault.
    pub fn shows(&self) -> &'static str {
        let refuses = |step: &Step| matches!(step, Step::Call { told: Told::Err(_), .. });
        if !self.faults.is_empty() {
            "faults"
        } else if self.parts.iter().any(|part| part.steps.iter().any(refuses)) {
            "refused"
        } else {
            "done"
        }
    }
}

#[cfg(test)]
mod tests;
