//! Applications under interference at fixed times, in the paper's geometry with three paged regions. They have less to do than elsewhere.

use super::paging::{CALL, PLRU, WHOLE, compared};
use super::system::{Adversary, Figures, Geometry, Heap, Measured, Ran, Variation};
use super::{PREFIX, Wanted, overhead, row, with_target};
use crate::Error;
use crate::rows::{Row, Target};

/// Microseconds between two turns of the adversary.
const TIMES: [u32; 3] = [10, 100, 1000];
/// From this time on the paper's overhead is at most [`PAPER`] percent.
const COMMON: u32 = 100;
const PAPER: f64 = 6.1;

struct App {
    name: &'static str,
    about: &'static str,
    system: &'static str,
    argument: u32,
    probes: &'static [(&'static str, &'static str)],
    stretches: &'static [u32],
    has_all: bool,
}

const APPS: [App; 3] = [
    App {
        name: "sqlite",
        about: "SQLite, 1024 rows",
        system: "sqlite",
        argument: 1024 | 1 << 16,
        probes: &[WHOLE],
        stretches: &[1],
        has_all: true,
    },
    App {
        name: "covariance",
        about: "covariance of 2 x 7500, the call",
        system: "script",
        argument: 512,
        probes: &[CALL],
        stretches: &[2],
        has_all: false,
    },
    App {
        name: "mandel",
        about: "Mandelbrot set",
        system: "script",
        argument: 2,
        probes: &[WHOLE],
        stretches: &[1, 2],
        has_all: false,
    },
];

/// All rows of this kind that are asked for.
pub(super) fn measure(figures: &mut Figures<'_>, wanted: &mut Wanted<'_>) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for app in APPS {
        let prefix = format!("{PREFIX}fig9.{}.", app.name);
        if !wanted.any(&prefix) {
            continue;
        }
        for time in TIMES {
            for (place, who) in
                [("inside", Adversary::Inside as fn(u32, bool) -> Adversary), ("across", Adversary::Across)]
            {
                let id = format!("{prefix}{place}.{time}us");
                // Each turn costs the emulator much: of the other workloads the paper's limit and the shortest time across domains will do.
                let is_enough = (place, time) == ("inside", COMMON) || (place, time) == ("across", TIMES[0]);
                if wanted.any(&id) && (app.has_all || is_enough) {
                    wanted.tell(&id);
                    let normal = app.run(figures, &format!("{id}.normal"), who(time, false))?;
                    let interfered = app.run(figures, &id, who(time, true))?;
                    rows.push(match (normal, interfered) {
                        (Ran::Done(normal), Ran::Done(interfered)) => app.row(&id, time, place, &normal, &interfered),
                        (Ran::Refused(why), _) | (_, Ran::Refused(why)) => {
                            Row { refused: Some(why), ..row(&id, format!("{}, {place} every {time} us", app.about)) }
                        }
                    });
                }
            }
        }
    }
    Ok(rows)
}

impl App {
    fn run(&self, figures: &mut Figures<'_>, id: &str, adversary: Adversary) -> Result<Ran, Error> {
        let heap = Heap::Paged { slots: 3, geometry: Geometry::Paper, replacement: PLRU, fixed: None };
        let name = id.strip_prefix(PREFIX).unwrap_or(id).to_owned();
        let (system, argument, probes) = (self.system, self.argument, self.probes);
        match figures.run(&Variation { name, system, argument, heap, paged_too: &[], adversary, chip: None, probes })? {
            Ran::Done(run) if run.status != 0 => Err(Error::Run(format!("{id}: {run:?}"))),
            other => Ok(other),
        }
    }

    /// The run with evictions, compared with the one in which the adversary's turns are as long and evict nothing.
    fn row(&self, id: &str, time: u32, place: &str, normal: &Measured, run: &Measured) -> Row {
        let (own, base) = (run.probes[0], normal.probes[0].0);
        let about = format!("{}, {place} every {time} us", self.about);
        let added = run.misses(self.stretches) as i64 - normal.misses(self.stretches) as i64;
        let without = own.0.saturating_add_signed(-(added * run.miss_cycles as i64));
        let mut found = compared(id, about, own, base, run, self.stretches);
        found.added_misses = Some(added);
        found.cache_overhead = Some(overhead(without, base));
        if place == "across" {
            found.paper = Some("none".to_owned());
            return with_target(found, Target { added_misses: Some(0), ..Target::default() });
        }
        if time < COMMON {
            return found;
        }
        found.paper = Some(format!("<= {PAPER} %"));
        with_target(found, Target { overhead: Some(PAPER), ..Target::default() })
    }
}
