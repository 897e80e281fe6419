//! The operations that are measured: for each row the labels between which it is measured, as the file of its board lists it.

use manifest::Board;
use serde::Deserialize;

use crate::Peer;

/// Row of the longest stretch with interrupts masked, which no label pair yields: the end of its id, and what it is.
pub(crate) const MASKED: (&str, &str) = ("masked.longest", "longest stretch with interrupts masked");

/// A row of the table that a pair of labels yields.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// The peers whose operation it is, by their suffixes; none for Cofferdam's.
    #[serde(default)]
    pub peers: Vec<String>,
    /// Id of the row without the board's prefix and the peer's suffix.
    pub id: String,
    /// The operation, in a few words.
    pub about: String,
    /// The stretch starts before the instruction at this label; for a handler's first instruction before the exception is
    /// entered.
    pub start: String,
    /// The stretch ends before the instruction at this label.
    pub end: String,
    /// Figures that others have published for the same operation.
    #[serde(default)]
    pub paper: Option<String>,
    /// Whether the row's instructions are the largest count of all rounds; otherwise that of the middle one, because the
    /// kernel's timer, which hits few rounds, is not part of the path.
    #[serde(default)]
    pub worst: bool,
    /// Its target.
    #[serde(default)]
    pub target: Option<Limit>,
}

/// A target: the row is judged by its instructions, and by its largest cycles.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// At most so many cycles.
    #[serde(default)]
    pub cycles: Option<CyclesLimit>,
    /// At most so many instructions.
    #[serde(default)]
    pub instructions: Option<u64>,
    /// Fewer instructions than the row of this id, without the board's prefix, measured in the same run.
    #[serde(default)]
    pub below: Option<String>,
}

/// A number of cycles, or the key of `protection` in the board's file that promises one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum CyclesLimit {
    /// The number.
    Number(u64),
    /// The promise.
    Promised(Promise),
}

/// A bound of a miss of a paged region that the board's file promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Promise {
    /// With the nodes of the domain's table in tightly coupled memory.
    L1Cycles,
    /// With the nodes in on-chip RAM.
    L2Cycles,
}

impl CyclesLimit {
    /// Cycles, unless the board does not promise that.
    pub(crate) fn on(self, board: &Board) -> Option<u64> {
        match self {
            Self::Number(cycles) => Some(cycles),
            Self::Promised(Promise::L1Cycles) => board.protection.miss_cycles().map(|[near, _]| near.into()),
            Self::Promised(Promise::L2Cycles) => board.protection.miss_cycles().map(|[_, far]| far.into()),
        }
    }
}

impl Operation {
    /// Whether it is an operation of that peer, or of Cofferdam.
    pub(crate) fn is_of(&self, peer: Option<&Peer>) -> bool {
        peer.map_or(self.peers.is_empty(), |peer| self.peers.contains(&peer.suffix))
    }

    /// Ids of its rows without the board's prefix.
    pub(crate) fn ids(&self) -> Vec<String> {
        match self.peers.is_empty() {
            true => vec![self.id.clone()],
            false => self.peers.iter().map(|suffix| format!("{}.{suffix}", self.id)).collect(),
        }
    }
}
