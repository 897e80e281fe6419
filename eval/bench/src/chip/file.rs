//! The schema of `boards/NAME/bench.toml`.

use manifest::Board;
use serde::Deserialize;

use super::plan::Plan;
use crate::operations::{CyclesLimit, Limit, MASKED, Operation};
use crate::peers::Peer;
use crate::rows::Target;

/// A board's file, as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BenchFile {
    /// Beginning of the ids of its rows: letters and digits.
    pub prefix: String,
    /// Target of the row of the longest masked stretch.
    #[serde(default)]
    pub masked_target: Option<Limit>,
    /// Operations of the benchmark system, and of the peers.
    pub operation: Vec<Operation>,
    /// Systems.
    pub systems: Systems,
    /// Systems that Cofferdam is compared with.
    #[serde(default)]
    pub peer: Vec<Peer>,
    /// Pieces of code that have public figures.
    #[serde(default)]
    pub micro: Vec<Micro>,
    /// Experiments that are repeated.
    #[serde(default)]
    pub figures: Plan,
}

/// Manifests of the systems that are run, from the root of the repository. A kind of rows without a system is left out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Systems {
    /// The benchmark system: operations, and masked stretches.
    pub benchmark: String,
    /// That of interrupts that reach a handler without the kernel.
    #[serde(default)]
    pub direct: Option<String>,
    /// That of the change of the domain whose handlers they reach.
    #[serde(default)]
    pub occupy: Option<String>,
    /// That of the way from a handler into the kernel and back.
    #[serde(default)]
    pub veneer: Option<String>,
    /// That of the allocators.
    #[serde(default)]
    pub heap: Option<String>,
    /// That of the memory manager.
    #[serde(default)]
    pub manager: Option<String>,
    /// That of the pieces of code that have public figures.
    #[serde(default)]
    pub micro: Option<String>,
    /// Those that are run for the longest activation of each path. Together they take every path.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Those that are run beside these for the bounds of the kernel's paths.
    #[serde(default)]
    pub costs: Vec<String>,
}

/// One row, as the file of its board describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Micro {
    /// Last part of the id, and the part of its labels.
    pub name: String,
    /// The operation, in a few words.
    pub about: String,
    /// How many of that stand between the labels.
    pub operations: u32,
    /// Another stretch, by the part of its labels, that is taken off this one.
    #[serde(default)]
    pub less: Option<String>,
    /// Cycles of one, as published.
    pub public: f64,
    /// The publication that states it, and the place in it.
    pub source: String,
    /// Why the model is farther away than `micro::WITHIN`.
    #[serde(default)]
    pub reason: Option<String>,
}

impl BenchFile {
    /// Targets by the ids of their rows. `Chip::new` has checked that the board has the bounds that targets name.
    pub(super) fn targets(&self, board: &Board) -> Vec<(String, Target)> {
        let row = |id: &str| format!("{}.{id}", self.prefix);
        let cycles = |limit: CyclesLimit| limit.on(board);
        let target = |limit: &Limit| Target {
            cycles: limit.cycles.and_then(cycles),
            instructions: limit.instructions,
            below: limit.below.as_deref().map(row),
            ..Target::default()
        };
        let own = self.operation.iter().flat_map(|operation| {
            let limit = operation.target.as_ref();
            let ids = operation.ids();
            limit.into_iter().flat_map(move |limit| ids.clone().into_iter().map(move |id| (id, limit)))
        });
        let masked = self.masked_target.as_ref().map(|limit| (MASKED.0.to_owned(), limit));
        own.chain(masked).map(|(id, limit)| (row(&id), target(limit))).collect()
    }
}
