//! How long some instructions take on the core of every board, as Rust for programs that compute for a given time and find their board when they run.

use std::path::Path;

use serde_derive::Deserialize;

use crate::files::{Chip, Parameter, parse};
use crate::places::{all, variable};
use crate::{Board, write};

/// The constants, in the build's output directory.
pub const PACES: &str = "paces.rs";

/// `cores/NAME.toml`.
#[derive(Debug, Deserialize)]
struct Core {
    /// A core that is simulated as its own hardware description has none.
    timing: Option<Timing>,
}

#[derive(Debug, Deserialize)]
struct Timing {
    pipeline: Pipeline,
    branch: Branch,
}

#[derive(Debug, Deserialize)]
struct Pipeline {
    divide: Costs,
    multiply: Costs,
}

#[derive(Debug, Deserialize)]
struct Costs {
    value: Cost,
}

#[derive(Debug, Deserialize)]
struct Cost {
    issue: u32,
    latency: u32,
}

#[derive(Debug, Deserialize)]
struct Branch {
    /// A core without prediction has none.
    entries: Option<Parameter>,
    #[serde(default)]
    mispredict: Parameter,
}

impl Timing {
    /// The values of the table.
    fn pace(&self) -> String {
        let Timing { pipeline, branch } = self;
        let turn = if branch.entries.is_some() { 1 } else { 1 + branch.mispredict.value };
        let Pipeline { divide, multiply } = pipeline;
        let product = multiply.value.issue + multiply.value.latency;
        format!("Pace {{ quotient: {}, product: {product}, turn: {turn} }}", divide.value.issue)
    }
}

/// Writes [`PACES`] of the package that is being built: a struct, and `BOARDS`, an entry for each board file below `boards`, relative to
/// the package, and for that of `COFFERDAM_OWN_BOARD`, if its core has a timing model.
///
/// # Errors
/// A text: called outside of a build script, or a file is wrong or cannot be read or written.
pub fn generate_paces(boards: &str) -> Result<(), String> {
    let boards = variable("CARGO_MANIFEST_DIR")?.join(boards);
    let mut text = "/// Times in cycles.\n#[derive(Clone, Copy, Debug)]\npub struct Pace {\n\
        /// A quotient that the next one needs.\npub quotient: u32,\n\
        /// A product that the next one needs.\npub product: u32,\n\
        /// The end of a turn of a loop.\npub turn: u32,\n}\n\
        /// The boards, by the words for their names.\nconst BOARDS: &[(u32, Pace)] = &[\n"
        .to_owned();
    for (file, board) in all(&boards)? {
        text += &entry(&boards.join(".."), &file, &board)?;
    }
    write(&variable("OUT_DIR")?.join(PACES), &(text + "];\n"))
}

/// The entry of a board; nothing if its core has no timing model.
fn entry(root: &Path, file: &Path, board: &Board) -> Result<String, String> {
    let chip_file = board.chip_file(root, file.parent().unwrap_or(root));
    let chip: Chip = parse(&chip_file)?;
    let core_file = chip.core_file(root);
    let core: Core = parse(&core_file)?;
    for path in [&chip_file, &core_file] {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    Ok(core
        .timing
        .map_or_else(String::new, |timing| format!("    (name_hash({:?}), {}),\n", board.name, timing.pace())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A core whose quotients take twelve cycles, and whose branches are predicted if there are entries.
    fn pace(branch: &str) -> String {
        let text = format!(
            "[timing.pipeline]\ndivide = {{ value = {{ issue = 12, latency = 0 }} }}\n\
             multiply = {{ value = {{ issue = 2, latency = 3 }} }}\n[timing.branch]\n{branch}"
        );
        basic_toml::from_str::<Core>(&text).unwrap().timing.unwrap().pace()
    }

    #[test]
    fn a_core_may_have_no_timing_model() {
        assert!(basic_toml::from_str::<Core>("name = \"soft\"").unwrap().timing.is_none());
    }

    #[test]
    fn a_turn_waits_for_the_branch_where_nothing_is_predicted() {
        assert_eq!(pace("mispredict = { value = 2 }"), "Pace { quotient: 12, product: 5, turn: 3 }");
        let predicted = "mispredict = { value = 8 }\nentries = { value = 64 }";
        assert_eq!(pace(predicted), "Pace { quotient: 12, product: 5, turn: 1 }");
    }
}
