//! A million random calls on the host, a hundred thousand on the chip, ten thousand deaths.

use std::process::Command;

use serde_json::Value;
use system_tests::attacks::Evidence;
use system_tests::{cofferdam, root, target_dir};

/// Runs a system of the attack suite; the verdict is that nobody was harmed.
fn run(system: &str, manifest: &str) -> Evidence {
    let output = cofferdam(&["run", &format!("tests/attacks/{manifest}"), "--quiet"]);
    let evidence = Evidence::read(&target_dir().join("cofferdam").join(system));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(evidence.failures.is_empty(), "{:#}\n{said}", evidence.report["verdict"]);
    assert!(evidence.report["witness"]["checked_slices"].as_u64() > Some(100), "{:#}", evidence.report["witness"]);
    evidence
}

/// Markers of a domain with an id.
fn marks(report: &Value, id: u64) -> &Value {
    let found = report["marks"].as_array().into_iter().flatten().find(|mark| mark["id"] == id);
    found.unwrap_or_else(|| panic!("no marker {id} in {:#}", report["marks"]))
}

/// Runs a test of the kernel in an optimised build, and returns what it printed.
fn kernel_test(name: &str) -> String {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["test", "--release", "-p", "cofferdam-kernel", "--lib", "--target-dir"])
        .arg(target_dir())
        .args(["--", "--nocapture", "--exact", name])
        .env("COFFERDAM_FUZZ_CALLS", "1000000")
        .current_dir(root())
        .output()
        .expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

#[test]
fn a_million_random_calls_break_nothing_on_the_host() {
    let said = kernel_test("tests::fuzz::random_domains_break_nothing");
    let counted = said.lines().find(|line| line.ends_with(" systems")).expect("the number of calls");
    let calls: u64 = counted.split(' ').next().and_then(|number| number.parse().ok()).expect("a number");
    println!("{counted}");
    assert!(calls >= 1_000_000, "{counted}");
}

#[test]
fn ten_thousand_deaths_leak_nothing_on_the_host() {
    let said = kernel_test("tests::lives::ten_thousand_deaths_leak_nothing");
    assert!(said.contains("10000 lives"), "{said}");
}

#[test]
fn a_hundred_thousand_random_calls_break_nothing_on_the_chip() {
    let evidence = run("random", "random.toml");
    let calls = marks(&evidence.report, 6)["count"].as_u64().unwrap_or(0) * 1000;
    println!("{calls} calls in {:.2} s of modelled time", evidence.seconds);
    assert!(calls >= 100_000, "{calls} calls");
}

#[test]
fn ten_thousand_deaths_leak_nothing_on_the_chip() {
    let evidence = run("mortal", "restarts.toml");
    let mortal = evidence.report["domains"].as_array().into_iter().flatten().find(|domain| domain["name"] == "mortal");
    let mortal = mortal.expect("the domain");
    assert_eq!((mortal["faults"].as_u64(), mortal["restarts"].as_u64()), (Some(10_000), Some(10_000)), "{mortal:#}");
    println!("10000 restarts in {:.2} s of modelled time", evidence.seconds);
    evidence.same_in_every_life(8);
    evidence.same_in_every_life(9);
}
