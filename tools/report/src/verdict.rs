//! Whether a run is what was promised.

mod time;

use crate::schema::{DomainReport, Failure, KernelFailure, Report, Verdict};

/// Judges a report whose other parts are complete. Faults, refused calls and exit codes of domains that the manifest calls hostile are
/// expected; everything else holds for all.
pub fn judge(report: &Report) -> Verdict {
    let mut failures = Vec::new();
    end(report, &mut failures);
    time::judge(report, &mut failures);
    domains(report, &mut failures);
    isolation(report, &mut failures);
    Verdict { ok: failures.is_empty(), failures }
}

fn fail(failures: &mut Vec<Failure>, code: &str, text: String) {
    failures.push(Failure {
        code: code.to_owned(),
        explained: explained(code).map(str::to_owned),
        text,
        ..Failure::default()
    });
}

/// The code that `cofferdam explain` explains.
fn explained(code: &str) -> Option<&'static str> {
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
        _ => return None,
    })
}

fn end(report: &Report, failures: &mut Vec<Failure>) {
    let run = &report.run;
    if !run.finished {
        fail(failures, "run-unfinished", format!("The run did not end as it was meant to: {}.", run.end));
    }
    if let Some(KernelFailure { why, symbol, .. }) = &run.kernel_failure {
        let place = symbol.as_ref().map(|symbol| format!(" in {symbol}")).unwrap_or_default();
        fail(failures, "kernel-failed", format!("The kernel stopped{place}. {why}"));
    } else if let Some(status) = run.status.filter(|&status| status != 0 && !exited_with(report, status)) {
        fail(failures, "run-status", format!("The run ended with status {status}."));
    }
    if !run.modelled {
        fail(failures, "run-not-modelled", "Time was not modelled; no figure in cycles means anything.".to_owned());
    }
    machine(report, failures);
    if run.lost_events > 0 {
        let text = format!("{} of {} trace records are lost.", run.lost_events, run.events + run.lost_events);
        fail(failures, "trace-lost", text);
    }
    if run.strange_events > 0 {
        let text = format!("{} of {} trace records made no sense.", run.strange_events, run.events);
        fail(failures, "trace-strange", text);
    }
    if let (Some(window), Some(bound)) = (&run.longest_masked, run.masked_bound_cycles)
        && window.cycles > bound
    {
        let text = format!("Interrupts were masked for {} cycles; the bound is {bound}.", window.cycles);
        fail(failures, "masked-bound", text);
    }
}

/// Whether a domain's own exit code, which is told beside its name, is the run's status.
fn exited_with(report: &Report, status: i64) -> bool {
    report.domains.iter().any(|domain| !domain.hostile && domain.exit_code.map(i64::from) == Some(status))
}

/// Whether the machine is what the files of its board and core say.
fn machine(report: &Report, failures: &mut Vec<Failure>) {
    let run = &report.run;
    if let Some(seen) = run.seen_ticks_per_second.filter(|seen| !agrees(*seen, run.ticks_per_second)) {
        let text = format!(
            "The kernel's clock went at {seen} ticks a second; the board's file says {}. Every time in the system is wrong by so much.",
            run.ticks_per_second
        );
        fail(failures, "clock-rate", text);
    }
    // The kernel reads its clock at each interrupt of its timer, and at the start: a run without such an interrupt is too short to tell.
    if let (Some(reads), Some(interrupts)) = (run.clock_reads, run.timer_interrupts)
        && reads < interrupts
    {
        let text = format!(
            "The kernel was seen to read its clock {reads} times in {interrupts} interrupts of its timer, at each of which it reads it: the clock's register is another one than the files say, and nobody has compared its rate."
        );
        fail(failures, "clock-unseen", text);
    }
    if let (Some(seen), Some(said)) = (run.seen_regions, run.regions)
        && seen != said
    {
        let text = format!("The processor has {seen} region registers; its core's file says {said}.");
        fail(failures, "region-registers", text);
    }
}

/// Whether two rates differ by a hundredth at most: a read is a tick, and a block of instructions, away from where it is stamped.
fn agrees(seen: u64, said: u64) -> bool {
    seen.abs_diff(said) <= said / 100
}

fn domains(report: &Report, failures: &mut Vec<Failure>) {
    for domain in report.domains.iter().filter(|domain| !domain.hostile) {
        let DomainReport { name, faults, .. } = domain;
        if *faults > 0 {
            fail(failures, "domain-fault", format!("Domain {name} faulted {faults} times."));
        }
        if let Some(code) = domain.exit_code.filter(|&code| code != 0) {
            fail(failures, "exit-code", format!("Domain {name} exited with {}.", code as i32));
        }
    }
}

/// Says what was wrong with translation, each kind once with its first case. How many cases of all kinds are listed.
fn translation(report: &Report, failures: &mut Vec<Failure>) -> u64 {
    let mut listed = 0;
    for code in ["stale-translation", "unclean-table"] {
        let cases = report.violations.iter().filter_map(|violation| Some((violation, violation.broken.as_ref()?)));
        let mut cases = cases.filter(|(_, broken)| broken.failure == code);
        let Some((first, broken)) = cases.next() else { continue };
        let count = 1 + cases.count() as u64;
        listed += count;
        let place = first.symbol.as_ref().map_or(String::new(), |symbol| format!(" in {symbol}"));
        let text = format!(
            "{count} times: {}; first at {:#010x}{place}, address {:#010x} of space {}. Rule: {}. Remedy: {}.",
            first.kind, first.pc, first.address, broken.space, broken.rule, broken.remedy
        );
        fail(failures, code, text);
    }
    listed
}

fn isolation(report: &Report, failures: &mut Vec<Failure>) {
    let broken = translation(report, failures);
    if report.violations_total > broken {
        let text = format!("{} accesses happened that must not have happened.", report.violations_total - broken);
        fail(failures, "violation", text);
    }
    let witness = &report.witness;
    if witness.changed_slices > 0 {
        let text = format!("Memory of other domains changed in {} slices of a hostile domain.", witness.changed_slices);
        fail(failures, "witness-changed", text);
    }
    if witness.stores_outside > 0 {
        let text = format!("Hostile domains completed {} stores outside their own memory.", witness.stores_outside);
        fail(failures, "witness-store", text);
    }
}
