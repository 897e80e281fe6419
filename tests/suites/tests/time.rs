//! Time that nobody can steal: each system of `tests/time`, on one board for every change and on each in `make test-long`. A system that `check` admits keeps its promises to everybody who is
//! not hostile, or it is refused with the code that its manifest names.

use std::collections::BTreeSet;

use serde_json::json;
use system_tests::time::Finding;
use system_tests::{BOARDS, Ran, WITH_M33};

/// What is not kept by these systems on a board.
fn wrong<'f>(systems: impl Iterator<Item = &'f Finding>, board: &str) -> Vec<String> {
    let found = systems.flat_map(|finding| {
        finding.wrong(board).into_iter().map(|what| format!("{} on {board}: {what}", finding.name))
    });
    found.collect()
}

/// Runs every second system on one of the two boards. The others run on the other board in a test of their own, at the same time.
fn every_second_from(part: usize) {
    let wrong = wrong(Finding::all().iter().skip(part).step_by(2), BOARDS[part]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn promises_are_kept_1() {
    every_second_from(0);
}

#[test]
fn promises_are_kept_2() {
    every_second_from(1);
}

#[test]
#[ignore = "every system on every board: `make test-long` runs it"]
fn promises_are_kept_on_each_board() {
    let wrong: Vec<String> = BOARDS.iter().flat_map(|board| wrong(Finding::all().iter(), board)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Nobody is blamed for what a hostile thread has broken itself, and it is told in the report.
#[test]
fn a_thread_that_breaks_its_own_declaration_fails_no_run() {
    for board in BOARDS {
        let ran = Ran::on(board, "tests/time/liar.toml", &[]);
        assert_eq!(ran.report["verdict"]["failures"], json!([]), "{board}\n{}", ran.stderr);
        let liar = ran.named("threads", "name", "liar");
        let count = |key: &str| liar[key].as_u64().unwrap_or(0);
        assert!(liar["job"]["exceeded"]["count"].as_u64() > Some(5), "{board}: {liar:#}");
        assert!(count("overruns") > 5 && count("missed_deadlines") > 5, "{board}: {liar:#}");
        assert!(liar["response"]["max"].as_u64() > liar["response_bound"].as_u64(), "{board}: {liar:#}");
        let victim = ran.named("threads", "name", "victim");
        assert!(victim["releases"].as_u64() > Some(10) && victim["missed_deadlines"] == 0, "{board}: {victim:#}");
    }
}

/// What a switch has paid for may be used for calls, too: the account of the report is the kernel's.
#[test]
fn a_domain_that_calls_often_is_not_called_overdrawn() {
    for board in WITH_M33 {
        let ran = Ran::on(board, "tests/verdict/calls.toml", &[]);
        assert_eq!(ran.report["verdict"]["failures"], json!([]), "{board}\n{}", ran.stderr);
        let budget = ran.named("budgets", "name", "calls");
        let cycles = |key: &str| budget[key].as_u64().unwrap_or(0);
        assert!(cycles("max_used_cycles") > cycles("capacity_cycles") / 2, "{board}: {budget:#}");
    }
}

/// Activations that a restart has paid for happen later, in a period in which whoever restarted uses all that it has.
#[test]
fn who_restarts_a_domain_of_many_threads_is_not_called_overdrawn() {
    for board in ["mps2-an500", "xilinx-zynq-a9"] {
        let ran = Ran::on(board, "tests/verdict/restarts.toml", &[]);
        assert_eq!(ran.report["verdict"]["failures"], json!([]), "{board}\n{}", ran.stderr);
        let budget = ran.named("budgets", "name", "warden");
        assert!(budget["exhaustions"].as_u64() > Some(20), "{board}: {budget:#}");
        assert!(ran.named("domains", "name", "w")["restarts"].as_u64() > Some(10), "{board}");
    }
}

/// Who restarts a domain pays for its first activation, and not for what its budget pays from then on.
#[test]
fn who_restarts_a_domain_that_uses_its_budget_up_is_not_called_overdrawn() {
    for board in ["mps2-an500", "xilinx-zynq-a9"] {
        let ran = Ran::on(board, "tests/verdict/exhausts.toml", &[]);
        assert_eq!(ran.report["verdict"]["failures"], json!([]), "{board}\n{}", ran.stderr);
        assert!(ran.named("budgets", "name", "spins")["exhaustions"].as_u64() > Some(300), "{board}");
        assert_eq!(ran.named("domains", "name", "spins")["restarts"].as_u64(), Some(1), "{board}");
    }
}

/// A step of a restart compares with a few areas of the domain, however many it has.
#[test]
fn a_restart_of_a_domain_of_many_areas_masks_interrupts_no_longer() {
    for (board, more) in [("mps2-an505", &[][..]), ("xilinx-zynq-a9", &["--adverse"])] {
        let ran = Ran::on(board, "tests/verdict/areas.toml", more);
        assert_eq!(ran.report["verdict"]["failures"], json!([]), "{board}\n{}", ran.stderr);
        let restarts = ran.named("domains", "name", "dies")["restarts"].as_u64();
        assert!(restarts.is_some_and(|restarts| restarts > 2), "{board}: {restarts:?}");
    }
}

/// The entry that ends a call by its bound wakes one thread at most, however many are due and however deep the call is.
#[test]
fn the_end_of_a_call_masks_interrupts_no_longer_when_many_are_due() {
    for (board, name) in [("mps2-an500", "ended-nested"), ("xilinx-zynq-a9", "ended-call")] {
        let ran = Ran::on(board, &format!("tests/verdict/{name}.toml"), &["--adverse"]);
        assert_eq!(ran.report["verdict"]["failures"], json!([]), "{board}\n{}", ran.stderr);
        let faults = ran.report["faults"].as_array().into_iter().flatten();
        let overruns = faults.filter(|fault| fault["kind"] == "gate overrun").count();
        assert!(overruns > 10, "{board}: {overruns}");
    }
}

/// A finding whose system was removed would otherwise look mended.
#[test]
fn each_finding_has_its_system() {
    const NAMES: [&str; 23] = [
        "crumbs",
        "crumbs-small",
        "crumbs-timer",
        "float",
        "gate-entry",
        "gate-killed",
        "herd",
        "herd-debt",
        "herd-dozes",
        "herd-due",
        "herd-empty",
        "herd-ready",
        "interval",
        "late-prices",
        "lazy-refill",
        "liar",
        "nested",
        "phases",
        "restart-many",
        "shared-domains",
        "shared-emptied",
        "shared-gates",
        "stale",
    ];
    let there: BTreeSet<String> = Finding::all().into_iter().map(|finding| finding.name).collect();
    assert_eq!(there, NAMES.iter().map(|name| (*name).to_owned()).collect());
}
