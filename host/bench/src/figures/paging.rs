//! Applications over paged regions against pinned ones: 1, 2 and 3 paged regions and half of the heap pinned, in three geometries.

use super::system::{Adversary, Figures, Geometry, Heap, Measured, Ran, Variation};
use super::{PREFIX, Wanted, overhead, row, with_target};
use crate::Error;
use crate::rows::{Cycles, Row, Target};

/// Labels around the whole application.
pub(super) const WHOLE: (&str, &str) = ("probe_1_start", "probe_1_end");
/// Labels around what a script has measured.
pub(super) const CALL: (&str, &str) = ("probe_2_start", "probe_2_end");
/// SQLite: 16384 rows, each phase one transaction.
const ROWS: u32 = 16_384 | 1 << 16;
const GEOMETRIES: [Geometry; 3] = [Geometry::Paper, Geometry::Planner, Geometry::Hostile];
pub(super) const PLRU: &str = "bit-plru";

/// An application.
struct App {
    name: &'static str,
    about: &'static str,
    system: &'static str,
    argument: u32,
    probes: &'static [(&'static str, &'static str)],
    /// About half of what it has allocated at most, where the paper has half of the memory pinned.
    half: Option<&'static str>,
    geometries: &'static [Geometry],
    /// Numbers of paged regions; the first is the paper's three, or the fewest that are admitted where code is paged.
    slots: &'static [u32],
    paged_too: &'static [&'static str],
    /// Overhead with three paged regions in the paper.
    paper: &'static str,
    /// Most overhead in the paper's geometry, percent: half of the paper's, or what it calls negligible.
    most: f64,
}

const SLOTS: &[u32] = &[3, 2, 1];

const APPS: [App; 5] = [
    App {
        name: "sqlite",
        about: "SQLite, 16384 rows",
        system: "sqlite",
        argument: ROWS,
        probes: &[WHOLE],
        half: Some("512 KiB"),
        geometries: &GEOMETRIES,
        slots: SLOTS,
        paged_too: &[],
        paper: "36.9 %",
        most: 36.9 / 2.0,
    },
    App {
        name: "covariance",
        about: "covariance of 2 x 75000",
        system: "script",
        argument: 0,
        probes: &[WHOLE, CALL],
        half: Some("1536 KiB"),
        geometries: &GEOMETRIES,
        slots: SLOTS,
        paged_too: &[],
        paper: "49.7 %",
        most: 49.7 / 2.0,
    },
    App {
        name: "covariance_blocks",
        about: "covariance of 2 x 75000 in blocks of 2500",
        system: "script",
        argument: 1,
        probes: &[WHOLE, CALL],
        half: Some("1536 KiB"),
        geometries: &[Geometry::Hostile],
        slots: SLOTS,
        paged_too: &[],
        paper: "49.7 %",
        most: 49.7 / 2.0,
    },
    App {
        name: "fig7.mandel",
        about: "Mandelbrot set",
        system: "script",
        argument: 2,
        probes: &[WHOLE],
        half: None,
        geometries: &[Geometry::Paper],
        slots: SLOTS,
        paged_too: &[],
        paper: "< 1 %",
        most: 1.0,
    },
    // It has no heap, and stacks are pinned: what is left to be paged is code and weights.
    App {
        name: "fig7.network",
        about: "person_detect",
        system: "network",
        argument: 0,
        probes: &[WHOLE],
        half: None,
        geometries: &[Geometry::Paper],
        slots: &[4],
        paged_too: &["code"],
        paper: "< 1 %",
        most: 1.0,
    },
];

/// Most overhead in the hostile geometry with our planner, percent.
const MOST: f64 = 10.0;

/// All rows of this kind that are asked for.
pub(super) fn measure(figures: &mut Figures<'_>, wanted: &mut Wanted<'_>) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for app in APPS {
        let prefix = format!("{PREFIX}{}.", app.name);
        if wanted.any(&prefix) {
            rows.extend(app.measure(figures, wanted, &prefix)?);
        }
    }
    Ok(rows)
}

/// A row to be: the end of its id, the heap, what is special, what the paper says, and the target.
struct Case {
    suffix: String,
    heap: Heap,
    about: String,
    paper: Option<String>,
    most: Option<f64>,
}

