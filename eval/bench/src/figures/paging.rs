//! Applications over paged regions against pinned ones: 1, 2 and 3 paged regions and half of the heap pinned, in three geometries.

use super::compare::{overhead, with_target};
use super::selection::Selection;
use super::system::{Figures, Measured, Ran};
use super::variation::{Heap, Variation};
use crate::Error;
use crate::chip::{Geometry, PagedApp};
use crate::rows::{Cycles, Row, Target};

/// Labels around the whole application.
pub(super) const WHOLE: (&str, &str) = ("probe_1_start", "probe_1_end");
/// Labels around the part that a script has measured.
pub(super) const CALL: (&str, &str) = ("probe_2_start", "probe_2_end");
/// The policy of everything that does not name another.
pub(super) const PLRU: &str = "bit-plru";

/// All rows of this kind that are asked for.
pub(super) fn measure(figures: &mut Figures<'_>, wanted: &mut Selection<'_>) -> Result<Vec<Row>, Error> {
    let Some(paged) = &figures.plan().paged else { return Ok(Vec::new()) };
    let mut rows = Vec::new();
    for app in &paged.app {
        let prefix = format!("{}{}.", figures.prefix(), app.name);
        if wanted.any(&prefix) {
            rows.extend(app.measure(figures, wanted, &prefix, paged.most_hostile)?);
        }
    }
    Ok(rows)
}

/// A row to be: the end of its id, the heap, the difference, the paper's value, and the target.
struct Case {
    suffix: String,
    heap: Heap,
    about: String,
    paper: Option<String>,
    most: Option<f64>,
}

impl PagedApp {
    fn measure(
        &self,
        figures: &mut Figures<'_>,
        wanted: &mut Selection<'_>,
        prefix: &str,
        most_hostile: f64,
    ) -> Result<Vec<Row>, Error> {
        let id = format!("{prefix}pinned");
        wanted.tell(&id);
        let base = figures.complete(&self.variation(figures.name(&id), Heap::Pinned))?;
        let mut rows = self.rows(figures, &id, format!("{}, pinned", self.about), &base, &base);
        for case in self.cases(most_hostile) {
            let id = format!("{prefix}{}", case.suffix);
            if !wanted.any(&id) {
                continue;
            }
            wanted.tell(&id);
            let about = format!("{}, {}", self.about, case.about);
            let mut found = match figures.run(&self.variation(figures.name(&id), case.heap.clone()))? {
                Ran::Refused(why) => vec![Row { refused: Some(why), ..figures.row(&id, about) }],
                Ran::Done(run) if run.status != 0 && run.too_large != 0 => {
                    let why = format!("does not fit: a block of {} bytes in one piece", run.too_large);
                    vec![Row { refused: Some(why), ..figures.row(&id, about) }]
                }
                Ran::Done(run) if run.status != 0 || run.results[..] != base.results[..] => {
                    return Err(Error::Run(format!("{id}: status {}, results {:?}", run.status, run.results)));
                }
                Ran::Done(run) => self.rows(figures, &id, about, &run, &base),
            };
            if let Some(first) = found.first_mut() {
                first.paper = case.paper;
                if let (Some(most), None) = (case.most, &first.refused) {
                    *first = with_target(first.clone(), Target { overhead: Some(most), ..Target::default() });
                }
            }
            rows.extend(found);
        }
        Ok(rows)
    }

    fn variation(&self, name: String, heap: Heap) -> Variation {
        Variation {
            paged_too: if heap == Heap::Pinned { Vec::new() } else { self.paged_too.clone() },
            heap,
            probes: if self.call { vec![WHOLE, CALL] } else { vec![WHOLE] },
            ..Variation::new(name, &self.system, self.argument)
        }
    }

    fn cases(&self, most_hostile: f64) -> Vec<Case> {
        let mut cases = Vec::new();
        for geometry in &self.geometries {
            for slots in &self.slots {
                cases.push(self.paged(geometry, *slots, PLRU, most_hostile));
            }
            cases.extend(self.half.as_ref().map(|size| Self::half(geometry, size)));
            if *geometry == Geometry::Paper && self.half.is_some() {
                cases.extend(["round-robin", "random"].map(|policy| self.paged(geometry, 3, policy, most_hostile)));
            }
        }
        cases
    }

    fn paged(&self, geometry: &Geometry, slots: u32, replacement: &'static str, most_hostile: f64) -> Case {
        let policy = if replacement == PLRU { String::new() } else { format!(".{replacement}") };
        let reference = self.slots.first() == Some(&slots) && replacement == PLRU;
        let paper = match slots {
            _ if reference && *geometry == Geometry::Paper => Some(self.paper.clone()),
            1 => self.paper_one_slot.clone(),
            _ => None,
        };
        let most = match geometry {
            Geometry::Paper => Some(self.most),
            Geometry::Planner | Geometry::Written | Geometry::Regions(_) => None,
            Geometry::Hostile => Some(most_hostile),
        };
        Case {
            suffix: format!("{slots}paged.{}{policy}", geometry.name()),
            heap: Heap::Paged { slots, geometry: geometry.clone(), replacement, fixed: None },
            about: format!("{slots} paged, {replacement}"),
            paper,
            most: most.filter(|_| reference),
        }
    }

    fn half(geometry: &Geometry, size: &str) -> Case {
        Case {
            suffix: format!("half.{}", geometry.name()),
            heap: Heap::Paged { slots: 2, geometry: geometry.clone(), replacement: PLRU, fixed: Some(size.to_owned()) },
            about: format!("2 paged, {size} pinned"),
            paper: None,
            most: None,
        }
    }

    /// The row of the whole application, and that of the call if there is one.
    fn rows(&self, figures: &Figures<'_>, id: &str, about: String, run: &Measured, base: &Measured) -> Vec<Row> {
        let blanks = [figures.row(id, about.clone()), figures.row(&format!("{id}.call"), format!("{about}: the call"))];
        let stretches: [&[u32]; 2] = [&[1, 2], &[2]];
        let both = run.probes.iter().zip(&base.probes).zip(blanks).zip(stretches);
        both.map(|(((own, base), blank), numbers)| compared(blank, *own, base.0, run, numbers)).collect()
    }
}

/// The row `blank` with `own` cycles and instructions, compared with `base` cycles.
pub(super) fn compared(blank: Row, own: (u64, u64), base: u64, run: &Measured, stretches: &[u32]) -> Row {
    let misses = run.misses(stretches);
    let without = own.0.saturating_sub(misses * run.miss_cycles);
    Row {
        cycles: Cycles { median: own.0, max: own.0 },
        instructions: own.1,
        misses: Some(misses),
        overhead: Some(overhead(own.0, base)),
        cache_overhead: Some(overhead(without, base)),
        ..blank
    }
}
