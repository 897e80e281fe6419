//! SQLite over paged regions, done otherwise: what could lie between our overhead and the paper's (its figure 7).

use super::Wanted;
use serde::Deserialize;

use super::paging::{PLRU, WHOLE, compared};
use super::system::{Adversary, Figures, Geometry, Heap, Measured, Ran, Variation};
use crate::Error;
use crate::rows::Row;

/// SQLite done in other ways than in [`super::paging`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Database {
    /// Its manifest in `eval/systems/mxu`.
    system: String,
    /// Rows of its table, at most 65535.
    rows: u16,
    /// Overhead in the paper.
    paper: String,
    /// The ways.
    way: Vec<Way>,
}

/// One of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Way {
    /// In ids.
    name: String,
    /// The difference, in a few words.
    about: String,
    /// The same for the workload.
    how: Vec<How>,
    /// Paged regions.
    slots: u32,
    /// Size of the regions; the paper's, unless it is given.
    #[serde(default)]
    regions: Option<String>,
    /// Areas that are paged beside the heap.
    #[serde(default)]
    paged_too: Vec<String>,
}

/// A difference in the workload.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum How {
    /// Each phase is one transaction.
    Grouped,
    /// Each statement is text of its own.
    Text,
    /// The key has an index of its own.
    Indexed,
    /// Rows are visited out of order.
    Scattered,
    /// SQLite's own allocator has the heap.
    Buddies,
}

impl How {
    /// Bit of the workload's argument: `eval/systems/mxu/sqlite/src/workload.c`.
    const fn bit(self) -> u32 {
        1 << match self {
            Self::Grouped => 16,
            Self::Text => 17,
            Self::Indexed => 18,
            Self::Scattered => 19,
            Self::Buddies => 20,
        }
    }
}

/// All rows of this kind that are asked for.
pub(super) fn measure(figures: &mut Figures<'_>, wanted: &mut Wanted<'_>) -> Result<Vec<Row>, Error> {
    let Some(database) = &figures.plan().database else { return Ok(Vec::new()) };
    let prefix = format!("{}fig7.sqlite.", figures.prefix());
    let mut rows = Vec::new();
    let mut bases: Vec<(u32, Measured)> = Vec::new();
    for way in &database.way {
        let id = format!("{prefix}{}", way.name);
        if !wanted.any(&id) {
            continue;
        }
        if !bases.iter().any(|(how, _)| *how == way.bits()) {
            let id = format!("{id}.pinned");
            wanted.tell(&id);
            match figures.run(&database.variation(way, figures.name(&id), Heap::Pinned))? {
                Ran::Done(base) if base.status == 0 => bases.push((way.bits(), base)),
                other => return Err(Error::Run(format!("{id}: {other:?}"))),
            }
        }
        wanted.tell(&id);
        let heap = Heap::Paged { slots: way.slots, geometry: way.geometry(), replacement: PLRU, fixed: None };
        let base = bases.iter().find(|(how, _)| *how == way.bits()).map(|(_, base)| base);
        let run = figures.run(&database.variation(way, figures.name(&id), heap))?;
        let about = format!("SQLite, {} rows, {}", database.rows, way.about);
        rows.push(database.row(figures.row(&id, about), run, base)?);
    }
    Ok(rows)
}

impl Way {
    fn bits(&self) -> u32 {
        self.how.iter().fold(0, |bits, how| bits | how.bit())
    }

    fn geometry(&self) -> Geometry {
        self.regions.clone().map_or(Geometry::Paper, Geometry::Regions)
    }
}

impl Database {
    fn variation(&self, way: &Way, name: String, heap: Heap) -> Variation {
        Variation {
            name,
            system: self.system.clone(),
            argument: u32::from(self.rows) | way.bits(),
            paged_too: if heap == Heap::Pinned { Vec::new() } else { way.paged_too.clone() },
            heap,
            adversary: Adversary::Nobody,
            usage: None,
            probes: vec![WHOLE],
        }
    }

    fn row(&self, blank: Row, run: Ran, base: Option<&Measured>) -> Result<Row, Error> {
        let paper = Some(self.paper.clone());
        match (run, base) {
            (Ran::Refused(why), _) => Ok(Row { refused: Some(why), paper, ..blank }),
            (Ran::Done(run), Some(base)) if run.status == 0 && run.results == base.results => {
                Ok(Row { paper, ..compared(blank, run.probes[0], base.probes[0].0, &run, &[1]) })
            }
            (Ran::Done(run), _) => {
                Err(Error::Run(format!("{}: status {}, results {:?}", blank.id, run.status, run.results)))
            }
        }
    }
}
