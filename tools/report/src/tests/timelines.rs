//! The down-sampled timeline, its windows and its places.

use abi::trace::Event;

use super::{at, build, idle, job, switch};
use crate::Report;
use crate::highlights::MAX_FAULT_PLACES;
use crate::timeline::{BUCKETS, HighlightKind, MAX_HIGHLIGHTS, MAX_MARKERS, MarkerKind, Timeline};
use crate::windows::{AFTER_SEGMENTS, BEFORE_SEGMENTS, FIRST_SEGMENTS};

fn marked(timeline: &Timeline, kind: MarkerKind) -> Vec<u64> {
    timeline.markers.iter().filter(|markers| markers.kind == kind).flat_map(|markers| markers.at.clone()).collect()
}

#[test]
fn a_short_run_is_kept_whole() {
    let events = [job(0, 100).to_vec(), vec![switch(200, 1, 1), idle(400)], job(100, 1300).to_vec()].concat();
    let timeline = build(1920, events).timeline;
    assert_eq!((timeline.cycles, timeline.lanes.as_slice(), timeline.bucket_cycles), (1920, &[0, 1][..], 2));
    let [window] = &timeline.windows[..] else { panic!("{} windows", timeline.windows.len()) };
    assert_eq!((window.from, window.to, timeline.exact_cycles), (0, 1920, 1920));
    assert_eq!(window.segments, [(1, 99, 0, 0), (200, 200, 1, 1), (1001, 299, 0, 0)]);
    assert_eq!(window.releases, [(1, 0), (1001, 0)]);
    // Cycles 1 to 99 of lane 0: half of the first bucket of two cycles, all of the next.
    assert_eq!(&timeline.overview[0][..3], [128, 255, 255]);
    assert_eq!((timeline.overview[0][50], timeline.overview[1][99], timeline.overview[1][100]), (0, 0, 255));
    assert!(timeline.highlights.iter().all(|place| place.exact));
}

#[test]
fn a_gate_call_is_drawn_in_the_callee() {
    let events = [switch(0, 0, 0), at(10, Event::GateEnter, 1, 0, 0), at(30, Event::GateExit, 0, 0, 0), idle(50)];
    let timeline = build(100, events).timeline;
    assert_eq!(timeline.windows[0].segments, [(0, 10, 0, 0), (10, 20, 0, 1), (30, 20, 0, 0)]);
}

#[test]
fn lanes_are_in_the_order_of_priority() {
    let mut system = super::system();
    system.threads[1].priority = 0;
    let report = super::report(&system, &super::summary(100), [switch(0, 1, 1), idle(10)]);
    assert_eq!(report.timeline.lanes, [1, 0]);
    assert_eq!(report.timeline.windows[0].segments, [(0, 10, 0, 1)]);
}

/// Rounds of 20 cycles in each of which both threads run; a fault in some.
fn rounds(count: u64, faulty: impl Fn(u64) -> bool) -> Report {
    let mut events = Vec::new();
    for round in 0..count {
        let start = round * 20;
        events.extend([switch(start, 0, 0), switch(start + 5, 1, 1), idle(start + 15)]);
        if faulty(round) {
            events.push(at(start + 16, Event::Fault, 1, 1, 0x10));
            events.push(at(start + 17, Event::Restart, 1, 1, 0));
        }
    }
    // Half a millisecond, which a window reaches to either side, is five rounds.
    let system = crate::SystemDescription { cpu_hz: 200_000, ..super::system() };
    super::report(&system, &super::summary(count * 20), events)
}

fn in_order(timeline: &Timeline) {
    for pair in timeline.windows.windows(2) {
        assert!(pair[0].to <= pair[1].from, "{} to {} overlap", pair[0].to, pair[1].from);
    }
    assert_eq!(timeline.exact_cycles, timeline.windows.iter().map(|window| window.to - window.from).sum::<u64>());
}

