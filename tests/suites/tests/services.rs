//! Bounds of the services that come with Cofferdam: on each board `check` refuses less than their longest calls were seen to take, and three hostile clients
//! do not get beyond that: `tests/manager/together.toml` with few calls. The figures of the boards' files come from the same with many:
//! `COFFERDAM_ROUNDS=4000 COFFERDAM_SEED=7 COFFERDAM_ON=mps2-an500 scripts/test.sh services_long` prints what it saw.

use std::path::PathBuf;

use system_tests::{Ran, cofferdam, root, target_dir};

/// A board, or one of its profiles, what the system has to be there, and how many calls each client makes.
struct On {
    name: &'static str,
    board: &'static str,
    changes: &'static [(&'static str, &'static str)],
    rounds: u32,
}

/// The largest pools that the manager takes. Tables of so many domains do not fit on the chip, so that some lie in locked ways; then the manager has two places
/// to look at for a promise, too.
const PAGES: &[(&str, &str)] = &[
    ("size = \"2 MiB\"", "size = \"4 MiB\""),
    ("[notification.idle]", "[hardware]\nlocked_ways = 4\n\n[notification.idle]"),
];
/// The same without a second-level cache, and slower.
const SOFT: &[(&str, &str)] = &[
    ("size = \"2 MiB\"", "size = \"4 MiB\""),
    ("bound = \"600 us\"", "bound = \"1200 us\""),
    ("bound = \"300 us\"", "bound = \"500 us\""),
];
/// A chip that does not exist, with all the memory of the board.
const LARGE: &[(&str, &str)] = &[("board = \"mps2-an500\"", "board = \"mps2-an505\"\nprofile = \"an505-8m\"")];
/// As much as the chip has left.
const SMALL: &[(&str, &str)] =
    &[("size = \"128 KiB\"", "size = \"16 KiB\""), ("size = \"2 MiB\"", "size = \"16 KiB\"")];

const BOARDS: [On; 3] = [
    On { name: "mps2-an500", board: "mps2-an500", changes: &[], rounds: 60 },
    On { name: "mps2-an505", board: "mps2-an505", changes: SMALL, rounds: 60 },
    On { name: "xilinx-zynq-a9", board: "xilinx-zynq-a9", changes: PAGES, rounds: 30 },
];
/// Another board with the same core, and models of the soft core, which is simulated cycle by cycle.
const FURTHER: [On; 6] = [
    On { name: "an505-8m", board: "mps2-an505", changes: LARGE, rounds: 60 },
    On { name: "sabrelite", board: "sabrelite", changes: PAGES, rounds: 30 },
    On { name: "ibex-rtmmu", board: "ibex-rtmmu", changes: SOFT, rounds: 20 },
    On { name: "ibex-direct", board: "ibex-direct", changes: SOFT, rounds: 20 },
    On { name: "ibex-sv32", board: "ibex-sv32", changes: SOFT, rounds: 20 },
    On { name: "ibex-sv32tlb", board: "ibex-sv32tlb", changes: SOFT, rounds: 20 },
];

/// The system with other words, in a directory of its own inside the checkout, so that it is built with what is built already.
fn changed(name: &str, changes: &[(&str, &str)]) -> PathBuf {
    let directory = root().join("tests/manager");
    let mut text = std::fs::read_to_string(directory.join("together.toml")).unwrap();
    let absolute = |path: &str| root().join(path).to_string_lossy().into_owned();
    let places = [
        ("../../services/memory", absolute("services/memory")),
        ("together.c", absolute("tests/manager/together.c")),
        ("idle.c", absolute("tests/manager/idle.c")),
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

fn variable(name: &str) -> Option<u32> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

fn clients_get_no_further(On { name: place, board, changes, rounds }: &On) {
    let (rounds, seed) = (variable("COFFERDAM_ROUNDS").unwrap_or(*rounds), variable("COFFERDAM_SEED").unwrap_or(7));
    let rounds = ("ROUNDS=6000".to_owned(), format!("ROUNDS={rounds}"));
    // From the last on, so that no new seed is changed again.
    let seeds = (0..3).rev().map(|client| (format!("SEED={}\"", 7 + client), format!("SEED={}\"", seed + client)));
    let own: Vec<(String, String)> = seeds.chain([rounds]).collect();
    let all: Vec<(&str, &str)> = changes.iter().copied().chain(own.iter().map(|(old, new)| (&**old, &**new))).collect();
    let path = changed(&format!("together-{place}"), &all);
    let ran = Ran::on(board, &path.to_string_lossy(), &[]);
    assert_eq!(ran.report["verdict"]["failures"], serde_json::json!([]), "{board}: {}", ran.stderr);
    for (name, gate) in [("memory.request", "memory_request"), ("console.write", "console_write")] {
        let seen = ran.named("gates", "name", name);
        assert_eq!(seen["failed"], 0, "{board}: {seen:#}");
        let (most, least) = (declared(board, gate), seen["max_cycles"].as_u64().unwrap());
        println!("{place}: {name} took {least} of {most} cycles at most in {} calls", seen["calls"]);
        assert!(least > 0 && least <= most, "{board}: {name} took {least}, and the board's file says {most}");
    }
}

#[test]
fn no_client_makes_a_service_take_longer_than_the_boards_file_says() {
    BOARDS.iter().for_each(clients_get_no_further);
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh services_long"]
fn no_client_makes_a_service_take_longer_on_further_boards() {
    let only = std::env::var("COFFERDAM_ON").ok();
    let chosen = BOARDS.iter().chain(&FURTHER).filter(|on| only.as_deref() == Some(on.name));
    if only.is_some() {
        chosen.for_each(clients_get_no_further)
    } else {
        FURTHER.iter().for_each(clients_get_no_further)
    }
}

#[test]
fn check_refuses_bounds_below_the_longest_calls_on_every_board() {
    for On { name, board, changes, .. } in BOARDS.iter().chain(&FURTHER) {
        // The soft core's have been changed before.
        let own = |old: &'static str| changes.iter().find(|(from, _)| *from == old).map_or(old, |(_, to)| *to);
        let short = [(own("bound = \"600 us\""), "bound = \"60 us\""), (own("bound = \"300 us\""), "bound = \"5 us\"")];
        let path = changed(&format!("together-short-{name}"), &[*changes, &short[..]].concat());
        let output = cofferdam(&["check", &path.to_string_lossy(), "--board", board]);
        let told = String::from_utf8_lossy(&output.stderr);
        let told = format!("{}{told}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(told.matches("CF0417").count(), 2, "{board}: {told}");
    }
}
