//! `cofferdam run`: build, boot, run, report.

use build_tool::{Built, Install, machine, prepare};
use manifest::Diagnostic;
use record::EndReason;
use runner::{Go, Outcome as Ran, RunError};
use serde_json::json;
use units::Rate;

use super::{build_system, instead, load, one, program};
use crate::cli;
use crate::output::{INTERRUPTED, NOT_AS_PROMISED, OK, Outcome, Output};
use crate::provenance;
use crate::verbs::outside;
use crate::verbs::results::{Files, write_report};

/// Runs a system, or a program in a domain of its own.
pub fn run(args: &cli::Run, output: &mut Output) -> Outcome {
    let install = Install::find_for(&args.subject).map_err(one)?;
    let (built, ran) = build_and_run(&install, args, output)?;
    if ran.summary.end.reason == EndReason::Killed {
        output.say("interrupted; no report was written");
        return Ok(INTERRUPTED);
    }
    let files = Files::new(&built.dir, args.out.as_deref());
    let report = write_report(&built.description, &ran, &files, output).map_err(one)?;
    tell(&built, &ran, &report, output);
    output.say(format!("report: {}", files.html.display()));
    output.field("report_json", json!(files.json));
    output.field("report_html", json!(files.html));
    output.field("verdict", json!(report.verdict));
    let failed = failures(&built, &ran, &report, args);
    conclude(&built.loaded.document.manifest.system.name, &report, &failed, output);
    if failed.is_empty() {
        return Ok(if report.verdict.ok { OK } else { NOT_AS_PROMISED });
    }
    Err(failed)
}

/// Builds and runs; the run's files are in the system's directory.
pub fn build_and_run(install: &Install, args: &cli::Run, output: &mut Output) -> Result<(Built, Ran), Vec<Diagnostic>> {
    let mut loaded = if program::is_program(&args.subject) {
        program::system(install, args)?
    } else {
        program::none_for_a_system(args)?;
        load(install, &args.subject, instead(&args.board, &args.profile))?
    };
    loaded.document.manifest.run.limit = args.limit.unwrap_or(loaded.document.manifest.run.limit);
    loaded.admit(!args.no_budgets)?;
    if let Some(out) = &args.out {
        Files::new(out, None).can_be_written().map_err(one)?;
    }
    // A missing QEMU is told before anything is built.
    let find = if args.fallback { runner::find_fallback } else { runner::find };
    let simulator = find(&loaded.board.simulator).map_err(|e| one(wrong(&e)))?;
    if args.waves.is_some() && !simulator.has_signals() {
        return Err(one(wrong(&RunError::NoSignals)));
    }
    if args.adverse && !simulator.can_be_adverse() {
        return Err(one(wrong(&RunError::NotAdverse)));
    }
    let machine = machine(&loaded.board);
    let machine = if args.waves.is_some() { machine.with_waves() } else { machine };
    simulator.has(&machine).map_err(|e| one(wrong(&e)))?;
    let built = build_system(install, loaded, !args.no_budgets, output)?;
    runner::stop_on_interrupt();
    let mut run = prepare(&built, args.exact).map_err(|e| one(wrong(&e)))?;
    run.watch.adverse = args.adverse;
    (run.machine, run.watch.waves) = (machine, args.waves.clone());
    let name = built.loaded.document.manifest.system.name.clone();
    let cpu_hz = built.loaded.profile.cpu_hz().max(1) as f64;
    let uart = run.directory.join("uart.txt");
    let time = if built.loaded.profile.is_modelled { "modelled" } else { "exact" };
    let mut progress = |at: runner::Progress| {
        output.console(&uart, false);
        output.progress(format!(
            "{name}: {:.3} s {time}, {} M instructions",
            at.cycles as f64 / cpu_hz,
            at.instructions / 1_000_000
        ));
        Go::On
    };
    let ran = run.start(&*simulator, &mut progress).map_err(|e| one(wrong(&e)));
    output.end_progress();
    let ran = ran?;
    provenance::keep(install, &built, &args.subject, &ran.summary_path);
    if let Some(waves) = &args.waves {
        tell_waves(waves, &ran, output);
    }
    Ok((built, ran))
}

/// The file of waveforms, or why there is none.
fn tell_waves(waves: &record::WavesWatch, ran: &Ran, output: &mut Output) {
    let end = ran.summary.cycles;
    if end <= waves.from {
        output.insist(format!("no waveform: the run ended in cycle {end}, before cycle {}", waves.from));
        return;
    }
    let file = ran.summary_path.with_file_name("waves.fst");
    output.say(format!("waveform: {} (cycles {} to {})", file.display(), waves.from, end.min(waves.to)));
    output.field("waveform", json!(file));
}

