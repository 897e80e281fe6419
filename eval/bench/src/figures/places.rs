//! A processor with page tables reads 512 KiB in four orders, by where translation is kept: left alone beside the cost of an access when everything has
//! been emptied before it (the paper's figure 2), and emptied after every n accesses (its figure 4).

use super::compare::{overhead, with_target};
use super::selection::Selection;
use super::synthetic::{CHUNK, EVERY, ORDERS};
use super::system::{Figures, Measured, Stretch};
use super::translation::PLACES;
use super::variation::{Emptied, Kept, Usage, Variation};
use crate::Error;
use crate::chip::Places;
use crate::rows::{Cycles, Row, Target};

/// The workload that marks when it wants caches and TLBs emptied.
const MARKED: u32 = 7;
/// Accesses with everything emptied after each, and after every few.
const EMPTIED: u64 = 4096;
const INTERFERED: u64 = 16_384;
/// Kinds of stretches: left alone, emptied after each access, and from here on by [`EVERY`].
const ALONE: u32 = 0;
const EACH: u32 = 1;
const FIRST_EVERY: u32 = 2;

/// In ids.
pub(super) const FIGURES: [&str; 2] = ["fig2", "fig4"];

/// All rows of this kind that are asked for. One run of each place serves both figures.
pub(super) fn measure(figures: &mut Figures<'_>, wanted: &mut Selection<'_>) -> Result<Vec<Row>, Error> {
    let Some(places) = &figures.plan().places else { return Ok(Vec::new()) };
    let [alone, every] = FIGURES.map(|figure| format!("{}{figure}.", figures.prefix()));
    if !(wanted.any(&alone) || wanted.any(&every)) {
        return Ok(Vec::new());
    }
    let mut runs = Vec::new();
    for (place, kept) in PLACES {
        wanted.tell(&format!("{every}{place}"));
        runs.push((place, places.run(figures, place, kept)?));
    }
    let memory = runs[0].1.clone();
    let mut rows = Vec::new();
    for (order, (name, accesses)) in (1..).zip(ORDERS) {
        let missing = per_access(&memory, order, EACH, EMPTIED);
        let id = format!("{alone}{name}.mis");
        rows.push(row(figures, &id, "everything emptied before each", EMPTIED, (missing, missing)));
        for (place, run) in &runs {
            let own = per_access(run, order, ALONE, accesses);
            rows.push(row(figures, &format!("{alone}{name}.{place}"), "left alone", accesses, (own, missing)));
        }
    }
    for (order, (name, _)) in (1..).zip(ORDERS) {
        for (kind, n) in (FIRST_EVERY..).zip(EVERY) {
            let base = per_access(&memory, order, kind, INTERFERED);
            for (place, run) in &runs {
                let own = per_access(run, order, kind, INTERFERED);
                let id = format!("{every}{name}.{place}.{n}");
                let row = row(figures, &id, &format!("emptied every {n}"), INTERFERED, (own, base));
                rows.push(if *place == PLACES[0].0 { row } else { nearer(row) });
            }
        }
    }
    rows.retain(|row| wanted.any(&row.id));
    Ok(rows)
}

impl Places {
    fn run(&self, figures: &mut Figures<'_>, place: &str, kept: Kept) -> Result<Measured, Error> {
        let ways = if kept == Kept::LockedWays { self.table_ways } else { 0 };
        figures.complete(&Variation {
            // The paper's prefetchers are off where accesses are measured.
            usage: Some(Usage { ways, kept, emptied: Emptied::Marked, prefetch: false }),
            probes: vec![CHUNK],
            ..Variation::new(format!("fig4.{place}"), &self.system, MARKED)
        })
    }
}

/// Cycles of a stretch for each of its accesses.
fn per_access(run: &Measured, order: u32, kind: u32, accesses: u64) -> f64 {
    let is_it = |stretch: &&Stretch| stretch.number == order * 10 + kind;
    run.stretches.iter().find(is_it).map_or(0.0, |stretch| stretch.probed as f64 / accesses as f64)
}

/// The row of a place that is nearer than memory: in the paper accesses take less time with each of them.
pub(super) fn nearer(row: Row) -> Row {
    let row = Row { paper: Some("less than mem".to_owned()), ..row };
    with_target(row, Target { overhead: Some(0.0), ..Target::default() })
}

/// The row of `accesses` that take `own` cycles each, compared with `base`.
fn row(figures: &Figures<'_>, id: &str, about: &str, accesses: u64, (own, base): (f64, f64)) -> Row {
    let cycles = |each: f64| (each * accesses as f64).round() as u64;
    Row {
        cycles: Cycles { median: cycles(own), max: cycles(own) },
        overhead: Some(overhead(cycles(own), cycles(base))),
        ..figures.row(id, format!("{accesses} accesses, {about}, {own:.2} cycles each"))
    }
}
