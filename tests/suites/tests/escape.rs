//! Guests reach nothing of the host that executes them, and only the kernel ends a run.

use std::path::PathBuf;

use serde_json::json;
use system_tests::{Ran, root, target_dir};

/// Requests in each way of `tests/escape/escape.c`.
const REQUESTS: u64 = 0x31 + 5;

/// Files that a host would have if it did what guests ask for.
fn traces() -> Vec<PathBuf> {
    ["cofferdam-guest-opened", "cofferdam-guest-ran"]
        .map(|name| root().join(name))
        .into_iter()
        .filter(|path| path.exists())
        .collect()
}

/// The directory of a system's results.
fn named(board: &str, manifest: &str) -> String {
    match (board, manifest == SYSTEM) {
        ("mps2-an500", _) => "escape".to_owned(),
        (_, true) => format!("escape.{board}"),
        (_, false) => "escape-handlers".to_owned(),
    }
}

/// All requests are made, each but system calls ends a life, and neither the host nor the end of the run has anything of them.
fn nothing_is_reached(board: &str, manifest: &str, ways: u64, more: &[&str]) {
    let ran = Ran::on(board, manifest, more);
    assert_eq!(traces(), Vec::<PathBuf>::new(), "{board}");
    let name = named(board, manifest);
    let log = std::fs::read_to_string(target_dir().join("cofferdam").join(name).join("run/simulator.log")).unwrap();
    assert!(!log.contains("cofferdam-guest"), "{board}: {log}");
    assert_eq!(ran.report["run"]["status"], 0, "{board}: {:#}", ran.report["run"]);
    if ran.report["run"]["modelled"] == false {
        return;
    }
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{board}: {}", ran.stderr);
    let marks = ran.report["marks"].as_array().into_iter().flatten();
    let count = |id: u64| marks.clone().find(|mark| mark["id"] == id).and_then(|mark| mark["count"].as_u64());
    assert_eq!((count(1), count(2)), (Some(ways * REQUESTS + 1), Some(1)), "{board}: {:#}", ran.report["marks"]);
}

const SYSTEM: &str = "tests/escape/system.toml";

#[test]
fn domains_reach_nothing_of_the_host() {
    for (board, ways) in
        [("mps2-an500", 2), ("mps2-an505", 2), ("xilinx-zynq-a9", 4), ("sabrelite", 4), ("ibex-rtmmu", 1)]
    {
        nothing_is_reached(board, SYSTEM, ways, &[]);
    }
}

#[test]
fn handlers_reach_nothing_of_the_host() {
    nothing_is_reached("mps2-an505", "tests/escape/handlers.toml", 2, &[]);
}

#[test]
fn nor_do_they_without_an_observer() {
    for (board, manifest) in [
        ("mps2-an500", SYSTEM),
        ("mps2-an505", "tests/escape/handlers.toml"),
        ("xilinx-zynq-a9", SYSTEM),
        ("sabrelite", SYSTEM),
    ] {
        nothing_is_reached(board, manifest, 0, &["--fallback"]);
    }
}

/// A domain that sleeps by an instruction of its own does so in its own time; where it would not, the instruction is illegal. Nobody else notices either.
#[test]
fn who_sleeps_pays_and_nobody_else_notices() {
    for board in ["mps2-an500", "mps2-an505", "xilinx-zynq-a9", "ibex-rtmmu"] {
        let ran = Ran::on(board, "tests/asleep/system.toml", &[]);
        assert_eq!(ran.report["verdict"]["failures"], json!([]), "{board}: {}", ran.stderr);
        let faults: Vec<_> =
            ran.report["faults"].as_array().into_iter().flatten().map(|fault| &fault["kind"]).collect();
        if board == "ibex-rtmmu" {
            assert_eq!(faults, ["usage"], "{board}");
            continue;
        }
        assert!(faults.is_empty(), "{board}: {faults:?}");
        // It computes for less than half of what it has; asleep it uses up the rest.
        let budget = ran.named("budgets", "name", "sleeper");
        let (used, capacity) =
            (budget["max_used_cycles"].as_u64().unwrap(), budget["capacity_cycles"].as_u64().unwrap());
        assert!(used > capacity * 9 / 10 && budget["exhaustions"].as_u64() > Some(3), "{board}: {budget:#}");
    }
}
