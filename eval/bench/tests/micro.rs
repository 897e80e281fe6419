//! The pieces of code that have public figures take what docs/timing-truth.md says, to the hundredth of a cycle.

mod common;

use std::path::Path;

use bench::chip::{self, Chip};
use bench::micro::{self, WITHIN};
use bench::{Bench, Public, Row};
use build_tool::Install;
use common::simulator;

const PAGE: &str = include_str!("../../../docs/timing-truth.md");

fn measure(install: &Install, chip: &Chip) -> Vec<Row> {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("micro");
    std::fs::create_dir_all(&out).expect("a writable directory");
    let simulator = simulator();
    let bench = Bench::new(install, &simulator, chip, &out).expect("the profile comes with Cofferdam");
    micro::measure(&bench, &mut |_| ()).expect("the system builds and its run ends")
}

/// The line of the page's table.
fn line(row: &Row, public: &Public) -> String {
    let Public { ours, value, deviation, source, .. } = public;
    format!("| `{}` | {} | {ours:.2} | {value:.2} | {deviation:+.0} % | {source} |", row.id, row.operation)
}

fn check(install: &Install, chip: &Chip) {
    let rows = measure(install, chip);
    let lines: Vec<String> =
        rows.iter().map(|row| line(row, row.public.as_ref().expect("each has a public figure"))).collect();
    let missing: Vec<&String> = lines.iter().filter(|line| !PAGE.lines().any(|found| found == *line)).collect();
    assert!(missing.is_empty(), "docs/timing-truth.md lacks:\n{}", lines.join("\n"));
    for row in &rows {
        let public = row.public.as_ref().expect("as above");
        assert_eq!(public.reason.is_some(), public.deviation.abs() > WITHIN, "a reason where it is needed: {row:?}");
    }
}

#[test]
fn every_board_takes_what_the_page_says() {
    let install = Install::find().expect("the tests run in a checkout");
    for chip in chip::all(&install).expect("the files follow their schema") {
        check(&install, &chip);
    }
}
