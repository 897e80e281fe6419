//! SQLite over paged regions, done otherwise: what could lie between our overhead and the paper's (its figure 7).

use super::paging::{PLRU, WHOLE, compared};
use super::system::{Adversary, Figures, Geometry, Heap, Measured, Ran, Variation};
use super::{PREFIX, Wanted, row};
use crate::Error;
use crate::rows::Row;

const ROWS: u32 = 16_384;
/// Bits of the workload's argument: `examples/mxu/sqlite/src/workload.c`.
const GROUPED: u32 = 1 << 16;
const TEXT: u32 = 2 << 16;
const INDEXED: u32 = 4 << 16;
const SCATTERED: u32 = 8 << 16;
const BUDDIES: u32 = 16 << 16;
/// With three regions of 128 KiB, percent.
const PAPER: f64 = 36.9;

/// SQLite in another way than in [`super::paging`].
struct Way {
    name: &'static str,
    about: &'static str,
    how: u32,
    slots: u32,
    geometry: Geometry,
    paged_too: &'static [&'static str],
}

const fn way(name: &'static str, about: &'static str, how: u32) -> Way {
    Way { name, about, how, slots: 3, geometry: Geometry::Paper, paged_too: &[] }
}

/// All that makes accesses jump about in memory.
const TOGETHER: u32 = GROUPED | INDEXED | SCATTERED | BUDDIES;

const WAYS: &[Way] = &[
    way("alone", "a transaction each statement", 0),
    way("buddies", "SQLite's own allocator", GROUPED | BUDDIES),
    way("indexed", "key with an index", GROUPED | INDEXED),
    way("scattered", "rows out of order", GROUPED | SCATTERED),
    way("together", "SQLite's allocator, key with an index, rows out of order", TOGETHER),
    Way { slots: 2, ..way("together.2paged", "the same, 2 paged", TOGETHER) },
    way("together.text", "the same, each statement as text", TOGETHER | TEXT),
    Way { geometry: Geometry::Regions("64 KiB"), ..way("regions.64k", "regions of 64 KiB", GROUPED) },
    Way { geometry: Geometry::Regions("32 KiB"), ..way("regions.32k", "regions of 32 KiB", GROUPED) },
    Way { geometry: Geometry::Regions("4 KiB"), ..way("regions.4k", "regions of 4 KiB", GROUPED) },
    Way { paged_too: &["data"], ..way("data", "its data paged, too", GROUPED) },
    // As if its stack, which is pinned here, had the third.
    Way { slots: 2, paged_too: &["data"], ..way("data.2paged", "its data paged, too, 2 paged", GROUPED) },
    Way { paged_too: &["data"], ..way("together.data", "together, its data paged, too", TOGETHER) },
    Way { slots: 4, paged_too: &["data", "code"], ..way("code", "its data and code paged, too, 4 paged", GROUPED) },
];

/// All rows of this kind that are asked for.
pub(super) fn measure(figures: &mut Figures<'_>, wanted: &mut Wanted<'_>) -> Result<Vec<Row>, Error> {
    let prefix = format!("{PREFIX}fig7.sqlite.");
    let mut rows = Vec::new();
    let mut bases: Vec<(u32, Measured)> = Vec::new();
    for way in WAYS {
        let id = format!("{prefix}{}", way.name);
        if !wanted.any(&id) {
            continue;
        }
        if !bases.iter().any(|(how, _)| *how == way.how) {
            let id = format!("{id}.pinned");
            wanted.tell(&id);
            match figures.run(&way.variation(&id, Heap::Pinned, &[]))? {
                Ran::Done(base) if base.status == 0 => bases.push((way.how, base)),
                other => return Err(Error::Run(format!("{id}: {other:?}"))),
            }
        }
        wanted.tell(&id);
        let heap = Heap::Paged { slots: way.slots, geometry: way.geometry, replacement: PLRU, fixed: None };
        let base = bases.iter().find(|(how, _)| *how == way.how).map(|(_, base)| base);
        let run = figures.run(&way.variation(&id, heap, way.paged_too))?;
        rows.push(way.row(&id, run, base)?);
    }
    Ok(rows)
}

impl Way {
    fn variation(&self, id: &str, heap: Heap, paged_too: &'static [&'static str]) -> Variation {
        Variation {
            name: id.strip_prefix(PREFIX).unwrap_or(id).to_owned(),
            system: "sqlite",
            argument: ROWS | self.how,
            heap,
            paged_too,
            adversary: Adversary::Nobody,
            chip: None,
            probes: &[WHOLE],
        }
    }

    fn row(&self, id: &str, run: Ran, base: Option<&Measured>) -> Result<Row, Error> {
        let about = format!("SQLite, {ROWS} rows, {}", self.about);
        let paper = Some(format!("{PAPER} %"));
        match (run, base) {
            (Ran::Refused(why), _) => Ok(Row { refused: Some(why), paper, ..row(id, about) }),
            (Ran::Done(run), Some(base)) if run.status == 0 && run.results == base.results => {
                Ok(Row { paper, ..compared(id, about, run.probes[0], base.probes[0].0, &run, &[1]) })
            }
            (Ran::Done(run), _) => Err(Error::Run(format!("{id}: status {}, results {:?}", run.status, run.results))),
        }
    }
}
