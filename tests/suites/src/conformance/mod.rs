//! The conformance suite (`tests/conformance`): performs its rows on targets and on the kernel core over a simulated
//! processor, and makes one table of them.

mod slow;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use abi::Error;
use abi::trace::{Event, Fault};
use conformance::{Actor, Dom, Shortfall, rows};
use record::EventsReader;
use serde::Deserialize;
use serde_json::Value;

pub use slow::on_slow;

use crate::attacks::{Bench, Change, cargo, exchange};
use crate::{cofferdam, root, target_dir};

/// The system that performs the rows on a target.
const MANIFEST: &str = "tests/conformance/system.toml";
/// The package whose tests perform them on simulated processors.
const KERNEL: &str = "cofferdam-kernel";
/// With it the kernel's tests are those that are built for all packages together.
const FEATURES: &str = "cofferdam-features";
/// The events of a run, below the directory of the system's results.
const EVENTS: &str = "run/events.bin";
/// Directory of programs built from changed sources.
const STORE: &str = "rows";
/// The board that the manifest names.
const BOARD: &str = "mps2-an500";

/// Markers of the lead; see `tests/conformance/cast/src/bin/lead.rs`.
const ROW: u16 = 0x4000;
const END: u16 = 0x3fff;

/// Failures of the verdict that rows cause and account for: faults, a gate that exceeds its bound, an exit with a code.
const OF_ROWS: [&str; 3] = ["domain-fault", "gate-bound", "exit-code"];

/// One column of the table.
#[derive(Clone, Debug)]
pub struct Column {
    /// The machine on which the rows were performed.
    pub name: String,
    /// The result of each row, by number: `None` when it held.
    pub cells: BTreeMap<u32, Option<Shortfall>>,
}

impl Column {
    /// The text of a row's cell.
    pub fn cell(&self, number: u32) -> String {
        match (self.cells.get(&number), conformance::row(number)) {
            (Some(None), Some(row)) => row.shows().to_owned(),
            (Some(Some(shortfall)), _) => format!("WRONG: {}", told(*shortfall)),
            _ => "NOT PERFORMED".to_owned(),
        }
    }

    /// Rows that do not hold, or were not performed, and how.
    pub fn wrong(&self) -> Vec<String> {
        let wrong = |(number, row): (usize, &conformance::Row)| {
            let number = number as u32;
            let held = self.cells.get(&number) == Some(&None);
            (!held).then(|| format!("{}, `{}`: {}", self.name, row.name, self.cell(number)))
        };
        rows().enumerate().filter_map(wrong).collect()
    }
}

/// The text of a shortfall.
fn told(shortfall: Shortfall) -> String {
    let who = |number: u8| Actor::from_number(u32::from(number)).map_or("?".into(), |actor| format!("{actor:?}"));
    match shortfall {
        Shortfall::Step(actor, step, got) => {
            let status = u32::from(got) | 0xffff_0000;
            let name = Error::from_status(status).map_or(String::new(), |error| format!(" ({error:?})"));
            format!("step {step} of {} saw {got:#x}{name}", who(actor))
        }
        Shortfall::Lives(actor, lives) => format!("{} began {lives} lives", who(actor)),
        Shortfall::Steps(actor, steps) => format!("{} performed {steps} steps", who(actor)),
        Shortfall::Fault(dom, kind) => {
            let name = Dom::ALL.iter().find(|known| **known as u8 == dom).map_or("?", |dom| dom.name());
            let kind = Fault::from_number(kind as u8).map_or("no fault", Fault::name);
            format!("{name} has {kind} reported")
        }
    }
}

/// The directory of the system's results on a board.
fn system(board: &str) -> PathBuf {
    let other = if board == BOARD { String::new() } else { format!(".{board}") };
    target_dir().join(format!("cofferdam/conformance{other}"))
}

/// The image for a board that was built last.
pub fn image(board: &str) -> PathBuf {
    system(board).join("image.elf")
}

/// Performs the rows on a board.
///
/// # Errors
/// The run left no events, or its verdict is that something else than the rows is wrong.
pub fn on_target(board: &str) -> Result<Column, String> {
    let dir = system(board);
    let _ = (fs::remove_file(dir.join(EVENTS)), fs::remove_file(dir.join("report.json")));
    let mut args = vec!["run", MANIFEST, "--quiet"];
    if board != BOARD {
        args.extend(["--board", board]);
    }
    let output = cofferdam(&args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    column(board, &dir, &[]).map_err(|how| format!("{how}\n{said}"))
}

/// The column of a run on a board. `blamed` are failures of the verdict that a changed kernel causes.
fn column(board: &str, dir: &Path, blamed: &[String]) -> Result<Column, String> {
    let cells = marks(&dir.join(EVENTS))?;
    let mut failures = failures(dir);
    failures.retain(|code| !blamed.contains(code));
    if !failures.is_empty() {
        return Err(format!("the run's verdict is {failures:?}"));
    }
    Ok(Column { name: board.to_owned(), cells })
}

/// Codes of the verdict's failures, but for those that rows cause and account for.
fn failures(dir: &Path) -> Vec<String> {
    let text = fs::read_to_string(dir.join("report.json")).unwrap_or_default();
    let report: Value = serde_json::from_str(&text).unwrap_or_default();
    let Some(failures) = report["verdict"]["failures"].as_array() else { return vec!["no report".into()] };
    let codes = failures.iter().filter_map(|failure| failure["code"].as_str());
    codes.filter(|code| !OF_ROWS.contains(code)).map(str::to_owned).collect()
}

/// Performs the rows on the kernel core over the simulated processor that an image is for.
///
/// # Errors
/// The interpreter did not get to the end.
pub fn on_host(name: &str, image: &Path) -> Result<Column, String> {
    let mut command = Command::new(cargo());
    command.args(["test", "--quiet", "--offline", "--release", "-p", KERNEL, "-p", FEATURES, "--lib", "--target-dir"]);
    command.arg(target_dir()).arg("--").current_dir(root());
    interpreted(name, command, image)
}

/// The column of the kernel's own tests, which perform the rows.
fn interpreted(name: &str, mut command: Command, image: &Path) -> Result<Column, String> {
    command.args(["--ignored", "--nocapture", "--exact", "tests::conformance::every_row_is_performed"]);
    command.env("COFFERDAM_CONFORMANCE_IMAGE", image);
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{said}{}", String::from_utf8_lossy(&output.stderr)));
    }
    let line = |line: &str| {
        let (number, packed) = line.split_once("row ")?.1.split_once(' ')?;
        Some((number.parse().ok()?, Shortfall::unpack(packed.trim().parse().ok()?)))
    };
    Ok(Column { name: name.to_owned(), cells: said.lines().filter_map(line).collect() })
}

