//! Synthetic workloads: replacement policies, and interference after every n accesses.

use super::compare::{overhead, with_target};
use super::selection::Selection;
use super::system::{Figures, Measured, Stretch};
use super::variation::{Adversary, Heap, Variation};
use crate::Error;
use crate::chip::{Geometry, Synthetic};
use crate::rows::{Cycles, Row, Target};

const POLICIES: [&str; 3] = ["bit-plru", "round-robin", "random"];
/// Orders of access, and how many accesses are made without adversary.
pub(super) const ORDERS: [(&str, u64); 4] = [("seq", 262_144), ("ran", 262_144), ("str", 262_144), ("mat", 557_056)];
/// Accesses between two turns of the adversary, and how many are made in all.
pub(super) const EVERY: [u64; 6] = [4, 5, 16, 64, 256, 1024];
const INTERFERED: u64 = 16_384;
/// Around each chunk of accesses.
pub(super) const CHUNK: (&str, &str) = ("probe_chunk_start", "probe_chunk_end");

/// Memory of adversary and benchmark as in the paper's table 5: name, argument, whether the other domain loads, its control.
struct Case {
    name: &'static str,
    about: &'static str,
    argument: u32,
    loads: bool,
    control: u32,
    /// Whether no miss may be added.
    is_apart: bool,
}

const CASES: [Case; 4] = [
    Case { name: "dyn-dyn", about: "both paged, one domain", argument: 2, loads: false, control: 1, is_apart: false },
    Case { name: "dyn-sep", about: "both paged, two domains", argument: 3, loads: true, control: 1, is_apart: true },
    Case { name: "sta-dyn", about: "pinned, foe paged", argument: 5, loads: false, control: 4, is_apart: true },
    Case { name: "sta-sta", about: "both pinned", argument: 6, loads: false, control: 4, is_apart: true },
];

/// All rows of this kind that are asked for.
pub(super) fn measure(figures: &mut Figures<'_>, wanted: &mut Selection<'_>) -> Result<Vec<Row>, Error> {
    let Some(synthetic) = &figures.plan().synthetic else { return Ok(Vec::new()) };
    let mut rows = synthetic.policies(figures, wanted)?;
    rows.extend(synthetic.interference(figures, wanted)?);
    Ok(rows)
}

impl Synthetic {
    fn run(
        &self,
        figures: &mut Figures<'_>,
        id: &str,
        argument: u32,
        loads: bool,
        replacement: &'static str,
    ) -> Result<Measured, Error> {
        let heap = Heap::Paged { slots: 3, geometry: Geometry::Written, replacement, fixed: None };
        let name = figures.name(id);
        figures.complete(&Variation {
            heap,
            adversary: Adversary::Signalled(loads),
            probes: vec![CHUNK],
            ..Variation::new(name, &self.system, argument)
        })
    }

    fn policies(&self, figures: &mut Figures<'_>, wanted: &mut Selection<'_>) -> Result<Vec<Row>, Error> {
        let prefix = format!("{}fig3.", figures.prefix());
        if !wanted.any(&prefix) {
            return Ok(Vec::new());
        }
        let mut runs = Vec::new();
        for policy in POLICIES {
            wanted.tell(&format!("{prefix}{policy}"));
            runs.push((policy, self.run(figures, &format!("{prefix}{policy}"), 0, false, policy)?));
        }
        let mut rows = Vec::new();
        for (order, (name, accesses)) in (1..).zip(ORDERS) {
            let at = |run: &Measured, kind: u32| run.stretches.iter().find(|s| s.number == order * 10 + kind).copied();
            let pinned = at(&runs[0].1, 1).unwrap_or_default();
            let mut add = |suffix: &str, accesses: u64, stretch: Stretch| {
                let per = stretch.probed as f64 / accesses as f64;
                let base = pinned.probed * accesses / ORDERS[order as usize - 1].1;
                rows.push(Row {
                    cycles: Cycles { median: stretch.probed, max: stretch.probed },
                    misses: Some(stretch.misses),
                    overhead: Some(overhead(stretch.probed, base)),
                    ..figures
                        .row(&format!("{prefix}{name}.{suffix}"), format!("{accesses} accesses, {per:.2} cycles each"))
                });
            };
            add("pinned", accesses, pinned);
            for (policy, run) in &runs {
                add(policy, accesses, at(run, 0).unwrap_or_default());
            }
            add("always-miss", accesses / 8, at(&runs[0].1, 2).unwrap_or_default());
        }
        Ok(rows)
    }

    fn interference(&self, figures: &mut Figures<'_>, wanted: &mut Selection<'_>) -> Result<Vec<Row>, Error> {
        let prefix = format!("{}fig5.", figures.prefix());
        if !wanted.any(&prefix) {
            return Ok(Vec::new());
        }
        let mut rows = Vec::new();
        let mut control = (0, Measured::default());
        for case in CASES {
            if control.0 != case.control {
                wanted.tell(&format!("{prefix}control.{}", case.control));
                let name = format!("{prefix}control.{}", case.control);
                control = (case.control, self.run(figures, &name, case.control, false, POLICIES[0])?);
            }
            wanted.tell(&format!("{prefix}{}", case.name));
            let run = self.run(figures, &format!("{prefix}{}", case.name), case.argument, case.loads, POLICIES[0])?;
            rows.extend(case.rows(figures, &prefix, &run, &control.1));
        }
        Ok(rows)
    }
}

impl Case {
    fn rows(&self, figures: &Figures<'_>, prefix: &str, run: &Measured, control: &Measured) -> Vec<Row> {
        let both = run.stretches.iter().zip(&control.stretches);
        both.map(|(own, control)| {
            let order = ORDERS[(own.number as usize / 10 - 1).min(ORDERS.len() - 1)].0;
            let every = EVERY[(own.number as usize % 10).min(EVERY.len() - 1)];
            let added = own.misses as i64 - control.misses as i64;
            let without = own.probed.saturating_add_signed(-(added * run.miss_cycles as i64));
            let found = Row {
                cycles: Cycles { median: own.probed, max: own.probed },
                misses: Some(own.misses),
                added_misses: Some(added),
                overhead: Some(overhead(own.probed, control.probed)),
                cache_overhead: Some(overhead(without, control.probed)),
                ..figures.row(
                    &format!("{prefix}{order}.{}.{every}", self.name),
                    format!("{INTERFERED} accesses, {}, every {every}", self.about),
                )
            };
            let target = Target { added_misses: Some(0), ..Target::default() };
            if self.is_apart { with_target(found, target) } else { found }
        })
        .collect()
    }
}
