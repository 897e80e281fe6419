//! Translation by page tables: what locked ways of the second-level cache cost applications (the paper's figure 6), and what
//! interference costs them by where their translation is kept (its figure 8).

use serde::Deserialize;

use super::paging::WHOLE;
use super::system::{Adversary, Emptied, Figures, Heap, Kept, Measured, Ran, Usage, Variation};
use super::{Wanted, overhead, with_target};
use crate::Error;
use crate::rows::{Cycles, Row, Target};

/// In ids.
pub(super) const FIGURES: [&str; 2] = ["fig6", "fig8"];
/// Times between two interferences: in ids, and microseconds.
const TIMES: [(&str, u64); 4] = [("10us", 10), ("100us", 100), ("1ms", 1000), ("10ms", 10_000)];

/// The storages that keep translation, by the paper's names. Memory first: the others are compared
/// with it.
pub(super) const PLACES: [(&str, Kept); 4] =
    [("mem", Kept::Memory), ("ocm", Kept::OnChip), ("l2c", Kept::LockedWays), ("tlb", Kept::Tlb)];

/// Applications with ways of the second-level cache locked.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LockedWays {
    /// Applications are slowed down by at most so much, percent,
    most: f64,
    /// by at most so many locked ways.
    up_to: u32,
    /// The applications; `only` names numbers of ways, `paper` is the paper's value with all of them.
    app: Vec<App<u32>>,
}

/// Applications under interference by where translation is kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Interference {
    /// Ways that are locked where tables lie in them.
    table_ways: u32,
    /// The applications; `only` names times as in ids, `paper` is the paper's value with locked entries and the shortest time.
    app: Vec<App<String>>,
}

/// An application, and how much it has to do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct App<T> {
    /// In ids.
    name: String,
    /// Its work, in a few words.
    about: String,
    /// Its manifest in `eval/systems/mxu`.
    system: String,
    /// Argument of the workload.
    #[serde(default)]
    argument: u32,
    /// Size of its heap; otherwise as its manifest says.
    #[serde(default)]
    heap: Option<String>,
    /// Those of which rows are measured unless its own are asked for: it has much to do. Otherwise all.
    #[serde(default)]
    only: Option<Vec<T>>,
    /// A value of the paper.
    #[serde(default)]
    paper: Option<String>,
}

/// All rows of this kind that are asked for.
pub(super) fn measure(figures: &mut Figures<'_>, wanted: &mut Wanted<'_>) -> Result<Vec<Row>, Error> {
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
    fn measure(&self, app: &App<u32>, figures: &mut Figures<'_>, wanted: &mut Wanted<'_>) -> Result<Vec<Row>, Error> {
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
    /// Refuses a time that nothing is measured at.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut named = self.app.iter().filter_map(|app| app.only.as_ref()).flatten();
        let unknown = named.find(|time| !TIMES.iter().any(|(name, _)| name == time));
        unknown.map_or(Ok(()), |time| Err(format!("`{time}` is no time of `figures.interference`")))
    }

    /// Cycles that data accesses wait for translation, by place and time between interferences.
    fn measure(
        &self,
        app: &App<String>,
        figures: &mut Figures<'_>,
        wanted: &mut Wanted<'_>,
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

impl<T: PartialEq> App<T> {
    /// Whether a row is measured only by name.
    fn leaves_out(&self, which: &T) -> bool {
        self.only.as_ref().is_some_and(|listed| !listed.contains(which))
    }

    fn run(&self, figures: &mut Figures<'_>, id: &str, usage: Usage) -> Result<Measured, Error> {
        let variation = Variation {
            name: figures.name(id),
            system: self.system.clone(),
            argument: self.argument,
            heap: self.heap.clone().map_or(Heap::AsWritten, Heap::Sized),
            paged_too: Vec::new(),
            adversary: Adversary::Nobody,
            usage: Some(usage),
            probes: vec![WHOLE],
        };
        match figures.run(&variation)? {
            Ran::Done(run) if run.status == 0 => Ok(run),
            other => Err(Error::Run(format!("{id}: {other:?}"))),
        }
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
