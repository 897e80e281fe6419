//! Failures in words.

use units::Rate;

use crate::schema::{Failure, Measure, Report};

/// A failure without a place in the manifest.
pub fn fail(failures: &mut Vec<Failure>, code: &str, text: String, remedy: &str, measure: Option<Measure>) {
    failures.push(Failure { measure, ..failure(code, text, remedy) });
}

/// Time in the unit that suits it: "113.2 us", "12.345 ms".
pub fn time(report: &Report, cycles: u64) -> String {
    let us = Rate::hz(report.run.cpu_hz).us(cycles);
    match us {
        ..10_000.0 => format!("{us:.1} us"),
        _ => format!("{:.3} ms", us / 1e3),
    }
}

/// A point of the run: "12.000 ms".
pub fn moment(report: &Report, cycle: u64) -> String {
    format!("{:.3} ms", cycle as f64 * 1e3 / report.run.cpu_hz.max(1) as f64)
}

/// "once", "3 times".
pub fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// The code that `cofferdam explain` explains.
pub fn explained(code: &str) -> Option<&'static str> {
    Some(match code {
        "violation" | "witness-changed" | "witness-store" => "CF0703",
        "deadline-missed" => "CF0704",
        "kernel-failed" => "CF0705",
        "stale-translation" => "CF0706",
        "unclean-table" => "CF0707",
        "budget-overdrawn" => "CF0708",
        "wcet-exceeded" => "CF0709",
        "response-bound" => "CF0710",
        "gate-bound" => "CF0711",
        "release-late" => "CF0712",
        "tolerance" | "observer-broken" => "CF0713",
        "context-mismatch" => "CF0714",
        "clock-rate" | "clock-unseen" => "CF0716",
        "region-registers" => "CF0717",
        "exit-code" | "run-status" => "CF0718",
        "domain-fault" => "CF0719",
        "domain-stopped" => "CF0724",
        "masked-bound" => "CF0720",
        "run-not-modelled" | "trace-lost" | "trace-strange" => "CF0721",
        "output-text" | "output-sequence" => "CF0722",
        "output-lost" => "CF0723",
        "run-unfinished" => "CF0702",
        _ => return None,
    })
}

pub fn failure(code: &str, text: String, remedy: &str) -> Failure {
    Failure {
        code: code.to_owned(),
        explained: explained(code).map(str::to_owned),
        text,
        remedy: Some(remedy.to_owned()),
        ..Failure::default()
    }
}
