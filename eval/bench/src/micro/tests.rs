//! Tests of the rows beside public figures.

use super::*;
use crate::chip::tests::m7;

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
    let chip = m7();
    let names = names(chip.micro());
    assert_eq!(names.iter().filter(|name| *name == "branch_right").count(), 1);
    assert_eq!(names.len(), chip.micro().len() + 1);
}