#[test]
fn a_long_run_is_bounded_and_keeps_what_stands_out() {
    let report = rounds(20_000, |round| round % 1000 == 900);
    assert!(report.to_html().len() < 2_000_000, "a page of {} bytes", report.to_html().len());
    let timeline = report.timeline;
    in_order(&timeline);
    assert_eq!(timeline.windows[0].segments.len(), FIRST_SEGMENTS);
    assert!(timeline.overview.iter().all(|row| row.len() <= BUCKETS as usize));
    // Half of each round of 20 is lane 1: of 255, rounded up.
    assert!(timeline.overview[1].iter().all(|&level| (120..=136).contains(&level)), "{:?}", timeline.overview[1]);
    let faults = timeline.highlights.iter().filter(|place| place.kind == HighlightKind::Fault);
    assert_eq!(faults.clone().count(), MAX_FAULT_PLACES);
    for place in faults.skip(2) {
        let window = timeline.windows.iter().find(|window| (window.from..window.to).contains(&place.at));
        let window = window.expect("a window around each fault");
        assert!(place.exact && window.from <= place.at - 100 && window.to >= place.at + 100);
        // Five rounds of two segments on either side.
        assert!((18..=22).contains(&window.segments.len()), "{}", window.segments.len());
        let inside = window.segments.iter().skip(1).filter(|segment| segment.2 == 1);
        assert!(inside.clone().count() > 8 && inside.clone().all(|segment| segment.1 == 10), "segments are whole");
    }
    assert_eq!(marked(&timeline, MarkerKind::Fault).len(), 20);
}

/// Segments between the windows are summed, and neither window nor share claims them.
#[test]
fn what_is_not_kept_is_not_called_exact() {
    let timeline = rounds(20_000, |round| round == 15_000).timeline;
    let [first, fault] = &timeline.windows[..] else { panic!("{} windows", timeline.windows.len()) };
    assert_eq!((first.from, first.to), (0, FIRST_SEGMENTS as u64 * 10 - 5));
    assert_eq!((fault.from, fault.to), (300_016 - 100, 300_016 + 100));
    assert!(timeline.exact_cycles < timeline.cycles / 10);
}

#[test]
fn markers_are_bounded_by_kind_and_the_others_are_counted() {
    let many = MAX_MARKERS as u64 + 1000;
    let events = (0..many).flat_map(|n| job(n as u32 * 100, n * 1000 + 600));
    let report = build(many * 1000, events);
    assert_eq!(report.run.missed_deadlines, many);
    let [late] = &report.timeline.markers[..] else { panic!("{} kinds", report.timeline.markers.len()) };
    assert_eq!((late.kind, late.total, late.at.len()), (MarkerKind::Late, many, MAX_MARKERS));
    assert!(late.at.is_sorted() && late.at[0] == 600);
    assert_eq!(late.left_out.iter().map(|(_, count)| count).sum::<u64>(), 1000);
    let first = MAX_MARKERS as u64 * 1000 / report.timeline.bucket_cycles;
    assert!(late.left_out.iter().all(|(bucket, _)| (first..BUCKETS).contains(&u64::from(*bucket))));
    let out = (0..many).map(|n| at(n * 10, Event::BudgetOut, 1, 1, 0));
    assert_eq!(marked(&build(many * 10, out).timeline, MarkerKind::BudgetOut).len(), MAX_MARKERS);
}

#[test]
fn a_window_holds_no_more_segments_than_it_may() {
    // Half a millisecond is 10 000 cycles: far more than these segments on either side of the fault.
    let system = crate::SystemDescription { cpu_hz: 20_000_000, ..super::system() };
    let mut events: Vec<_> = (0..7000u64).flat_map(|n| [switch(n * 4, 0, 0), switch(n * 4 + 2, 1, 1)]).collect();
    events.insert(10_000, at(20_000, Event::Fault, 1, 1, 0x10));
    let timeline = super::report(&system, &super::summary(28_000), events).timeline;
    in_order(&timeline);
    let later = timeline.windows.iter().find(|window| (window.from..window.to).contains(&20_000)).expect("a window");
    let before = later.segments.iter().filter(|segment| later.from + segment.0 < 20_000).count();
    assert!((BEFORE_SEGMENTS..=BEFORE_SEGMENTS + 1).contains(&before), "{before}");
    assert_eq!(later.segments.len(), BEFORE_SEGMENTS + AFTER_SEGMENTS);
}

