//! Measures how long the kernel's paths take at most: the quantities of docs/time.md, from runs in
//! which the observer makes caches, TLBs, predictor and flash buffers as bad as others can leave
//! them at each entry to the kernel. `cofferdam costs` prints and writes the result.
//!
//! Nothing is extrapolated: each figure is the longest that was seen, and names the system and the path.

mod file;
mod quantity;
mod seen;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::{Path, PathBuf};

use build_tool::Install;
use manifest::KernelCosts;
use record::{EndReason, EventsReader, ProbeWatch, Range, Waits};
use runner::Go;
use serde::Serialize;

pub use file::write;
pub(crate) use quantity::FRAMES;
use quantity::Ran;
pub use quantity::{Found, Quantity};

use crate::bench::Bench;
use crate::chip::{self, Chip};
use crate::table::{EXACT, MODELLED};
use crate::{Error, Symbols};
use seen::Stretches;

/// The board to measure, and its chip and variants.
#[derive(Clone, Debug)]
pub struct Options {
    /// The board.
    pub board: String,
    /// Only systems whose manifests begin so.
    pub only: Option<String>,
    /// For the runs' files.
    pub out_dir: PathBuf,
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Key in the board's file.
    pub key: &'static str,
    /// The meaning of the key.
    pub about: &'static str,
    /// The longest that was seen.
    pub seen: Found,
    /// The value in the board's file.
    pub declared: u64,
    /// The value that the board's file should have, with the margin.
    pub proposed: u64,
    /// Whether cycles are exact for a hardware description that is simulated.
    pub exact: bool,
}

impl Cost {
    fn new(quantity: Quantity, seen: Found, declared: &KernelCosts, exact: bool) -> Self {
        let (proposed, declared) = (with_margin(seen.cycles), quantity.declared(declared));
        Self { key: quantity.key(), about: quantity.about(), declared, proposed, seen, exact }
    }

    /// Whether a path took longer than the board's file says.
    pub const fn is_exceeded(&self) -> bool {
        self.seen.cycles > self.declared
    }
}

/// A tenth more than what was seen, rounded up to 50 below 2500 and to 100 from there on.
pub const fn with_margin(cycles: u64) -> u64 {
    let more = cycles + cycles.div_ceil(10);
    let step = if more < 2500 { 50 } else { 100 };
    more.div_ceil(step) * step
}

/// Runs the board's systems and returns a line for each quantity.
///
/// # Errors
/// Any error that keeps a system from being built or run.
pub fn measure(install: &Install, options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Vec<Cost>, Error> {
    let chip = &chip::find(install, &options.board)?;
    let simulator = chip.simulator()?;
    let bench = Bench::new(install, &*simulator, chip, &options.out_dir)?;
    let mut found = [const { None }; Quantity::ALL.len()];
    let mut declared = None;
    let wanted = |system: &&String| options.only.as_deref().is_none_or(|only| system.starts_with(only));
    for system in chip.systems().paths.iter().chain(&chip.systems().costs).filter(wanted) {
        progress(&format!("kernel paths on {}, adverse: {system}", options.board));
        let run = one(&bench, system)?;
        for (quantity, found) in Quantity::ALL.into_iter().zip(&mut found) {
            let longest = run.longest(quantity, chip, system);
            if longest.as_ref().is_some_and(|new| found.as_ref().is_none_or(|old: &Found| old.cycles < new.cycles)) {
                *found = longest;
            }
        }
        declared = Some(run.declared);
    }
    let declared = declared.ok_or_else(|| Error::NoSuchRow(options.only.clone().unwrap_or_default()))?;
    let costs = Quantity::ALL.into_iter().zip(found);
    Ok(costs.filter_map(|(quantity, found)| Some(Cost::new(quantity, found?, &declared, chip.is_exact()))).collect())
}

/// The table for people.
pub fn table(costs: &[Cost]) -> String {
    let mut table = crate::cells::empty(
        &["quantity", "longest seen", "system", "path", "waits for", "declared", "with margin", ""],
        1..2,
    );
    for cost in costs {
        let Found { cycles, system, path, waits } = &cost.seen;
        let waits = waits
            .map(|Waits { fetch, data, barriers }| format!("instructions {fetch}, data {data}, barriers {barriers}"));
        table.add_row([
            format!("{} ({})", cost.key, cost.about),
            cycles.to_string(),
            system.clone(),
            path.clone(),
            waits.unwrap_or_default(),
            cost.declared.to_string(),
            cost.proposed.to_string(),
            if cost.is_exceeded() { "EXCEEDED".to_owned() } else { String::new() },
        ]);
    }
    let cycles = if costs.iter().all(|cost| cost.exact) { EXACT } else { MODELLED };
    format!("{table}\n{cycles}")
}

/// Builds and runs a system.
fn one(bench: &Bench<'_>, system: &str) -> Result<Ran, Error> {
    // Whether it keeps its deadlines follows from what is measured here, and is another question: it runs either way.
    let options = build_tool::Options { analysis: false, ..build_tool::Options::default() };
    let built = bench.build_with(system, options, &mut |_| ())?;
    let mut run = build_tool::prepare(&built, false).map_err(|error| Error::Run(error.to_string()))?;
    run.directory = bench.directory(&format!("costs/{system}"));
    // A core that is simulated as its hardware description has nothing that others can leave in a bad state.
    run.watch.adverse = built.loaded.profile.is_modelled;
    run.watch.probes = vec![due(bench.chip, &built.kernel)?];
    if let Some(meter) = &mut run.watch.meter {
        let register = built.loaded.board.clock_register();
        meter.clock = vec![Range { start: register, end: register + 4 }];
    }
    let outcome = run.start(bench.simulator, &mut |_| Go::On).map_err(|error| Error::Run(error.to_string()))?;
    let summary = outcome.summary;
    // A system may fail by its own measure when everything takes longer; the kernel's paths count even then.
    if !matches!(summary.end.reason, EndReason::Exit | EndReason::CycleLimit) || !summary.is_clean() {
        return Err(Error::Run(format!(
            "{system}: ended by {:?}, first violation {:?}",
            summary.end,
            summary.violations.first()
        )));
    }
    let stretches = read(&outcome.events)?;
    let frames = built.system.holds_frames();
    Ok(Ran { stretches, summary, frames, declared: built.loaded.board.kernel })
}

/// Tells timer interrupts at which something was due from those that came in vain.
fn due(chip: &Chip, kernel: &Path) -> Result<ProbeWatch, Error> {
    let mut symbols = Symbols::default();
    symbols.add(kernel)?;
    // The part of `Kernel::on_timer` that is a function of its own.
    let (start, end) = (symbols.code(chip.timer_entry())?, symbols.containing("6on_due")?);
    Ok(ProbeWatch { name: "due".to_owned(), start, end, ..ProbeWatch::default() })
}

fn read(path: &Path) -> Result<Stretches, Error> {
    let file = File::open(path).map_err(|error| Error::file(path, &error))?;
    let events = EventsReader::new(file).map_err(|error| Error::file(path, &error))?;
    let mut stretches = Stretches::default();
    for event in events {
        stretches.feed(&event.map_err(|error| Error::file(path, &error))?);
    }
    Ok(stretches)
}
