//! Translation on the Cortex-A9: what locked ways of the second-level cache cost applications (the paper's figure 6), and what
//! interference costs them by where their translation is kept (its figure 8).

use super::paging::WHOLE;
use super::system::{Adversary, Chip, Emptied, Figures, Heap, Kept, Measured, Ran, Variation};
use super::{PREFIX_A9, Wanted, overhead, with_target};
use crate::chip::A9;
use crate::rows::{Cycles, Row, Target};
use crate::{Error, systems};

/// Ways of the second-level cache.
const WAYS: u32 = 8;
/// Ways that are locked where tables lie in them.
const TABLE_WAYS: u32 = 4;
/// By how much, in percent, applications are slowed down at most with fewer than five ways locked (the paper, section 5).
const SLOWED: f64 = 4.9;
/// Cycles in a microsecond.
const MHZ: u64 = 767;
/// Times between two interferences: in ids, and microseconds.
const TIMES: [(&str, u64); 4] = [("10us", 10), ("100us", 100), ("1ms", 1000), ("10ms", 10_000)];
/// Everything of an application has to fit one locked entry of the TLB with its data and stack.
const SIZE: &str = "768 KiB";

/// Where translation is kept, as the paper names it. Memory first: the others are compared with it.
pub(super) const PLACES: [(&str, Kept); 4] =
    [("mem", Kept::Memory), ("ocm", Kept::OnChip), ("l2c", Kept::LockedWays), ("tlb", Kept::Tlb)];

/// An application, and how much it has to do.
struct App {
    name: &'static str,
    about: &'static str,
    system: &'static str,
    argument: u32,
    has_heap: bool,
    /// Ways, and times, of which rows are measured unless its own are asked for: it has much to do.
    only: Option<(&'static [u32], &'static [&'static str])>,
}

const SQLITE: App = App {
    name: "sqlite",
    about: "SQLite, 16384 rows",
    system: "sqlite",
    argument: 16_384 | 1 << 16,
    has_heap: true,
    only: None,
};
const NETWORK: App = App {
    name: "network",
    about: "person_detect",
    system: "network",
    argument: 0,
    has_heap: false,
    only: Some((&[0, 4, 8], &["10us"])),
};
const MANDEL: App =
    App { name: "mandel", about: "Mandelbrot set", system: "script", argument: 2, has_heap: true, only: None };
const COVARIANCE: App = App {
    name: "covariance",
    about: "covariance of 2 x 75000",
    system: "script",
    argument: 0,
    has_heap: true,
    only: None,
};

/// With all that they do in the paper.
const WHOLE_APPS: [App; 4] = [SQLITE, NETWORK, MANDEL, COVARIANCE];
/// With less to do, so that everything fits what locked entries hold.
const SMALL_APPS: [App; 4] = [
    App { about: "SQLite, 2048 rows", argument: 2048 | 1 << 16, ..SQLITE },
    NETWORK,
    MANDEL,
    App { about: "covariance of 2 x 7500", argument: 512, ..COVARIANCE },
];

/// All rows of this kind that are asked for.
pub(super) fn measure(figures: &mut Figures<'_>, wanted: &mut Wanted<'_>) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for app in WHOLE_APPS {
        rows.extend(app.locked_ways(figures, wanted)?);
    }
    for app in SMALL_APPS {
        rows.extend(app.interference(figures, wanted)?);
    }
    Ok(rows)
}

impl App {
    /// The application slowed down by ways that are closed, its tables in on-chip RAM: below five ways by at most [`SLOWED`] percent.
    fn locked_ways(&self, figures: &mut Figures<'_>, wanted: &mut Wanted<'_>) -> Result<Vec<Row>, Error> {
        let prefix = format!("{PREFIX_A9}fig6.{}.", self.name);
        let mut rows = Vec::new();
        let mut base: Option<Measured> = None;
        for ways in 0..=WAYS {
            let id = format!("{prefix}{ways}");
            // All are compared with the first.
            let left_out = self.only.is_some_and(|(listed, _)| !listed.contains(&ways)) && !wanted.by_name(&prefix);
            if left_out || !wanted.any(if ways == 0 { &prefix } else { &id }) {
                continue;
            }
            wanted.tell(&id);
            // The paper's caches are read ahead into.
            let chip = Chip { ways, kept: Kept::OnChip, emptied: Emptied::Never, prefetch: true };
            let run = self.run(figures, &id, chip, Heap::AsWritten)?;
            let base = base.get_or_insert_with(|| run.clone());
            self.same_work(&id, &run, base)?;
            let (cycles, instructions) = run.probes[0];
            let row = Row {
                cycles: Cycles { median: cycles, max: cycles },
                instructions,
                overhead: Some(overhead(cycles, base.probes[0].0)),
                paper: (ways == WAYS && self.name == SQLITE.name).then(|| "124.6 %".to_owned()),
                ..on_board(&id, format!("{}, {ways} ways locked", self.about))
            };
            rows.push(if (1..5).contains(&ways) { slowed(row) } else { row });
        }
        Ok(rows)
    }

