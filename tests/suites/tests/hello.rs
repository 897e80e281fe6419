//! The smallest systems, on every board.

use system_tests::{BOARDS, Ran, cofferdam};

/// The boards whose simulator needs nothing that set-up does not install: models of the soft core are built on request (tests/soft_core.rs).
fn simulated() -> Vec<String> {
    let install = build_tool::Install::find().unwrap();
    let file = |name: &String| install.board_file(name, std::path::Path::new(".")).unwrap();
    install.boards().into_iter().filter(|name| file(name).simulator == runner::Qemu::NAME).collect()
}

#[test]
fn hello_prints_under_its_own_name_and_ends_on_every_board() {
    let boards = simulated();
    assert!(boards.len() > BOARDS.len(), "{boards:?}");
    for board in &boards {
        let ran = Ran::on(board, "examples/hello/system.toml", &[]);
        assert_eq!(ran.code, 0, "{}\n{:#}", ran.stderr, ran.report["verdict"]);
        assert!(ran.console().contains("hello: hello from domain 1 (hello)"), "{}", ran.console());
        assert_eq!(ran.report["violations_total"], 0);
    }
}

#[test]
fn five_runs_of_the_same_image_take_the_same_cycles() {
    for board in BOARDS {
        let run = || Ran::on(board, "examples/hello/system.toml", &["--exact"]).repeatable();
        let first = run();
        for _ in 1..5 {
            let again = run();
            assert_eq!(first["run"]["cycles"], again["run"]["cycles"]);
            assert_eq!(first, again);
        }
    }
}

/// Runs the system on the Cortex-A9 with this under `[hardware]`.
fn with_hardware(keys: &str) -> Ran {
    let (directory, root) = (tempfile::TempDir::new().unwrap(), system_tests::root());
    let path = directory.path().join("system.toml");
    let text = std::fs::read_to_string(root.join("examples/hello/system.toml")).unwrap();
    let hardware = format!("[hardware]\n{keys}\n\n[run]");
    let elsewhere = |name: &str| format!("crate = \"{}", root.join(name).display());
    let text = text.replace("[run]", &hardware);
    std::fs::write(&path, text.replace("crate = \"hello", &elsewhere("examples/hello/hello"))).unwrap();
    let ran = Ran::on("xilinx-zynq-a9", &path.to_string_lossy(), &[]);
    assert_eq!(ran.code, 0, "{}\n{:#}", ran.stderr, ran.report["verdict"]);
    ran
}

#[test]
fn the_processor_reads_ahead_when_the_manifest_says_so() {
    let cycles = |keys| with_hardware(keys).report["run"]["cycles"].as_u64().unwrap();
    let off = cycles("prefetch = false");
    assert_eq!(off, cycles("locked_ways = 0"), "it does not unless it is told to");
    assert_ne!(off, cycles("prefetch = true"));
}

/// Tables are small, and there is more room on the chip than a test could use up: locked ways are all that is used.
#[test]
fn a_system_runs_with_its_tables_in_locked_ways() {
    let ran = with_hardware("locked_ways = 2\nnear_tables = \"locked-ways\"");
    let walks = |domain: &str, place: &str| {
        let counts = &ran.named("domains", "name", domain)["counters"]["translation"];
        ["data_walks", "fetch_walks"].map(|kind| counts[kind][place].as_u64().unwrap()).iter().sum::<u64>()
    };
    const DOMAINS: [&str; 2] = ["hello", "console"];
    for domain in DOMAINS {
        let beside = ["on_chip", "level2", "memory"].map(|place| walks(domain, place));
        assert_eq!(beside, [0; 3], "{domain}");
    }
    // A descriptor that is in the first-level cache is not read from there, so that of a small domain none may be.
    assert!(DOMAINS.iter().any(|domain| walks(domain, "locked_way") > 0));
}

#[test]
fn a_manifest_with_a_wrong_key_is_refused_with_place_and_code() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("system.toml");
    let text = std::fs::read_to_string(system_tests::root().join("examples/hello/system.toml")).unwrap();
    std::fs::write(&path, text.replace("[run]", "[run]\ncolour = \"blue\"")).unwrap();
    let output = cofferdam(&["check", &path.to_string_lossy()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("CF0103") && said.contains("colour"), "{said}");
}
