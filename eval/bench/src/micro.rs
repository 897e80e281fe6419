//! Short pieces of code beside published figures: how far the model is from what others measured or state. The file of a board
//! says what is measured, with the public value and its source; `eval/systems/bench/micro` holds the code.

use std::fs::File;
use std::path::Path;

use build_tool::Install;
use record::{ProbeWatch, Watch};
use runner::{Mode, Simulator};
use serde::Deserialize;

use crate::chip::Chip;
use crate::rows::{Cycles, Public, kind};
use crate::systems::Place;
use crate::table::empty;
use crate::{Error, Row, Symbols, samples};

#[cfg(test)]
mod tests;

/// The part behind the board in the ids of all rows of this kind.
pub const KIND: &str = "micro";
/// A row farther from its source than this, in percent, has to say why.
pub const WITHIN: f64 = 15.0;

/// One row, as the file of its board describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Micro {
    /// Last part of the id: what stands in the labels.
    pub name: String,
    /// The operation, in a few words.
    pub about: String,
    /// How many of that stand between the labels.
    pub operations: u32,
    /// Another stretch, by what stands in its labels, that is taken off this one.
    #[serde(default)]
    pub less: Option<String>,
    /// Cycles of one, as published.
    pub public: f64,
    /// The publication that states it, and the place in it.
    pub source: String,
    /// Why the model is farther away than [`WITHIN`].
    #[serde(default)]
    pub reason: Option<String>,
}

/// Runs the pieces of a chip, if there is a system of them, and returns their rows; the run's files go to `out`.
///
/// # Errors
/// Any error that keeps a figure from being measured.
pub fn measure(
    install: &Install,
    simulator: &dyn Simulator,
    chip: &Chip,
    out: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, Error> {
    let Some(manifest) = &chip.systems().micro else { return Ok(Vec::new()) };
    let place = &Place::new(install, simulator, chip, out)?;
    let names = names(chip.micro());
    let samples = run(place, manifest, &names, progress)?;
    let stretch = |name: &str| {
        let found = names.iter().position(|known| known == name).and_then(|at| samples::warm(&samples[at]));
        found.ok_or_else(|| Error::Run(format!("pieces: {name} was reached too rarely")))
    };
    chip.micro().iter().map(|micro| row(place, micro, &stretch)).collect()
}

/// The cycles of every round of each stretch.
fn run(
    place: &Place<'_>,
    manifest: &str,
    names: &[String],
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Vec<u64>>, Error> {
    let chip = place.chip;
    let built = place.build(manifest, &mut |what| progress(&format!("pieces: building {what}")))?;
    progress(&format!("pieces on {}: running", chip.board.name));
    let mut symbols = Symbols::default();
    built.domains.iter().try_for_each(|domain| symbols.add(domain))?;
    let probe = |name: &String| {
        let label = |end: &str| symbols.code(&format!("probe_{}_{name}_{end}", chip.prefix()));
        Ok(ProbeWatch { name: name.clone(), start: label("start")?, end: label("end")?, domain: None })
    };
    let probes = names.iter().map(probe).collect::<Result<_, Error>>()?;
    let watch = Watch { mode: Mode::Exact, probes, ..place.watch(&built.kernel)? };
    let outcome = place.start("pieces", &built.image, "micro", watch)?;
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

fn row(place: &Place<'_>, micro: &Micro, stretch: &dyn Fn(&str) -> Result<Cycles, Error>) -> Result<Row, Error> {
    let cycles = stretch(&micro.name)?;
    let off = micro.less.as_deref().map_or(Ok(0), |other| stretch(other).map(|other| other.median))?;
    let ours = cycles.median.saturating_sub(off) as f64 / f64::from(micro.operations);
    let row = place.row(place.chip.rows(KIND) + &micro.name, "Cofferdam", micro.about.clone());
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

/// Whether a row is one of these, on any board.
pub(crate) fn is_one(row: &Row) -> bool {
    kind(&row.id) == Some(KIND)
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
