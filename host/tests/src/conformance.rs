//! The conformance suite (`crates/conformance`, `tests/conformance`): performs its rows on targets and on the kernel core over a simulated
//! processor, and makes one table of them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use abi::Error;
use abi::trace::{Event, Fault};
use build_tool::Claim;
use conformance::{Actor, Dom, Shortfall, rows};
use record::EventsReader;
use serde::Deserialize;
use serde_json::Value;

use crate::attacks::{Bench, cargo, exchange};
use crate::{root, target_dir};

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
    /// Where the rows were performed.
    pub name: String,
    /// What came of each row, by number: `None` when it held.
    pub cells: BTreeMap<u32, Option<Shortfall>>,
}

impl Column {
    /// What is in the cell of a row.
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

/// What a shortfall says.
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

/// A copy of the sources, and where what is built from it goes.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The sources.
    pub sources: PathBuf,
    /// What is built.
    pub target: PathBuf,
    /// The command.
    pub tool: PathBuf,
    /// Nobody else changes the copy meanwhile.
    _claim: Option<Claim>,
}

impl Tree {
    /// The sources as they are.
    pub fn original() -> Tree {
        Tree { sources: root(), target: target_dir(), tool: root().join("cofferdam"), _claim: None }
    }

    /// A copy of the sources of that name; see [`Bench`].
    pub fn copy(name: &str) -> Tree {
        let Bench { install, claim, .. } = Bench::new(name);
        let tool = target_dir().join("release/cofferdam");
        Tree { sources: install.root, target: install.target, tool, _claim: Some(claim) }
    }

    /// The directory of the system's results on a board.
    fn system(&self, board: &str) -> PathBuf {
        let other = if board == BOARD { String::new() } else { format!(".{board}") };
        self.target.join(format!("cofferdam/conformance{other}"))
    }

    /// The image for a board that was built last.
    pub fn image(&self, board: &str) -> PathBuf {
        self.system(board).join("image.elf")
    }

    /// Performs the rows on a board.
    ///
    /// # Errors
    /// The run left no events, or its verdict is that something else than the rows is wrong.
    pub fn on_target(&self, board: &str) -> Result<Column, String> {
        let events = self.system(board).join("run/events.bin");
        let _ = (fs::remove_file(&events), fs::remove_file(self.system(board).join("report.json")));
        let mut command = Command::new(&self.tool);
        command.args(["run", "tests/conformance/system.toml", "--quiet"]).current_dir(&self.sources);
        if board != BOARD {
            command.args(["--board", board]);
        }
        command.env("COFFERDAM_ROOT", &self.sources).env("CARGO_TARGET_DIR", &self.target);
        let output = command.output().map_err(|error| format!("{}: {error}", self.tool.display()))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let cells = marks(&events).map_err(|how| format!("{how}\n{said}"))?;
        let failures = self.failures(board);
        if !failures.is_empty() {
            return Err(format!("the run's verdict is {failures:?}\n{said}"));
        }
        Ok(Column { name: board.to_owned(), cells })
    }

    /// Codes of the verdict's failures, but for those that rows cause and account for.
    fn failures(&self, board: &str) -> Vec<String> {
        let text = fs::read_to_string(self.system(board).join("report.json")).unwrap_or_default();
        let report: Value = serde_json::from_str(&text).unwrap_or_default();
        let Some(failures) = report["verdict"]["failures"].as_array() else { return vec!["no report".into()] };
        let codes = failures.iter().filter_map(|failure| failure["code"].as_str());
        codes.filter(|code| !OF_ROWS.contains(code)).map(str::to_owned).collect()
    }

    /// Performs the rows on the kernel core over the simulated processor that an image is for.
    ///
    /// # Errors
    /// The interpreter did not get to the end.
    pub fn on_host(&self, name: &str, image: &Path, profile: &str) -> Result<Column, String> {
        let mut command = Command::new(cargo());
        command.args([
            "test",
            "--quiet",
            "--offline",
            "--profile",
            profile,
            "-p",
            "cofferdam-kernel",
            "--lib",
            "--target-dir",
        ]);
        command.arg(&self.target).args(["--", "--ignored", "--nocapture", "--exact"]);
        command.arg("tests::conformance::every_row_is_performed");
        command.env("COFFERDAM_CONFORMANCE_IMAGE", image).current_dir(&self.sources);
        let output = command.output().map_err(|error| format!("cargo: {error}"))?;
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
}

/// What the lead wrote into the trace.
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
    /// What stands there, exactly once.
    pub find: String,
    /// What stands there then.
    pub replace: String,
    /// Where it is tried.
    pub on: Vec<String>,
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

impl Mutant {
    /// Performs the rows with the change, in copies of the sources, wherever it is to be tried: a line for each place.
    ///
    /// # Errors
    /// The change does not apply or does not build, or the row holds in spite of it.
    pub fn try_on(&self, image: &Path) -> Result<Vec<String>, String> {
        let original =
            fs::read_to_string(root().join(&self.file)).map_err(|error| format!("{}: {error}", self.file))?;
        let changed = exchange(&original, &self.find, &self.replace).map_err(|times| {
            format!("the text to replace stands {times} times in {}, not once:\n{}", self.file, self.find)
        })?;
        let on = self.on.iter().map(|place| self.try_in(place, &changed, image));
        on.collect()
    }

    fn try_in(&self, place: &str, changed: &str, image: &Path) -> Result<String, String> {
        let host = place == "host";
        let tree = Tree::copy(if host { "host" } else { "chip" });
        let write = |text: &str| fs::write(tree.sources.join(&self.file), text).map_err(|error| error.to_string());
        write(changed)?;
        let column = if host { tree.on_host(place, image, "test") } else { tree.on_target(place) };
        write(&fs::read_to_string(root().join(&self.file)).map_err(|error| error.to_string())?)?;
        let column = column.map_err(|how| format!("`{}` on {place}: {how}", self.row))?;
        let number = rows().position(|row| row.name == self.row).ok_or(format!("no row `{}`", self.row))?;
        match column.cells.get(&(number as u32)) {
            Some(Some(_)) => Ok(format!("`{}` on {place}: {}", self.row, column.cell(number as u32))),
            _ => Err(format!("`{}` holds on {place} though {} was changed", self.row, self.file)),
        }
    }
}
