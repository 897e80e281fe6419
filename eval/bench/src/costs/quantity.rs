//! The quantities of docs/time.md, and the paths of a run that belong to each.

use abi::{CALLS, Call};
use manifest::KernelCosts;
use record::Waits;
use serde::Serialize;

use super::seen::{Longest, Stretches};
use crate::chip::{Chip, Handler};

/// A quantity of docs/time.md that the board's file declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// S.
    Switch,
    /// E.
    Entry,
    /// Y.
    Early,
    /// A miss of a paged region.
    Miss,
    /// M.
    Masked,
    /// M, where somebody holds frames.
    MaskedFrames,
}

/// The longest that was seen of a quantity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Cycles.
    pub cycles: u64,
    /// The system in which it was seen, by its manifest.
    pub system: String,
    /// The path.
    pub path: String,
    /// Of a masked path: how long it waited, and for what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
}

/// Calls that are long where somebody holds frames: they change the use of frames and their users. A restart takes mappings away.
pub(crate) const FRAMES: [Call; 6] =
    [Call::FramesRetype, Call::FramesMap, Call::FramesUnmap, Call::FramesClean, Call::NodesGive, Call::DomainRestart];

/// Calls whose work their caller pays for until the kernel reads the clock once more and switches, as others switch that are in `switched`.
const OWN_WORK: [Call; 5] = [Call::Exit, Call::DomainStop, Call::Revoke, Call::CapDelete, Call::FaultNext];

impl Quantity {
    /// All, in the order of the table.
    pub const ALL: [Self; 6] = [Self::Switch, Self::Entry, Self::Early, Self::Miss, Self::Masked, Self::MaskedFrames];

    /// Its key in the board's file.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Switch => "switch_cycles",
            Self::Entry => "entry_cycles",
            Self::Early => "early_cycles",
            Self::Miss => "miss_cycles",
            Self::Masked => "masked_cycles",
            Self::MaskedFrames => "masked_frames_cycles",
        }
    }

    /// Its description in the table.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Switch => "S: an arranged path that ends in a switch",
            Self::Entry => "E: an interrupt, up to the kernel's read of the clock",
            Self::Early => "Y: a timer that comes too early",
            Self::Miss => "A miss of a paged region",
            Self::Masked => "M: the longest path without frames",
            Self::MaskedFrames => "M: the longest path where somebody holds frames",
        }
    }

    /// Its value in the board's file.
    pub const fn declared(self, costs: &KernelCosts) -> u64 {
        match self {
            Self::Switch => costs.switch_cycles,
            Self::Entry => costs.entry_cycles,
            Self::Early => costs.early_cycles,
            Self::Miss => costs.miss_cycles,
            Self::Masked => costs.masked_cycles,
            Self::MaskedFrames => costs.masked_frames_cycles,
        }
    }
}

/// The observations of a run.
#[derive(Debug)]
pub(super) struct Ran {
    pub stretches: Stretches,
    pub summary: record::Summary,
    /// Somebody holds frames.
    pub frames: bool,
    pub declared: KernelCosts,
}

type Key = (u16, Option<u8>);

impl Ran {
    /// The longest of this run that counts for a quantity.
    pub(super) fn longest(&self, quantity: Quantity, chip: &Chip, system: &str) -> Option<Found> {
        let stretches = &self.stretches;
        let found = match quantity {
            Quantity::Switch => most(&stretches.switched, |key| is_arranged(chip, key)),
            Quantity::Entry => most(&stretches.to_clock, |key| is_interrupt(chip, key)),
            Quantity::Early => most(&stretches.in_vain, |key| serves(chip, Handler::Timer, key)),
            Quantity::Miss if chip.exceptions().miss.is_none() => None,
            Quantity::Miss => most(&stretches.missed, |key| serves(chip, Handler::Fault, key)),
            Quantity::Masked => {
                return self.longest_masked(chip, system, |call| !self.frames || !FRAMES.contains(&call));
            }
            // Beside somebody who holds frames, others can take every path of systems in which nobody does.
            Quantity::MaskedFrames => return self.longest_masked(chip, system, |_| true),
        };
        found.map(|(key, cycles)| Found { cycles, system: system.to_owned(), path: name(chip, key), waits: None })
    }

    fn longest_masked(&self, chip: &Chip, system: &str, counts: impl Fn(Call) -> bool) -> Option<Found> {
        let masked = &self.summary.masked;
        let call = |number: u32| Call::from_number(number).is_none_or(&counts);
        let calls = masked.calls.iter().filter(|time| call(time.call));
        let calls = calls.map(|time| ((0, u8::try_from(time.call).ok()), time.cycles.max, time.waits));
        // System calls are told apart above.
        let vectors = masked.vectors.iter().filter(|time| time.exception != chip.exceptions().call);
        let vectors = vectors.map(|time| ((time.exception, None), time.cycles.max, time.waits));
        let (key, cycles, waits) = calls.chain(vectors).max_by_key(|(_, cycles, _)| *cycles)?;
        Some(Found { cycles, system: system.to_owned(), path: name(chip, key), waits: Some(waits) })
    }
}

fn most(longest: &Longest, counts: impl Fn(Key) -> bool) -> Option<(Key, u64)> {
    let all = longest.iter().filter(|(key, _)| counts(**key));
    all.map(|(key, cycles)| (*key, *cycles)).max_by_key(|(_, cycles)| *cycles)
}

fn serves(chip: &Chip, handler: Handler, (exception, call): Key) -> bool {
    call.is_none() && chip.exceptions().handler(exception) == Some(handler)
}

fn is_interrupt(chip: &Chip, key: Key) -> bool {
    serves(chip, Handler::Timer, key) || serves(chip, Handler::Interrupt, key)
}

/// Whether somebody has arranged this switch (docs/time.md, rule c), so that nobody who ran is charged for all of it.
fn is_arranged(chip: &Chip, key: Key) -> bool {
    let call = key.1.and_then(|number| Call::from_number(u32::from(number)));
    is_interrupt(chip, key) || call.is_some_and(|call| !FRAMES.contains(&call) && !OWN_WORK.contains(&call))
}

/// The name of a path in the table.
fn name(chip: &Chip, (exception, call): Key) -> String {
    let call = call.and_then(|number| CALLS.iter().find(|doc| doc.call as u32 == u32::from(number)));
    if let Some(doc) = call {
        return doc.name.to_uppercase();
    }
    let handler = chip.exceptions().handler(exception);
    handler.map_or_else(|| format!("exception {exception}"), |handler| chip.exceptions().about(handler).to_owned())
}
