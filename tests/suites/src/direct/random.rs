//! Handlers that write random values into random registers of their state (`tests/direct/random-registers.toml`): runs of them, and whom they must not harm.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Ran, named, root};

/// The system.
pub const MANIFEST: &str = "tests/direct/random-registers.toml";
/// What a seed and a time stand in place of.
const SEED: &str = "argument = 2 ";
const LIMIT: &str = "limit = \"1 s\"";

/// Runs the system with another seed for so many seconds; the manifest is elsewhere then, and the programs are the same.
///
/// # Panics
/// When it cannot be run.
pub fn run(seed: u32, seconds: u32) -> Ran {
    let home = root().join("tests/direct");
    let mut text = fs::read_to_string(root().join(MANIFEST)).unwrap_or_else(|error| panic!("{MANIFEST}: {error}"));
    let absolute = |part: &str| home.join(part).display().to_string();
    let changes = [
        (SEED.to_owned(), format!("argument = {seed} ")),
        (LIMIT.to_owned(), format!("limit = \"{seconds} s\"")),
        ("\"../attacks/bystanders\"".to_owned(), format!("\"{}\"", absolute("../attacks/bystanders"))),
        ("\"leaves\"".to_owned(), format!("\"{}\"", absolute("leaves"))),
        ("path = \"returns\"".to_owned(), format!("path = \"{}\"", absolute("returns"))),
        ("\"keeps.c\"".to_owned(), format!("\"{}\"", absolute("keeps.c"))),
        ("\"../../services/supervisor\"".to_owned(), format!("\"{}\"", absolute("../../services/supervisor"))),
    ];
    for (find, replace) in changes {
        assert!(text.contains(&find), "{MANIFEST} has no `{find}`");
        text = text.replace(&find, &replace);
    }
    let scratch = TempDir::new().unwrap_or_else(|error| panic!("no temporary directory: {error}"));
    let manifest = scratch.path().join("random-registers.toml");
    fs::write(&manifest, text).unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
    Ran::new(&manifest.to_string_lossy(), &[])
}

/// Deviations of a run of so many seconds: a verdict against the kernel, who was harmed beside the domain whose handlers these are, and handlers that did too little.
pub fn deviations(report: &Value, seconds: u64) -> Vec<String> {
    const LEAST_LIVES: u64 = 200;
    const LEAST_RELEASES: u64 = 245;
    let mut wrong = Vec::new();
    for (what, list) in [("failures", &report["verdict"]["failures"]), ("marks", &report["marks"])] {
        if *list != json!([]) {
            wrong.push(format!("{what}: {list:#}"));
        }
    }
    let entry = |list: &str, name: &str| named(report, list, "name", name).unwrap_or(&Value::Null);
    let attacker = entry("domains", "attacker");
    let faults = || report["faults"].as_array().into_iter().flatten();
    wrong.extend(faults().find(|fault| fault["domain"] != attacker["index"]).map(|fault| format!("{fault:#}")));
    if attacker["restarts"].as_u64() < Some(LEAST_LIVES * seconds) {
        wrong.push(format!("{attacker:#}"));
    }
    let victim = entry("threads", "victim");
    if victim["missed_deadlines"] != 0 || victim["releases"].as_u64() < Some(LEAST_RELEASES * seconds) {
        wrong.push(format!("{victim:#}"));
    }
    wrong
}
