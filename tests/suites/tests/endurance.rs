//! Defects that show only after many deaths or many random calls. `make test` has deaths on the host and hostile cases on each chip; `make test-long` adds a
//! million random calls on the host, and calls and deaths on each chip.

use std::process::Command;

use serde_json::Value;
use system_tests::attacks::{Evidence, fuzz};
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
        .args(["test", "--release", "-p", "cofferdam-kernel", "-p", "cofferdam-features", "--lib", "--target-dir"])
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
#[ignore = "for `make test-long`: scripts/test.sh endurance_long"]
fn a_million_random_calls_break_nothing_on_the_host() {
    let said = kernel_test("tests::fuzz::random_domains_break_nothing");
    let counted = said.lines().find(|line| line.ends_with(" systems")).expect("the number of calls");
    let calls: u64 = counted.split(' ').next().and_then(|number| number.parse().ok()).expect("a number");
    println!("{counted}");
    assert!(calls >= 1_000_000, "{counted}");
}

/// Runs random calls, and at least so many.
fn random_calls(system: &str, manifest: &str, least: u64) {
    let evidence = run(system, manifest);
    let calls = marks(&evidence.report, 6)["count"].as_u64().unwrap_or(0) * 1000;
    println!("{calls} calls in {:.2} s of modelled time", evidence.seconds);
    assert!(calls >= least, "{calls} calls");
}

/// Runs a domain that dies so often.
fn deaths(system: &str, manifest: &str, lives: u64) {
    let evidence = run(system, manifest);
    let mortal = evidence.report["domains"].as_array().into_iter().flatten().find(|domain| domain["name"] == "mortal");
    let mortal = mortal.expect("the domain");
    assert_eq!((mortal["faults"].as_u64(), mortal["restarts"].as_u64()), (Some(lives), Some(lives)), "{mortal:#}");
    println!("{lives} restarts in {:.2} s of modelled time", evidence.seconds);
    evidence.same_in_every_life(8);
    evidence.same_in_every_life(9);
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh endurance_long"]
fn a_hundred_thousand_random_calls_break_nothing_on_the_chip() {
    random_calls("random", "random.toml", 100_000);
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh endurance_long"]
fn twenty_thousand_random_calls_break_nothing_where_there_are_page_tables() {
    random_calls("random-a9", "random-a9.toml", 20_000);
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh endurance_long"]
fn five_thousand_random_calls_break_nothing_on_armv8_m() {
    random_calls("random-m33", "random-m33.toml", 5000);
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh endurance_long"]
fn ten_thousand_deaths_leak_nothing_on_the_chip() {
    deaths("mortal", "restarts.toml", 10_000);
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh endurance_long"]
fn a_thousand_deaths_leak_nothing_where_there_are_page_tables() {
    deaths("mortal-a9", "restarts-a9.toml", 1000);
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh endurance_long"]
fn a_thousand_deaths_leak_nothing_on_armv8_m() {
    deaths("mortal-m33", "restarts-m33.toml", 1000);
}

/// Runs two hostile domains that draw cases beyond calls from a seed: nobody else is harmed, and nothing of anybody else's is found.
fn fuzzed(system: &str, manifest: &str, kinds: &[&str]) {
    let run = fuzz::run(system, manifest);
    let (tried, cases) = (&run.tried, run.tried.cases());
    println!(
        "{cases} cases in {} lives of each domain, {} encodings, in {:.2} s of modelled time: {:?}",
        run.lives,
        tried.encodings.len(),
        run.evidence.seconds,
        tried.kinds
    );
    assert!(tried.leaks.is_empty(), "found in registers: {:x?}", tried.leaks);
    for domain in run.hostile() {
        assert_eq!(domain["restarts"].as_u64(), Some(run.lives - 1), "{domain:#}");
    }
    assert_eq!(run.hostile().count(), 2);
    // A few lives that are had again have not seen everything.
    if run.lives >= 100 {
        let witness = &run.evidence.report["witness"];
        assert!(witness["checked_slices"].as_u64() > Some(100), "{witness:#}");
        // A life has one case at least, and each kind has its share.
        assert!(cases >= 2 * run.lives, "{cases} cases");
        let share = |kind: &&str| tried.kinds.get(*kind).copied().unwrap_or(0) * 100 >= cases;
        assert!(kinds.iter().all(share), "{:?}", tried.kinds);
    }
}

#[test]
fn fuzz_beyond_calls_breaks_nothing_on_the_chip() {
    fuzzed("fuzz", "fuzz.toml", &["thumb", "gadget", "branch", "waiting", "interrupted", "exchange"]);
}

#[test]
fn fuzz_beyond_calls_breaks_nothing_where_there_are_page_tables() {
    fuzzed("fuzz-a9", "fuzz-a9.toml", &["thumb", "arm", "gadget", "branch", "waiting", "interrupted", "exchange"]);
}

#[test]
fn fuzz_beyond_calls_breaks_nothing_on_armv8_m() {
    fuzzed("fuzz-m33", "fuzz-m33.toml", &["thumb", "gadget", "branch", "waiting", "interrupted", "exchange"]);
}
