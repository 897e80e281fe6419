use record::{EventsWriter, RunEvent, observed};

use super::*;
use crate::calls::collect;
use crate::chip::tests::{a9, m7};
use crate::rows::Cycles;
use crate::samples::WARM;

fn recorded(events: &[(u8, u16, u32)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = EventsWriter::new(&mut bytes).expect("memory does not fail");
    for (event, detail, payload) in events {
        let event = RunEvent { event: *event, detail: *detail, payload: *payload, ..RunEvent::default() };
        writer.push(event).expect("memory does not fail");
    }
    writer.flush().expect("memory does not fail");
    drop(writer);
    bytes
}

fn calls(events: &[(u8, u16, u32)]) -> Calls {
    collect(&recorded(events)[..], CONTESTANTS.len() * PARTS.len(), m7().exceptions().call).expect("good events")
}

/// Every probe reached 100 times while it is cold, and then with these cycles.
fn run(cycles: &[u32]) -> Vec<(u8, u16, u32)> {
    let probes = 0..(CONTESTANTS.len() * PARTS.len()) as u16;
    probes
        .flat_map(|probe| {
            let cold = std::iter::repeat_n(9_999, WARM);
            cold.chain(cycles.iter().copied()).map(move |cycles| (observed::PROBE, probe, cycles))
        })
        .collect()
}

const MARK: u8 = abi::trace::Event::Mark as u8;

#[test]
fn rows_hold_the_warm_samples_and_the_marks() {
    let mut events = run(&[100, 150, 201]);
    events.extend([(MARK, mark::NEED + 1, 5000), (MARK, mark::LIVE, 4000), (MARK, mark::COUNT, 77), (MARK, 1, 3)]);
    let rows = rows(&m7(), &calls(&events)).expect("enough samples");
    let find = |id: &str| rows.iter().find(|row| row.id == id).unwrap_or_else(|| panic!("no row {id}"));
    assert_eq!(find("m7.heap.malloc").cycles, Cycles { median: 150, max: 201 });
    assert_eq!(find("m7.heap.malloc").met, Some(true));
    assert!(find("m7.heap.malloc").operation.contains("77 operations"));
    assert_eq!((find("m7.heap.need.rlsf").bytes, find("m7.heap.free.rlsf").met), (Some(5000), None));
    assert_eq!(rows.len(), CONTESTANTS.len() * (PARTS.len() + 1));
    let shown = heaps_table(&rows);
    assert!(shown.contains("1.34") && shown.contains("5000") && shown.contains("yes"), "{shown}");
}

#[test]
fn where_nothing_is_tightly_coupled_no_heap_is_either() {
    let rows = rows(&a9(), &calls(&run(&[100, 150, 201]))).expect("enough samples");
    assert!(rows.iter().all(|row| row.id.starts_with("a9.heap.") && !row.id.ends_with(".tcm")));
    assert_eq!(rows.len(), (CONTESTANTS.len() - 1) * (PARTS.len() + 1));
}

#[test]
fn a_call_that_was_interrupted_is_no_sample() {
    let at = |cycle, event, payload| RunEvent { cycle, event, payload, ..RunEvent::default() };
    let mut bytes = Vec::new();
    let mut writer = EventsWriter::new(&mut bytes).expect("memory does not fail");
    let (probe, entry) = (observed::PROBE, observed::EXCEPTION_ENTRY);
    for event in [at(100, probe, 10), at(200, entry, 0), at(205, probe, 10), at(250, probe, 20), at(300, probe, 30)] {
        writer.push(event).expect("memory does not fail");
    }
    writer.flush().expect("memory does not fail");
    drop(writer);
    assert_eq!(collect(&bytes[..], 1, m7().exceptions().call).expect("good events").samples[0], [10, 20, 30]);
}

#[test]
fn more_than_twice_the_median_is_missed() {
    let rows = rows(&m7(), &calls(&run(&[100, 100, 201]))).expect("enough samples");
    assert!(rows.iter().filter(|row| row.target.is_some()).all(|row| row.met == Some(false)));
    assert!(heaps_table(&rows).contains("MISSED"));
}

#[test]
fn a_probe_that_is_never_reached_is_an_error() {
    assert!(rows(&m7(), &calls(&run(&[]))).is_err());
}
