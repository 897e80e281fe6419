//! Record that a hunt keeps of a system: one JSON file under a hash of what was run.

use serde::{Deserialize, Serialize};

use crate::judge::{Harm, Victim};
use crate::plan::{Domain, Plan};

/// A system that was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`hash`] of board with its file, manifest, rows and programs; also the file's name.
    pub hash: String,
    /// The board.
    pub board: String,
    /// Seed of the hunt.
    pub seed: u64,
    /// Number of the system in it.
    pub number: u64,
    /// A victim was made tight.
    pub tight: bool,
    /// Which features it has, in the order of [`Record::FEATURES`].
    pub has: [bool; 5],
    /// The system.
    pub plan: Plan,
    /// Its manifest.
    pub manifest: String,
    /// Its rows.
    pub rows: String,
    /// Threads with deadlines.
    pub victims: Vec<Victim>,
    /// Those who were harmed.
    pub harms: Vec<Harm>,
    /// Modelled seconds.
    pub modelled_seconds: f64,
    /// Seconds that it took here.
    pub seconds: f64,
}

/// FNV-1a over 128 bits (Fowler, Noll, Vo) of several parts; it names files and keeps nobody out.
pub fn hash(parts: &[&[u8]]) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let bytes = parts.iter().flat_map(|part| part.iter().chain(&[0xff]));
    let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME));
    format!("{hash:032x}")
}

impl Record {
    /// The letters and names of features, in the order of [`Record::features`].
    pub const FEATURES: [(char, &str); 5] =
        [('s', "a shared budget"), ('g', "a gate"), ('l', "a line"), ('h', "a herd"), ('d', "handlers")];

    /// Those of a shared budget, a gate, a line, a herd and handlers that a plan has. A hunt counts what was run, so that it shows when `check` refuses all that have one.
    pub fn features(plan: &Plan) -> [bool; 5] {
        let threads = || plan.domains.iter().flat_map(|domain| &domain.threads);
        let pays = |budget: usize| threads().filter(|thread| thread.budget == budget).count();
        [
            (0..plan.budgets.len()).any(|budget| pays(budget) > 1),
            plan.domains.iter().any(|domain| domain.gate.is_some()),
            plan.domains.iter().any(|domain| domain.timer),
            plan.domains.iter().any(Domain::is_herd),
            plan.domains.iter().any(|domain| domain.handlers.is_some()),
        ]
    }
}
