//! Exceptions of Non-secure state that return in every way that there is (`tests/direct/returns.toml`): runs of them, and whom they must not harm.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Ran, named, root};

/// The system, whose hostile thread tries each 97th combination.
pub const MANIFEST: &str = "tests/direct/returns.toml";
/// Five exceptions, 153 values of EXC_RETURN, four places: as `tests/direct/returns/src/bin/returns.rs` has them.
pub const COMBINATIONS: u32 = 5 * 153 * 4;
/// The argument of that thread: from 0 on, each 97th.
const SAMPLE: &str = "argument = 0x0061_0000";
/// See there.
pub const SAMPLE_STEP: u32 = 97;

/// Runs the system with each `step`-th combination from `first` on; the manifest and the programs are elsewhere then, and are the same.
///
/// # Panics
/// When it cannot be run.
pub fn run(first: u32, step: u32) -> Ran {
    let home = root().join("tests/direct");
    let text = fs::read_to_string(root().join(MANIFEST)).unwrap_or_else(|error| panic!("{MANIFEST}: {error}"));
    assert!(text.contains(SAMPLE), "{MANIFEST} has no `{SAMPLE}`");
    let text = text.replace(SAMPLE, &format!("argument = {}", step << 16 | first));
    let absolute = |text: String, key: &str, part: &str| {
        text.replace(&format!("{key} = \"{part}\""), &format!("{key} = \"{}\"", home.join(part).display()))
    };
    let text = absolute(text, "path", "../attacks/bystanders");
    let text = absolute(absolute(text, "path", "returns"), "crate", "../../services/supervisor");
    let scratch = TempDir::new().unwrap_or_else(|error| panic!("no temporary directory: {error}"));
    let manifest = scratch.path().join("returns.toml");
    fs::write(&manifest, text).unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
    Ran::new(&manifest.to_string_lossy(), &[])
}

/// Deviations of a run: who was harmed beside the domain whose exceptions these are, and combinations that were not tried.
pub fn deviations(report: &Value, first: u32, step: u32) -> Vec<String> {
    let mut wrong = Vec::new();
    let failures = &report["verdict"]["failures"];
    if failures != &json!([]) {
        wrong.push(format!("{failures:#}"));
    }
    let entry = |list: &str, name: &str| named(report, list, "name", name).unwrap_or(&Value::Null);
    let attacker = &entry("domains", "attacker")["index"];
    let faults = || report["faults"].as_array().into_iter().flatten();
    wrong.extend(faults().find(|fault| fault["domain"] != *attacker).map(|fault| format!("{fault:#}")));
    let lives = u64::from((COMBINATIONS - first).div_ceil(step));
    let tried = report["marks"][0]["count"].as_u64();
    if tried != Some(lives) {
        wrong.push(format!("{tried:?} combinations of {lives}"));
    }
    let victim = entry("threads", "victim");
    if victim["missed_deadlines"] != 0 || victim["releases"].as_u64() < Some(lives / 2) {
        wrong.push(format!("{victim:#}"));
    }
    wrong.extend(too_long(report));
    wrong
}

/// Exceptions above handlers that took longer than admission counts: what ends handlers, and a look that meets one.
fn too_long(report: &Value) -> Option<String> {
    let text = fs::read_to_string(root().join("boards/mps2-an505/board.toml")).ok()?;
    let board: toml::Table = toml::from_str(&text).ok()?;
    let cycles = |key: &str| board.get("kernel")?.get(key)?.as_integer();
    let most = cycles("handlers_cycles")? + cycles("counted_met_cycles")?;
    let above = ["HardFault", "SecureFault", "interrupt 5", "interrupt 38"];
    let longest = above.iter().filter_map(|name| {
        let cycles = named(report, "exceptions", "name", name)?["cycles"]["max"].as_i64()?;
        Some((cycles, name))
    });
    let (cycles, name) = longest.max()?;
    println!("the longest exception above handlers: {name}, {cycles} cycles of {most}");
    (cycles > most).then(|| format!("{name} took {cycles} cycles; admission counts {most}"))
}
