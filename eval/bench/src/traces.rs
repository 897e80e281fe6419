//! Histories of allocations on the soft core (`crates/traces`, `eval/systems/traces`): RTMMU with a heap that gives pages back, and its opponents with one that keeps them. The
//! player measures from itself; cycles are those of the hardware's description.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use build_tool::{Built, Install, Instead, Loaded};
use serde::Deserialize;

use crate::Error;
use crate::bench;
use crate::rows::{Cycles, Row, TRACES, Target};

/// The manifest, of the synthetic history and the heap that gives pages back; and the lines of it that others have in their places.
const MANIFEST: &str = "eval/systems/traces/system.toml";
const FEATURES: &str = "features = []";
const ARGUMENT: &str = "argument = 1_000_000";
const CRATE: &str = "path = \"player\"";
/// Bit of the argument: the heap keeps its pages.
const KEPT: u32 = 1 << 31;
/// Actions of the synthetic history, as the paper has them.
const ACTIONS: u32 = 1_000_000;

/// The rows.
const ROWS: &str = "eval/systems/traces/rows.toml";

/// [`ROWS`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    contender: Vec<Contender>,
    history: Vec<History>,
}

/// A board with a heap.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contender {
    /// Part of the ids of its rows.
    name: String,
    board: String,
    /// The heap keeps its pages.
    keeps: bool,
    subject: String,
    /// Most cycles, by operation.
    #[serde(default)]
    targets: BTreeMap<String, u64>,
}

/// A history, with what the paper says of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct History {
    name: String,
    alloc: String,
    free: String,
}

/// The words of the player for an operation, the part of an id that names it, and its meaning.
const OPERATIONS: [(&str, &str, &str); 4] = [
    ("alloc", "alloc", "allocation"),
    ("free", "free", "release"),
    ("first touch", "touch", "first touch of a page, its frame the domain's own"),
    ("mapped", "mapped", "access to a page that is mapped"),
];

/// Cycles of a tick (docs/soft-core.md, Time).
const TICK: u64 = 2;

/// Whether the rows are asked for: they take some two hours, so that they are measured when they are named.
pub(crate) fn is_wanted(only: Option<&str>) -> bool {
    only.is_some_and(|only| only.starts_with(TRACES))
}

/// Replays each history that is wanted, on each board.
///
/// # Errors
/// Any error that keeps a figure from being measured.
pub(crate) fn measure(
    install: &Install,
    out: &Path,
    only: Option<&str>,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, Error> {
    let wants = |id: &str| only.is_none_or(|only| only.starts_with(id) || id.starts_with(only));
    let path = install.root.join(ROWS);
    let text = std::fs::read_to_string(&path).map_err(|error| Error::file(&path, &error))?;
    let plan: Plan = toml::from_str(&text).map_err(|error| failed(format!("{ROWS}: {}", error.message())))?;
    let mut all = Vec::new();
    for history in &plan.history {
        for contender in &plan.contender {
            let id = format!("{TRACES}.{}.{}", history.name, contender.name);
            if wants(&id) {
                all.extend(rows(install, history, contender, &out.join(&id), progress)?);
            }
        }
    }
    Ok(all)
}

fn failed(why: String) -> Error {
    Error::Run(format!("traces: {why}"))
}

fn rows(
    install: &Install,
    History { name: history, alloc, free }: &History,
    contender: &Contender,
    directory: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, Error> {
    let Contender { name, board, keeps, subject, targets } = contender;
    let refused = |refusal: &manifest::Diagnostic| Error::Build(refusal.to_string());
    let path = manifest_of(install, history, *keeps, directory)?;
    let loaded = Loaded::load_for(install, &path, Instead::board(board)).map_err(|refusal| refused(&refusal))?;
    let profile = loaded.board.chip.name.clone();
    let told = &mut |what: &str| progress(&format!("traces: building {what}"));
    let built = build_tool::build(install, loaded, build_tool::Options::default(), told);
    let built = built.map_err(|all| all.first().map_or_else(|| Error::Build("refused".to_owned()), refused))?;
    progress(&format!("traces: {history} on {board}: running"));
    let said = run(&built, directory)?;
    let rows = OPERATIONS.into_iter().map(|(line, part, operation)| {
        let id = format!("{TRACES}.{history}.{name}.{part}");
        let (count, cycles) = found(&said, line).ok_or_else(|| failed(format!("no times of `{line}`: {said}")))?;
        let target = targets.get(part).map(|most| Target { cycles: Some(*most), ..Target::default() });
        let paper = [("alloc", alloc), ("free", free)].into_iter().find(|(of, _)| *of == part);
        Ok(Row {
            command: format!("./cofferdam bench --only {id}"),
            id,
            board: board.clone(),
            profile: profile.clone(),
            exact: true,
            subject: subject.clone(),
            operation: format!("{history}: {operation}, {count} times"),
            cycles,
            paper: paper.map(|(_, us)| format!("{us} us")),
            met: target.as_ref().and_then(|target| target.cycles).map(|most| cycles.max <= most),
            target,
            ..Row::default()
        })
    });
    rows.collect()
}

/// The manifest of a history and a heap, which is written into a directory.
fn manifest_of(install: &Install, history: &str, keeps: bool, directory: &Path) -> Result<PathBuf, Error> {
    let original = install.root.join(MANIFEST);
    let mut text = std::fs::read_to_string(&original).map_err(|error| Error::file(&original, &error))?;
    let player = original.with_file_name("player");
    let is_synthetic = history == "synthetic";
    let features = if is_synthetic { FEATURES.to_owned() } else { format!("features = [\"{history}\"]") };
    let argument = if is_synthetic { ACTIONS } else { 0 } | if keeps { KEPT } else { 0 };
    let path = format!("path = \"{}\"", player.display());
    for (old, new) in [(FEATURES, features), (ARGUMENT, format!("argument = {argument}")), (CRATE, path)] {
        if text.matches(old).count() != 1 {
            return Err(failed(format!("{MANIFEST} does not say `{old}` once")));
        }
        text = text.replace(old, &new);
    }
    std::fs::create_dir_all(directory).map_err(|error| Error::file(directory, &error))?;
    let path = directory.join("system.toml");
    std::fs::write(&path, text).map_err(|error| Error::file(&path, &error))?;
    Ok(path)
}

/// Runs a system to its end; what it has printed.
fn run(built: &Built, directory: &Path) -> Result<String, Error> {
    let simulator = runner::find(&built.loaded.board.simulator).map_err(|error| failed(error.to_string()))?;
    let mut run = build_tool::prepare(built, true).map_err(|error| failed(error.to_string()))?;
    run.directory = directory.to_owned();
    let (outcome, _) = bench::reported(built, run, &*simulator).map_err(failed)?;
    std::fs::read_to_string(&outcome.uart).map_err(|error| Error::file(&outcome.uart, &error))
}

/// How often the player has seen an operation, and its cycles.
fn found(said: &str, name: &str) -> Option<(u64, Cycles)> {
    let line = said.lines().find_map(|line| line.split_once(&format!("{name}: ")))?.1;
    let mut numbers = line.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse::<u64>().ok());
    let [count, median, most] = [(); 3].map(|()| numbers.next());
    Some((count?, Cycles { median: TICK * median?, max: TICK * most? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_by_name_and_doubled() {
        let said = "player: alloc: 3 times, median 5, most 9\nplayer: first touch: 0 times, median 0, most 0\n";
        assert_eq!(found(said, "alloc"), Some((3, Cycles { median: 10, max: 18 })));
        assert_eq!(found(said, "first touch"), Some((0, Cycles::default())));
        assert_eq!(found(said, "free"), None);
    }
}
