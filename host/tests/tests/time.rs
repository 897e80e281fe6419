//! Time that nobody can steal: each system of `tests/time` on each board. A system that `check` admits keeps its promises to everybody who is
//! not hostile, or it is refused with the code that its manifest names.

use std::collections::BTreeSet;

use system_tests::BOARDS;
use system_tests::time::Finding;

/// Runs the systems whose position is `part` modulo 4, so that several run at a time.
fn every_fourth_from(part: usize) {
    let mut wrong = Vec::new();
    for finding in Finding::all().iter().skip(part).step_by(4) {
        for board in BOARDS {
            let found = finding.wrong(board);
            wrong.extend(found.into_iter().map(|what| format!("{} on {board}: {what}", finding.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn promises_are_kept_1() {
    every_fourth_from(0);
}

#[test]
fn promises_are_kept_2() {
    every_fourth_from(1);
}

#[test]
fn promises_are_kept_3() {
    every_fourth_from(2);
}

#[test]
fn promises_are_kept_4() {
    every_fourth_from(3);
}

/// A finding whose system was removed would otherwise look mended.
#[test]
fn each_finding_has_its_system() {
    const NAMES: [&str; 15] = [
        "crumbs",
        "crumbs-timer",
        "float",
        "gate-entry",
        "gate-killed",
        "herd",
        "herd-empty",
        "interval",
        "late-prices",
        "lazy-refill",
        "phases",
        "shared-domains",
        "shared-emptied",
        "shared-gates",
        "stale",
    ];
    let there: BTreeSet<String> = Finding::all().into_iter().map(|finding| finding.name).collect();
    assert_eq!(there, NAMES.iter().map(|name| (*name).to_owned()).collect());
}
