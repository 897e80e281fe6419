//! How fast this computer emulates each board. The figure is the computer's and changes with what else it does: it is shown when it is asked
//! for by name, and held against nothing.

use std::path::Path;

use build_tool::Install;

use crate::bench::{self, Bench};
use crate::cells::empty;
use crate::chip::Chip;
use crate::rows::SPEED;
use crate::{Error, Row};
/// Duktape with jStat: a real program of 180 million instructions, with small blocks and calls through pointers.
const SYSTEM: &str = "eval/systems/mxu/script.toml";
/// Of so many runs the fastest counts: whatever else the computer does only takes time.
const RUNS: usize = 3;

/// Whether the rows are asked for.
pub(crate) fn is_wanted(only: Option<&str>) -> bool {
    only.is_some_and(|only| only.starts_with(SPEED))
}

/// Runs the program on each board that is wanted and returns a row for each.
///
/// # Errors
/// Any that keeps a run from its end.
pub(crate) fn measure(
    install: &Install,
    chips: &[Chip],
    out: &Path,
    only: Option<&str>,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Row>, Error> {
    let id = |chip: &Chip| format!("{SPEED}.{}", chip.prefix());
    let wanted = chips.iter().filter(|chip| only.is_none_or(|only| id(chip).starts_with(only)));
    let measured = wanted.map(|chip| {
        let simulator = chip.simulator()?;
        row(&Bench::new(install, &*simulator, chip, out)?, id(chip), progress)
    });
    measured.collect()
}

fn row(bench: &Bench<'_>, id: String, progress: &mut dyn FnMut(&str)) -> Result<Row, Error> {
    let built = bench.build(SYSTEM, &mut |what| progress(&format!("speed: building {what}")))?;
    let mut row = bench::row(bench.chip, id, "Cofferdam", format!("{SYSTEM}, fastest of {RUNS} runs"));
    for run in 1..=RUNS {
        progress(&format!("speed on {}: run {run} of {RUNS}", bench.chip.board.name));
        let summary = bench.start("speed", &built.image, SPEED, bench.watch(&built.kernel)?)?.summary;
        row.instructions = summary.instructions;
        row.run_cycles = Some(summary.cycles);
        row.speed = Some(row.speed.map_or(summary.mips, |speed| speed.max(summary.mips)));
    }
    Ok(row)
}

/// Whether a row is one of these.
pub(crate) fn is_one(row: &Row) -> bool {
    row.speed.is_some()
}

/// The rows of speed. Empty when there are none.
pub fn speed_table(rows: &[Row]) -> String {
    let mut table = empty(&["row", "board", "operation", "million instr.", "million a second here"], 3..5);
    let mut none = true;
    for (row, speed) in rows.iter().filter_map(|row| Some((row, row.speed?))) {
        none = false;
        let instructions = format!("{:.1}", row.instructions as f64 / 1e6);
        table.add_row([row.id.clone(), row.board.clone(), row.operation.clone(), instructions, format!("{speed:.1}")]);
    }
    if none { String::new() } else { format!("{table}\n") }
}

#[cfg(test)]
mod tests;
