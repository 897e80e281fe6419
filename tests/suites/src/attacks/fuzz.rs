//! Runs of the hostile domains of `tests/attacks/fuzz.toml`: what they tried, and where a run that failed was.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

use abi::trace::Event;
use serde_json::Value;
use tempfile::TempDir;

use super::Evidence;
use super::evidence::{LEAK, events};
use crate::{cofferdam, results_beside, root};

/// Markers; see `tests/attacks/attacker/src/marks.rs`.
const CASE: u16 = 10;
const ENCODING: u16 = 11;

/// Kinds of case, by number.
const KINDS: [&str; 8] = ["?", "thumb", "arm", "gadget", "branch", "waiting", "interrupted", "exchange"];

/// A case that a hostile domain has begun.
#[derive(Clone, Copy, Debug, Default)]
pub struct Case {
    /// Domain.
    pub domain: u8,
    /// Its kind, by number.
    pub kind: u32,
    /// Number of the life.
    pub life: u32,
    /// Number within the life.
    pub step: u32,
    /// The two halfwords, or the address, that it is about; 0 for none.
    pub encoding: u32,
}

impl Case {
    fn new(domain: u8, marker: u32) -> Case {
        Case { domain, kind: marker >> 28, step: marker >> 20 & 0xff, life: marker & 0xf_ffff, encoding: 0 }
    }

    /// Name of its kind.
    pub fn kind_name(&self) -> &'static str {
        KINDS.get(self.kind as usize).copied().unwrap_or(KINDS[0])
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { domain, life, step, encoding, .. } = self;
        write!(f, "domain {domain}, life {life}, case {step}: {} {encoding:#010x}", self.kind_name())
    }
}

/// Cases that the hostile domains of a run tried.
#[derive(Clone, Debug, Default)]
pub struct Tried {
    /// Cases by kind.
    pub kinds: BTreeMap<&'static str, u64>,
    /// Different encodings, by kind.
    pub encodings: BTreeSet<(u32, u32)>,
    /// The last case of each domain.
    pub last: BTreeMap<u8, Case>,
    /// Words of somebody else's in registers, after which case.
    pub leaks: Vec<(Case, u32)>,
}

impl Tried {
    /// Reads a run's events.
    ///
    /// # Panics
    /// When there are none that can be read.
    pub fn read(path: &Path) -> Tried {
        let (mut tried, mut found) = (Tried::default(), BTreeMap::new());
        let marks = events(path).filter(|event| Event::from_number(event.event) == Some(Event::Mark));
        for event in marks {
            let last = tried.last.entry(event.domain).or_default();
            match event.detail {
                CASE => {
                    *last = Case::new(event.domain, event.payload);
                    *tried.kinds.entry(last.kind_name()).or_default() += 1;
                }
                ENCODING => {
                    last.encoding = event.payload;
                    tried.encodings.insert((last.kind, event.payload));
                }
                // The value found, then its complement: a case that happens to write markers does not.
                LEAK if found.insert(event.domain, event.payload) == Some(!event.payload) => {
                    tried.leaks.push((*last, !event.payload));
                }
                _ => {}
            }
        }
        tried
    }

    /// All cases.
    pub fn cases(&self) -> u64 {
        self.kinds.values().sum()
    }
}

/// A run with its plan.
#[derive(Clone, Debug)]
pub struct Fuzzed {
    /// Lives of each hostile domain.
    pub lives: u64,
    /// Their cases.
    pub tried: Tried,
    /// The report, and the harm.
    pub evidence: Evidence,
}

/// Runs `tests/attacks/{manifest}`, with as many lives as the variable `COFFERDAM_FUZZ_LIVES` says, or the file of its plan.
///
/// # Panics
/// When it cannot be run.
pub fn run(system: &str, manifest: &str) -> Fuzzed {
    let home = root().join("tests/attacks");
    let text = fs::read_to_string(home.join(manifest)).unwrap_or_else(|error| panic!("{manifest}: {error}"));
    let plan_name = text.lines().find_map(|line| line.strip_prefix("path = \"plan")).expect("the plan's file");
    let plan_name = format!("plan{}", plan_name.trim_end_matches('"'));
    let plan = fs::read_to_string(home.join(&plan_name)).unwrap_or_else(|error| panic!("{plan_name}: {error}"));
    let mut plan: Vec<String> = plan.lines().map(str::to_owned).collect();
    for (line, variable) in ["COFFERDAM_FUZZ_SEED", "COFFERDAM_FUZZ_FIRST", "COFFERDAM_FUZZ_LIVES"].iter().enumerate() {
        plan[line] = std::env::var(variable).unwrap_or_else(|_| plan[line].clone());
    }
    let lives = plan[2].parse().expect("a number of lives");
    let scratch = TempDir::new().unwrap_or_else(|error| panic!("no temporary directory: {error}"));
    let write = |name: &str, text: String| {
        let path = scratch.path().join(name);
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path.to_string_lossy().into_owned()
    };
    write(&plan_name, plan.join("\n") + "\n");
    let home = home.to_string_lossy();
    let absolute = |text: String, part: &str| text.replace(&format!("\"{part}\""), &format!("\"{home}/{part}\""));
    let manifest = write(manifest, ["attacker", "bystanders", "fuzzing"].into_iter().fold(text, absolute));
    let output = cofferdam(&["run", &manifest, "--quiet"]);
    let said = String::from_utf8_lossy(&output.stderr);
    // A refused system has no report, or one of an earlier run.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{manifest} did not run: {said}");
    let directory = results_beside(scratch.path()).join(system);
    let evidence = Evidence::read(&directory);
    let tried = Tried::read(&directory.join("run/events.bin"));
    let last: Vec<String> = tried.last.values().map(Case::to_string).collect();
    let seed = &plan[0];
    assert!(
        evidence.failures.is_empty(),
        "seed {seed}; last tried: {}\n{:#}\n{said}",
        last.join("; "),
        evidence.report["verdict"]
    );
    Fuzzed { lives, tried, evidence }
}

impl Fuzzed {
    /// The hostile domains of the report.
    pub fn hostile(&self) -> impl Iterator<Item = &Value> {
        self.evidence.report["domains"].as_array().into_iter().flatten().filter(|domain| domain["hostile"] == true)
    }
}
