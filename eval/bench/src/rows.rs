//! The rows of the table and of `bench.json`.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Error;

/// A figure in cycles of the modelled chip, or of the hardware description that is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cycles {
    /// The middle one of the counted samples.
    pub median: u64,
    /// The largest of the counted samples.
    pub max: u64,
}

/// The limits that a figure must keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// At most this many cycles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// At most this many instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
    /// Fewer instructions than the row of this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
    /// At most this many percent slower than the row it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<f64>,
    /// At most this many misses more than in the row it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_misses: Option<i64>,
    /// At most this many walks of page tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walks: Option<u64>,
    /// At most this many walks beyond on-chip RAM and locked ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walks_beyond: Option<u64>,
    /// The largest sample is at most this many times the median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
}

/// A figure that others have published, and how far ours is from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Public {
    /// Modelled cycles of one operation.
    pub ours: f64,
    /// Published cycles of one.
    pub value: f64,
    /// How many percent ours is more.
    pub deviation: f64,
    /// The publication that states it, and the place in it.
    pub source: String,
    /// Why ours is farther away than it should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// One row: a figure of one subject.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Stable name: the prefix of the board, the operation, and the suffix of the peer.
    pub id: String,
    /// Board that is emulated.
    pub board: String,
    /// Chip that is modelled, or simulated.
    pub profile: String,
    /// Whether cycles are exact for a hardware description that is simulated.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub exact: bool,
    /// `cofferdam`, or the peer with its version.
    pub subject: String,
    /// The operation that is measured.
    pub operation: String,
    /// Cycles, caches warm; 0 when the system was refused.
    pub cycles: Cycles,
    /// The mean of the cycles of all samples, where a paper states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average: Option<f64>,
    /// Instructions executed: of the middle sample; for misses and masked stretches the largest. 0 when they were not counted or the system
    /// was refused.
    pub instructions: u64,
    /// Bytes of memory, where those are the figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Misses of paged regions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misses: Option<u64>,
    /// How much slower than the row it is compared with, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<f64>,
    /// Misses more than in the row it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_misses: Option<i64>,
    /// The part of `overhead` that is not misses times the median cycles of one: caches, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_overhead: Option<f64>,
    /// Cycles of the whole application, where the figure is a part of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_cycles: Option<u64>,
    /// Walks of page tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walks: Option<u64>,
    /// Of these, the walks beyond on-chip RAM and locked ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walks_beyond: Option<u64>,
    /// Million instructions that the computer emulated in a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
    /// The paper's figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<String>,
    /// A published figure of a short piece of code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public: Option<Public>,
    /// Why there is no figure: the code of the refusal, or what did not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The target of the figure, if it has one.
    pub target: Option<Target>,
    /// Whether it does; `None` without a target, or when the row it is compared with was not measured.
    pub met: Option<bool>,
    /// Command that measures it again.
    pub command: String,
}

/// Kinds of rows: the part of their ids behind the board's prefix.
pub(crate) mod kinds {
    /// Figures of paging and translation.
    pub const FIGURES: &str = "mxu";
    /// Interrupts that reach a handler without the kernel.
    pub const DIRECT: &str = "direct";
    /// Allocators.
    pub const HEAP: &str = "heap";
    /// Bytes of the kernel.
    pub const IMAGE: &str = "image";
    /// The memory manager.
    pub const MANAGER: &str = "manager";
    /// Short pieces of code.
    pub const MICRO: &str = "micro";
    /// Paths of the kernel.
    pub const PATH: &str = "path";
}

/// Prefix of the ids of rows about the speed of this computer, in the place of a board's.
pub(crate) const SPEED: &str = "speed";

/// Prefix of the ids of rows of histories on the soft core.
pub(crate) const TRACES: &str = "traces";

/// The part of an id behind the board's prefix: the kind of row, or the first part of an operation's name.
pub(crate) fn kind(id: &str) -> Option<&str> {
    id.split('.').nth(1)
}

/// Gives each row its target and says whether it is met.
pub fn judge(rows: &mut [Row], targets: &[(String, Target)]) {
    for (id, target) in targets {
        let limit = target.below.as_ref().map(|other| rows.iter().find(|row| row.id == *other).map(|r| r.instructions));
        let Some(row) = rows.iter_mut().find(|row| row.id == *id) else { continue };
        let within = target.cycles.is_none_or(|most| row.cycles.max <= most)
            && target.instructions.is_none_or(|most| row.instructions <= most);
        row.met = match limit {
            None => Some(within),
            Some(Some(other)) => Some(within && row.instructions < other),
            Some(None) => None,
        };
        row.target = Some(target.clone());
    }
}

/// Writes the rows as a JSON list; the file appears complete or not at all.
///
/// # Errors
/// [`Error::File`].
pub fn write(path: &Path, rows: &[Row]) -> Result<(), Error> {
    let mut text = serde_json::to_string_pretty(rows).expect("rows hold only plain values");
    text.push('\n');
    let directory = path.parent().unwrap_or(Path::new("."));
    let fail = |error: std::io::Error| Error::file(path, &error);
    let mut partial = tempfile::NamedTempFile::new_in(directory).map_err(fail)?;
    partial.write_all(text.as_bytes()).map_err(fail)?;
    partial.persist(path).map_err(|error| Error::file(path, &error))?;
    Ok(())
}

/// Reads what [`write`] wrote.
///
/// # Errors
/// [`Error::File`] when it cannot be read or does not follow the schema.
pub fn read(path: &Path) -> Result<Vec<Row>, Error> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
    serde_json::from_str(&text).map_err(|error| Error::file(path, &error))
}
