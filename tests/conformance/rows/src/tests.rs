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

/// Errors that no row shows, each with the reason.
const NOT_SHOWN: &[(&str, &str, &str)] = &[
    (
        "interrupt_ack",
        "NO_RIGHT",
        "capabilities to lines are made with WRITE alone, and a copy keeps at least one right",
    ),
    ("revoke", "FULL", "after 65 534 revocations of one object: tests::attacks of the kernel"),
    ("frames_retype", "FULL", "the table of marks is filled by hundreds of pieces: tests::frames of the kernel"),
    ("frames_clean", "FULL", "as for frames_retype"),
    ("nodes_give", "FULL", "as for frames_retype"),
    ("frames_map", "BUSY", "one domain of the cast holds frames; of two that do: tests::edits of the kernel"),
    ("frames_unmap", "BUSY", "as for frames_map"),
    ("frames_retype", "BUSY", "as for frames_map"),
    ("frames_clean", "BUSY", "as for frames_map"),
    ("nodes_give", "BUSY", "as for frames_map"),
    (
        "gate_call",
        "UNTOUCHED",
        "demand areas are what only some processors have: tests::demand of the kernel, tests/soft-core/untouched.toml",
    ),
    ("gate_copy_in", "UNTOUCHED", "as for gate_call"),
    ("gate_copy_out", "UNTOUCHED", "as for gate_call"),
    ("signal", "NO_BUDGET", "the callee has overrun its bound and never sees it: tests::time::rules of the kernel"),
    ("interrupt_ack", "NO_BUDGET", "as for signal"),
    ("domain_restart", "NO_BUDGET", "as for signal"),
];

/// Whether a row has a step in which a call returns a status.
fn is_shown(call: abi::Call, wanted: impl Fn(Told) -> bool) -> bool {
    let shows =
        |step: &Step| matches!(step, Step::Call { number, told, .. } if *number == call as u32 && wanted(*told));
    rows().any(|row| row.parts.iter().any(|part| part.steps.iter().any(shows)))
}

#[test]
fn every_call_is_shown_to_succeed_and_with_each_of_its_errors() {
    let mut missing = BTreeSet::new();
    for doc in abi::CALLS {
        // Demand areas are what only some processors have: tests::demand of the kernel, tests/soft-core/touch.toml.
        if matches!(doc.call, abi::Call::RegionMap | abi::Call::RegionUnmap) {
            continue;
        }
        // A gate's return is made by every gate. Handlers are what only some processors have, too: tests/direct/owners.toml.
        if !matches!(doc.call, abi::Call::GateReturn | abi::Call::Occupy)
            && !is_shown(doc.call, |told| !matches!(told, Told::Err(_)))
        {
            missing.insert(std::format!("{} succeeds", doc.name));
        }
        for name in doc.errors {
            let error = abi::ERRORS.iter().find(|known| known.name == *name).unwrap().error;
            let reason = NOT_SHOWN.iter().any(|(call, error, _)| call == &doc.name && error == name);
            let shown = is_shown(doc.call, |told| matches!(told, Told::Err(known) if known == error));
            if shown == reason {
                missing.insert(std::format!("{} {name} {}", doc.name, if shown { "is shown" } else { "is not shown" }));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn no_error_is_shown_that_is_not_documented() {
    for row in rows() {
        for step in row.parts.iter().flat_map(|part| part.steps) {
            let Step::Call { number, told: Told::Err(error), .. } = step else { continue };
            let Some(call) = abi::Call::from_number(*number) else { continue };
            let name = abi::ERRORS.iter().find(|known| known.error == *error).unwrap().name;
            let doc = &abi::CALLS[call as usize];
            assert!(doc.errors.contains(&name), "{} {name} in `{}`", doc.name, row.name);
        }
    }
}
