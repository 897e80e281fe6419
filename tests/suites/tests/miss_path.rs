//! The miss path of the ports to Armv7-M and Armv8-M in assembly against the rule that it follows (images/armv-m/tests/misses), on the simulated boards.

use build_tool::{Install, Toolchain, build_example};
use system_tests::plain;

/// Boards, and the program's output there when the two agree about every fault.
const SAYS: [(&str, &str); 2] = [
    ("mps2-an500", "24000 faults: 2486 repeated, 807 counted, 20348 refused, 359 of the kernel; 0 differ\n"),
    ("mps2-an505", "24000 faults: 868 repeated, 302 counted, 22442 refused, 388 of the kernel; 0 differ\n"),
];

#[test]
fn the_miss_path_in_assembly_does_what_the_rule_says() {
    SAYS.iter().for_each(|(board, says)| tried(board, says));
}

fn tried(board: &str, says: &str) {
    let install = Install::find().unwrap();
    let board = install.board(board).unwrap();
    let tools = Toolchain::find(&install, &board.core).unwrap();
    let image = build_example(&install, &tools, &board, "misses").unwrap();
    let port = plain::port(&image, abi::trace::SYMBOL);
    let (said, code) = plain::ended(build_tool::machine(&board), &image, port);
    assert_eq!((said.as_ref(), code), (says, Some(0)));
}
