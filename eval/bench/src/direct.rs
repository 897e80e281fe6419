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

/// Labels of the handler that calls the way into the kernel, of the call with the instruction behind it, and of that way: its SG, of which the simulator tells
/// nothing before the call has left the handler, the instruction behind it, and its BXNS.
const CALLER: [&str; 3] = ["bench_veneer", "probe_veneer_start", "probe_veneer_end"];
const WAY_IN: [&str; 2] = ["cofferdam_wake", "cofferdam_wake_leave"];
const SG_BYTES: u32 = 4;
/// Of both transitions (SBI V, figure 6, whose bars have no numbers).
const PAPER_VENEER: &str = "significantly less than its interrupts, which take less than 70 cycles (SBI, figure 6)";

/// Builds and runs the systems that the board has, and returns their rows.
///
/// # Errors
/// Any error that keeps a figure from being measured.
pub(crate) fn measure(bench: &Bench<'_>, progress: &mut dyn FnMut(&str)) -> Result<Vec<Row>, Error> {
    let systems = bench.chip.systems();
    let row = |id: &str, about: String| bench.row(bench.chip.rows(kinds::DIRECT) + id, "Cofferdam", about);
    let mut all = Vec::new();
    if let Some(manifest) = &systems.direct {
        let probe = |watch: &Watch, symbols: &Symbols| Ok(vec![[entry(watch)?, symbols.code(WOKEN)?]]);
        let Seen { report, sampled } = run(bench, manifest, kinds::DIRECT, &probe, progress)?;
        let latency = report.interrupts.iter().find_map(|line| line.latency.as_ref());
        let latency = latency.ok_or_else(|| failed("no interrupt reached a handler".into()))?;
        all = rows(&row, &report, latency, &sampled[0]);
    }
    if let Some(manifest) = &systems.occupy {
        let probe = |_: &Watch, symbols: &Symbols| Ok(vec![[symbols.code(OCCUPY[0])?, symbols.code(OCCUPY[1])?]]);
        let Seen { sampled, .. } = run(bench, manifest, "occupy", &probe, progress)?;
        let about = "OCCUPY: another domain's handlers are reached, and those of the one before are not";
        all.push(sampled[0].fill(row("occupy", about.into())));
    }
    if let Some(manifest) = &systems.veneer {
        let Seen { sampled, .. } = run(bench, manifest, "veneer", &transitions, progress)?;
        all.extend(veneer(&row, &sampled)?);
    }
    Ok(all)
}

/// The first instruction of the first handler.
fn entry(watch: &Watch) -> Result<u32, Error> {
    let entry = watch.handlers.as_ref().and_then(|handlers| handlers.owners.first()?.entries.first().copied());
    entry.ok_or_else(|| failed("there is no handler".into()))
}

/// The call of the way into the kernel, from Non-secure state and back: all of it; up to behind its SG; from its BXNS on. The handler's code is not where its
/// symbols are, but as long.
fn transitions(watch: &Watch, symbols: &Symbols) -> Result<Vec<[u32; 2]>, Error> {
    let (there, [own, start, end]) = (entry(watch)?, CALLER.map(|label| symbols.code(label)));
    let own = own?;
    let (start, end) = (there + (start? - own), there + (end? - own));
    let [way_in, leave] = WAY_IN.map(|label| symbols.code(label));
    Ok(vec![[start, end], [start, way_in? + SG_BYTES], [leave?, end]])
}

fn veneer(row: &dyn Fn(&str, String) -> Row, sampled: &[Sampled]) -> Result<Vec<Row>, Error> {
    let [call, enter, leave] = sampled else { return Err(failed("there are three probes".into())) };
    let both: Vec<u64> = enter.samples.iter().zip(&leave.samples).map(|(enter, leave)| enter + leave).collect();
    let both = Sampled::new(both, enter.instructions + leave.instructions)?;
    let count = both.samples.len();
    let alone =
        row("sg_bxns", format!("BLX, SG, BXNS and the next instruction: to Secure state and back, {count} times"));
    let call_about = format!("a handler calls `wake` and executes the next instruction, {} times", call.samples.len());
    let paper = Some(PAPER_VENEER.to_owned());
    Ok(vec![Row { paper, ..both.fill(alone) }, call.fill(row("veneer", call_about))])
}

/// Addresses at which each probe begins and ends.
type Probes<'a> = &'a dyn Fn(&Watch, &Symbols) -> Result<Vec<[u32; 2]>, Error>;

/// Observations of a run: its report, and those of its probes.
struct Seen {
    report: Report,
    sampled: Vec<Sampled>,
}

/// Observations of a probe: the cycles of all its stretches; of those but for the first ones median and largest; the instructions of the middle one.
struct Sampled {
    samples: Vec<u64>,
    cycles: Cycles,
    instructions: u64,
}

impl Sampled {
    fn new(samples: Vec<u64>, instructions: u64) -> Result<Self, Error> {
        let cycles = samples::warm(&samples).ok_or_else(|| failed(format!("{} samples are too few", samples.len())))?;
        Ok(Self { samples, cycles, instructions })
    }

    fn fill(&self, row: Row) -> Row {
        let average = self.samples.iter().sum::<u64>() as f64 / self.samples.len() as f64;
        Row { cycles: self.cycles, average: Some(average), instructions: self.instructions, ..row }
    }
}

fn failed(why: String) -> Error {
    Error::Run(format!("direct interrupts: {why}"))
}

fn run(
    bench: &Bench<'_>,
    manifest: &str,
    directory: &str,
    probes: Probes<'_>,
    progress: &mut dyn FnMut(&str),
) -> Result<Seen, Error> {
    let built = bench.build(manifest, &mut |what| progress(&format!("direct interrupts: building {what}")))?;
    progress(&format!("direct interrupts on {}: running", bench.chip.board.name));
    let mut symbols = Symbols::default();
    built.domains.iter().chain([&built.kernel]).try_for_each(|program| symbols.add(program))?;
    let mut run = build_tool::prepare(&built, true).map_err(|error| failed(error.to_string()))?;
    let probes = probes(&run.watch, &symbols)?;
    let watch = |[start, end]: [u32; 2]| ProbeWatch { name: format!("{start:x}"), start, end, ..ProbeWatch::default() };
    run.watch.probes = probes.iter().copied().map(watch).collect();
    run.directory = bench.directory(directory);
    let (outcome, report) = bench::reported(&built, run, bench.simulator).map_err(failed)?;
    let file = File::open(&outcome.events).map_err(|error| Error::file(&outcome.events, &error))?;
    let samples = samples::collect(file, probes.len()).map_err(failed)?;
    let instructions = outcome.summary.probes.iter().map(|probe| probe.instructions.median);
    let sampled = samples.into_iter().zip(instructions).map(|(samples, count)| Sampled::new(samples, count));
    Ok(Seen { report, sampled: sampled.collect::<Result<_, _>>()? })
}

fn rows(row: &dyn Fn(&str, String) -> Row, report: &Report, latency: &Latency, woken: &Sampled) -> Vec<Row> {
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
    let thread = woken.fill(row("thread", "interrupt to thread that its handler wakes".into()));
    let thread = Row { paper: Some(PAPER_THREAD.into()), ..thread };
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
