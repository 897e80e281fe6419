//! Short pieces of code beside published figures: how far the model is from what others measured or state. The file of a board
//! lists the pieces, with the public value and its source; `eval/systems/bench/micro` holds the code.

use std::fs::File;

use record::Watch;
use runner::Mode;

use crate::bench::Bench;
use crate::cells::empty;
use crate::chip::Micro;
use crate::rows::{Cycles, Public, kinds};
use crate::{Error, Row, Symbols, samples};

#[cfg(test)]
mod tests;

/// A row farther from its source than this, in percent, has to say why.
pub const WITHIN: f64 = 15.0;

/// Runs the pieces of a board, if there is a system of them, and returns their rows.
///
/// # Errors
/// Any error that keeps a figure from being measured.
pub fn measure(bench: &Bench<'_>, progress: &mut dyn FnMut(&str)) -> Result<Vec<Row>, Error> {
    let chip = bench.chip;
    let Some(manifest) = &chip.systems().micro else { return Ok(Vec::new()) };
    let names = names(chip.micro());
    let samples = run(bench, manifest, &names, progress)?;
    let stretch = |name: &str| {
        let found = names.iter().position(|known| known == name).and_then(|at| samples::warm(&samples[at]));
        found.ok_or_else(|| Error::Run(format!("pieces: {name} was reached too rarely")))
    };
    chip.micro().iter().map(|micro| row(bench, micro, &stretch)).collect()
}

/// The cycles of every round of each stretch.
fn run(
    bench: &Bench<'_>,
    manifest: &str,
    names: &[String],
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Vec<u64>>, Error> {
    let chip = bench.chip;
    let built = bench.build(manifest, &mut |what| progress(&format!("pieces: building {what}")))?;
    progress(&format!("pieces on {}: running", chip.board.name));
    let mut symbols = Symbols::default();
    symbols.add_domains(&built.domains)?;
    let probe = |name: &String| {
        let label = |end: &str| format!("probe_{}_{name}_{end}", chip.prefix());
        symbols.probe(name, &label("start"), &label("end"))
    };
    let probes = names.iter().map(probe).collect::<Result<_, Error>>()?;
    let watch = Watch { mode: Mode::Exact, probes, ..bench.watch(&built.kernel)? };
    let outcome = bench.start("pieces", &built.image, "micro", watch)?;
    let events = File::open(&outcome.events).map_err(|error| Error::file(&outcome.events, &error))?;
    samples::collect(events, names.len()).map_err(Error::Run)
}

/// The stretches to measure: each row's own, and those that are taken off.
fn names(rows: &[Micro]) -> Vec<String> {
    let mut names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let taken_off: Vec<String> = rows.iter().filter_map(|row| row.less.clone()).collect();
    names.extend(taken_off);
    names.sort_unstable();
    names.dedup();
    names
}

fn row(bench: &Bench<'_>, micro: &Micro, stretch: &dyn Fn(&str) -> Result<Cycles, Error>) -> Result<Row, Error> {
    let cycles = stretch(&micro.name)?;
    let off = micro.less.as_deref().map_or(Ok(0), |other| stretch(other).map(|other| other.median))?;
    let ours = cycles.median.saturating_sub(off) as f64 / f64::from(micro.operations);
    let row = bench.row(bench.chip.rows(kinds::MICRO) + &micro.name, "Cofferdam", micro.about.clone());
    let public = Public {
        ours: hundredths(ours),
        value: micro.public,
        deviation: hundredths((ours / micro.public - 1.0) * 100.0),
        source: micro.source.clone(),
        reason: micro.reason.clone(),
    };
    Ok(Row { cycles, public: Some(public), ..row })
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Whether the row is within [`WITHIN`] of its source; otherwise its reason, or that it has none.
pub fn verdict(public: &Public) -> &str {
    match &public.reason {
        _ if public.deviation.abs() <= WITHIN => "yes",
        Some(reason) => reason,
        None => "UNEXPLAINED",
    }
}

/// The rows beside public figures. Empty when there are none.
pub fn micro_table(rows: &[Row]) -> String {
    let header = ["row", "operation", "ours", "public", "off by", "source", "within 15 %, or why not"];
    let mut table = empty(&header, 2..5);
    table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic).set_width(180);
    let mut none = true;
    for (row, public) in rows.iter().filter_map(|row| Some((row, row.public.as_ref()?))) {
        none = false;
        table.add_row([
            row.id.clone(),
            row.operation.clone(),
            format!("{:.2}", public.ours),
            format!("{:.2}", public.value),
            format!("{:+.0} %", public.deviation),
            public.source.clone(),
            verdict(public).to_owned(),
        ]);
    }
    if none { String::new() } else { format!("{table}\n") }
}
