use super::{is_wanted, speed_table};
use crate::Row;

#[test]
fn the_rows_are_measured_only_when_they_are_asked_for() {
    assert!(is_wanted(Some("speed")) && is_wanted(Some("speed.a9")));
    assert!(!is_wanted(None) && !is_wanted(Some("m7")));
}

#[test]
fn a_speed_stands_in_a_table_of_its_own() {
    let row = Row { id: "speed.m7".to_owned(), speed: Some(61.25), instructions: 180_000_000, ..Row::default() };
    let text = speed_table(&[Row::default(), row]);
    assert!(text.contains("61.2") && text.contains("180.0"), "{text}");
    assert_eq!(speed_table(&[Row::default()]), "");
}
