//! Jobs, quantiles, histograms, the time base.

use abi::trace::{Event, IDLE};
use proptest::prelude::*;

use super::{START, at, build, idle, job, summary, switch, system};
use crate::Report;
use crate::stats::{Histogram, MAX_BINS, Quantiles};
use crate::time::Timebase;

#[test]
fn response_times_count_from_the_nominal_release() {
    let report = build(3400, [job(0, 100), job(100, 1300), job(200, 2200)].concat());
    let thread = &report.threads[0];
    assert_eq!((thread.releases, thread.completions, thread.missed_deadlines), (3, 3, 0));
    assert_eq!(thread.response, Some(Quantiles { min: 100, median: 200, p99: 300, max: 300 }));
    // A deadline of 50 ticks is 500 cycles; a bound of 40 ticks 400.
    assert_eq!(
        (thread.deadline_cycles, thread.response_bound, thread.smallest_margin),
        (Some(500), Some(400), Some(200))
    );
    // From the release, recorded one cycle after its time, to the completion: 99 + 299 + 199.
    assert_eq!(thread.cycles, 597);
    let margins = thread.margins.as_ref().expect("three margins");
    assert_eq!((margins.start, margins.width, margins.counts.iter().sum::<u64>()), (200, 10, 3));
    assert_eq!((margins.counts[0], margins.counts[10], margins.counts[20], margins.counts.len()), (1, 1, 1, 21));
}

#[test]
fn a_missed_deadline_is_late_unfinished_or_skipped() {
    let mut events = job(0, 501).to_vec();
    events.extend(job(100, 1500)); // On the deadline: not late.
    events.extend([at(2001, Event::Release, 0, 0, 200), switch(2001, 0, 0), at(3001, Event::Overrun, 0, 0, 300)]);
    let report = build(3100, events);
    let thread = &report.threads[0];
    assert_eq!((thread.late, thread.unfinished, thread.skipped, thread.overruns), (1, 1, 1, 1));
    assert_eq!(thread.missed_deadlines, 3);
    assert_eq!(thread.smallest_margin, Some(-1));
    assert_eq!(report.run.missed_deadlines, 3);
    assert_eq!(report.verdict.failures[0].code, "deadline-missed");
    assert_eq!(
        report.verdict.failures[0].text,
        "loop missed 3 deadlines: 1 late, 1 unfinished, 1 skipped; the longest response was 50.100 ms, deadline 50.000 ms, over by 100.0 us."
    );
}

#[test]
fn a_job_whose_deadline_lies_behind_the_end_is_not_missed() {
    let report = build(2400, [at(2001, Event::Release, 0, 0, 200), switch(2001, 0, 0)]);
    assert_eq!((report.threads[0].releases, report.threads[0].missed_deadlines), (1, 0));
}

#[test]
fn a_job_that_never_ends_misses_the_deadlines_of_the_releases_behind_it() {
    let events = [at(2001, Event::Release, 0, 0, 200), switch(2001, 0, 0)];
    // Deadlines at 2500, 3500 and 4500; one that falls on the end has not passed.
    assert_eq!(build(4700, events).threads[0].unfinished, 3);
    assert_eq!(build(4500, events).threads[0].unfinished, 2);
    assert_eq!(build(4501, events).threads[0].unfinished, 3);
}

#[test]
fn a_thread_that_is_not_released_any_more_misses_the_deadlines_of_the_releases_it_should_have_had() {
    // Deadlines at 1500 and 2500; one that falls on the end has not passed.
    assert_eq!(build(1500, job(0, 301)).threads[0].unfinished, 0);
    assert_eq!(build(1501, job(0, 301)).threads[0].unfinished, 1);
    assert_eq!(build(2501, job(0, 301)).threads[0].unfinished, 2);
    let exit = at(400, Event::Exit, 0, 0, 0);
    let stop = at(400, Event::Stop, 0, 0, 0);
    for end in [exit, stop] {
        assert_eq!(build(2501, job(0, 301).into_iter().chain([end])).threads[0].unfinished, 0);
    }
}

#[test]
fn an_overrun_that_is_released_after_all_was_not_skipped() {
    let events = [
        at(1, Event::Release, 0, 0, 0),
        at(1001, Event::Overrun, 0, 0, 100),
        at(1100, Event::Complete, 0, 0, 0),
        at(1101, Event::Release, 0, 0, 100),
        at(1200, Event::Complete, 0, 0, 0),
    ];
    let thread = &build(1300, events).threads[0];
    assert_eq!((thread.releases, thread.completions, thread.skipped, thread.late), (2, 2, 0, 1));
    assert_eq!((thread.overruns, thread.missed_deadlines), (1, 1));
    assert_eq!(thread.response.expect("two jobs").max, 1100);
}

#[test]
fn a_fault_of_its_own_domain_abandons_a_job_and_an_exit_ends_it() {
    let events = [
        at(1, Event::Release, 0, 0, 0),
        at(50, Event::Fault, 0, 1, 0x10),
        at(60, Event::Restart, 0, 1, 0),
        at(1001, Event::Release, 0, 0, 100),
        at(1002, Event::Exit, 0, 0, 0),
    ];
    let thread = &build(9000, events).threads[0];
    assert_eq!((thread.abandoned, thread.completions, thread.missed_deadlines), (1, 0, 0));
}

/// Tick 0 lies at cycle 700: the releases are recorded 30, 20 and 90 cycles late.
fn late_releases() -> Vec<record::RunEvent> {
    let jobs = [(0u32, 730, 800), (100, 1720, 1900), (200, 2790, 2800)].map(|(nominal, released, done)| {
        [at(released, Event::Release, 0, 0, nominal), at(done, Event::Complete, 0, 0, 0)]
    });
    jobs.concat()
}

