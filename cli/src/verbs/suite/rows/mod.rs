//! Many programs, each run by itself, beside what they were in an earlier run. Modelled figures are deterministic: any difference is one
//! of the programs, the kernel or the model.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The version of the file.
const SCHEMA: u32 = 1;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It ended with code 0, and everything was as promised.
    Passed,
    /// It ended with another code, or something was not as promised.
    Failed,
    /// It faulted.
    Faulted,
    /// It had not ended at the limit.
    Hung,
    /// There is no program to run: it was refused, or did not build.
    NotBuilt,
    /// The run was interrupted, or the simulator failed.
    NotRun,
}

/// Cost of a program's run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// Cycles in the program and in the kernel on its behalf.
    pub cycles: u64,
    /// Instructions, as `cycles`.
    pub instructions: u64,
    /// Paged regions that were loaded for it.
    pub paged_misses: u64,
    /// Misses of the instruction cache.
    pub icache_misses: u64,
    /// Misses of the data cache.
    pub dcache_misses: u64,
}

/// One program on one board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The program: the path by which it was named.
    pub program: String,
    /// Name of the board.
    pub board: String,
    /// How it ended.
    pub ended: Ended,
    /// Its exit code, if it ended by itself.
    pub exit_code: Option<i32>,
    /// Cost of its run, if it ran.
    pub figures: Option<Figures>,
    /// Why it did not pass; empty if it did.
    pub why: String,
}

/// A file of rows: what `--save` writes and `--baseline` reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Version of this schema.
    pub schema: u32,
    /// The rows, in the order in which programs and boards were named.
    pub rows: Vec<Row>,
}

/// A row compared with the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The baseline has no such program, or has no figures of it.
    New,
    /// The cycles are the same.
    Same,
    /// It takes another number of cycles, by this share; more is positive.
    By(f64),
}

impl Suite {
    /// A file of these rows.
    pub fn new(rows: Vec<Row>) -> Suite {
        Suite { schema: SCHEMA, rows }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// A text that says what is wrong with it.
    pub fn from_json(text: &str) -> Result<Suite, String> {
        let suite: Suite = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match suite.schema {
            SCHEMA => Ok(suite),
            other => Err(format!("it has version {other}; this tool reads {SCHEMA}")),
        }
    }

    /// Each row of `now` beside the one of the same program and board here.
    pub fn compare(&self, now: &Suite) -> Vec<Change> {
        let key = |row: &Row| (row.program.clone(), row.board.clone());
        let before: BTreeMap<_, _> = self.rows.iter().map(|row| (key(row), row.figures)).collect();
        let change = |row: &Row| match (before.get(&key(row)).copied().flatten(), row.figures) {
            (Some(before), Some(now)) if before.cycles == now.cycles => Change::Same,
            (Some(before), Some(now)) => Change::By(now.cycles as f64 / before.cycles.max(1) as f64 - 1.0),
            _ => Change::New,
        };
        now.rows.iter().map(change).collect()
    }
}

impl Change {
    /// Whether it takes more cycles by more than a share.
    pub fn is_worse(self, above: f64) -> bool {
        matches!(self, Change::By(share) if share > above)
    }

    /// In words.
    pub fn text(self) -> String {
        match self {
            Change::New => "new".into(),
            Change::Same => "same".into(),
            Change::By(share) => format!("{:+.2} %", share * 100.0),
        }
    }
}

#[cfg(test)]
mod tests;
