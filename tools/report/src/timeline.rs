//! Who ran when, down-sampled: an overview of the whole run, and windows in which every segment is kept.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::describe::SystemDescription;
use crate::running::Segment;

/// Buckets of the overview.
pub const BUCKETS: u64 = 960;
/// Segments of the window at the beginning of the run.
pub const FIRST_SEGMENTS: usize = 6000;
/// Segments of each later window.
pub const LATER_SEGMENTS: usize = 1200;
/// Of these: before what the window was opened for.
pub const BEFORE_SEGMENTS: usize = 400;
/// Windows, the first included.
pub const MAX_WINDOWS: usize = 13;
/// Markers of each kind.
pub const MAX_MARKERS: usize = 400;

/// Who ran when. Cycles count from reset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Cycles of the whole run.
    pub cycles: u64,
    /// Indices of the threads in the order in which they are drawn: most important first.
    pub lanes: Vec<u16>,
    /// Cycles of one bucket of the overview.
    pub bucket_cycles: u64,
    /// For each lane and bucket how much of the bucket the thread ran, from 0 (not at all) to 255 (all of it).
    pub overview: Vec<Vec<u8>>,
    /// Windows with every segment, in the order of time, not overlapping.
    pub windows: Vec<Window>,
    /// What stands out, in the whole run; at most [`MAX_MARKERS`] of each kind.
    pub markers: Vec<Marker>,
}

/// A stretch of the run in which every segment is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// First cycle.
    pub from: u64,
    /// First cycle behind it.
    pub to: u64,
    /// Start relative to `from`, length, lane, domain.
    pub segments: Vec<(u64, u64, u16, u8)>,
    /// Releases: cycle relative to `from`, lane.
    pub releases: Vec<(u64, u16)>,
}

/// Something that stands out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// Cycle.
    pub at: u64,
    /// What.
    pub kind: MarkerKind,
    /// Lane, when it concerns one thread.
    pub lane: Option<u16>,
    /// Index of the domain, when it concerns one.
    pub domain: Option<u8>,
}

/// Kinds of [`Marker`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkerKind {
    /// A fault.
    Fault,
    /// A restart.
    Restart,
    /// A missed deadline (at the completion).
    Late,
    /// A release at which the job before still ran.
    Overrun,
    /// An exhausted budget.
    BudgetOut,
    /// A violation.
    Violation,
}

/// Builds a [`Timeline`] from segments in the order of time.
#[derive(Debug)]
pub struct TimelineBuilder {
    timeline: Timeline,
    lane_of: Vec<Option<u16>>,
    busy: Vec<Vec<u64>>,
    recent: VecDeque<(Segment, u16)>,
    releases: VecDeque<(u64, u16)>,
    open: Option<usize>,
    around: u64,
    left: usize,
}

impl TimelineBuilder {
    /// For a run of so many cycles.
    pub fn new(system: &SystemDescription, cycles: u64) -> TimelineBuilder {
        let mut order: Vec<_> = system.threads.iter().map(|t| (t.priority, t.index)).collect();
        order.sort_unstable();
        let lanes: Vec<u16> = order.into_iter().map(|(_, index)| index).collect();
        let most = lanes.iter().map(|&index| usize::from(index) + 1).max().unwrap_or(0);
        let mut lane_of = vec![None; most];
        for (lane, &thread) in lanes.iter().enumerate() {
            lane_of[usize::from(thread)] = Some(lane as u16);
        }
        let bucket_cycles = cycles.div_ceil(BUCKETS).max(1);
        let buckets = cycles.div_ceil(bucket_cycles).max(1) as usize;
        TimelineBuilder {
            busy: vec![vec![0; buckets]; lanes.len()],
            lane_of,
            recent: VecDeque::with_capacity(BEFORE_SEGMENTS),
            releases: VecDeque::with_capacity(BEFORE_SEGMENTS),
            open: None,
            around: (system.cpu_hz / 1000).max(1),
            left: 0,
            timeline: Timeline { cycles, lanes, bucket_cycles, ..Timeline::default() },
        }
    }

    /// The lane of a thread.
    pub fn lane(&self, thread: u16) -> Option<u16> {
        self.lane_of.get(usize::from(thread)).copied().flatten()
    }

    /// A thread was released.
    pub fn release(&mut self, cycle: u64, thread: u16) {
        let Some(lane) = self.lane(thread) else { return };
        if self.releases.len() == BEFORE_SEGMENTS {
            self.releases.pop_front();
        }
        self.releases.push_back((cycle, lane));
        if let Some(index) = self.open {
            let window = &mut self.timeline.windows[index];
            window.releases.push((cycle.saturating_sub(window.from), lane));
        }
    }

