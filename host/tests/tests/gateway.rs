//! The main job: real software, isolated and timed.

use std::process::Command;
use std::sync::OnceLock;

use system_tests::{Ran, root};

const GATEWAY: &str = "examples/gateway/system.toml";

/// One run serves the tests that only look.
fn gateway() -> &'static Ran {
    static RUN: OnceLock<Ran> = OnceLock::new();
    RUN.get_or_init(|| Ran::new(GATEWAY, &[]))
}

#[test]
fn it_ends_as_promised() {
    let ran = gateway();
    assert_eq!(ran.code, 0, "{}\n{:#}\n{}", ran.stderr, ran.report["verdict"], ran.console());
    assert_eq!(ran.report["verdict"]["ok"], true);
}

#[test]
fn control_meets_every_deadline_and_the_bound_that_was_admitted() {
    let control = gateway().named("threads", "name", "control");
    assert!(control["completions"].as_u64() > Some(1000), "{control:#}");
    assert_eq!(control["missed_deadlines"], 0, "{control:#}");
    assert!(control["response"]["max"].as_u64() <= control["response_bound"].as_u64(), "{control:#}");
}

/// Every area has the bound that admission promised, and what is pinned never misses.
#[test]
fn what_is_pinned_never_misses() {
    let domains = gateway().report["domains"].as_array().cloned().unwrap_or_default();
    assert!(domains.iter().any(|domain| domain["region_misses"].as_u64() > Some(1000)), "nobody misses");
    for domain in &domains {
        let areas = domain["areas"].as_array().cloned().unwrap_or_default();
        let (pinned, paged): (Vec<_>, Vec<_>) = areas.iter().partition(|area| area["pinned"] == true);
        assert!(pinned.iter().all(|area| area["bound_cycles"] == 0 && area["level"] == "deterministic"), "{pinned:#?}");
        assert!(paged.iter().all(|area| area["bound_cycles"].as_u64() > Some(0)), "{paged:#?}");
        if paged.is_empty() {
            assert_eq!(domain["region_misses"], 0, "{domain:#}");
        }
    }
}

#[test]
fn every_attack_is_contained_as_the_victims_see_it() {
    let ran = gateway();
    let witness = &ran.report["witness"];
    assert!(witness["checked_slices"].as_u64() > Some(10), "{witness:#}");
    assert_eq!(witness["changed_slices"], 0, "{witness:#}");
    assert_eq!(witness["stores_outside"], 0, "{witness:#}");
    assert_eq!(ran.report["violations_total"], 0);
    let rogue = ran.named("domains", "name", "rogue");
    assert!(rogue["faults"].as_u64() > Some(10), "{rogue:#}");
    assert_eq!(rogue["faults"], rogue["restarts"], "each fault is contained and counted: {rogue:#}");
    assert!(rogue["refused"].as_array().is_some_and(|calls| calls.len() > 3), "{rogue:#}");
    for domain in ran.report["domains"].as_array().into_iter().flatten() {
        if domain["name"] != "rogue" {
            assert_eq!(domain["faults"], 0, "{domain:#}");
        }
    }
}

/// Beyond the envelopes memory comes from the manager: the series is shared to be read, taken away and given back.
#[test]
fn memory_comes_from_the_manager_and_goes_back() {
    let ran = gateway();
    let gate = ran.named("gates", "name", "memory.request");
    assert!(gate["calls"].as_u64() > Some(100), "{gate:#}");
    assert_eq!(gate["failed"], 0, "{gate:#}");
    assert!(gate["max_cycles"].as_u64() <= gate["bound_cycles"].as_u64(), "{gate:#}");
    let manager = ran.named("domains", "name", "memory");
    assert_eq!(manager["refused"].as_array().map(Vec::len), Some(0), "the kernel and the account agree: {manager:#}");
    let console = ran.console();
    let at = |line: &str| console.find(line).unwrap_or_else(|| panic!("nobody said: {line}\n{console}"));
    let said = [
        "store: SQLite has 2027520 bytes, checked at l2 within ",
        "script: reads the series, checked at l2 within ",
        "RESULT script.covariance ",
        "store: took the series away from script and gave its memory back",
        "script: the series is no longer this domain's",
    ];
    assert!(said.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{console}");
    // Within the envelopes nothing is refused, and nobody but the attacker asked for what was not its own.
    let refused = console.lines().find(|line| line.contains("refused") && !line.starts_with("rogue: "));
    assert_eq!(refused, None);
}

/// The arena of SQLite, as the manifest's envelope has it.
#[test]
fn an_envelope_has_the_arena_that_it_needs() {
    let store = gateway().named("domains", "name", "store");
    let areas = store["areas"].as_array().cloned().unwrap_or_default();
    let arena = areas.iter().find(|area| area["name"] == "arena0");
    assert!(arena.is_some_and(|arena| arena["bytes"].as_u64() >= Some(1980 << 10)), "{store:#}");
}

#[test]
fn the_manager_refuses_the_attacker() {
    let console = gateway().console();
    for attack in [
        "memory that was granted to somebody else",
        "shared memory that was not permitted",
        "more memory than there is",
    ] {
        let refused = |line: &str| line.starts_with("rogue: attack ") && line.ends_with(&format!("{attack}: refused"));
        assert!(console.lines().any(refused), "{attack}\n{console}");
    }
    assert!(console.contains("RESULT rogue.manager 3"), "{console}");
}

/// The manifest uses every word that the chip can keep.
#[test]
fn the_manifest_shows_each_specification() {
    let text = std::fs::read_to_string(root().join(GATEWAY)).unwrap();
    let specs = text.lines().filter_map(|line| line.split_once("spec = \"")?.1.split('"').next());
    let words: Vec<&str> = specs.flat_map(str::split_whitespace).collect();
    for word in ["deterministic", "l1", "l2", "best-effort", "independent"] {
        assert!(words.contains(&word), "no area asks for `{word}`");
    }
}

#[test]
fn results_equal_those_of_other_tools() {
    let console = gateway().console_file();
    let python = root().join("target/venv/bin/python3");
    let python = if python.exists() { python } else { "python3".into() };
    let output = Command::new(python).arg("tests/gateway_reference.py").arg(console).current_dir(root()).output();
    let output = output.expect("python3 can be started");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

#[test]
fn a_second_run_has_the_same_report() {
    let again = Ran::new(GATEWAY, &[]);
    assert_eq!(again.report["run"]["cycles"], gateway().report["run"]["cycles"]);
    assert_eq!(again.repeatable(), gateway().repeatable());
}

#[test]
fn without_budgets_control_misses_deadlines() {
    // Long enough: without its budget `rogue` never lets go of the processor again.
    let ran = Ran::new(GATEWAY, &["--no-budgets", "--limit", "2 s"]);
    let control = ran.named("threads", "name", "control");
    assert!(control["missed_deadlines"].as_u64() > Some(0), "{control:#}");
    assert_eq!(ran.code, 1, "such a run does not end as promised");
}
