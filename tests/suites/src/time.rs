//! Systems of `tests/time`: each finding about time that was stolen, or promised in error, as a system in which a victim was harmed when it
//! was found.

use std::fs;
use std::path::Path;

use hunt::{Harm, Victim};
use report::Report;
use serde_json::Value;

use crate::{Ran, cofferdam, root};

/// Directory of the systems, from the root.
const DIRECTORY: &str = "tests/time";
/// The expected answer of `check` stands behind this in a manifest.
const EXPECT: &str = "# expect: ";

/// The expected answer of `check` about a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// It is admitted, and then nobody may be harmed.
    Admitted,
    /// It is refused with this code.
    Refused(String),
}

/// A system.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Its name.
    pub name: String,
    /// The expectation.
    pub expect: Expect,
}

impl Finding {
    /// All, by name.
    ///
    /// # Panics
    /// When one does not say what is expected of it.
    pub fn all() -> Vec<Finding> {
        let entries = fs::read_dir(root().join(DIRECTORY)).unwrap_or_else(|error| panic!("{DIRECTORY}: {error}"));
        let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
        let mut all: Vec<Finding> = paths
            .filter(|path| path.extension().is_some_and(|e| e == "toml"))
            .map(|path| Finding::read(&path))
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    fn read(path: &Path) -> Finding {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let said = text.lines().find_map(|line| line.strip_prefix(EXPECT)).unwrap_or_default();
        let expect = match said.split_once(' ') {
            Some(("refused", code)) => Expect::Refused(code.trim().to_owned()),
            None if said == "admitted" => Expect::Admitted,
            _ => panic!("{}: `{EXPECT}admitted` or `{EXPECT}refused CODE` is missing", path.display()),
        };
        Finding { name, expect }
    }

    fn manifest(&self) -> String {
        format!("{DIRECTORY}/{}.toml", self.name)
    }

    /// Codes with which the system is refused on a board; none when it is admitted.
    ///
    /// # Panics
    /// When the command does not answer.
    pub fn refusals(&self, board: &str) -> Vec<String> {
        let output = cofferdam(&["check", &self.manifest(), "--board", board, "--json"]);
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        let all = answer["diagnostics"].as_array().into_iter().flatten();
        all.filter_map(|diagnostic| diagnostic["code"].as_str().map(str::to_owned)).collect()
    }

    /// Broken expectations on a board; none when all is well.
    ///
    /// # Panics
    /// When the system cannot be run.
    pub fn wrong(&self, board: &str) -> Vec<String> {
        let refusals = self.refusals(board);
        if let Expect::Refused(code) = &self.expect {
            let as_expected = refusals.contains(code);
            return if as_expected { Vec::new() } else { vec![format!("refused with {refusals:?} instead of {code}")] };
        }
        if !refusals.is_empty() {
            return vec![format!("refused with {refusals:?}")];
        }
        let ran = Ran::on(board, &self.manifest(), &[]);
        let report: Report = serde_json::from_value(ran.report).unwrap_or_else(|error| panic!("the report: {error}"));
        let victims = hunt::victims(&report);
        let harms = hunt::harms(&report);
        for victim in &victims {
            println!("{:14} {board:14} {}", self.name, figures(victim, report.run.cpu_hz));
        }
        if victims.is_empty() {
            return vec!["it has no victim".into()];
        }
        harms.iter().map(told).collect()
    }
}

fn told(harm: &Harm) -> String {
    format!("{}: {} ({})", harm.kind, harm.text, harm.domain)
}

fn figures(victim: &Victim, cpu_hz: u64) -> String {
    let us =
        |cycles: Option<u64>| cycles.map_or("-".into(), |c| format!("{:.1} us", c as f64 * 1e6 / cpu_hz.max(1) as f64));
    let Victim { name, releases, missed, .. } = victim;
    format!("{name}: response {}, bound {}, {missed} of {releases} missed", us(victim.response), us(victim.bound))
}
