//! What is said of faults: one system whose domains fault in every way, word by word.

use serde_json::Value;
use system_tests::{BOARDS, cofferdam};
use tempfile::TempDir;

const SYSTEM: &str = "tests/faults/system.toml";

/// What the command printed, and the report.
struct Told {
    code: Option<i32>,
    lines: Vec<String>,
    report: Value,
}

fn run(board: &str, more: &[&str]) -> Told {
    let directory = TempDir::new().unwrap();
    let out = directory.path().to_string_lossy().into_owned();
    let output = cofferdam(&[&["run", SYSTEM, "--board", board, "--out", &out], more].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let report = std::fs::read_to_string(directory.path().join("report.json")).unwrap_or_else(|error| {
        panic!("no report: {error}\n{}", String::from_utf8_lossy(&output.stderr));
    });
    Told {
        code: output.status.code(),
        lines: text.lines().map(steady).collect(),
        report: serde_json::from_str(&report).unwrap(),
    }
}

/// The line without addresses that depend on where the tool has placed a domain: those of more than four digits.
fn steady(line: &str) -> String {
    let mut parts = line.split("0x");
    let mut steady = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(part.len());
        steady += if digits > 4 { "ADDRESS" } else { "0x" };
        steady += if digits > 4 { &part[digits..] } else { part };
    }
    steady
}

fn faults(told: &Told) -> Vec<&str> {
    told.lines.iter().map(String::as_str).filter(|line| line.starts_with("fault")).collect()
}
