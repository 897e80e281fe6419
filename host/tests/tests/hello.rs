//! The smallest systems, on every board.

use system_tests::{BOARDS, Ran, cofferdam};

#[test]
fn hello_prints_under_its_own_name_and_ends() {
    for board in BOARDS {
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