    /// A segment ended.
    pub fn segment(&mut self, segment: Segment) {
        let Some(lane) = self.lane(segment.thread) else { return };
        self.overview(segment, lane);
        if self.timeline.windows.is_empty() {
            self.begin(segment.start, FIRST_SEGMENTS);
        }
        self.keep(segment, lane);
        if self.recent.len() == BEFORE_SEGMENTS {
            self.recent.pop_front();
        }
        self.recent.push_back((segment, lane));
    }

    /// Puts the segment into the open window, or closes the window when its time is over or it is full.
    fn keep(&mut self, segment: Segment, lane: u16) {
        let Some(index) = self.open else { return };
        let window = &mut self.timeline.windows[index];
        let in_time = index == 0 || segment.start < window.to;
        if in_time && self.left > 0 {
            // What runs when a window is opened began before it.
            let start = segment.start.clamp(window.from, segment.end.max(window.from));
            let shown = (start - window.from, segment.end.saturating_sub(start), lane, segment.domain);
            window.segments.push(shown);
            self.left -= 1;
            return;
        }
        let end = last_end(window);
        window.to = if in_time { end } else { window.to.max(end) };
        self.open = None;
    }

    fn begin(&mut self, from: u64, segments: usize) {
        self.open = Some(self.timeline.windows.len());
        self.left = segments;
        self.timeline.windows.push(Window { from, to: from, ..Window::default() });
        self.copy_releases(from);
    }

    fn copy_releases(&mut self, from: u64) {
        let Some(window) = self.timeline.windows.last_mut() else { return };
        window.releases = self.releases.iter().filter(|r| r.0 >= from).map(|&(at, lane)| (at - from, lane)).collect();
    }

    fn overview(&mut self, segment: Segment, lane: u16) {
        let width = self.timeline.bucket_cycles;
        let row = &mut self.busy[usize::from(lane)];
        let mut at = segment.start;
        while at < segment.end {
            let index = (at / width) as usize;
            let Some(bucket) = row.get_mut(index) else { return };
            let until = segment.end.min((index as u64 + 1) * width);
            *bucket += until - at;
            at = until;
        }
    }

    /// Notes something that stands out. A fault, a miss or a violation outside every window opens one around it.
    pub fn mark(&mut self, marker: Marker) {
        let (at, kind) = (marker.at, marker.kind);
        let same = self.timeline.markers.iter().filter(|m| m.kind == kind).count();
        if same < MAX_MARKERS {
            self.timeline.markers.push(marker);
        }
        let first_of_kind = same == 0;
        let opens = match kind {
            MarkerKind::Fault | MarkerKind::Late | MarkerKind::Overrun | MarkerKind::Violation => true,
            MarkerKind::BudgetOut => first_of_kind,
            MarkerKind::Restart => false,
        };
        if opens
            && self.open.is_none()
            && self.timeline.windows.len() < MAX_WINDOWS
            && !self.timeline.windows.is_empty()
        {
            self.open_around(at);
        }
    }

    fn open_around(&mut self, at: u64) {
        let floor = self.timeline.windows.last().map_or(0, |window| window.to).max(at.saturating_sub(self.around));
        let kept: Vec<_> = self.recent.iter().filter(|(segment, _)| segment.start >= floor).copied().collect();
        let from = kept.first().map_or(at, |(segment, _)| segment.start);
        self.begin(from, LATER_SEGMENTS - kept.len());
        let Some(window) = self.timeline.windows.last_mut() else { return };
        window.to = at + self.around;
        window.segments = kept.iter().map(|(s, lane)| (s.start - from, s.end - s.start, *lane, s.domain)).collect();
    }

    /// The timeline; `late` are the missed deadlines, which are known only now.
    pub fn finish(mut self, late: Vec<Marker>) -> Timeline {
        if let Some(index) = self.open {
            let window = &mut self.timeline.windows[index];
            window.to = last_end(window);
        }
        self.timeline.markers.retain(|marker| marker.kind != MarkerKind::Late);
        self.timeline.markers.extend(late.into_iter().take(MAX_MARKERS));
        self.timeline.markers.sort_by_key(|marker| (marker.at, marker.kind));
        let (width, cycles) = (self.timeline.bucket_cycles, self.timeline.cycles);
        // The last bucket may be cut short by the end of the run.
        let room = |index: usize| width.min(cycles.saturating_sub(index as u64 * width)).max(1);
        let level = |(index, busy): (usize, u64)| (u128::from(busy) * 255).div_ceil(room(index).into()).min(255) as u8;
        let levels = |row: Vec<u64>| row.into_iter().enumerate().map(level).collect();
        self.timeline.overview = self.busy.into_iter().map(levels).collect();
        self.timeline
    }
}

fn last_end(window: &Window) -> u64 {
    window.segments.last().map_or(window.from, |segment| window.from + segment.0 + segment.1)
}
