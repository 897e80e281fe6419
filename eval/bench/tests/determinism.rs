//! A figure is the same every time it is measured.

mod common;

use std::path::Path;

use bench::{Bench, Row, chip, peer_subject};
use build_tool::Install;
use common::simulator;
use runner::Qemu;

/// Measures a peer of a board, by the suffix of its rows.
fn measure(simulator: &Qemu, peer: &str, directory: &Path) -> Vec<Row> {
    let install = Install::find().expect("the tests run in a checkout");
    let chip = chip::find(&install, "mps2-an500").expect("the board is measured");
    let peer = chip.peers().iter().find(|known| known.suffix == peer).expect("the board's file lists it");
    let subject = peer_subject(&install, &chip, peer, directory).expect("the peer builds");
    let bench = Bench::new(&install, simulator, &chip, directory).expect("the profile comes with Cofferdam");
    subject.measure(&bench).expect("the run ends as it should")
}

#[test]
fn a_peer_measured_twice_has_the_same_figures() {
    let simulator = simulator();
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let first = measure(&simulator, "freertos", &out.join("first"));
    let second = measure(&simulator, "freertos", &out.join("second"));
    assert_eq!(first, second);
    let ids: Vec<&str> = first.iter().map(|row| row.id.as_str()).collect();
    assert!(ids.contains(&"m7.gate.call_return.freertos") && ids.contains(&"m7.masked.longest.freertos"), "{ids:?}");
    for row in &first {
        assert!(row.cycles.median > 0 && row.cycles.median <= row.cycles.max && row.instructions > 0, "{row:?}");
    }
}

#[test]
fn isolation_costs_the_protected_peer_more_than_the_plain_one() {
    let simulator = simulator();
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("both");
    let queues = |peer: &str| {
        let rows = measure(&simulator, peer, &out);
        let id = format!("m7.gate.call_return.{peer}");
        rows.iter().find(|row| row.id == id).expect("a row for the queues").instructions
    };
    // Orientation: 838 and 2010 instructions, counted by another tool on another build of the same sources.
    let (plain, protected) = (queues("freertos"), queues("freertos_mpu"));
    assert!((800..900).contains(&plain) && (1800..2200).contains(&protected), "{plain} {protected}");
}

#[test]
fn a_handler_in_c_takes_longer_when_its_code_or_its_table_is_farther_away() {
    let simulator = simulator();
    let rows = measure(&simulator, "c_handler", &Path::new(env!("CARGO_TARGET_TMPDIR")).join("c"));
    let [flat, warm, cold, sram] = ["paged", "deepest", "deepest.cold", "deepest.l2"]
        .map(|id| rows.iter().find(|row| row.id == format!("m7.miss.{id}.c_handler")).expect("a row for each"));
    assert!(flat.instructions < warm.instructions, "four levels more");
    assert_eq!((cold.instructions, sram.instructions), (warm.instructions, warm.instructions), "the same path");
    // Lines of flash at 7 wait states; the lines of five nodes and a leaf from SRAM.
    assert!(cold.cycles.median > warm.cycles.median + 50, "{warm:?} {cold:?}");
    assert!(sram.cycles.median > warm.cycles.median + 30, "{warm:?} {sram:?}");
}
