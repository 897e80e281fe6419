//! Tests of rows, targets, samples and the table.

use record::{EventsWriter, RunEvent, observed};

use crate::rows::{Cycles, Row, Target, judge, read, write};
use crate::samples::{self, LEAST, WARM};
use crate::table;

fn row(id: &str, cycles: u64, instructions: u64) -> Row {
    Row {
        id: id.into(),
        board: "mps2-an500".into(),
        profile: "stm32f767".into(),
        subject: "cofferdam".into(),
        operation: "an operation".into(),
        cycles: Cycles { median: cycles, max: cycles + 1 },
        instructions,
        target: None,
        met: None,
        command: "./cofferdam bench".into(),
        ..Row::default()
    }
}

fn target(cycles: Option<u64>, instructions: Option<u64>, below: Option<&str>) -> Target {
    Target { cycles, instructions, below: below.map(str::to_owned), ..Target::default() }
}

#[test]
fn the_first_samples_are_not_counted_and_too_few_are_no_figure() {
    let cold = vec![1_000_000; WARM];
    let counted: Vec<u64> = (1..=LEAST as u64).rev().collect();
    let all = [cold.clone(), counted.clone()].concat();
    assert_eq!(samples::warm(&all), Some(Cycles { median: LEAST as u64 / 2 + 1, max: LEAST as u64 }));
    assert_eq!(samples::warm(&all[..all.len() - 1]), None);
    assert_eq!(samples::warm(&cold[1..]), None);
}

#[test]
fn samples_are_sorted_by_probe_and_other_events_ignored() {
    let mut bytes = Vec::new();
    let mut writer = EventsWriter::new(&mut bytes).expect("memory does not fail");
    for (event, detail, payload) in [(observed::PROBE, 1, 7), (observed::SLEPT, 0, 9), (observed::PROBE, 0, 8)] {
        writer.push(RunEvent { event, detail, payload, ..RunEvent::default() }).expect("memory does not fail");
    }
    writer.flush().expect("memory does not fail");
    drop(writer);
    assert_eq!(samples::collect(&bytes[..], 2).expect("good events"), [vec![8], vec![7]]);
    assert!(samples::collect(&bytes[..bytes.len() - 1], 2).is_err());
}

#[test]
fn a_target_is_judged_by_the_largest_value() {
    let mut rows = [row("a", 179, 90), row("b", 180, 90), row("c", 1, 91)];
    let limit = |id: &str| (id.to_owned(), target(Some(180), Some(90), None));
    judge(&mut rows, &[limit("a"), limit("b"), limit("c"), limit("not measured")]);
    assert_eq!(rows.each_ref().map(|row| row.met), [Some(true), Some(false), Some(false)]);
}

#[test]
fn a_row_is_compared_with_another_one_only_when_both_were_measured() {
    let below = |id: &str| ("a".to_owned(), target(None, None, Some(id)));
    let verdict = |id: &str, instructions: u64| {
        let mut rows = [row("a", 1, instructions), row("b", 1, 100)];
        judge(&mut rows, &[below(id)]);
        rows[0].met
    };
    assert_eq!(verdict("b", 99), Some(true));
    assert_eq!(verdict("b", 100), Some(false));
    assert_eq!(verdict("c", 99), None);
}

#[test]
fn the_table_says_plainly_what_was_missed() {
    let mut rows = [row("m7.good", 10, 10), row("m7.bad", 10, 11), row("m7.free", 10, 12)];
    let limit = |id: &str| (id.to_owned(), target(None, Some(10), None));
    judge(&mut rows, &[limit("m7.good"), limit("m7.bad")]);
    let text = table(&rows);
    assert!(text.contains("Targets met: 1. Targets MISSED: 1 (m7.bad)."), "{text}");
    let line = |id: &str| {
        text.lines().find(|line| line.contains(id) && !line.contains("Targets")).expect("a line for each row")
    };
    assert!(line("m7.bad").contains("MISSED") && line("m7.good").contains("yes"));
    assert!(!line("m7.free").contains("MISSED") && !line("m7.free").contains("yes"));
}

#[test]
fn the_file_holds_exactly_the_documented_keys() {
    let mut rows = [row("m7.a", 1, 2), row("m7.b", 3, 4)];
    judge(&mut rows, &[("m7.a".to_owned(), target(None, Some(2), None))]);
    let path = std::env::temp_dir().join(format!("cofferdam-bench-{}.json", std::process::id()));
    write(&path, &rows).expect("a writable directory");
    let read_back = read(&path);
    let text = std::fs::read_to_string(&path).expect("just written");
    std::fs::remove_file(&path).expect("just written");
    assert_eq!(read_back.expect("what was written"), rows);
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let mut expected =
        ["id", "board", "profile", "subject", "operation", "cycles", "instructions", "target", "met", "command"];
    expected.sort_unstable();
    for row in json.as_array().expect("a list") {
        let keys: Vec<&str> = row.as_object().expect("of objects").keys().map(String::as_str).collect();
        assert_eq!(keys, expected);
    }
    assert_eq!(json[0]["cycles"], serde_json::json!({"median": 1, "max": 2}));
    assert_eq!((&json[0]["met"], &json[1]["met"]), (&serde_json::json!(true), &serde_json::Value::Null));
    assert_eq!(json[0]["target"], serde_json::json!({"instructions": 2}));
}
