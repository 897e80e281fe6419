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
    let ran = Ran::new(GATEWAY, &["--no-budgets"]);
    let control = ran.named("threads", "name", "control");
    assert!(control["missed_deadlines"].as_u64() > Some(0), "{control:#}");
    assert_eq!(ran.code, 1, "such a run does not end as promised");
}
