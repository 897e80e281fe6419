//! The main job: real software, isolated and timed, on the board that its manifest names. `gateway_a9` is the same on another board.

use system_tests::gateway::{Gateway, MANIFEST};
use system_tests::root;

static GATEWAY: Gateway = Gateway::new(None, "2 s");

system_tests::gateway_holds! { GATEWAY: what_is_pinned_never_misses }

#[test]
fn without_budgets_control_misses_deadlines() {
    GATEWAY.without_budgets_control_misses_deadlines("500 ms");
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
