//! Two reports beside each other.

use super::{build, job};
use crate::compare::{Change, Comparison, Part};
use crate::schema::Provenance;

fn change<'a>(found: &'a Comparison, part: Part, figure: &str) -> &'a Change {
    let change = found.changes.iter().find(|change| change.part == part && change.figure == figure);
    change.unwrap_or_else(|| panic!("no change of {figure}: {:?}", found.changes))
}

#[test]
fn a_report_equals_itself_whoever_wrote_it() {
    let (a, mut b) = (build(500, job(0, 100)), build(500, job(0, 100)));
    b.host.seconds = 9.0;
    b.provenance = Some(Provenance { version: "other".into(), ..Provenance::default() });
    let found = Comparison::of(&a, &b, 0.0);
    assert!(found.is_equal() && found.compared > 40, "{found:?}");
    assert!(found.text(1).contains(" 0 differ by more than 0 %, 0 by less, "), "{}", found.text(1));
}

#[test]
fn a_longer_response_is_worse_and_a_missed_deadline_comes_first() {
    let found = Comparison::of(&build(1400, job(0, 400)), &build(1400, job(0, 700)), 0.02);
    let response = change(&found, Part::Thread, "response.max");
    assert_eq!((response.before, response.after, response.difference), (Some(400), Some(700), Some(300)));
    assert_eq!((response.percent, response.worse), (Some(75.0), Some(true)));
    let margin = change(&found, Part::Thread, "smallest_margin");
    assert_eq!((margin.before, margin.after, margin.worse), (Some(100), Some(-200), Some(true)));
    assert_eq!(found.changes[0].figure, "missed_deadlines");
    let codes: Vec<_> = found.verdict.iter().map(|change| (change.came, change.code.as_str())).collect();
    assert_eq!(codes, [(true, "deadline-missed"), (true, "response-bound"), (true, "budget-overdrawn")]);
    let back = Comparison::of(&build(1400, job(0, 700)), &build(1400, job(0, 400)), 0.02);
    assert!(back.verdict.iter().all(|change| !change.came) && back.changes.iter().all(|c| c.worse != Some(true)));
}

#[test]
fn what_differs_by_no_more_than_the_threshold_is_none() {
    let (a, b) = (build(500, job(0, 100)), build(500, job(0, 102)));
    let found = Comparison::of(&a, &b, 0.0199);
    assert_eq!(change(&found, Part::Thread, "response.max").percent, Some(2.0));
    let found = Comparison::of(&a, &b, 0.03);
    assert!(found.is_equal() && found.within > 0, "{found:?}");
}

#[test]
fn what_only_one_has_always_counts() {
    let (a, mut b) = (build(500, job(0, 100)), build(500, job(0, 100)));
    b.gates.clear();
    let found = Comparison::of(&a, &b, 10.0);
    let gate = change(&found, Part::Gate, "bound_cycles");
    assert_eq!((gate.before, gate.after, gate.difference, gate.percent), (Some(100), None, None, None));
    b.system = "another".into();
    assert!(Comparison::of(&a, &b, 10.0).other_system.is_some());
}

/// The text of a comparison is reviewed: `UPDATE_GOLDEN=1` writes it again.
#[test]
fn the_text_reads_as_reviewed() {
    let (before, mut after) = (build(1400, job(0, 400)), build(1400, job(0, 700)));
    after.verdict.failures.truncate(1);
    after.verdict.failures[0].text = "loop missed a deadline.".into();
    let found = Comparison::of(&before, &after, 0.02);
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/compare.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, found.text(10_000)).expect("the golden file can be written");
    }
    assert_eq!(found.text(10_000), std::fs::read_to_string(path).expect("the golden file"));
}
