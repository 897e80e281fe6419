//! Messages about faults: one system whose domains fault in every way, word by word.

use serde_json::Value;
use system_tests::{BOARDS, cofferdam};
use tempfile::TempDir;

const SYSTEM: &str = "tests/faults/system.toml";

/// The command's output, and the report.
struct Told {
    code: Option<i32>,
    lines: Vec<String>,
    report: Value,
}

fn run(board: &str, more: &[&str]) -> Told {
    let directory = TempDir::new().unwrap();
    let out = directory.path().to_string_lossy().into_owned();
    let output = cofferdam(&[&["run", SYSTEM, "--board", board, "--out", &out], more].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let report = std::fs::read_to_string(directory.path().join("report.json")).unwrap_or_else(|error| {
        panic!("no report: {error}\n{}", String::from_utf8_lossy(&output.stderr));
    });
    Told {
        code: output.status.code(),
        lines: text.lines().map(steady).collect(),
        report: serde_json::from_str(&report).unwrap(),
    }
}

/// The line without addresses that depend on where the tool has placed a domain: those of more than four digits.
fn steady(line: &str) -> String {
    let mut parts = line.split("0x");
    let mut steady = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(part.len());
        steady += if digits > 4 { "ADDRESS" } else { "0x" };
        steady += if digits > 4 { &part[digits..] } else { part };
    }
    steady
}

fn faults(told: &Told) -> Vec<&str> {
    told.lines.iter().map(String::as_str).filter(|line| line.starts_with("fault")).collect()
}

const BOTTOM: &str = "from main() ways.c:99";

/// The messages about every domain but the one whose stack overflows, the hostile one and the one in Rust, on every board.
fn expected() -> Vec<String> {
    let known = [
        ("null: write to 0x0 in deep() ways.c:11, from way() ways.c:15", "no area here; null pointer?"),
        ("constant: write to ADDRESS in way() ways.c:21", "`code` is read-only"),
        ("code: execution at ADDRESS in way() ways.c:27", "`data` is not executable"),
        ("call: execution at 0x0 in way() ways.c:32", "no area here; null pointer?"),
        ("privileged: privileged instruction in way() ways.c:46", "domains run unprivileged"),
        ("peek: read from ADDRESS in way() ways.c:81", "`data` of domain owner"),
    ];
    let lines = known.map(|(what, why)| format!("fault: {what}, {BOTTOM}: {why}"));
    lines.into_iter().chain([format!("fault: unaligned: unaligned read in way() ways.c:56, {BOTTOM}")]).collect()
}

#[test]
fn every_fault_says_who_what_where_and_why_on_every_board() {
    for board in BOARDS {
        let told = run(board, &[]);
        let faults = faults(&told);
        for line in expected() {
            assert!(faults.contains(&line.as_str()), "{board}: `{line}` is not in\n{}", faults.join("\n"));
        }
        let of = |domain: &str| {
            let found = faults.iter().find(|line| line.contains(&format!(": {domain}: ")));
            *found.unwrap_or_else(|| panic!("{board}: nothing of {domain} in\n{}", faults.join("\n")))
        };
        let overflow = of("overflow");
        assert!(overflow.starts_with("fault: overflow: stack of overflow.main (2 KiB) overflowed by "), "{overflow}");
        assert!(overflow.contains("recurse() ways.c:"), "{overflow}");
        let rust = of("rust");
        assert!(
            rust.starts_with("fault: rust: write to 0x0 in ") && rust.contains("crate::innermost() main.rs:12"),
            "{rust}"
        );
        assert!(rust.contains("crate::outer() main.rs:17"), "{rust}");
        assert!(of("hostile").starts_with("fault (hostile): hostile: "));
        assert!(told.lines.contains(&"not as promised: owner: exited with code 3 (CF0718, domain.owner)".to_owned()));
        assert!(
            told.lines.last().is_some_and(|line| line.starts_with("FAIL: 11 failures, first CF07")),
            "{:?}",
            told.lines
        );
        assert_eq!(told.code, Some(1));
        in_the_report(&told);
    }
}

/// The core does not tell a privileged instruction from an undefined one, nor an unaligned atomic from one at the end of an area. Each domain has its own memory
/// at the addresses of others: nobody peeks.
#[test]
fn every_fault_says_who_what_where_and_why_on_the_soft_core() {
    let told = run("ibex-rtmmu", &[]);
    let faults = faults(&told);
    let differ = ["privileged", "peek", "unaligned"];
    let same =
        expected().into_iter().filter(|line| !differ.iter().any(|name| line.starts_with(&format!("fault: {name}"))));
    for line in same.chain([
        format!("fault: privileged: undefined instruction in way() ways.c:44, {BOTTOM}"),
        format!(
            "fault: unaligned: access to ADDRESS in way() ways.c:54, {BOTTOM}: it leaves `data`, or is not aligned"
        ),
    ]) {
        assert!(faults.contains(&line.as_str()), "`{line}` is not in\n{}", faults.join("\n"));
    }
    let of = |start: &str| faults.iter().find(|line| line.starts_with(start));
    let overflow = of("fault: overflow: stack of overflow.main (2 KiB) overflowed by ");
    assert!(overflow.is_some_and(|line| line.contains(", from recurse() ways.c:64")), "{}", faults.join("\n"));
    assert!(of("fault: rust: write to 0x0 in ").is_some_and(|line| line.contains("crate::outer() main.rs:17")));
    assert!(of("fault: peek: ").is_none());
    assert!(
        told.lines.last().is_some_and(|line| line.starts_with("FAIL: 10 failures, first CF07")),
        "{:?}",
        told.lines
    );
}

/// The same, in fields.
fn in_the_report(told: &Told) {
    let domain = |name: &str| told.report["domains"].as_array().unwrap().iter().find(|d| d["name"] == name).unwrap();
    let fault = |name: &str| {
        let index = &domain(name)["index"];
        told.report["faults"].as_array().unwrap().iter().find(|fault| fault["domain"] == *index).unwrap()
    };
    let null = fault("null");
    assert_eq!((&null["access"], &null["reason"]), (&"write".into(), &"no area here; null pointer?".into()));
    let calls: Vec<_> =
        null["calls"].as_array().unwrap().iter().map(|call| (&call["function"], &call["line"])).collect();
    assert_eq!(calls[..2], [(&"deep".into(), &11.into()), (&"way".into(), &15.into())], "{null:#}");
    let inlined: Vec<_> = fault("rust")["calls"].as_array().unwrap().iter().map(|call| &call["inlined"]).collect();
    assert_eq!(inlined[..4], [true, true, true, false], "{:#}", fault("rust"));
    let failures = told.report["verdict"]["failures"].as_array().unwrap();
    let exit = failures.iter().find(|failure| failure["code"] == "exit-code").unwrap();
    assert_eq!((&exit["value"], &exit["limit"], &exit["unit"]), (&3.into(), &0.into(), &"exit code".into()));
    assert!(failures.iter().all(|failure| failure["explained"].is_string() && failure["remedy"].is_string()));
}

#[test]
fn who_asks_for_quiet_is_told_why_it_failed() {
    let told = run(BOARDS[0], &["--quiet"]);
    assert!(faults(&told).iter().all(|line| !line.contains("hostile")), "what is expected is no reason");
    assert!(told.lines.iter().any(|line| line.starts_with("fault: null: write to 0x0 in deep()")));
    assert!(told.lines.last().is_some_and(|line| line.starts_with("FAIL: ")), "{:?}", told.lines);
}
