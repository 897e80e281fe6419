//! Histories of allocations on the soft core (`eval/systems/traces`): RTMMU with a heap that gives pages back, and its opponents with one that keeps them. The
//! player measures from itself; cycles are those of the hardware's description.

use std::path::Path;

use build_tool::{Built, Install, Instead, Loaded};
use record::EventsFile;
use report::Report;
use runner::Go;

use crate::rows::{Cycles, Row, TRACES, Target};
use crate::Error;

/// The manifests: of the heap that gives pages back, and of the one that keeps them.
const RELEASED: &str = "eval/systems/traces/released.toml";
const KEPT: &str = "eval/systems/traces/kept.toml";

/// A board with a manifest for it, and the part of a row's id that names them.
struct Contender {
    name: &'static str,
    board: &'static str,
    manifest: &'static str,
    subject: &'static str,
}

const CONTENDERS: [Contender; 4] = [
    Contender { name: "rtmmu", board: "ibex-rtmmu", manifest: RELEASED, subject: "RTMMU, pages given back" },
    Contender { name: "direct", board: "ibex-direct", manifest: KEPT, subject: "one-level table, pages kept" },
    Contender { name: "sv32", board: "ibex-sv32", manifest: KEPT, subject: "Sv32 without TLB, pages kept" },
    Contender { name: "direct.released", board: "ibex-direct", manifest: RELEASED, subject: "one-level table, pages given back" },
];

/// What the player prints, the part of an id that names it, its meaning, the paper's longest on RTMMU and on its opponent (table I, synthetic, in us), and the
/// target for RTMMU.
const OPERATIONS: [(&str, &str, &str, &str, Option<u64>); 4] = [
    ("alloc", "alloc", "allocation", "339 us; 237 us", Some(5_000)),
    ("free", "free", "release", "945 us; 4 145 462 us", Some(8_000)),
    ("first touch", "touch", "first touch of a page, its frame the domain's own", "", None),
    ("mapped", "mapped", "access to a page that is mapped", "", None),
];

/// Cycles of a tick (docs/soft-core.md, Time).
const TICK: u64 = 2;

/// Whether the rows are asked for: they take half an hour, so that they are measured when they are named.
pub(crate) fn is_wanted(only: Option<&str>) -> bool {
    only.is_some_and(|only| only.starts_with(TRACES))
}

/// Replays the history on each board that is wanted.
///
/// # Errors
/// Any error that keeps a figure from being measured.
pub(crate) fn measure(
    install: &Install,
    out: &Path,
    only: Option<&str>,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, Error> {
    let mut all = Vec::new();
    for contender in CONTENDERS {
        let id = format!("{TRACES}.{}", contender.name);
        if only.is_none_or(|only| only.starts_with(&id) || id.starts_with(only)) {
            all.extend(rows(install, &contender, &out.join(&id), progress)?);
        }
    }
    Ok(all)
}

fn failed(why: String) -> Error {
    Error::Run(format!("traces: {why}"))
}

fn rows(
    install: &Install,
    contender: &Contender,
    directory: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, Error> {
    let Contender { name, board, manifest, subject } = *contender;
    let refused = |refusal: &manifest::Diagnostic| Error::Build(refusal.to_string());
    let loaded = Loaded::load_for(install, &install.root.join(manifest), Instead::board(board));
    let loaded = loaded.map_err(|refusal| refused(&refusal))?;
    let profile = loaded.board.chip.name.clone();
    let told = &mut |what: &str| progress(&format!("traces: building {what}"));
    let built = build_tool::build(install, loaded, build_tool::Options::default(), told);
    let built =
        built.map_err(|all| all.first().map_or_else(|| Error::Build("refused".to_owned()), |first| refused(first)))?;
    progress(&format!("traces on {board}: running"));
    let said = run(&built, directory)?;
    let rows = OPERATIONS.into_iter().map(|(line, part, operation, paper, most)| {
        let id = format!("{TRACES}.{name}.{part}");
        let (count, cycles) = found(&said, line).ok_or_else(|| failed(format!("no times of `{line}`: {said}")))?;
        let target = most.filter(|_| name == "rtmmu").map(|most| Target { cycles: Some(most), ..Target::default() });
        Ok(Row {
            command: format!("./cofferdam bench --only {id}"),
            id,
            board: board.to_owned(),
            profile: profile.clone(),
            subject: subject.to_owned(),
            operation: format!("{operation}, {count} times"),
            cycles,
            paper: Some(paper).filter(|paper| !paper.is_empty()).map(str::to_owned),
            met: target.as_ref().and_then(|target| target.cycles).map(|most| cycles.max <= most),
            target,
            ..Row::default()
        })
    });
    rows.collect()
}

/// Runs a system to its end; what it has printed.
fn run(built: &Built, directory: &Path) -> Result<String, Error> {
    let simulator = runner::find(&built.loaded.board.simulator).map_err(|error| failed(error.to_string()))?;
    let mut run = build_tool::prepare(built, true).map_err(|error| failed(error.to_string()))?;
    run.directory = directory.to_owned();
    let outcome = run.start(&*simulator, &mut |_| Go::On).map_err(|error| failed(error.to_string()))?;
    let events = EventsFile::open(&outcome.events).map_err(|error| failed(error.to_string()))?;
    let report = Report::build(&built.description, &outcome.summary, events);
    let report = report.map_err(|error| failed(error.to_string()))?;
    match report.verdict.failures.first() {
        Some(failure) => Err(failed(failure.text.clone())),
        None => std::fs::read_to_string(&outcome.uart).map_err(|error| Error::file(&outcome.uart, &error)),
    }
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
