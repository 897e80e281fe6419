//! Whether a run is what was promised.

mod notes;
mod text;
pub(crate) mod time;

use text::{fail, failure, moment, time, times};

use crate::schema::{DomainReport, Failure, FaultReport, KernelFailure, Measure, Report, Stopped, Verdict};

/// Status of a run whose awaited domain faulted and is not restarted (`FAULTED` of the kernel).
const FAULTED: u32 = 0xfa;

/// Judges a report whose other parts are complete. Faults, refused calls and exit codes of domains that the manifest calls hostile are
/// expected; everything else holds for all.
pub fn judge(report: &Report) -> Verdict {
    let mut failures = Vec::new();
    end(report, &mut failures);
    self::time::judge(report, &mut failures);
    domains(report, &mut failures);
    outputs(report, &mut failures);
    printed(report, &mut failures);
    isolation(report, &mut failures);
    let image = report.provenance.as_ref().and_then(|from| from.image_hash.clone());
    Verdict { ok: failures.is_empty(), failures, image, notes: notes::of(report) }
}

fn end(report: &Report, failures: &mut Vec<Failure>) {
    let run = &report.run;
    if !run.finished {
        let text = format!("The run did not end as it was meant to: {}.", run.end);
        let remedy = "see in the report's timeline what the awaited domains waited for, or give `[run] limit` more";
        fail(failures, "run-unfinished", text, remedy, None);
    }
    if let Some(KernelFailure { why, symbol, .. }) = &run.kernel_failure {
        let place = symbol.as_ref().map(|symbol| format!(" in {symbol}")).unwrap_or_default();
        let remedy = "no program can do this if the kernel is right: report it, with the manifest";
        fail(failures, "kernel-failed", format!("The kernel stopped{place}. {why}"), remedy, None);
    } else if let Some(status) = run.status.filter(|&status| status != 0 && !is_told(report, status)) {
        let text = format!("The run ended with status {status}.");
        let remedy = "see what the awaited domains print and which of them ended first with this code";
        let measure = u64::try_from(status).ok().map(|status| Measure::count(status, 0, "status"));
        fail(failures, "run-status", text, remedy, measure);
    }
    if !run.modelled {
        let text = "Time was not modelled; no figure in cycles means anything.".to_owned();
        fail(failures, "run-not-modelled", text, "run it without `--fallback`", None);
    }
    machine(report, failures);
    records(report, failures);
    if let (Some(window), Some(bound)) = (&run.longest_masked, run.masked_bound_cycles)
        && window.cycles > bound
    {
        let place = window.symbol.as_ref().map(|symbol| format!(" in {symbol}")).unwrap_or_default();
        let text = format!(
            "Interrupts were masked for {} from {} on{place}, bound {}, over by {}.",
            time(report, window.cycles),
            moment(report, window.at),
            time(report, bound),
            time(report, window.cycles - bound)
        );
        let remedy = "the board's file bounds the kernel's paths too low, or one became longer: `cofferdam costs`";
        fail(failures, "masked-bound", text, remedy, Some(Measure::cycles(window.cycles, bound, 0)));
    }
}

/// Whether a status of the run is one that a domain's own failure says.
fn is_told(report: &Report, status: i64) -> bool {
    let own = report.domains.iter().filter(|domain| !domain.hostile);
    let of = |domain: &DomainReport| {
        // Of the machine's status eight bits are left.
        domain.exit_code.is_some_and(|code| i64::from(code & 0xff) == status & 0xff)
            || (domain.faults > 0 && status == i64::from(FAULTED))
    };
    own.into_iter().any(of)
}

/// Whether the record of the run is whole.
fn records(report: &Report, failures: &mut Vec<Failure>) {
    let run = &report.run;
    let remedy =
        "the files of the run are damaged, or the observer is wrong: run it again, and report it if that does not help";
    if run.lost_events > 0 {
        let text = format!("{} of {} trace records are lost.", run.lost_events, run.events + run.lost_events);
        fail(failures, "trace-lost", text, remedy, Some(Measure::count(run.lost_events, 0, "records")));
    }
    if run.strange_events > 0 {
        let text = format!("{} of {} trace records made no sense.", run.strange_events, run.events);
        fail(failures, "trace-strange", text, remedy, Some(Measure::count(run.strange_events, 0, "records")));
    }
}

