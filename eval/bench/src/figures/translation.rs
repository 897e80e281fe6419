//! Translation by page tables: the cost of locked ways of the second-level cache for applications (the paper's figure 6), and of
//! interference by where their translation is kept (its figure 8).

use super::compare::{overhead, with_target};
use super::paging::WHOLE;
use super::selection::Selection;
use super::system::{Figures, Measured};
use super::variation::{Emptied, Heap, Kept, Usage, Variation};
use crate::Error;
use crate::chip::{Interference, LockedWays, TIMES, TableApp};
use crate::rows::{Cycles, Row, Target};

/// In ids.
pub(super) const FIGURES: [&str; 2] = ["fig6", "fig8"];
/// The storages that keep translation, by the paper's names. Memory first: the others are compared
/// with it.
pub(super) const PLACES: [(&str, Kept); 4] =
    [("mem", Kept::Memory), ("ocm", Kept::OnChip), ("l2c", Kept::LockedWays), ("tlb", Kept::Tlb)];

/// All rows of this kind that are asked for.
pub(super) fn measure(figures: &mut Figures<'_>, wanted: &mut Selection<'_>) -> Result<Vec<Row>, Error> {
    let plan = figures.plan();
    let mut rows = Vec::new();
    if let Some(locked) = &plan.locked_ways {
        for app in &locked.app {
            rows.extend(locked.measure(app, figures, wanted)?);
        }
    }
    if let Some(interference) = &plan.interference {
        for app in &interference.app {
            rows.extend(interference.measure(app, figures, wanted)?);
        }
    }
    Ok(rows)
}

impl LockedWays {
    /// The application slowed down by ways that are closed, its tables in on-chip RAM.
    fn measure(
        &self,
        app: &TableApp<u32>,
        figures: &mut Figures<'_>,
        wanted: &mut Selection<'_>,
    ) -> Result<Vec<Row>, Error> {
        let prefix = format!("{}{}.{}.", figures.prefix(), FIGURES[0], app.name);
        let mut rows = Vec::new();
        let mut base: Option<Measured> = None;
        for ways in 0..=figures.ways() {
            let id = format!("{prefix}{ways}");
            // All are compared with the first.
            let left_out = app.leaves_out(&ways) && !wanted.by_name(&prefix);
            if left_out || !wanted.any(if ways == 0 { &prefix } else { &id }) {
                continue;
            }
            wanted.tell(&id);
            // The paper's caches are read ahead into.
            let usage = Usage { ways, kept: Kept::OnChip, emptied: Emptied::Never, prefetch: true };
            let run = app.run(figures, &id, usage)?;
            let base = base.get_or_insert_with(|| run.clone());
            same_work(&id, &run, base)?;
            let (cycles, instructions) = run.probes[0];
            let row = Row {
                cycles: Cycles { median: cycles, max: cycles },
                instructions,
                overhead: Some(overhead(cycles, base.probes[0].0)),
                paper: app.paper.clone().filter(|_| ways == figures.ways()),
                ..figures.row(&id, format!("{}, {ways} ways locked", app.about))
            };
            rows.push(if (1..=self.up_to).contains(&ways) { slowed(row, self.most) } else { row });
        }
        Ok(rows)
    }
}

impl Interference {
    /// Cycles that data accesses wait for translation, by place and time between interferences.
    fn measure(
        &self,
        app: &TableApp<String>,
        figures: &mut Figures<'_>,
        wanted: &mut Selection<'_>,
    ) -> Result<Vec<Row>, Error> {
        let prefix = format!("{}{}.{}.", figures.prefix(), FIGURES[1], app.name);
        let mut rows = Vec::new();
        let mut first: Option<Measured> = None;
        for (name, micros) in TIMES {
            let mut memory = None;
            let ids = PLACES.map(|(place, _)| format!("{prefix}{place}.{name}"));
            let left_out = app.leaves_out(&name.to_owned()) && !wanted.by_name(&prefix);
            if left_out || !ids.iter().any(|id| wanted.any(id)) {
                continue;
            }
            for ((place, kept), id) in PLACES.into_iter().zip(&ids) {
                if !(wanted.any(id) || kept == Kept::Memory) {
                    continue;
                }
                wanted.tell(id);
                let ways = if kept == Kept::LockedWays { self.table_ways } else { 0 };
                let usage =
                    Usage { ways, kept, emptied: Emptied::Every(micros * figures.cycles_per_us()), prefetch: false };
                let run = app.run(figures, id, usage)?;
                same_work(id, &run, first.get_or_insert_with(|| run.clone()))?;
                let memory = *memory.get_or_insert(run.translation.data_stall_cycles);
                let about = format!("{}, {place}, emptied every {name}", app.about);
                let paper = app.paper.clone().filter(|_| kept == Kept::Tlb && micros == TIMES[0].1);
                rows.push(stall(figures.row(id, about), kept, &run, memory, paper));
            }
        }
        Ok(rows)
    }
}

impl<T: PartialEq> TableApp<T> {
    /// Whether a row is measured only by name.
    fn leaves_out(&self, which: &T) -> bool {
        self.only.as_ref().is_some_and(|listed| !listed.contains(which))
    }

    fn run(&self, figures: &mut Figures<'_>, id: &str, usage: Usage) -> Result<Measured, Error> {
        let name = figures.name(id);
        figures.complete(&Variation {
            heap: self.heap.clone().map_or(Heap::AsWritten, Heap::Sized),
            usage: Some(usage),
            probes: vec![WHOLE],
            ..Variation::new(name, &self.system, self.argument)
        })
    }
}

/// Refuses a run whose results differ.
fn same_work(id: &str, run: &Measured, base: &Measured) -> Result<(), Error> {
    if run.results == base.results {
        return Ok(());
    }
    Err(Error::Run(format!("{id}: results {:?} instead of {:?}", run.results, base.results)))
}

/// The row of an application with a few ways locked, with the paper's limit.
pub(super) fn slowed(row: Row, most: f64) -> Row {
    let row = Row { paper: Some(format!("< {most} %")), ..row };
    with_target(row, Target { overhead: Some(most), ..Target::default() })
}

/// The row of a run under interference, compared with the run whose tables lie in memory, with the target that its place promises.
pub(super) fn stall(row: Row, kept: Kept, run: &Measured, memory: u64, paper: Option<String>) -> Row {
    let counts = &run.translation;
    let stall = counts.data_stall_cycles;
    let row = Row {
        cycles: Cycles { median: stall, max: stall },
        instructions: run.probes[0].1,
        run_cycles: Some(run.probes[0].0),
        walks: Some(counts.data_walks.all() + counts.fetch_walks.all()),
        walks_beyond: Some(counts.beyond()),
        overhead: (kept != Kept::Memory).then(|| overhead(stall, memory)),
        paper,
        ..row
    };
    match kept {
        Kept::Tlb => with_target(row, Target { walks: Some(0), ..Target::default() }),
        Kept::OnChip | Kept::LockedWays => with_target(row, Target { walks_beyond: Some(0), ..Target::default() }),
        Kept::Memory => row,
    }
}
