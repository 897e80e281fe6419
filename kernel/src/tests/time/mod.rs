//! docs/time.md against the shipped kernel: random systems in virtual time, on a processor whose paths take any time up to their bounds, with
//! hostile threads beside a victim that takes exactly its `wcet`. No response is above the bound of the analysis, and no budget gives more
//! than its supply.

mod drive;
mod systems;

use sched::response::Costs;
use sched::switching::Switching;
use testing::Rng;

use drive::Run;
use systems::{System, bound, random};

/// Ticks. The kernel's paths as on a board, rounded: their proportions matter.
pub(super) const COSTS: Costs = Costs {
    switching: Switching { entry: 60, exit: 70, early: 40 },
    masked: 130,
    late: 200,
    miss: 0,
    look: 12_500_000,
};

/// What a campaign has seen.
#[derive(Default)]
struct Seen {
    systems: u32,
    jobs: u64,
    worst: f64,
    ratios: std::vec::Vec<f64>,
}

/// Plays a system until its victim has had so many jobs.
fn play(system: &System, seed: u64, jobs: u32, seen: &mut Seen) {
    let bound = bound(system).unwrap();
    let mut run = Run::new(system, seed);
    run.play(jobs, bound);
    let worst = run.responses.iter().copied().max().unwrap_or(0);
    assert!(worst <= bound, "seed {seed}: response {worst} above the bound {bound}\n{system:#?}\n{}", run.story());
    seen.systems += 1;
    seen.jobs += run.responses.len() as u64;
    let ratio = worst as f64 / bound as f64;
    seen.worst = seen.worst.max(ratio);
    seen.ratios.push(ratio);
}

fn campaign(seeds: core::ops::Range<u64>, jobs: u32) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let system = random(&mut rng);
        if bound(&system).is_some() {
            play(&system, seed, jobs, &mut seen);
        }
    }
    seen.ratios.sort_by(f64::total_cmp);
    seen
}

#[test]
fn no_response_is_above_its_bound() {
    let systems = std::env::var("COFFERDAM_TIME_SYSTEMS").ok().and_then(|text| text.parse().ok()).unwrap_or(600);
    let first = std::env::var("COFFERDAM_TIME_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let seen = campaign(first..first + systems, 60);
    let median = seen.ratios[seen.ratios.len() / 2];
    std::println!(
        "{} systems, {} jobs, response/bound: median {median:.2}, largest {:.3}",
        seen.systems,
        seen.jobs,
        seen.worst
    );
    assert!(seen.systems as u64 > systems / 4, "only {} were admitted", seen.systems);
    assert!(seen.worst > 0.8, "nobody comes near the bound: {}", seen.worst);
}