/// The diagnostic of an error before or in a run.
pub fn wrong(error: &RunError) -> Diagnostic {
    let (code, rule) = match error {
        RunError::ProgramMissing(_) => ("CF0602", "systems run under QEMU"),
        RunError::ProgramVersion { .. } | RunError::ProgramUnknown(..) => {
            ("CF0603", "the plug-in steers the clock of QEMU 10.0")
        }
        RunError::SimulatorUnknown { .. } => ("CF0605", "a board states the simulator that executes its images"),
        RunError::PluginMissing(_) => ("CF0605", "the plug-in is built beside the command"),
        RunError::ObserverMissing(_) => ("CF0605", "the soft core's observer is built beside the command"),
        RunError::ModelMissing { .. } => ("CF0602", "systems on the soft core run on its Verilated model"),
        RunError::NoFallback(_) => ("CF0602", "a fall-back is for models of time"),
        RunError::NoSignals => ("CF0602", "waveforms are of hardware descriptions that are simulated"),
        RunError::NotAdverse => ("CF0602", "an adverse run has all of these as bad as others can leave them"),
        RunError::File(..) => ("CF0604", "the files of a run are written below the target directory"),
        RunError::Image(..) | RunError::Start(..) | RunError::NoSummary { .. } | RunError::Summary(_) => {
            ("CF0605", "a run leaves a summary")
        }
    };
    let remedy = match error {
        RunError::ProgramMissing(_) => "run `make setup`; `check` and `build` work without QEMU",
        RunError::ProgramVersion { .. } | RunError::ProgramUnknown(..) => {
            "run `make setup`, or use `cofferdam run --fallback`"
        }
        RunError::SimulatorUnknown { .. } => "correct `simulator` in the board's file",
        RunError::ObserverMissing(_) => "use ./cofferdam, which builds it",
        RunError::ModelMissing { .. } => "run the command; `check` and `build` work without it",
        RunError::NoFallback(_) => "run it without `--fallback`",
        RunError::NoSignals => "run it on a board of the soft core, or look at the run with `cofferdam trace`",
        RunError::NotAdverse => "run it without `--adverse`",
        RunError::PluginMissing(_) => "use ./cofferdam, which builds it, or `cofferdam run --fallback`",
        RunError::File(..) => "make room, or set CARGO_TARGET_DIR to a directory that can be written",
        _ => "read run/simulator.log in the system's directory; `cofferdam run --fallback` does without the plug-in",
    };
    Diagnostic::new(code, error.to_string()).rule(rule).remedy(remedy)
}

/// The diagnostics of a run that its verdict alone does not explain well.
fn failures(built: &Built, ran: &Ran, report: &report::Report, args: &cli::Run) -> Vec<Diagnostic> {
    let manifest = &built.loaded.document.manifest;
    let mut found = Vec::new();
    let started = |index: usize| ran.summary.domain(index as u8).is_some_and(|counters| counters.instructions > 0);
    let silent = manifest.domain.iter().enumerate().filter(|(index, (_, d))| !d.thread.is_empty() && !started(*index));
    if ran.summary.modelled {
        for (_, (name, _)) in silent {
            let refusal =
                manifest::Refusal::at("CF0701", format!("domain.{name}"), format!("domain `{name}` never started"))
                    .value("0 instructions executed")
                    .limit(format!("the run took {:.3} s of modelled time", report.run.seconds))
                    .rule("every domain with a thread runs at least once")
                    .remedy(
                        "give its budget more, or make its thread more important; see who ran in the report's timeline",
                    );
            found.push(built.loaded.document.locate(refusal));
        }
    }
    if ran.summary.end.reason == EndReason::CycleLimit && !manifest.run.awaited.is_empty() {
        // A limit of the command line stands nowhere in the manifest.
        let place = if args.limit.is_some() { "" } else { "run.limit" };
        let refusal = manifest::Refusal::at("CF0702", place, "the run did not finish before its limit")
            .value(format!("waiting for {}", manifest.run.awaited.join(", ")))
            .limit(manifest.run.limit.to_string())
            .rule("a run ends when every domain in `await` has finished")
            .remedy("raise the limit, or see in the report's timeline what the domains waited for");
        found.push(built.loaded.document.locate(refusal));
    }
    if args.fallback {
        found.clear();
    }
    found
}

/// The longest job of each thread beside its `wcet`.
fn tell_jobs(report: &report::Report, output: &mut Output) {
    let us = |cycles: u64| Rate::hz(report.run.cpu_hz).us(cycles);
    let mut jobs = Vec::new();
    for thread in report.threads.iter().filter(|thread| thread.completions > 0) {
        let (longest, wcet) = (thread.job.max_cycles, thread.wcet_cycles);
        jobs.push(json!({ "thread": thread.name, "longest_cycles": longest, "wcet_cycles": wcet }));
        if let Some(wcet) = wcet {
            output.say(format!("longest job of {}: {:.1} us, wcet {:.1} us", thread.name, us(longest), us(wcet)));
        }
    }
    output.field("jobs", json!(jobs));
}

