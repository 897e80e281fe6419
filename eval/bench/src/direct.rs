//! Interrupts that reach a handler without the kernel (`eval/systems/bench/direct.toml`): how long each takes, by what it interrupts, and until a thread that the
//! handler wakes goes on.

use std::fs::File;

use record::{ProbeWatch, Watch};
use report::Report;
use report::schema::{Latency, LatencyOver};

use crate::bench::{self, Bench};
use crate::rows::{Cycles, Row, Target, kinds};
use crate::{Error, Symbols, samples};

/// All hardware entry paths of SBI, in cycles on silicon (SBI V, figure 6).
const PAPER: &str = "less than 70 cycles (SBI, figure 6)";
/// Of the way to a thread (SBI V, figure 9).
const PAPER_THREAD: &str = "some 300 cycles more than without a handler (SBI, figure 9)";
/// Label at which a handler's thread goes on.
const WOKEN: &str = "probe_direct_woken";

/// Labels around the call that changes the occupant.
const OCCUPY: [&str; 2] = ["probe_occupy_start", "probe_occupy_end"];

/// Builds and runs the systems that the board has, and returns their rows.
///
/// # Errors
/// Any error that keeps a figure from being measured.
pub(crate) fn measure(bench: &Bench<'_>, progress: &mut dyn FnMut(&str)) -> Result<Vec<Row>, Error> {
    let systems = bench.chip.systems();
    let mut all = Vec::new();
    if let Some(manifest) = &systems.direct {
        let probe = |watch: &Watch, symbols: &Symbols| {
            let entry = watch.handlers.as_ref().and_then(|handlers| handlers.owners.first()?.entries.first().copied());
            let start = entry.ok_or_else(|| failed("there is no handler".into()))?;
            Ok((start, symbols.code(WOKEN)?))
        };
        let seen = run(bench, manifest, kinds::DIRECT, &probe, progress)?;
        let latency = seen.report.interrupts.iter().find_map(|line| line.latency.as_ref());
        let latency = latency.ok_or_else(|| failed("no interrupt reached a handler".into()))?;
        all = rows(bench, &seen.report, latency, (seen.cycles, seen.instructions));
    }
    if let Some(manifest) = &systems.occupy {
        let probe = |_: &Watch, symbols: &Symbols| Ok((symbols.code(OCCUPY[0])?, symbols.code(OCCUPY[1])?));
        let Seen { cycles, instructions, .. } = run(bench, manifest, "occupy", &probe, progress)?;
        let about = "OCCUPY: another domain's handlers are reached, and those of the one before are not";
        all.push(Row {
            cycles,
            instructions,
            ..bench.row(bench.chip.rows(kinds::DIRECT) + "occupy", "Cofferdam", about.into())
        });
    }
    Ok(all)
}

/// Addresses at which a probe begins and ends.
type Probe<'a> = &'a dyn Fn(&Watch, &Symbols) -> Result<(u32, u32), Error>;

/// Observations of a run: its report, and those of its probe.
struct Seen {
    report: Report,
    cycles: Cycles,
    instructions: u64,
}

fn failed(why: String) -> Error {
    Error::Run(format!("direct interrupts: {why}"))
}

fn run(
    bench: &Bench<'_>,
    manifest: &str,
    directory: &str,
    probe: Probe<'_>,
    progress: &mut dyn FnMut(&str),
) -> Result<Seen, Error> {
    let built = bench.build(manifest, &mut |what| progress(&format!("direct interrupts: building {what}")))?;
    progress(&format!("direct interrupts on {}: running", bench.chip.board.name));
    let mut symbols = Symbols::default();
    built.domains.iter().try_for_each(|domain| symbols.add(domain))?;
    let mut run = build_tool::prepare(&built, true).map_err(|error| failed(error.to_string()))?;
    let (start, end) = probe(&run.watch, &symbols)?;
    run.watch.probes = vec![ProbeWatch { name: "probe".into(), start, end, ..ProbeWatch::default() }];
    run.directory = bench.directory(directory);
    let (outcome, report) = bench::reported(&built, run, bench.simulator).map_err(failed)?;
    let file = File::open(&outcome.events).map_err(|error| Error::file(&outcome.events, &error))?;
    let samples = samples::collect(file, 1).map_err(failed)?;
    let cycles =
        samples::warm(&samples[0]).ok_or_else(|| failed(format!("{} samples are too few", samples[0].len())))?;
    let instructions = outcome.summary.probes.first().map_or(0, |probe| probe.instructions.median);
    Ok(Seen { report, cycles, instructions })
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