/// Whether the machine is what the files of its board and core say.
fn machine(report: &Report, failures: &mut Vec<Failure>) {
    let run = &report.run;
    if let Some(seen) = run.seen_ticks_per_second.filter(|seen| !agrees(*seen, run.ticks_per_second)) {
        let text = format!(
            "The kernel's clock went at {seen} ticks a second; the board's file says {}. Every time in the system is wrong by so much.",
            run.ticks_per_second
        );
        let remedy = "correct `ticks_per_second` in the board's file, or the driver of the clock";
        fail(
            failures,
            "clock-rate",
            text,
            remedy,
            Some(Measure {
                tolerance: run.ticks_per_second / 100,
                ..Measure::count(seen, run.ticks_per_second, "ticks per second")
            }),
        );
    }
    // The kernel reads its clock at each interrupt of its timer, and at the start: a run without such an interrupt is too short to tell.
    if let (Some(reads), Some(interrupts)) = (run.clock_reads, run.timer_interrupts)
        && reads < interrupts
    {
        let text = format!(
            "The kernel was seen to read its clock {reads} times, although its timer interrupted {interrupts} times and it reads the clock at each interrupt. So the clock's register is not where the files say, and its rate was not compared."
        );
        let remedy = "correct `offset` of `[image]` in the core's file, or `clock` in the board's";
        fail(failures, "clock-unseen", text, remedy, Some(Measure::count(reads, interrupts, "reads")));
    }
    if let (Some(seen), Some(said)) = (run.seen_regions, run.regions)
        && seen != said
    {
        let text = format!("The processor has {seen} region registers; its core's file says {said}.");
        let remedy = "correct `regions` in the core's file, or choose the board of another core";
        fail(failures, "region-registers", text, remedy, Some(Measure::count(seen.into(), said.into(), "registers")));
    }
}

/// Whether two rates differ by a hundredth at most: a read is a tick, and a block of instructions, away from where it is stamped.
fn agrees(seen: u64, said: u64) -> bool {
    seen.abs_diff(said) <= said / 100
}

fn remedy_of(fault: Option<&FaultReport>) -> &'static str {
    match fault {
        Some(fault) if fault.handlers_of.is_some() => {
            "declare a bound that holds with the handlers, give them less time, or let a counter charge it to them (docs/interrupts.md)"
        }
        Some(fault) if fault.kind == "gate overrun" => {
            "see what the caller asks for, and in what state it leaves what it hands over: then make the call shorter, or declare a larger bound"
        }
        Some(fault) if fault.what.contains("overflowed") || fault.what.contains("the stack pointer left") => {
            "give the thread a larger stack: `stack` in the manifest (docs/manifest.md), `--stack` for a program alone"
        }
        _ => {
            "correct the program at the place of its fault; `hostile = true` is for a domain that is expected to attack"
        }
    }
}

/// A hostile domain has stopped another: the manifest lets it, but what the other promised is not kept from then on.
fn stopped(report: &Report, domain: &DomainReport) -> Option<Failure> {
    let Stopped { by, at } = domain.stopped?;
    let by = report.domains.iter().find(|other| other.index == by && other.hostile)?;
    let (name, by) = (&domain.name, &by.name);
    let text = format!("{by}, which is hostile, stopped {name} at {}, and nobody restarted it.", moment(report, at));
    let remedy =
        "take the right to write (`w`) from its capability for the domain, or have a supervisor restart what it stops";
    Some(Failure { place: Some(format!("domain.{name}")), at: Some(at), ..failure("domain-stopped", text, remedy) })
}

