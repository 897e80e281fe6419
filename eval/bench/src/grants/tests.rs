use super::*;
use crate::chip::tests::{a9, m7, soft_core};

fn measured(calls: usize) -> Calls {
    let samples = |part: usize| [vec![9_999; samples::WARM], vec![100 * (part as u32 + 1); calls], vec![250]].concat();
    Calls {
        samples: (0..PARTS.len() + PARTS_OF_PAGES.len()).map(samples).collect(),
        instructions: vec![7; PARTS.len() + PARTS_OF_PAGES.len()],
        marks: vec![(mark::COUNT, 20_000), (mark::FAILED, 3)],
    }
}

#[test]
fn only_what_does_not_scrub_is_judged() {
    let rows = rows(&m7(), &measured(10)).expect("enough calls");
    let met: Vec<Option<bool>> = rows.iter().map(|row| row.met).collect();
    assert_eq!(met, [Some(false), Some(true), Some(true), Some(true), None, None]);
    assert_eq!((rows[0].cycles.median, rows[0].cycles.max, rows[0].instructions), (100, 250, 7));
    assert!(rows[0].operation.ends_with("(20000 requests, 3 refused)"), "{}", rows[0].operation);
}

#[test]
fn requests_are_seen_one_by_one_where_there_are_tables() {
    let rows = rows(&a9(), &measured(10)).expect("enough calls");
    let told: Vec<(&str, Option<bool>)> = rows.iter().map(|row| (row.id.as_str(), row.met)).collect();
    assert_eq!(told[0], ("a9.manager.grant", None));
    assert_eq!(told[6..], [("a9.manager.admit", Some(true)), ("a9.manager.map", None)]);
}

#[test]
fn all_calls_count_where_nothing_warms() {
    let rows = rows(&soft_core(), &measured(10)).expect("enough calls");
    assert_eq!((rows[0].id.as_str(), rows[0].cycles.max), ("rtmmu.manager.grant", 9_999));
}

#[test]
fn a_history_that_is_refused_is_no_figure() {
    let mut refused = measured(10);
    refused.marks[1] = (mark::FAILED, 1001);
    assert!(rows(&m7(), &refused).is_err());
}

#[test]
fn too_few_calls_are_an_error() {
    let mut few = measured(10);
    few.samples[2].truncate(samples::WARM);
    assert!(rows(&m7(), &few).is_err());
}
