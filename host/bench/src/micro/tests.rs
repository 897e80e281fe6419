//! Tests of the rows beside public figures.

use super::*;

const TEXT: &str = include_str!("../../micro.toml");

#[test]
fn every_row_belongs_to_one_chip_and_names_no_other_twice() {
    let file: MicroFile = toml::from_str(TEXT).expect("the file follows its schema");
    let of_chips: usize = chip::ALL.iter().map(|chip| of(chip, TEXT).expect("as above").len()).sum();
    assert_eq!(of_chips, file.row.len());
    let mut ids: Vec<&str> = file.row.iter().map(|row| row.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), of_chips);
    assert!(toml::from_str::<MicroFile>("[[row]]\nid = \"m7.micro.a\"\n").is_err(), "what is not said");
}

#[test]
fn a_row_far_from_its_source_says_why_or_is_unexplained() {
    let public =
        |deviation, reason: Option<&str>| Public { deviation, reason: reason.map(str::to_owned), ..Public::default() };
    assert_eq!(verdict(&public(-WITHIN, None)), "yes");
    assert_eq!(verdict(&public(WITHIN, Some("not needed"))), "yes");
    assert_eq!(verdict(&public(WITHIN + 0.01, Some("because"))), "because");
    assert_eq!(verdict(&public(-WITHIN - 0.01, None)), "UNEXPLAINED");
}

#[test]
fn a_stretch_that_is_taken_off_is_measured_once() {
    let rows = of(&chip::M7, TEXT).expect("the file follows its schema");
    let names = names(&rows);
    assert_eq!(names.iter().filter(|name| *name == "branch_right").count(), 1);
    assert_eq!(names.len(), rows.len() + 1);
}
