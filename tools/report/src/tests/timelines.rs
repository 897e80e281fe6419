//! The down-sampled timeline.

use abi::trace::Event;

use super::{at, build, idle, job, switch};
use crate::timeline::{BEFORE_SEGMENTS, BUCKETS, FIRST_SEGMENTS, LATER_SEGMENTS, MAX_MARKERS, MAX_WINDOWS, MarkerKind};

#[test]
fn a_short_run_is_kept_whole() {
    let events = [job(0, 100).to_vec(), vec![switch(200, 1, 1), idle(400)], job(100, 1300).to_vec()].concat();
    let timeline = build(1920, events).timeline;
    assert_eq!((timeline.cycles, timeline.lanes.as_slice(), timeline.bucket_cycles), (1920, &[0, 1][..], 2));
    let [window] = &timeline.windows[..] else { panic!("{} windows", timeline.windows.len()) };
    assert_eq!((window.from, window.to), (1, 1300));
    assert_eq!(window.segments, [(0, 99, 0, 0), (199, 200, 1, 1), (1000, 299, 0, 0)]);
    assert_eq!(window.releases, [(0, 0), (1000, 0)]);
    // Cycles 1 to 99 of lane 0: half of the first bucket of two cycles, all of the next.
    assert_eq!(&timeline.overview[0][..3], [128, 255, 255]);
    assert_eq!((timeline.overview[0][50], timeline.overview[1][99], timeline.overview[1][100]), (0, 0, 255));
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
    let report = crate::Report::build(&system, &super::summary(100), [switch(0, 1, 1), idle(10)]);
    assert_eq!(report.timeline.lanes, [1, 0]);
    assert_eq!(report.timeline.windows[0].segments, [(0, 10, 0, 1)]);
}

#[test]
fn a_long_run_is_bounded_and_keeps_what_stands_out() {
    let rounds = 20_000u64;
    let mut events = Vec::new();
    for round in 0..rounds {
        let start = round * 20;
        events.extend([switch(start, 0, 0), switch(start + 5, 1, 1), idle(start + 15)]);
        if round % 1000 == 900 {
            events.push(at(start + 16, Event::Fault, 1, 1, 0x10));
            events.push(at(start + 17, Event::Restart, 1, 1, 0));
        }
    }
    // A millisecond, which a window reaches to either side, is five rounds.
    let system = crate::SystemDescription { cpu_hz: 100_000, ..super::system() };
    let report = crate::Report::build(&system, &super::summary(rounds * 20), events);
    assert!(report.to_html().len() < 2_000_000, "a page of {} bytes", report.to_html().len());
    let timeline = report.timeline;
    assert_eq!(timeline.windows.len(), MAX_WINDOWS);
    assert_eq!(timeline.windows[0].segments.len(), FIRST_SEGMENTS);
    assert!(timeline.overview.iter().all(|row| row.len() <= BUCKETS as usize));
    // Half of each round of 20 is lane 1: of 255, rounded up.
    assert!(timeline.overview[1].iter().all(|&level| (120..=136).contains(&level)), "{:?}", timeline.overview[1]);
    for pair in timeline.windows.windows(2) {
        assert!(pair[0].to <= pair[1].from, "{} to {} overlap", pair[0].to, pair[1].from);
    }
    for window in &timeline.windows[1..] {
        // Five rounds of two segments on either side.
        assert!((18..=21).contains(&window.segments.len()), "{}", window.segments.len());
        let marked = |at: u64| timeline.markers.iter().any(|m| m.kind == MarkerKind::Fault && m.at == at);
        assert!(marked(window.to - 100) && window.to - window.from >= 195, "{} to {}", window.from, window.to);
        let inside = window.segments.iter().filter(|s| s.2 == 1).all(|s| s.1 == 10);
        assert!(inside, "segments are whole");
    }
    assert_eq!(timeline.markers.iter().filter(|m| m.kind == MarkerKind::Fault).count(), 20);
}

#[test]
fn markers_are_bounded_by_kind_and_in_order() {
    let events = (0..1000u64).flat_map(|n| job(n as u32 * 100, n * 1000 + 600));
    let report = build(1_000_000, events);
    assert_eq!(report.run.missed_deadlines, 1000);
    assert_eq!(report.timeline.markers.len(), MAX_MARKERS);
    assert!(report.timeline.markers.is_sorted_by_key(|marker| marker.at));
    let out = (0..1000u64).map(|n| at(n * 10, Event::BudgetOut, 1, 1, 0));
    assert_eq!(build(10_000, out).timeline.markers.len(), MAX_MARKERS);
    assert_eq!((report.timeline.markers[0].at, report.timeline.markers[0].kind), (600, MarkerKind::Late));
}

#[test]
fn a_window_holds_no_more_segments_than_it_may() {
    // A millisecond is 10 000 cycles: far more than 1200 segments on either side of the fault.
    let system = crate::SystemDescription { cpu_hz: 10_000_000, ..super::system() };
    let mut events: Vec<_> = (0..7000u64).flat_map(|n| [switch(n * 4, 0, 0), switch(n * 4 + 2, 1, 1)]).collect();
    events.insert(10_000, at(20_000, Event::Fault, 1, 1, 0x10));
    let timeline = crate::Report::build(&system, &super::summary(28_000), events).timeline;
    let [first, later] = &timeline.windows[..] else { panic!("{} windows", timeline.windows.len()) };
    assert_eq!((first.segments.len(), later.segments.len()), (FIRST_SEGMENTS, LATER_SEGMENTS));
    let before = later.segments.iter().filter(|s| later.from + s.0 < 20_000).count();
    assert!((BEFORE_SEGMENTS - 1..=BEFORE_SEGMENTS + 1).contains(&before), "{before}");
}
