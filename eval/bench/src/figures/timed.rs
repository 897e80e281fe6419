//! Applications under interference at fixed times, in the paper's geometry with three paged regions. They have less to do than elsewhere.

use super::compare::{overhead, with_target};
use super::paging::{CALL, PLRU, WHOLE, compared};
use super::selection::Selection;
use super::system::{Figures, Measured, Ran};
use super::variation::{Adversary, Heap, Variation};
use crate::Error;
use crate::chip::{Geometry, TimedApp};
use crate::rows::{Row, Target};

/// Microseconds between two turns of the adversary.
const TIMES: [u32; 3] = [10, 100, 1000];
/// From this time on the paper's overhead is at most `Timed::most`.
const COMMON: u32 = 100;

/// All rows of this kind that are asked for.
pub(super) fn measure(figures: &mut Figures<'_>, wanted: &mut Selection<'_>) -> Result<Vec<Row>, Error> {
    let Some(timed) = &figures.plan().timed else { return Ok(Vec::new()) };
    let mut rows = Vec::new();
    for app in &timed.app {
        let prefix = format!("{}fig9.{}.", figures.prefix(), app.name);
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
                    let blank = figures.row(&id, format!("{}, {place} every {time} us", app.about));
                    rows.push(match (normal, interfered) {
                        (Ran::Done(normal), Ran::Done(interfered)) => {
                            let most = (time >= COMMON).then_some(timed.most);
                            app.row(blank, place, most, &normal, &interfered)
                        }
                        (Ran::Refused(why), _) | (_, Ran::Refused(why)) => Row { refused: Some(why), ..blank },
                    });
                }
            }
        }
    }
    Ok(rows)
}

impl TimedApp {
    fn run(&self, figures: &mut Figures<'_>, id: &str, adversary: Adversary) -> Result<Ran, Error> {
        let heap = Heap::Paged { slots: 3, geometry: Geometry::Paper, replacement: PLRU, fixed: None };
        let probes = vec![if self.call { CALL } else { WHOLE }];
        let blank = Variation::new(figures.name(id), &self.system, self.argument);
        let variation = Variation { heap, adversary, probes, ..blank };
        match figures.run(&variation)? {
            Ran::Done(run) if run.status != 0 => Err(Error::Run(format!("{id}: {run:?}"))),
            other => Ok(other),
        }
    }

    /// Numbers of the stretches of which misses count.
    fn stretches(&self) -> &'static [u32] {
        if self.call { &[2] } else { &[1, 2] }
    }

    /// The run with evictions, compared with the one in which the adversary's turns are as long and evict nothing.
    fn row(&self, blank: Row, place: &str, most: Option<f64>, normal: &Measured, run: &Measured) -> Row {
        let (own, base) = (run.probes[0], normal.probes[0].0);
        let added = run.misses(self.stretches()) as i64 - normal.misses(self.stretches()) as i64;
        let without = own.0.saturating_add_signed(-(added * run.miss_cycles as i64));
        let mut found = compared(blank, own, base, run, self.stretches());
        found.added_misses = Some(added);
        found.cache_overhead = Some(overhead(without, base));
        if place == "across" {
            found.paper = Some("none".to_owned());
            return with_target(found, Target { added_misses: Some(0), ..Target::default() });
        }
        let Some(most) = most else { return found };
        found.paper = Some(format!("<= {most} %"));
        with_target(found, Target { overhead: Some(most), ..Target::default() })
    }
}