/// The results that the lead wrote into the trace.
fn marks(path: &Path) -> Result<BTreeMap<u32, Option<Shortfall>>, String> {
    let problem = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(|error| problem(&error))?;
    let events = EventsReader::new(file).map_err(|error| problem(&error))?;
    let lead = |event: &record::RunEvent| event.event == Event::Mark as u8 && event.domain == Dom::Lead as u8;
    let mut cells = BTreeMap::new();
    for event in events.map_while(Result::ok).filter(lead) {
        match event.detail {
            END if event.payload as usize == cells.len() => return Ok(cells),
            END => return Err(format!("{} rows are marked, {} performed", cells.len(), event.payload)),
            row if row >= ROW => drop(cells.insert(u32::from(row - ROW), Shortfall::unpack(event.payload))),
            _ => {}
        }
    }
    Err(format!("the lead did not get to the end, but through {} rows", cells.len()))
}

/// The table: a line for each row, a column for each place.
pub fn table(columns: &[Column]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let mut text = format!("| row | checks | rule in | {} |\n", names.join(" | "));
    text += &format!("| --- | --- | --- |{}\n", " --- |".repeat(columns.len()));
    for (number, row) in rows().enumerate() {
        let cells: Vec<String> = columns.iter().map(|column| column.cell(number as u32)).collect();
        text += &format!("| {} | {} | {} | {} |\n", row.name, row.checks, row.doc, cells.join(" | "));
    }
    text
}

/// `tests/conformance/mutants.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutants {
    /// All of them.
    pub mutant: Vec<Mutant>,
}

/// A change to the sources after which a row does not hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// The row.
    pub row: String,
    /// The file that it changes.
    pub file: String,
    /// The text there, which occurs exactly once.
    pub find: String,
    /// The text in its place.
    pub replace: String,
    /// The machines on which it is tried.
    pub on: Vec<String>,
    /// Failures of the run's verdict that it causes, too.
    #[serde(default)]
    pub blamed: Vec<String>,
}

impl Mutants {
    /// Reads them.
    ///
    /// # Panics
    /// When they are not as they should be.
    pub fn read() -> Mutants {
        let path = root().join("tests/conformance/mutants.toml");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

impl Mutants {
    /// Performs the rows with each change, in copies of the sources, on every machine that it names: the result of each. The programs are kept.
    pub fn try_all(&self, image: &Path) -> Vec<Result<String, String>> {
        let (host, chip) = (Bench::keeping("host", STORE), Bench::keeping("chip", STORE));
        let places = self.mutant.iter().flat_map(|mutant| mutant.on.iter().map(move |place| (mutant, place)));
        let tried = places.map(|(mutant, place)| match place.as_str() {
            "host" => mutant.try_in(place, |change| {
                let program = host.tests(KERNEL, change)?;
                let mut command = Command::new(program);
                command.current_dir(&host.install.root);
                interpreted(place, command, image)
            }),
            board => mutant.try_in(place, |change| {
                let programs = chip.programs(MANIFEST, Some(board), change)?;
                let dir = chip.perform(MANIFEST, Some(board), &programs)?.ok_or("the machine has stopped")?;
                column(board, &dir, &mutant.blamed)
            }),
        });
        let tried = tried.collect();
        host.forget_the_rest();
        chip.forget_the_rest();
        tried
    }
}

impl Mutant {
    /// Performs the rows with the change in a place.
    fn try_in(&self, place: &str, perform: impl FnOnce(&Change) -> Result<Column, String>) -> Result<String, String> {
        let original =
            fs::read_to_string(root().join(&self.file)).map_err(|error| format!("{}: {error}", self.file))?;
        let text = exchange(&original, &self.find, &self.replace).map_err(|times| {
            format!("the text to replace stands {times} times in {}, not once:\n{}", self.file, self.find)
        })?;
        let column = perform(&Change { file: &self.file, text: &text });
        let column = column.map_err(|how| format!("`{}` on {place}: {how}", self.row))?;
        let number = rows().position(|row| row.name == self.row).ok_or(format!("no row `{}`", self.row))?;
        match column.cells.get(&(number as u32)) {
            Some(Some(_)) => Ok(format!("`{}` on {place}: {}", self.row, column.cell(number as u32))),
            _ => Err(format!("`{}` holds on {place} though {} was changed", self.row, self.file)),
        }
    }
}
