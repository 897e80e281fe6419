//! The self-test of the port to Armv7-A (images/armv7a/tests/selftest), on the simulated board.

use std::path::PathBuf;
use std::sync::OnceLock;

use build_tool::{Install, Toolchain, build_example};
use runner::Machine;
use system_tests::{cofferdam, plain};

const BOARD: &str = "xilinx-zynq-a9";

/// Builds it once.
fn image() -> &'static PathBuf {
    static IMAGE: OnceLock<PathBuf> = OnceLock::new();
    IMAGE.get_or_init(|| {
        let install = Install::find().unwrap();
        let board = install.board(BOARD).unwrap();
        let tools = Toolchain::find(&install, &board.core).unwrap();
        build_example(&install, &tools, &board, "selftest").unwrap()
    })
}

/// Runs it on so many CPUs. Its lines, and its exit code.
fn run(cpus: u32) -> (Vec<String>, Option<i32>) {
    let machine = Machine::named(&format!("{BOARD},smp.cpus={cpus}"));
    let (printed, code) = plain::ended(machine, image(), plain::port(image(), "SELFTEST_PORT"));
    (printed.lines().map(str::to_owned).collect(), code)
}

/// Every line that it prints when all is right, up to what depends on where its instructions are.
const LINES: &[&str] = &[
    "caches and MMU are on",
    "domain 0: 0xa0a0a0a0 at 0x00020000, registers 0x0",
    "domain 1: 0xb1b1b1b1 at 0x00020000, registers 0x0",
    "40 turns by the timer; both have reported and counted",
    "domain 1: read of nothing: data access fault at 0x00300008",
    "domain 1: write to code: data access fault at 0x00010000",
    "domain 1: write to constants: data access fault at 0x00030001",
    "domain 1: read of the kernel: data access fault at 0xfffc0000",
    "domain 1: write to its tables: data access fault at 0xfffe0000",
    "domain 1: write through the kernel's window: data access fault at 0x81110000",
    "domain 1: write to a device: data access fault at 0xe0001000",
    "domain 1: read of the kernel after asking for its mode: data access fault at 0xfffc0000",
    "domain 1: execution of data: execution fault at 0x00020000",
    "domain 1: execution of the kernel: execution fault at 0xfffc0000",
    "domain 1: undefined instruction: usage fault at ",
    "domain 1: read of a system register: usage fault at ",
    "domain 1: write to the ASID: usage fault at ",
    "domain 1: read of a register of ThumbEE: usage fault at ",
    "domain 1: breakpoint: usage fault at ",
    "domain 1: unaligned load of two words: usage fault at ",
    "domain 1: stack pointer elsewhere: stack fault at 0x00300000",
    "a TLB entry of domain 1 locked and unlocked",
    "a way filled and locked",
    "domain 0 has counted on in between",
    "domain 1: 0xb1b1b1b1 at 0x00020000, registers 0x0",
    "domain 0: a call in Arm state, performed again",
    "domain 0: a call in Thumb state, performed again",
    "domain 0: 0xc0de0001 at 0x00030000",
    "another frame there, in the same turn",
    "domain 0: 0xc0de0002 at 0x00030000",
    "its entry locked",
    "domain 0: 0xc0de0002 at 0x00030000",
    "another frame there, in the same turn",
    "domain 0: 0xc0de0001 at 0x00030000",
    "domain 1: 0xb1b1b1b1 at 0x00020000, registers 0x0",
    "end",
];

fn assert_right(lines: &[String], code: Option<i32>) {
    let all = lines.join("\n");
    for (line, wanted) in lines.iter().zip(LINES) {
        assert!(line.strip_prefix("ok   ").is_some_and(|text| text.starts_with(wanted)), "not `{wanted}`:\n{all}");
    }
    assert_eq!((lines.len(), code), (LINES.len(), Some(0)), "{all}");
}

#[test]
fn two_address_spaces_hold_what_the_port_promises() {
    let (lines, code) = run(1);
    assert_right(&lines, code);
}

#[test]
fn the_second_cpu_is_parked_and_changes_nothing() {
    let (lines, code) = run(2);
    assert_right(&lines, code);
}

#[test]
fn boards_lists_it_as_one_on_which_systems_run() {
    let output = cofferdam(&["boards"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |name: &str| said.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{said}"));
    assert!(!line(BOARD).contains("yet"), "{said}");
}
