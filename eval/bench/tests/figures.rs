//! The workloads of the figures compute what they should over paged regions, and one domain's misses are no other's affair.

mod common;

use std::path::Path;

use bench::chip::{self, Geometry};
use bench::figures::{Adversary, Figures, Heap, Measured, Ran, Variation};
use build_tool::Install;
use common::simulator;

/// `numpy.cov(a, b)[0, 1]` of the sequences that `eval/systems/mxu/script/src/engine.c` makes (numpy 2.1.3).
const COVARIANCE: f64 = 9_556_382.819_904_083;

fn run(variation: &Variation) -> Ran {
    let install = Install::find().expect("the tests run in a checkout");
    let chip = chip::find(&install, "mps2-an500").expect("the board is measured");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures");
    let simulator = simulator();
    let mut figures = Figures::new(&install, &simulator, &chip, &out).expect("the profile comes with Cofferdam");
    figures.run(variation).expect("the system builds and its run ends")
}

fn done(variation: &Variation) -> Measured {
    match run(variation) {
        Ran::Done(run) => run,
        Ran::Refused(why) => panic!("{}: {why}", variation.name),
    }
}

fn paged(slots: u32, geometry: Geometry) -> Heap {
    Heap::Paged { slots, geometry, replacement: "bit-plru", fixed: None }
}

fn variation(name: &str, system: &str, argument: u32, heap: Heap) -> Variation {
    Variation { heap, ..Variation::new(name, system, argument) }
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh unit_long"]
fn a_database_over_every_second_frame_holds_the_rows_that_it_should() {
    const ROWS: u64 = 600;
    let grouped = 1 << 16;
    let run = done(&variation("sql", "sqlite", ROWS as u32 | grouped, paged(3, Geometry::Hostile)));
    let found = (1..=ROWS).filter(|id| id % 3 == 2);
    let sum: u64 = found.clone().map(|id| id * 7 + format!("the text of row {id}").len() as u64).sum();
    assert_eq!(run.status, 0);
    assert_eq!(run.results[..7], [ROWS, ROWS / 3, ROWS / 3, found.count() as u64, ROWS - ROWS / 3, 0, sum]);
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh unit_long"]
fn a_database_done_in_another_way_holds_the_same_rows() {
    const ROWS: u32 = 600;
    let (grouped, rest) = (1 << 16, 30 << 16);
    let usual = done(&variation("sql-usual", "sqlite", ROWS | grouped, paged(3, Geometry::Paper)));
    let other = done(&variation("sql-other", "sqlite", ROWS | rest, paged(3, Geometry::Regions("4 KiB".into()))));
    assert_eq!((usual.status, other.status), (0, 0));
    // The last result is the memory that was in use.
    assert_eq!(usual.results[..7], other.results[..7]);
    assert!(other.misses(&[1]) > 10 * usual.misses(&[1]), "it jumps about in smaller regions");
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh unit_long"]
fn a_covariance_in_blocks_over_every_second_frame_equals_that_of_numpy() {
    let run = done(&variation("blocks", "script", 1, paged(3, Geometry::Hostile)));
    assert_eq!(run.status, 0);
    let computed = f64::from_bits(run.results[0]);
    assert!((computed / COVARIANCE - 1.0).abs() < 1e-12, "{computed}");
    assert!(run.misses(&[1, 2]) > 1000, "the heap is larger than three regions");
}

#[test]
fn arrays_larger_than_a_frame_cannot_be_had_where_every_second_frame_is_anothers() {
    let run = done(&variation("whole", "script", 0, paged(3, Geometry::Hostile)));
    assert_ne!(run.status, 0);
    assert!(run.too_large > 32 * 1024 && run.results.is_empty(), "{run:?}");
}

#[test]
fn one_paged_region_is_refused_because_an_instruction_may_need_two() {
    match run(&variation("one", "sqlite", 300, paged(1, Geometry::Paper))) {
        Ran::Refused(why) => assert!(why.starts_with("CF0304"), "{why}"),
        Ran::Done(run) => panic!("{run:?}"),
    }
}

#[test]
#[ignore = "for `make test-long`: scripts/test.sh unit_long"]
fn another_domain_adds_no_miss_and_this_domains_adversary_adds_many() {
    let misses = |argument, loads| {
        let mut variation = variation("apart", "synthetic", argument, paged(3, Geometry::Written));
        variation.adversary = Adversary::Signalled(loads);
        variation.name = format!("interference-{argument}");
        let run = done(&variation);
        assert_eq!((run.status, run.stretches.len()), (0, 24));
        run.stretches.iter().map(|stretch| stretch.misses).collect::<Vec<_>>()
    };
    let (control, across, inside) = (misses(1, false), misses(3, true), misses(2, false));
    assert_eq!(across, control);
    assert!(inside.iter().zip(&control).all(|(inside, control)| inside > control), "{inside:?} {control:?}");
    assert_eq!(misses(5, false), vec![0; 24], "pinned memory never misses");
}
