//! docs/time.md against the shipped kernel: systems in virtual time, on a processor whose paths take any time up to their bounds, with hostile
//! threads beside victims that take exactly their `wcet`. No response is above the bound of the analysis, and no budget gives more than its
//! supply.

mod drive;
mod moods;
mod payers;
mod rules;
mod small;
mod supply;
mod systems;

use std::string::String;
use std::vec::Vec;

use sched::response::Costs;
use sched::switching::Switching;
use testing::Rng;

use super::sim::release;
use drive::Run;
use systems::{System, bounds, random, resumptions};

/// Ticks. The kernel's paths as on a board, rounded: their proportions matter.
pub(super) const COSTS: Costs = Costs {
    switching: Switching { entry: 60, exit: 70, early: 40 },
    masked: 130,
    late: 200,
    miss: 0,
    look: 12_500_000,
};

pub(super) const START: u64 = 1_000;

#[derive(Default)]
struct Seen {
    systems: u32,
    jobs: u64,
    /// Systems with more than one budget of victims, with sharers among the victims, and with a hostile sharer of a victim.
    kinds: [u32; 3],
    ratios: Vec<f64>,
    /// How often jobs went on after others, over the bound.
    resumed: Vec<f64>,
}

impl Seen {
    fn worst(&self) -> f64 {
        self.ratios.last().copied().unwrap_or(0.0)
    }
}

/// Plays a system until its first victim has had so many periods. Returns what was wrong.
fn play(system: &System, bounds: &[u64], seed: u64, jobs: u32, seen: &mut Seen) -> Option<String> {
    let mut run = Run::new(system, seed);
    run.play(jobs, bounds);
    let late = run.worst.iter().zip(bounds).position(|(worst, bound)| worst > bound);
    let late = late.map(|victim| format!("response {} of {victim} above {}", run.worst[victim], bounds[victim]));
    let often = (0..run.resumed.len()).map(|of| (run.resumed[of], resumptions(system, of)));
    let often: Vec<(u64, u64)> = often.collect();
    seen.resumed.extend(often.iter().map(|(times, bound)| *times as f64 / *bound as f64));
    let often = often.into_iter().find(|(times, bound)| times > bound);
    let often = often.map(|(times, bound)| format!("a job was interrupted {times} times, at most {bound}"));
    let wrong = late.or(often).or_else(|| run.complaint.take());
    let wrong = wrong.map(|what| format!("seed {seed}: {what}\n{}", run.story()));
    seen.ratios.extend(run.worst.iter().zip(bounds).map(|(worst, bound)| *worst as f64 / *bound as f64));
    seen.systems += 1;
    seen.jobs += run.jobs;
    let budget = |index: usize| system.victims[index].budget;
    seen.kinds[0] += u32::from(budget(system.victims.len() - 1) > 0);
    seen.kinds[1] += u32::from((1..system.victims.len()).any(|index| budget(index) == budget(index - 1)));
    seen.kinds[2] += u32::from(system.hostile.iter().any(|thread| thread.budget <= budget(system.victims.len() - 1)));
    release(run.kernel);
    wrong
}

fn campaign(seeds: core::ops::Range<u64>, jobs: u32) -> Seen {
    let (mut seen, mut wrong) = (Seen::default(), Vec::new());
    for seed in seeds {
        let system = random(&mut Rng::new(seed));
        if let Some(bounds) = bounds(&system) {
            wrong.extend(play(&system, &bounds, seed, jobs, &mut seen));
        }
        if wrong.len() == 3 {
            break;
        }
    }
    assert!(wrong.is_empty(), "{} of {} systems:\n{}", wrong.len(), seen.systems, wrong.join("\n"));
    seen.ratios.sort_by(f64::total_cmp);
    seen
}

#[test]
fn no_response_is_above_its_bound() {
    let number = |name: &str, usual| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let systems = number("COFFERDAM_TIME_SYSTEMS", 1_200);
    let first = number("COFFERDAM_TIME_SEED", 1);
    let seen = campaign(first..first + systems, 40);
    std::println!(
        "{} systems ({:?} with two victims' budgets, sharers, a hostile sharer), {} jobs, response/bound: median {:.2}, largest {:.3}; interrupted/bound: largest {:.3}",
        seen.systems,
        seen.kinds,
        seen.jobs,
        seen.ratios[seen.ratios.len() / 2],
        seen.worst(),
        seen.resumed.iter().copied().fold(0.0, f64::max)
    );
    assert!(u64::from(seen.systems) > systems / 5, "only {} were admitted", seen.systems);
    assert!(systems < 1_000 || seen.kinds.iter().all(|count| *count > 20), "kinds of systems: {:?}", seen.kinds);
    assert!(systems < 1_000 || seen.worst() > 0.8, "nobody comes near the bound: {}", seen.worst());
}