    /// Cycles that data accesses wait for translation, by place and time between interferences.
    fn interference(&self, figures: &mut Figures<'_>, wanted: &mut Wanted<'_>) -> Result<Vec<Row>, Error> {
        let prefix = format!("{PREFIX_A9}fig8.{}.", self.name);
        let mut rows = Vec::new();
        let mut first: Option<Measured> = None;
        for (name, micros) in TIMES {
            let mut memory = None;
            let ids = PLACES.map(|(place, _)| format!("{prefix}{place}.{name}"));
            let left_out = self.only.is_some_and(|(_, listed)| !listed.contains(&name)) && !wanted.by_name(&prefix);
            if left_out || !ids.iter().any(|id| wanted.any(id)) {
                continue;
            }
            for ((place, kept), id) in PLACES.into_iter().zip(&ids) {
                if !(wanted.any(id) || kept == Kept::Memory) {
                    continue;
                }
                wanted.tell(id);
                let ways = if kept == Kept::LockedWays { TABLE_WAYS } else { 0 };
                let heap = if self.has_heap { Heap::Sized(SIZE) } else { Heap::AsWritten };
                let chip = Chip { ways, kept, emptied: Emptied::Every(micros * MHZ), prefetch: false };
                let run = self.run(figures, id, chip, heap)?;
                self.same_work(id, &run, first.get_or_insert_with(|| run.clone()))?;
                let memory = *memory.get_or_insert(run.translation.data_stall_cycles);
                let about = format!("{}, {place}, emptied every {name}", self.about);
                rows.push(stall(on_board(id, about), kept, &run, memory, self.paper(place, name)));
            }
        }
        Ok(rows)
    }

    fn paper(&self, place: &str, time: &str) -> Option<String> {
        let named = self.name == SQLITE.name && place == "tlb" && time == TIMES[0].0;
        named.then(|| "up to -68.0 %".to_owned())
    }

    fn run(&self, figures: &mut Figures<'_>, id: &str, chip: Chip, heap: Heap) -> Result<Measured, Error> {
        let variation = Variation {
            name: id.strip_prefix(PREFIX_A9).unwrap_or(id).to_owned(),
            system: self.system,
            argument: self.argument,
            heap,
            paged_too: &[],
            adversary: Adversary::Nobody,
            chip: Some(chip),
            probes: &[WHOLE],
        };
        match figures.run(&variation)? {
            Ran::Done(run) if run.status == 0 => Ok(run),
            other => Err(Error::Run(format!("{id}: {other:?}"))),
        }
    }

    fn same_work(&self, id: &str, run: &Measured, base: &Measured) -> Result<(), Error> {
        if run.results == base.results {
            return Ok(());
        }
        Err(Error::Run(format!("{id}: results {:?} instead of {:?}", run.results, base.results)))
    }
}

/// A row without figures, of this board.
pub(super) fn on_board(id: &str, operation: String) -> Row {
    systems::row(&A9, id.to_owned(), "Cofferdam", operation)
}

/// The row of an application with a few ways locked, with the paper's limit.
pub(super) fn slowed(row: Row) -> Row {
    let row = Row { paper: Some(format!("< {SLOWED} %")), ..row };
    with_target(row, Target { overhead: Some(SLOWED), ..Target::default() })
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