fn place(report: &Report, kind: HighlightKind) -> (u64, Option<i64>, bool) {
    let found = report.timeline.highlights.iter().find(|place| place.kind == kind);
    let found = found.unwrap_or_else(|| panic!("no {kind:?}"));
    (found.at, found.cycles, found.exact)
}

#[test]
fn the_worst_job_of_a_long_run_has_a_window() {
    // Jobs of 100 cycles, and between them a thread that runs often; the 400th takes 450 and has a margin of 50.
    let mut events = Vec::new();
    for n in 0..500u64 {
        let start = n * 1000;
        let done = start + if n == 400 { 450 } else { 100 };
        events.extend(job(n as u32 * 100, done));
        events.extend((0..10).flat_map(|k| [switch(start + 500 + k * 20, 1, 1), idle(start + 510 + k * 20)]));
    }
    let report = build(500_000, events);
    assert_eq!(report.threads[0].worst_job.map(|job| (job.released_at, job.completed_at)), Some((400_000, 400_450)));
    assert_eq!(place(&report, HighlightKind::WorstResponse), (400_450, Some(450), true));
    assert_eq!(place(&report, HighlightKind::SmallestMargin), (400_450, Some(50), true));
    assert_eq!(place(&report, HighlightKind::ResponseExceeded), (400_450, None, true));
    let window = report.timeline.windows.iter().find(|window| window.from < 400_000 && window.to > 400_450);
    assert!(window.is_some_and(|window| window.segments.contains(&(400_001 - window.from, 449, 0, 0))));
    assert!(report.timeline.exact_cycles < 280_000, "{}", report.timeline.exact_cycles);
}

#[test]
fn a_missed_deadline_has_its_first_time_however_it_was_missed() {
    let late = build(3000, [job(0, 700).to_vec(), job(100, 1100).to_vec()].concat());
    assert_eq!(late.threads[0].first_missed_at, Some(700));
    let unfinished = build(900, [at(1, Event::Release, 0, 0, 0), switch(1, 0, 0)]);
    assert_eq!((unfinished.threads[0].unfinished, unfinished.threads[0].first_missed_at), (1, Some(500)));
    let skipped = build(1400, [job(0, 1300)[0], job(0, 1300)[1], at(1001, Event::Overrun, 0, 0, 100), job(0, 1300)[2]]);
    assert_eq!((skipped.threads[0].skipped, skipped.threads[0].first_missed_at), (1, Some(1001)));
    assert_eq!(place(&late, HighlightKind::DeadlineMissed).0, 700);
    assert_eq!(build(500, job(0, 100)).threads[0].first_missed_at, None);
}

#[test]
fn places_are_bounded_and_failures_come_first() {
    let mut system = super::system();
    let thread = system.threads[0].clone();
    system.threads = (0..60).map(|index| crate::describe::Thread { index, ..thread.clone() }).collect();
    let job = |n: u16| {
        let start = u64::from(n) * 10;
        [
            at(start, Event::Release, 0, n, 0),
            switch(start, 0, n),
            at(start + 5, Event::Complete, 0, n, 0),
            idle(start + 6),
        ]
    };
    let timeline = super::report(&system, &super::summary(1000), (0..60).flat_map(job)).timeline;
    assert_eq!(timeline.highlights.len(), MAX_HIGHLIGHTS);
    assert!(timeline.highlights_left_out > 10 && timeline.highlights.is_sorted_by_key(|place| place.kind));
}
