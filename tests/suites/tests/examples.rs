//! The small examples of the documents, on every board.

use system_tests::{Ran, WITH_M33, cofferdam, root};

#[test]
fn a_domain_owns_a_device_and_its_interrupt() {
    for board in WITH_M33 {
        let ran = Ran::on(board, "examples/device/system.toml", &[]);
        assert_eq!(ran.code, 0, "{}\n{:#}", ran.stderr, ran.report["verdict"]);
        let delivered = ran.report["interrupts"].as_array().into_iter().flatten();
        let delivered = delivered
            .filter(|entry| entry["name"].as_str().is_some_and(|name| name.starts_with("timer1")))
            .filter_map(|entry| entry["count"].as_u64());
        assert!(delivered.sum::<u64>() >= 3, "{:#}", ran.report["interrupts"]);
        // The driver knows the rate of its timer: every board has it fire after 10 ms, but for what a call takes.
        let console = ran.console();
        let intervals = console.lines().filter_map(|line| line.split(' ').rev().nth(5)?.parse::<i32>().ok());
        let intervals: Vec<i32> = intervals.skip(1).collect();
        assert!(!intervals.is_empty() && intervals.iter().all(|us| (us - 10_000).abs() < 200), "{board}: {console}");
    }
}

/// Handlers at 20 kHz and 19 200 baud: the text that the cycles of their stores spell is the manifest's, or the run fails.
#[test]
fn handlers_commutate_and_send_beside_a_database_and_a_storm() {
    let run = || Ran::on("mps2-an505", "examples/commutation/system.toml", &[]);
    let first = run();
    assert_eq!(first.code, 0, "{}\n{:#}", first.stderr, first.report["verdict"]);
    let serial = first.named("outputs", "name", "serial");
    assert_eq!((&serial["broken_frames"]["count"], &serial["sent"]), (&0.into(), &serial["text"]), "{serial:#}");
    // Its handler ran while the motor had lent it the state, and its store to the motor's register was its end.
    let storm = first.named("domains", "name", "storm");
    assert_eq!(storm["faults"], 1, "{storm:#}");
    assert_eq!(first.named("interrupts", "name", "uart1 tx")["latency"]["count"], 21);
    for (name, pulses) in [("timer1 zero", 5500), ("watchdog zero", 5200)] {
        let latency = &first.named("interrupts", "name", name)["latency"];
        assert!(latency["count"].as_u64() >= Some(pulses), "{latency:#}");
        // None waits for anything but another handler of its priority, or a look of the meter.
        let (at_once, count) = (latency["at_once"].as_u64().unwrap(), latency["count"].as_u64().unwrap());
        assert!(at_once * 10 > count * 8, "{latency:#}");
    }
    let budget = &first.named("domains", "name", "motor")["used"]["handlers_budget"];
    assert_eq!(budget["overdrawn"]["count"], 0, "{budget:#}");
    assert!(run().repeatable() == first.repeatable(), "two runs differ");
}

#[test]
fn a_plain_c_program_runs_in_a_system_of_its_own() {
    for board in WITH_M33 {
        // Its heap is larger than the memory of the chip with a Cortex-M33.
        let profile: &[&str] = if board == "mps2-an505" { &["--profile", "an505-8m"] } else { &[] };
        let ran = Ran::on(board, "examples/plain-c/system.toml", profile);
        assert_eq!(ran.code, 0, "{}\n{:#}", ran.stderr, ran.report["verdict"]);
        assert!(ran.console().starts_with("program: "), "{}", ran.console());
    }
}

#[test]
fn a_trace_of_the_last_run_is_one_json_document_with_every_thread() {
    let run = cofferdam(&["run", "examples/hello/system.toml", "--quiet"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let directory = tempfile::TempDir::new().unwrap();
    let out = directory.path().to_string_lossy().into_owned();
    let traced = cofferdam(&["trace", "examples/hello/system.toml", "--last", "--out", &out]);
    assert!(traced.status.success(), "{}", String::from_utf8_lossy(&traced.stderr));
    let text = std::fs::read_to_string(directory.path().join("trace.json")).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().expect("a list of events");
    let named =
        |name: &str| events.iter().any(|event| event["args"]["name"].as_str().is_some_and(|n| n.contains(name)));
    assert!(named("hello") && named("console"), "threads or domains are missing");
}

#[test]
fn the_sdk_flags_are_those_of_the_documents() {
    let printed = cofferdam(&["sdk", "--board", "mps2-an500", "--cflags"]);
    let flags = String::from_utf8_lossy(&printed.stdout).into_owned();
    for flag in ["-mcpu=cortex-m7", "-mfloat-abi=hard", "-mthumb"] {
        assert!(flags.contains(flag), "{flags}");
    }
    assert!(root().join("docs/your-program.md").exists());
}