impl App {
    fn measure(&self, figures: &mut Figures<'_>, wanted: &mut Wanted<'_>, prefix: &str) -> Result<Vec<Row>, Error> {
        let id = format!("{prefix}pinned");
        wanted.tell(&id);
        let base = match figures.run(&self.variation(&id, Heap::Pinned))? {
            Ran::Done(base) if base.status == 0 => base,
            other => return Err(Error::Run(format!("{id}: {other:?}"))),
        };
        let mut rows = self.rows(&id, format!("{}, pinned", self.about), &base, &base);
        for case in self.cases() {
            let id = format!("{prefix}{}", case.suffix);
            if !wanted.any(&id) {
                continue;
            }
            wanted.tell(&id);
            let about = format!("{}, {}", self.about, case.about);
            let mut found = match figures.run(&self.variation(&id, case.heap.clone()))? {
                Ran::Refused(why) => vec![Row { refused: Some(why), ..row(&id, about) }],
                Ran::Done(run) if run.status != 0 && run.too_large != 0 => {
                    let why = format!("does not fit: a block of {} bytes in one piece", run.too_large);
                    vec![Row { refused: Some(why), ..row(&id, about) }]
                }
                Ran::Done(run) if run.status != 0 || run.results[..] != base.results[..] => {
                    return Err(Error::Run(format!("{id}: status {}, results {:?}", run.status, run.results)));
                }
                Ran::Done(run) => self.rows(&id, about, &run, &base),
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

    fn variation(&self, id: &str, heap: Heap) -> Variation {
        Variation {
            name: id.strip_prefix(PREFIX).unwrap_or(id).to_owned(),
            system: self.system,
            argument: self.argument,
            paged_too: if heap == Heap::Pinned { &[] } else { self.paged_too },
            heap,
            adversary: Adversary::Nobody,
            chip: None,
            probes: self.probes,
        }
    }

    fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for geometry in self.geometries {
            for slots in self.slots {
                cases.push(self.paged(*geometry, *slots, PLRU));
            }
            cases.extend(self.half.map(|size| Self::half(*geometry, size)));
            if *geometry == Geometry::Paper && self.half.is_some() {
                cases.extend(["round-robin", "random"].map(|policy| self.paged(*geometry, 3, policy)));
            }
        }
        cases
    }

    fn paged(&self, geometry: Geometry, slots: u32, replacement: &'static str) -> Case {
        let policy = if replacement == PLRU { String::new() } else { format!(".{replacement}") };
        let reference = slots == self.slots[0] && replacement == PLRU;
        let paper = match slots {
            _ if reference && geometry == Geometry::Paper => Some(self.paper.to_owned()),
            1 if self.name == "covariance" => Some("livelock".to_owned()),
            _ => None,
        };
        let most = match geometry {
            Geometry::Paper => Some(self.most),
            Geometry::Planner | Geometry::Written | Geometry::Regions(_) => None,
            Geometry::Hostile => Some(MOST),
        };
        Case {
            suffix: format!("{slots}paged.{}{policy}", geometry.name()),
            heap: Heap::Paged { slots, geometry, replacement, fixed: None },
            about: format!("{slots} paged, {replacement}"),
            paper,
            most: most.filter(|_| reference),
        }
    }

    fn half(geometry: Geometry, size: &'static str) -> Case {
        Case {
            suffix: format!("half.{}", geometry.name()),
            heap: Heap::Paged { slots: 2, geometry, replacement: PLRU, fixed: Some(size) },
            about: format!("2 paged, {size} pinned"),
            paper: None,
            most: None,
        }
    }

    /// The row of the whole application, and that of the call if there is one.
    fn rows(&self, id: &str, about: String, run: &Measured, base: &Measured) -> Vec<Row> {
        let ids = [(id.to_owned(), about.clone()), (format!("{id}.call"), format!("{about}: the call"))];
        let stretches: [&[u32]; 2] = [&[1, 2], &[2]];
        let both = run.probes.iter().zip(&base.probes).zip(ids).zip(stretches);
        both.map(|(((own, base), (id, about)), numbers)| compared(&id, about, *own, base.0, run, numbers)).collect()
    }
}

/// A row of `own` cycles and instructions, compared with `base` cycles.
pub(super) fn compared(id: &str, about: String, own: (u64, u64), base: u64, run: &Measured, stretches: &[u32]) -> Row {
    let misses = run.misses(stretches);
    let without = own.0.saturating_sub(misses * run.miss_cycles);
    Row {
        cycles: Cycles { median: own.0, max: own.0 },
        instructions: own.1,
        misses: Some(misses),
        overhead: Some(overhead(own.0, base)),
        cache_overhead: Some(overhead(without, base)),
        ..row(id, about)
    }
}
