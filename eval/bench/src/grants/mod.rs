//! The memory manager, as a client sees it: cycles of a request through its gate, of every size and over a long history, without
//! scrubbing and with it.

use crate::bench::{self, Bench};
use crate::calls::{self, Calls, RATIO, System, ratio};
use crate::chip::Chip;
use crate::rows::{Target, kinds};
use crate::{Error, Row, samples};

/// End of the id, part of the label, the operation, and whether the largest value has a target beside the median.
type Part = (&'static str, &'static str, &'static str, bool);

const PARTS: [Part; 6] = [
    ("grant", "history_grant", "rt_malloc beyond the envelope, long random history", true),
    ("release", "history_release", "rt_free without scrubbing, long random history", true),
    ("grant.sizes", "size_grant", "rt_malloc of every size from 256 B to 64 KiB, nothing else granted", true),
    ("release.sizes", "size_release", "rt_free without scrubbing, the same sizes", true),
    ("free.sizes", "size_free", "rt_free with scrubbing, the same sizes; in steps", false),
    ("scrub", "scrub", "one step of scrubbing, 2 KiB at most", false),
];

/// Only where there are page tables: the request that admits maps nothing there. Mapping is work for each page, so that it is not judged.
const PARTS_OF_PAGES: [Part; 2] = [
    ("admit", "admit", "the request that admits 4 KiB to 60 KiB, and maps nothing", true),
    ("map", "map_step", "a request that maps the next pieces of it, 16 KiB or one piece", false),
];

fn parts(chip: &Chip) -> Vec<Part> {
    match chip.has_tables() {
        false => PARTS.to_vec(),
        true => {
            PARTS.into_iter().map(|(id, label, about, _)| (id, label, about, false)).chain(PARTS_OF_PAGES).collect()
        }
    }
}

/// Of so many requests of the history one may be refused: a figure is about those that are not.
const SELDOM: u32 = 20;

/// Marks of the domain.
mod mark {
    pub const FAILED: u16 = 0x20;
    pub const COUNT: u16 = 0x31;
}

/// Runs the system, if the board has one, and returns its rows.
///
/// # Errors
/// Any error that keeps a figure from being measured.
pub(crate) fn measure(bench: &Bench<'_>, progress: &mut dyn FnMut(&str)) -> Result<Vec<Row>, Error> {
    let Some(manifest) = &bench.chip.systems().manager else { return Ok(Vec::new()) };
    let probes: Vec<String> = parts(bench.chip).iter().map(|(_, label, ..)| format!("manager_{label}")).collect();
    let system = System { manifest, name: "manager", probes: &probes };
    rows(bench.chip, &calls::measure(system, bench, progress)?)
}

fn rows(chip: &Chip, measured: &Calls) -> Result<Vec<Row>, Error> {
    let told = |number| measured.marks.iter().find(|(mark, _)| *mark == number).map_or(0, |(_, value)| *value);
    let (count, failed) = (told(mark::COUNT), told(mark::FAILED));
    if failed > count / SELDOM {
        return Err(Error::Run(format!("manager: {failed} of {count} requests were refused on {}", chip.board.name)));
    }
    let row = |(index, (id, label, about, judged)): (usize, &Part)| {
        let warm = if chip.is_exact() { 0 } else { samples::WARM };
        let cycles = measured.samples.get(index).and_then(|found| samples::behind(warm, found, 1));
        let cycles = cycles.ok_or_else(|| Error::Run(format!("manager: too few calls of {label}")))?;
        let about = match label.starts_with("history") {
            true => format!("{about} ({count} requests, {failed} refused)"),
            false => (*about).to_owned(),
        };
        let target = judged.then(|| Target { ratio: Some(RATIO), ..Target::default() });
        let met = judged.then(|| ratio(cycles) <= RATIO);
        let instructions = measured.instructions.get(index).copied().unwrap_or(0);
        Ok(Row {
            cycles,
            instructions,
            target,
            met,
            ..bench::row(chip, chip.rows(kinds::MANAGER) + id, "Cofferdam", about)
        })
    };
    parts(chip).iter().enumerate().map(row).collect()
}

#[cfg(test)]
mod tests;
