//! Interrupts that reach a handler without the kernel (`eval/systems/bench/direct.toml`): how long each takes, by what it interrupts, and until a thread that the
//! handler wakes goes on.

use std::fs::File;

use record::{EventsFile, ProbeWatch};
use report::Report;
use report::schema::{Latency, LatencyOver};
use runner::Go;

use crate::bench::Bench;
use crate::rows::{Cycles, Row, Target, kinds};
use crate::{Error, Symbols, samples};

/// All hardware entry paths of SBI, in cycles on silicon (SBI V, figure 6).
const PAPER: &str = "less than 70 cycles (SBI, figure 6)";
/// Of the way to a thread (SBI V, figure 9).
const PAPER_THREAD: &str = "some 300 cycles more than without a handler (SBI, figure 9)";
/// Label at which a handler's thread goes on.
const WOKEN: &str = "probe_direct_woken";

/// Builds and runs the system, if the board has one, and returns its rows.
///
/// # Errors
/// Any error that keeps a figure from being measured.
pub(crate) fn measure(bench: &Bench<'_>, progress: &mut dyn FnMut(&str)) -> Result<Vec<Row>, Error> {
    let Some(manifest) = &bench.chip.systems().direct else { return Ok(Vec::new()) };
    let built = bench.build(manifest, &mut |what| progress(&format!("direct interrupts: building {what}")))?;
    progress(&format!("direct interrupts on {}: running", bench.chip.board.name));
    let failed = |why: String| Error::Run(format!("direct interrupts: {why}"));
    let mut symbols = Symbols::default();
    built.domains.iter().try_for_each(|domain| symbols.add(domain))?;
    let mut run = build_tool::prepare(&built, true).map_err(|error| failed(error.to_string()))?;
    let entry = run.watch.handlers.as_ref().and_then(|handlers| handlers.owners.first()?.entries.first().copied());
    let start = entry.ok_or_else(|| failed("there is no handler".into()))?;
    run.watch.probes = vec![ProbeWatch { name: "woken".into(), start, end: symbols.code(WOKEN)?, domain: None }];
    run.directory = bench.directory(kinds::DIRECT);
    let outcome = run.start(bench.simulator, &mut |_| Go::On).map_err(|error| failed(error.to_string()))?;
    let events = EventsFile::open(&outcome.events).map_err(|error| failed(error.to_string()))?;
    let report =
        Report::build(&built.description, &outcome.summary, events).map_err(|error| failed(error.to_string()))?;
    if let Some(failure) = report.verdict.failures.first() {
        return Err(failed(failure.text.clone()));
    }
    let latency = report.interrupts.iter().find_map(|line| line.latency.as_ref());
    let latency = latency.ok_or_else(|| failed("no interrupt reached a handler".into()))?;
    let file = File::open(&outcome.events).map_err(|error| Error::file(&outcome.events, &error))?;
    let woken = samples::collect(file, 1).map_err(failed)?;
    let woken = samples::warm(&woken[0]).ok_or_else(|| failed(format!("{} wakes are too few", woken[0].len())))?;
    let instructions = outcome.summary.probes.first().map_or(0, |probe| probe.instructions.median);
    Ok(rows(bench, &report, latency, (woken, instructions)))
}

fn rows(bench: &Bench<'_>, report: &Report, latency: &Latency, (woken, instructions): (Cycles, u64)) -> Vec<Row> {
    let row = |id: &str, about: String| bench.row(bench.chip.rows(kinds::DIRECT) + id, "Cofferdam", about);
    let seen = latency.cycles;
    let target = Some(Target { instructions: Some(0), ..Target::default() });
    let handler = Row {
        cycles: Cycles { median: seen.median, max: seen.max },
        average: Some(latency.mean_millicycles as f64 / 1e3),
        instructions: latency.max_instructions,
        paper: Some(PAPER.into()),
        met: Some(latency.max_instructions == 0),
        target,
        ..row("handler", format!("interrupt to first instruction of a handler, {} times", latency.count))
    };
    let at_once = latency.at_once_cycles;
    let at_once = Row {
        cycles: Cycles { median: at_once.median, max: at_once.max },
        ..row("handler.at_once", format!("those of them with no instruction in between, {} times", latency.at_once))
    };
    let thread = Row {
        cycles: woken,
        instructions,
        paper: Some(PAPER_THREAD.into()),
        ..row("thread", "interrupt to thread that its handler wakes".into())
    };
    let over = latency.over.iter().map(|over: &LatencyOver| {
        let domain = report.domains.iter().find(|domain| Some(domain.index) == over.domain);
        let whose = domain.map_or("idle", |domain| &domain.name);
        let (id, what) = match over.kernel {
            true => (format!("over.kernel.{whose}"), format!("the kernel, for {whose}")),
            false => (format!("over.{whose}"), whose.to_owned()),
        };
        Row {
            cycles: Cycles { median: over.cycles.median, max: over.cycles.max },
            average: Some(over.mean_millicycles as f64 / 1e3),
            ..row(&id, format!("of these over {what}, {} times, shortest {}", over.count, over.cycles.min))
        }
    });
    [handler, at_once, thread].into_iter().chain(over).collect()
}