/// Different faults of which the terminal tells; the report lists all.
const FAULTS_TOLD: usize = 12;

/// Each fault once, with how often it came. Those of hostile domains are expected.
fn tell_faults(report: &report::Report, output: &mut Output) {
    let hostile = |domain: u8| report.domains.iter().any(|known| known.index == domain && known.hostile);
    let mut groups: Vec<(&report::schema::FaultReport, u64)> = Vec::new();
    for fault in &report.faults {
        match groups.iter_mut().find(|(first, _)| first.domain == fault.domain && first.text == fault.text) {
            Some((_, count)) => *count += 1,
            None => groups.push((fault, 1)),
        }
    }
    // Unexpected faults come first.
    groups.sort_by_key(|(fault, _)| hostile(fault.domain));
    for (fault, count) in groups.iter().take(FAULTS_TOLD) {
        let expected = hostile(fault.domain);
        let times = if *count == 1 { String::new() } else { format!(" x {count}") };
        let line = format!("fault{}: {}{times}", if expected { " (hostile)" } else { "" }, fault.text);
        if expected { output.say(line) } else { output.insist(line) }
    }
    if groups.len() > FAULTS_TOLD {
        output.say(format!("and {} faults of other kinds: see the report", groups.len() - FAULTS_TOLD));
    }
    output.field(
        "faults",
        json!(groups.iter().map(|(fault, count)| json!({ "count": count, "first": fault })).collect::<Vec<_>>()),
    );
}

/// The ways in which the run was not as promised, each with its code, place and remedy.
fn tell_failures(report: &report::Report, output: &mut Output) {
    for failure in &report.verdict.failures {
        let code = failure.explained.as_ref().unwrap_or(&failure.code);
        let place = failure.place.as_ref().map_or(String::new(), |place| format!(", {place}"));
        output.insist(format!("not as promised: {} ({code}{place})", failure.text.trim_end_matches('.')));
        if let Some(remedy) = &failure.remedy {
            output.insist(format!("  remedy: {remedy}"));
        }
    }
}

/// What broke no promise to anybody, and has to be known all the same.
fn tell_notes(report: &report::Report, output: &mut Output) {
    for note in &report.verdict.notes {
        output.insist(format!("note: {}", note.trim_end_matches('.')));
    }
}

/// How many notes there are, for who reads only the last line.
fn noted(report: &report::Report) -> String {
    match report.verdict.notes.len() {
        0 => String::new(),
        1 => "; 1 note above".to_owned(),
        count => format!("; {count} notes above"),
    }
}

/// The last line: whether everything held.
fn conclude(name: &str, report: &report::Report, failed: &[Diagnostic], output: &mut Output) {
    let told =
        report.verdict.failures.iter().map(|failure| failure.explained.as_ref().unwrap_or(&failure.code).as_str());
    let mut codes: Vec<&str> = told.collect();
    // A diagnostic says better what the verdict knows, too.
    codes.extend(
        failed
            .iter()
            .map(|d| d.refusal().code)
            .filter(|code| !report.verdict.failures.iter().any(|f| f.explained.as_deref() == Some(*code))),
    );
    let result = codes.first().map(|first| match codes.len() {
        1 => format!("FAIL: 1 failure, {first}"),
        count => format!("FAIL: {count} failures, first {first}"),
    });
    match &result {
        None => output.say(format!("PASS: {name} held everything it promised{}", noted(report))),
        Some(line) => output.insist(line),
    }
    output.field("image", json!(report.verdict.image));
    output.field("result", json!(if result.is_none() { "PASS" } else { "FAIL" }));
}

/// The lines that a person reads first.
fn tell(built: &Built, ran: &Ran, report: &report::Report, output: &mut Output) {
    let console = record::visible_bytes(&std::fs::read(&ran.uart).unwrap_or_default());
    output.console(&ran.uart, true);
    output.field("console", json!(console));
    let run = &report.run;
    let time = if run.exact { "exact" } else { "modelled" };
    output.say(format!(
        "{}: {:.3} s {time}, {:.1} M instructions at {:.*} M/s; {} deadlines missed, {} faults contained, {} paged regions loaded",
        built.loaded.document.manifest.system.name,
        run.seconds,
        run.instructions as f64 / 1e6,
        if ran.summary.mips < 10.0 { 2 } else { 0 },
        ran.summary.mips,
        run.missed_deadlines,
        run.faults,
        run.region_misses
    ));
    tell_jobs(report, output);
    outside::tell(report, output);
    tell_faults(report, output);
    tell_failures(report, output);
    tell_notes(report, output);
    output.field("retried_calls", json!(run.retried_calls));
    output.field("refused_calls", json!(run.refused_calls));
    output.field("cycles", json!(run.cycles));
    output.field("instructions", json!(run.instructions));
    output.field("missed_deadlines", json!(run.missed_deadlines));
}
