//! Bounds of the services that come with Cofferdam: on each board `check` refuses less than their longest calls were seen to take, and three hostile clients
//! do not get beyond that. `tests/manager/together.toml` with fewer rounds; all of them measured the figures of the boards' files.

use std::path::PathBuf;

use system_tests::{Ran, cofferdam, root, target_dir};

/// Boards, and how many calls each client makes.
const BOARDS: [(&str, u32); 3] = [("mps2-an500", 60), ("mps2-an505", 60), ("xilinx-zynq-a9", 30)];
/// Another board with the same core, and models of the soft core, which is simulated cycle by cycle.
const FURTHER: [(&str, u32); 5] =
    [("sabrelite", 30), ("ibex-rtmmu", 20), ("ibex-direct", 20), ("ibex-sv32", 20), ("ibex-sv32tlb", 20)];

/// The system with other words, in a directory of its own inside the checkout, so that it is built with what is built already.
fn changed(name: &str, changes: &[(&str, &str)]) -> PathBuf {
    let directory = root().join("tests/manager");
    let mut text = std::fs::read_to_string(directory.join("together.toml")).unwrap();
    let absolute = |path: &str| root().join(path).to_string_lossy().into_owned();
    let places = [
        ("../../services/memory", absolute("services/memory")),
        ("together.c", absolute("tests/manager/together.c")),
        ("name = \"together\"", format!("name = \"{name}\"")),
    ];
    let changes = changes.iter().map(|(old, new)| (*old, (*new).to_owned()));
    for (old, new) in places.into_iter().chain(changes) {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, &new);
    }
    let path = target_dir().join("services").join(name).join("system.toml");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

/// Cycles that a board's file says of a gate, in the profile with the most.
fn declared(board: &str, gate: &str) -> u64 {
    let text = std::fs::read_to_string(root().join("boards").join(board).join("board.toml")).unwrap();
    let file: toml::Table = text.parse().unwrap();
    let profiles = file["service"][gate].as_table().unwrap().values();
    profiles.filter_map(toml::Value::as_integer).max().unwrap() as u64
}

fn clients_get_no_further(board: &str, rounds: u32) {
    let path = changed(&format!("together-{board}"), &[("ROUNDS=800", &format!("ROUNDS={rounds}"))]);
    let ran = Ran::on(board, &path.to_string_lossy(), &[]);
    assert_eq!(ran.report["verdict"]["failures"], serde_json::json!([]), "{board}: {}", ran.stderr);
    for (name, gate) in [("memory.request", "memory_request"), ("console.write", "console_write")] {
        let seen = ran.named("gates", "name", name);
        assert_eq!(seen["failed"], 0, "{board}: {seen:#}");
        let (most, least) = (declared(board, gate), seen["max_cycles"].as_u64().unwrap());
        assert!(least > 0 && least <= most, "{board}: {name} took {least}, and the board's file says {most}");
    }
}

#[test]
fn no_client_makes_a_service_take_longer_than_the_boards_file_says() {
    BOARDS.into_iter().for_each(|(board, rounds)| clients_get_no_further(board, rounds));
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh services_long"]
fn no_client_makes_a_service_take_longer_on_further_boards() {
    FURTHER.into_iter().for_each(|(board, rounds)| clients_get_no_further(board, rounds));
}

#[test]
fn check_refuses_bounds_below_the_longest_calls_on_every_board() {
    let path = changed(
        "together-short",
        &[("bound = \"2 ms\"", "bound = \"60 us\""), ("bound = \"1 ms\"", "bound = \"5 us\"")],
    );
    for (board, _) in BOARDS.into_iter().chain(FURTHER) {
        let output = cofferdam(&["check", &path.to_string_lossy(), "--board", board]);
        let told = String::from_utf8_lossy(&output.stderr);
        let told = format!("{}{told}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(told.matches("CF0417").count(), 2, "{board}: {told}");
    }
}
