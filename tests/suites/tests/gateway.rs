//! The main job: real software, isolated and timed, on the board that its manifest names. `gateway_a9` is the same on another board. Its first seconds are run
//! for every change, and all of it, to its results, in `make test-long`.

use system_tests::gateway::{Gateway, MANIFEST};
use system_tests::root;

static GATEWAY: Gateway = Gateway::new(None, "2 s");
static BEGINNING: Gateway = Gateway::beginning("3 s");

mod whole {
    use super::GATEWAY;

    system_tests::gateway_holds! {
    #[ignore = "28 s modelled: `make test-long` runs it"]
    GATEWAY: what_is_pinned_never_misses
        }
}

#[test]
fn in_its_first_seconds_control_meets_every_deadline() {
    BEGINNING.control_meets_every_deadline_and_the_bound_that_was_admitted();
}

#[test]
fn in_its_first_seconds_every_attack_is_contained() {
    BEGINNING.every_attack_is_contained_as_the_victims_see_it();
}

#[test]
fn without_budgets_control_misses_deadlines() {
    BEGINNING.without_budgets_control_misses_deadlines("500 ms");
}

/// The manifest uses every word that the chip can keep.
#[test]
fn the_manifest_shows_each_specification() {
    let text = std::fs::read_to_string(root().join(MANIFEST)).unwrap();
    let specs = text.lines().filter_map(|line| line.split_once("spec = \"")?.1.split('"').next());
    let words: Vec<&str> = specs.flat_map(str::split_whitespace).collect();
    for word in ["deterministic", "l1", "l2", "best-effort", "independent"] {
        assert!(words.contains(&word), "no area asks for `{word}`");
    }
}