fn domains(report: &Report, failures: &mut Vec<Failure>) {
    for domain in report.domains.iter().filter(|domain| !domain.hostile) {
        let DomainReport { name, faults, .. } = domain;
        if *faults > 0 {
            let first = report.faults.iter().find(|fault| fault.domain == domain.index);
            let at = first.map_or(String::new(), |first| format!(", first at {}", moment(report, first.at)));
            // A call that took too long is its caller's matter, too, and that of who has interrupted it.
            let overrun = first.filter(|first| first.kind == "gate overrun").map(|first| format!(": {}", first.text));
            let text = format!("{name} faulted {}{at}{}.", times(*faults), overrun.unwrap_or_default());
            failures.push(Failure {
                place: Some(format!("domain.{name}")),
                at: first.map(|first| first.at),
                measure: Some(Measure::count(*faults, 0, "faults")),
                ..failure("domain-fault", text, remedy_of(first))
            });
        }
        failures.extend(stopped(report, domain));
        if let Some(code) = domain.exit_code.filter(|&code| code != 0) {
            failures.push(Failure {
                place: Some(format!("domain.{name}")),
                measure: Some(Measure::count(code.into(), 0, "exit code")),
                ..failure(
                    "exit-code",
                    format!("{name}: exited with code {}.", code as i32),
                    "see what it printed; 0 says that a program has done its work",
                )
            });
        }
    }
}

/// Registers whose stores were recorded show what the manifest expects.
fn outputs(report: &Report, failures: &mut Vec<Failure>) {
    for output in &report.outputs {
        let (name, broken) = (&output.output.name, output.broken_frames);
        let place = Some(format!("run.output.{name}"));
        let sent = output.output.text.as_ref().filter(|text| output.sent.as_ref() != Some(text));
        if let Some(text) = sent {
            let sent = output.sent.as_deref().unwrap_or_default();
            let text = format!("{name} sent {sent:?}, not {text:?}; {} broken.", counted(broken.count, "frame"));
            let remedy = "correct the program, or `text` in the manifest";
            failures.push(Failure {
                place: place.clone(),
                at: broken.first_at,
                ..failure("output-text", text, remedy)
            });
        }
        let stray = output.out_of_sequence;
        if stray.count > 0 {
            let text = format!("{name} had {} out of its sequence.", counted(stray.count, "value"));
            let remedy = "correct the program, or `sequence` in the manifest";
            failures.push(Failure { place, at: stray.first_at, ..failure("output-sequence", text, remedy) });
        }
    }
}

/// The console has printed what programs have written that have ended.
fn printed(report: &Report, failures: &mut Vec<Failure>) {
    for unprinted in report.unprinted.iter().filter(|unprinted| unprinted.ended) {
        let domain = report.domains.iter().find(|domain| domain.index == unprinted.domain && !domain.hostile);
        let Some(DomainReport { name, .. }) = domain else { continue };
        let text = format!(
            "{name} had ended, and the console had not printed its last {} when the run ended.",
            counted(unprinted.writes, "write")
        );
        let remedy =
            "call `cof_console_drain` before the program ends by itself, or give the console more of the processor";
        failures.push(Failure {
            place: Some(format!("domain.{name}")),
            measure: Some(Measure::count(unprinted.writes, 0, "writes")),
            ..failure("output-lost", text, remedy)
        });
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
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
            "{count} times: {}; first at {:#010x}{place}, address {:#010x} of space {}. Rule: {}.",
            first.kind, first.pc, first.address, broken.space, broken.rule
        );
        failures.push(Failure {
            at: Some(first.at),
            measure: Some(Measure::count(count, 0, "cases")),
            ..failure(code, text, &broken.remedy)
        });
    }
    listed
}

/// Remedy when a domain has left its memory.
const ESCAPED: &str = "no program can do this if the kernel is right: report it, with the system";

fn isolation(report: &Report, failures: &mut Vec<Failure>) {
    let broken = translation(report, failures);
    if report.violations_total > broken {
        let text = format!("{} accesses happened that must not have happened.", report.violations_total - broken);
        let remedy = "see `violations` of the report: the emulator let through what silicon denies";
        fail(
            failures,
            "violation",
            text,
            remedy,
            Some(Measure::count(report.violations_total - broken, 0, "accesses")),
        );
    }
    let witness = &report.witness;
    if witness.changed_slices > 0 {
        let text = format!("Memory of other domains changed in {} slices of a hostile domain.", witness.changed_slices);
        fail(failures, "witness-changed", text, ESCAPED, Some(Measure::count(witness.changed_slices, 0, "slices")));
    }
    if witness.stores_outside > 0 {
        let text = format!("Hostile domains completed {} stores outside their own memory.", witness.stores_outside);
        fail(failures, "witness-store", text, ESCAPED, Some(Measure::count(witness.stores_outside, 0, "stores")));
    }
}
