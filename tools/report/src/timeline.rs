//! Timeline of a run, in bounded size: an overview of the whole run, which sums, windows around what stands out, in which every
//! segment is kept ([`crate::windows`]), and markers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::describe::SystemDescription;
use crate::running::Segment;

/// Buckets of the overview.
pub const BUCKETS: u64 = 960;
/// Markers of each kind whose cycle is kept; of those beyond only the number in each bucket is.
pub const MAX_MARKERS: usize = 5000;

/// Timeline of a run. Cycles count from reset.
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
    /// Cycles of all windows together: in the rest of the run only the sums of the overview are known.
    pub exact_cycles: u64,
    /// Windows with every segment, in the order of time, not overlapping.
    pub windows: Vec<Window>,
    /// Places worth looking at, the most relevant first; at most [`MAX_HIGHLIGHTS`].
    pub highlights: Vec<Highlight>,
    /// Places that are not listed because there are too many.
    pub highlights_left_out: u64,
    /// Events that stand out, in the whole run, by kind, lane and domain.
    pub markers: Vec<Markers>,
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

/// Markers of one kind on one lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Markers {
    /// Kind of event that they mark.
    pub kind: MarkerKind,
    /// Lane, when they concern one thread.
    pub lane: Option<u16>,
    /// Index of the domain, when they concern one.
    pub domain: Option<u8>,
    /// How many there were.
    pub total: u64,
    /// Cycles of the first ones, in order; of all lanes together at most [`MAX_MARKERS`] of each kind.
    pub at: Vec<u64>,
    /// Of the others, the bucket of the overview and how many lie in it.
    pub left_out: Vec<(u32, u64)>,
}

/// Something that stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Cycle.
    pub at: u64,
    /// Its kind.
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

/// The lanes of the timeline.
#[derive(Clone, Debug)]
pub struct Lanes {
    order: Vec<u16>,
    of: Vec<Option<u16>>,
}

impl Lanes {
    /// A lane for each thread, most important first.
    pub fn new(system: &SystemDescription) -> Lanes {
        let mut order: Vec<_> = system.threads.iter().map(|t| (t.priority, t.index)).collect();
        order.sort_unstable();
        let order: Vec<u16> = order.into_iter().map(|(_, index)| index).collect();
        let mut of = vec![None; order.iter().map(|&index| usize::from(index) + 1).max().unwrap_or(0)];
        for (lane, &thread) in order.iter().enumerate() {
            of[usize::from(thread)] = Some(lane as u16);
        }
        Lanes { order, of }
    }

    /// The lane of a thread.
    pub fn of(&self, thread: u16) -> Option<u16> {
        self.of.get(usize::from(thread)).copied().flatten()
    }
}

/// Markers of one kind, lane and domain, while the run is read.
#[derive(Debug, Default)]
struct Marked {
    total: u64,
    at: Vec<u64>,
    left_out: BTreeMap<u32, u64>,
}

/// Builds the overview and the markers from segments in the order of time.
#[derive(Debug)]
pub struct TimelineBuilder {
    cycles: u64,
    bucket_cycles: u64,
    lanes: Lanes,
    busy: Vec<Vec<u64>>,
    marked: BTreeMap<(MarkerKind, Option<u16>, Option<u8>), Marked>,
    kept: [usize; 6],
}

impl TimelineBuilder {
    /// For a run of so many cycles.
    pub fn new(system: &SystemDescription, cycles: u64) -> TimelineBuilder {
        let lanes = Lanes::new(system);
        let bucket_cycles = cycles.div_ceil(BUCKETS).max(1);
        let buckets = cycles.div_ceil(bucket_cycles).max(1) as usize;
        let busy = vec![vec![0; buckets]; lanes.order.len()];
        TimelineBuilder { cycles, bucket_cycles, lanes, busy, marked: BTreeMap::new(), kept: [0; 6] }
    }

    /// The lane of a thread.
    pub fn lane(&self, thread: u16) -> Option<u16> {
        self.lanes.of(thread)
    }

    /// A segment ended.
    pub fn segment(&mut self, segment: Segment) {
        let Some(lane) = self.lane(segment.thread) else { return };
        let width = self.bucket_cycles;
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

    /// Notes something that stands out.
    pub fn mark(&mut self, marker: Marker) {
        let Marker { at, kind, lane, domain } = marker;
        let last = self.cycles.saturating_sub(1) / self.bucket_cycles;
        let marked = self.marked.entry((kind, lane, domain)).or_default();
        marked.total += 1;
        let kept = &mut self.kept[kind as usize];
        if *kept < MAX_MARKERS {
            *kept += 1;
            marked.at.push(at);
        } else {
            *marked.left_out.entry((at / self.bucket_cycles).min(last) as u32).or_default() += 1;
        }
    }

    /// The timeline without its windows.
    pub fn finish(self) -> Timeline {
        let (width, cycles) = (self.bucket_cycles, self.cycles);
        // The last bucket may be cut short by the end of the run.
        let room = |index: usize| width.min(cycles.saturating_sub(index as u64 * width)).max(1);
        let level = |(index, busy): (usize, u64)| (u128::from(busy) * 255).div_ceil(room(index).into()).min(255) as u8;
        let levels = |row: Vec<u64>| row.into_iter().enumerate().map(level).collect();
        let markers = self.marked.into_iter().map(|((kind, lane, domain), Marked { total, at, left_out })| Markers {
            kind,
            lane,
            domain,
            total,
            at,
            left_out: left_out.into_iter().collect(),
        });
        Timeline {
            cycles,
            lanes: self.lanes.order,
            bucket_cycles: width,
            overview: self.busy.into_iter().map(levels).collect(),
            markers: markers.collect(),
            ..Timeline::default()
        }
    }
}

/// Places that a report lists, each with a window of its own.
pub const MAX_HIGHLIGHTS: usize = 48;

/// A place in the timeline that is worth looking at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Highlight {
    /// Its kind.
    pub kind: HighlightKind,
    /// Name of the thread, budget, gate or domain; empty where it is the kernel.
    pub subject: String,
    /// Cycle.
    pub at: u64,
    /// First cycle of the stretch that shows it.
    pub from: u64,
    /// First cycle behind that.
    pub to: u64,
    /// The figure in cycles, where there is one; of a margin it may be negative.
    pub cycles: Option<i64>,
    /// Limit that it is held against, in cycles.
    pub limit: Option<u64>,
    /// Whether every segment around it is kept.
    pub exact: bool,
}

/// Kinds of [`Highlight`], the most relevant first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HighlightKind {
    /// The kernel stopped.
    KernelFailed,
    /// An access that must not have happened.
    Violation,
    /// The first deadline that a thread missed.
    DeadlineMissed,
    /// The first response beyond the computed bound.
    ResponseExceeded,
    /// The first job that took more than was declared.
    WcetExceeded,
    /// The first use of a budget beyond its supply.
    Overdrawn,
    /// The first gate call beyond its bound.
    GateExceeded,
    /// The first release that was late.
    ReleaseLate,
    /// A fault.
    Fault,
    /// The smallest margin of all threads.
    SmallestMargin,
    /// The longest window with interrupts masked.
    LongestMasked,
    /// The worst response of a thread.
    WorstResponse,
    /// The longest job of a thread.
    LongestJob,
    /// The fullest period of a budget.
    FullestPeriod,
}
