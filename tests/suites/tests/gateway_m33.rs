//! The same as in `gateway` on a Cortex-M33, whose manifest differs in what that chip does not have.

use system_tests::gateway::{Gateway, M33, MANIFEST};
use system_tests::root;

static GATEWAY: Gateway = Gateway::of(M33, "300 ms");

system_tests::gateway_holds! { GATEWAY: what_is_pinned_never_misses }

#[test]
fn without_budgets_control_misses_deadlines() {
    GATEWAY.without_budgets_control_misses_deadlines("200 ms");
}

/// Nothing else is made easier for the board.
#[test]
fn the_manifest_differs_in_what_the_chip_lacks_alone() {
    let lines = |manifest: &str| {
        let text = std::fs::read_to_string(root().join(manifest)).unwrap();
        let kept = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        kept.map(str::to_owned).collect::<Vec<_>>()
    };
    let mut expected = lines(MANIFEST);
    for (from, to) in [
        ("name = \"gateway\"", "name = \"gateway-m33\""),
        ("board = \"mps2-an500\"", "board = \"mps2-an505\"\nprofile = \"an505-8m\""),
        // A request to the manager takes longer there, as a call of the console does.
        (
            "bound = \"190 us\"         # 171 us were observed, with caches as bad as a client can leave them (CAVEATS.md)",
            "bound = \"245 us\"         # 220 us were observed, with buffers as bad as a client can leave them (CAVEATS.md)",
        ),
        ("bound = \"80 us\"", "bound = \"105 us\""),
        ("path = \"data:jstat.min.js\"", "path = \"data:jstat.js\""),
        ("capacity = \"200 us\"", "capacity = \"250 us\""),
        ("capacity = \"100 us\"", "capacity = \"110 us\""),
        ("capacity = \"3500 us\"", "capacity = \"3380 us\""),
        ("code = { memory = \"flash\", spec = \"l1\" }", "code = { memory = \"flash\", spec = \"l2\" }"),
    ] {
        let line = expected.iter_mut().find(|line| *line == from).unwrap_or_else(|| panic!("no line {from}"));
        to.clone_into(line);
    }
    assert_eq!(expected.join("\n"), lines(M33[0]).join("\n"));
}
