extern crate std;
use std::collections::BTreeSet;

use super::*;

#[test]
fn rows_have_names_of_their_own_and_say_what_they_check() {
    let mut names = BTreeSet::new();
    for row in rows() {
        assert!(names.insert(row.name), "`{}` is there twice", row.name);
        assert!(!row.checks.is_empty() && !row.doc.is_empty() && !row.parts.is_empty(), "{}", row.name);
    }
}

#[test]
fn shortfalls_survive_a_word() {
    for shortfall in
        [Shortfall::Step(3, 12, 0xfffe), Shortfall::Lives(9, 2), Shortfall::Steps(15, 7), Shortfall::Fault(4, 8)]
    {
        assert_eq!(Shortfall::unpack(shortfall.pack()), Some(shortfall));
    }
    assert_eq!(Shortfall::unpack(0), None);
}

#[test]
fn every_life_has_its_part_and_the_last_goes_on() {
    const STEPS: &[Step] = &[Step::Spin(1)];
    const PARTS: &[Part] = &[
        Part { actor: Actor::Echo, lives: 2, steps: STEPS, end: End::Done },
        Part { actor: Actor::Client, lives: 1, steps: STEPS, end: End::Done },
        Part { actor: Actor::Echo, lives: 1, steps: &[], end: End::Done },
    ];
    let row = Row { name: "", checks: "", doc: "", parts: PARTS, faults: &[] };
    let lengths = [0, 1, 2, 3].map(|life| row.part(Actor::Echo, life).map(|part| part.steps.len()));
    assert_eq!(lengths, [Some(1), Some(1), Some(0), Some(0)]);
    assert!(row.part(Actor::Second, 0).is_none());
}

#[test]
fn a_verdict_needs_every_step_every_life_and_every_fault() {
    const PARTS: &[Part] = &[Part { actor: Actor::Client, lives: 1, steps: &[Step::Undefined], end: End::Stays }];
    let row = Row { name: "", checks: "", doc: "", parts: PARTS, faults: &[(Dom::Client, &[Fault::Usage])] };
    let mut records = [Record::default(); ACTORS];
    let mut faults = [0; DOMAINS];
    assert_eq!(verdict(&row, &records, &faults), Err(Shortfall::Lives(0, 0)));
    records[0].begin();
    assert_eq!(verdict(&row, &records, &faults), Err(Shortfall::Fault(1, 0)));
    faults[1] = Fault::Usage as u32;
    assert_eq!(verdict(&row, &records, &faults), Ok(()));
    faults[2] = Fault::Data as u32;
    assert_eq!(verdict(&row, &records, &faults), Err(Shortfall::Fault(2, 1)));
    faults[2] = 0;
    records[0].note(Err(7));
    assert_eq!(verdict(&row, &records, &faults), Err(Shortfall::Step(0, 1, 7)));
    records[0].wrong = 0;
    assert_eq!(verdict(&row, &records, &faults), Err(Shortfall::Steps(0, 1)), "it survived");
}
