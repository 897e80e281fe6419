//! SQLite over paged regions, done otherwise: possible reasons for the difference between our overhead and the paper's (its figure 7).

use super::paging::{PLRU, WHOLE, compared};
use super::selection::Selection;
use super::system::{Figures, Measured, Ran};
use super::variation::{Heap, Variation};
use crate::Error;
use crate::chip::{Database, Geometry, Way};
use crate::rows::Row;

/// All rows of this kind that are asked for.
pub(super) fn measure(figures: &mut Figures<'_>, wanted: &mut Selection<'_>) -> Result<Vec<Row>, Error> {
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
            bases.push((way.bits(), figures.complete(&database.variation(way, figures.name(&id), Heap::Pinned))?));
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
            paged_too: if heap == Heap::Pinned { Vec::new() } else { way.paged_too.clone() },
            heap,
            probes: vec![WHOLE],
            ..Variation::new(name, &self.system, u32::from(self.rows) | way.bits())
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