#[test]
fn the_kernels_start_says_where_tick_zero_is() {
    // Tick 2 was read at cycle 720, when the clock had run for 20 cycles.
    let start = [at(720, Event::Start, IDLE, 0, 2)];
    let report = super::report(&system(), &summary(4000), start.into_iter().chain(late_releases()));
    assert_eq!((report.run.tick_zero_cycles, report.run.tick_zero_known), (700, true));
    assert_eq!(report.threads[0].response, Some(Quantiles { min: 100, median: 100, p99: 200, max: 200 }));
    assert_eq!(report.run.strange_events, 0);
}

#[test]
fn a_clock_that_runs_before_the_processor_counts_has_its_tick_zero_before_the_run() {
    let report = super::report(&system(), &summary(100), [at(50, Event::Start, IDLE, 0, 8)]);
    assert_eq!((report.run.tick_zero_cycles, report.run.tick_zero_known), (-30, true));
}

#[test]
fn without_the_kernels_start_the_fastest_release_has_no_latency() {
    let report = super::report(&system(), &summary(4000), late_releases());
    assert_eq!((report.run.tick_zero_cycles, report.run.tick_zero_known), (720, false));
    assert_eq!(report.threads[0].response, Some(Quantiles { min: 80, median: 80, p99: 180, max: 180 }));
}

#[test]
fn the_low_word_of_a_time_is_completed_from_the_cycle() {
    let time = Timebase::new(&system());
    let turn = 1u64 << 32;
    assert_eq!(time.unwrap(5, 51), 50);
    assert_eq!(time.unwrap(5, (turn + 6) * 10), (turn + 5) * 10);
    // Recorded just after the word wrapped, nominally just before.
    assert_eq!(time.unwrap(u32::MAX, (turn + 1) * 10), (turn - 1) * 10);
    assert_eq!(time.unwrap(2, (turn - 1) * 10), (turn + 2) * 10);
}

#[test]
fn two_runs_with_the_same_events_differ_only_in_what_the_host_adds() {
    let events = job(0, 100);
    let slow = record::Summary { host_seconds: 9.0, mips: 1.0, ..summary(500) };
    let (a, mut b) = (build(500, events), super::report(&system(), &slow, [START].into_iter().chain(events)));
    assert_ne!(a.to_json(), b.to_json());
    b.host = a.host.clone();
    assert_eq!(a.to_json(), b.to_json());
    assert_eq!(serde_json::from_str::<Report>(&a.to_json()).expect("reads its own output"), a);
}

#[test]
fn threads_that_never_ran_have_no_statistics() {
    let report = build(100, [idle(5)]);
    assert_eq!(report.threads[0].response, None);
    assert_eq!(report.threads[0].margins, None);
}

#[test]
fn quantiles_are_by_nearest_rank() {
    let hundred: Vec<u64> = (1..=100).rev().collect();
    assert_eq!(quantiles(&hundred), (Quantiles { min: 1, median: 50, p99: 99, max: 100 }));
    let more: Vec<u64> = (1..=101).collect();
    assert_eq!(quantiles(&more), (Quantiles { min: 1, median: 51, p99: 100, max: 101 }));
    assert_eq!(quantiles(&[7]), (Quantiles { min: 7, median: 7, p99: 7, max: 7 }));
}

#[test]
fn a_bin_holds_its_lower_edge() {
    let histogram = histogram(&[-100, -51, -50, 0, 49, 50, 1099]);
    assert_eq!((histogram.start, histogram.width), (-100, 50));
    assert_eq!(&histogram.counts[..4], [2, 1, 2, 1]);
    assert_eq!((histogram.counts.len(), *histogram.counts.last().expect("bins")), (24, 1));
}

proptest! {
    #[test]
    fn a_histogram_loses_nothing(values in prop::collection::vec(-2_000_000_000i64..2_000_000_000, 1..300)) {
        let histogram = histogram(&values);
        prop_assert_eq!(histogram.counts.iter().sum::<u64>(), values.len() as u64);
        prop_assert!(histogram.counts.len() <= MAX_BINS);
        prop_assert!(histogram.counts[0] > 0 && *histogram.counts.last().unwrap() > 0);
        let width = histogram.width as i64;
        for (index, &count) in histogram.counts.iter().enumerate() {
            let low = histogram.start + index as i64 * width;
            let inside = values.iter().filter(|&&value| value >= low && value < low + width).count();
            prop_assert_eq!(count, inside as u64);
        }
    }

    #[test]
    fn quantiles_are_values_in_order(values in prop::collection::vec(0u64..1_000_000, 1..300)) {
        let all = values.clone();
        let quantiles = quantiles(&values);
        for value in [quantiles.min, quantiles.median, quantiles.p99, quantiles.max] {
            prop_assert!(all.contains(&value));
        }
        let at_most = |limit: u64| all.iter().filter(|&&value| value <= limit).count();
        prop_assert!(at_most(quantiles.median) * 2 >= all.len());
        prop_assert!(at_most(quantiles.p99) * 100 >= all.len() * 99);
        prop_assert!(all.iter().filter(|&&value| value < quantiles.median).count() * 2 < all.len());
    }
}

fn quantiles(values: &[u64]) -> Quantiles {
    let (min, max) = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
    Quantiles::select(values.len() as u64, min, max, || Ok(values.iter().map(|value| Ok(*value)))).unwrap()
}

fn histogram(values: &[i64]) -> Histogram {
    let mut histogram = Histogram::between(*values.iter().min().unwrap(), *values.iter().max().unwrap());
    values.iter().for_each(|value| histogram.add(*value));
    histogram
}
