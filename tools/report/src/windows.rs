//! The stretches of a run of which every segment is kept: a second reading of the events, when it is known what stood out.

use std::collections::VecDeque;

use abi::trace::Event;
use record::RunEvent;

use crate::describe::SystemDescription;
use crate::running::{Running, Segment};
use crate::timeline::{Lanes, Window};

/// Segments of the window at the beginning of the run.
pub const FIRST_SEGMENTS: usize = 3000;
/// Most segments that a window keeps of the time before what it is about.
pub const BEFORE_SEGMENTS: usize = 300;
/// Most segments that it keeps from there on.
pub const AFTER_SEGMENTS: usize = 500;

/// A cycle, and the stretch around it that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Cycle, not before `from`.
    pub at: u64,
    /// First cycle.
    pub from: u64,
    /// First cycle behind it.
    pub to: u64,
    /// Most segments from `at` on.
    pub after: usize,
}

/// The windows around what is wanted, and one at the beginning.
///
/// # Time complexity
/// O(events); of them [`BEFORE_SEGMENTS`] segments and releases are held, and what the windows keep.
pub fn windows(
    system: &SystemDescription,
    mut wanted: Vec<Wanted>,
    events: impl IntoIterator<Item = RunEvent>,
    end: u64,
) -> Vec<Window> {
    wanted.push(Wanted { at: 0, from: 0, to: u64::MAX, after: FIRST_SEGMENTS });
    wanted.sort_by_key(|point| point.at);
    // If a later point wants time before an earlier one, the window of the earlier one begins with that.
    let mut earliest = u64::MAX;
    for point in wanted.iter_mut().rev() {
        point.from = point.from.min(if earliest < point.at { earliest } else { point.from });
        earliest = earliest.min(point.from);
    }
    let mut keeper = Keeper {
        lanes: Lanes::new(system),
        wanted: wanted.into(),
        recent: VecDeque::with_capacity(BEFORE_SEGMENTS),
        releases: VecDeque::with_capacity(BEFORE_SEGMENTS),
        left: None,
        windows: Vec::new(),
    };
    let mut running = Running::default();
    for event in events {
        if event.event == Event::Release as u8 {
            keeper.release(event.cycle, event.detail);
        }
        if let Some(segment) = running.apply(&event) {
            keeper.segment(segment);
        }
    }
    if let Some(segment) = running.close(end) {
        keeper.segment(segment);
    }
    keeper.finish(end)
}

struct Keeper {
    lanes: Lanes,
    wanted: VecDeque<Wanted>,
    /// The last segments, and the last releases.
    recent: VecDeque<(Segment, u16)>,
    releases: VecDeque<(u64, u16)>,
    /// Segments that the last window may still take; absent when it is closed.
    left: Option<usize>,
    windows: Vec<Window>,
}

impl Keeper {
    fn release(&mut self, cycle: u64, thread: u16) {
        let Some(lane) = self.lanes.of(thread) else { return };
        if self.releases.len() == BEFORE_SEGMENTS {
            self.releases.pop_front();
        }
        self.releases.push_back((cycle, lane));
        if let (Some(_), Some(window)) = (self.left, self.windows.last_mut())
            && cycle < window.to
        {
            window.releases.push((cycle.saturating_sub(window.from), lane));
        }
    }

    fn segment(&mut self, segment: Segment) {
        let Some(lane) = self.lanes.of(segment.thread) else { return };
        while let Some(point) = self.wanted.front().copied().filter(|point| point.at <= segment.end) {
            self.wanted.pop_front();
            self.reach(point);
        }
        self.keep(segment, lane);
        if self.recent.len() == BEFORE_SEGMENTS {
            self.recent.pop_front();
        }
        self.recent.push_back((segment, lane));
    }

    /// Keeps what lies around a point: in the window that is open, if that reaches so far, or in one of its own.
    fn reach(&mut self, point: Wanted) {
        if let (Some(left), Some(window)) = (&mut self.left, self.windows.last_mut())
            && point.from <= window.to
        {
            window.to = window.to.max(point.to);
            *left = (*left).max(point.after);
            return;
        }
        self.close();
        let floor = self.windows.last().map_or(0, |window| window.to).max(point.from);
        let full = self.recent.len() == BEFORE_SEGMENTS;
        let known = self.recent.front().filter(|_| full).map_or(0, |(oldest, _)| oldest.start);
        let from = floor.max(known).min(point.at.max(floor));
        let kept = self.recent.iter().filter(|(segment, _)| segment.end > from);
        let segments = kept.map(|&(segment, lane)| part(segment, lane, from)).collect();
        let releases = self.releases.iter().filter(|release| release.0 >= from);
        let releases = releases.map(|&(at, lane)| (at - from, lane)).collect();
        self.windows.push(Window { from, to: point.to.max(from), segments, releases });
        self.left = Some(point.after);
    }

    /// Puts a segment into the open window, or closes that when its time is over or it is full.
    fn keep(&mut self, segment: Segment, lane: u16) {
        let (Some(left), Some(window)) = (&mut self.left, self.windows.last_mut()) else { return };
        if segment.start >= window.to {
            self.close();
        } else if *left == 0 {
            window.to = last_end(window);
            self.close();
        } else {
            *left -= 1;
            window.segments.push(part(segment, lane, window.from));
        }
    }

    /// Ends the open window; a segment that began in it belongs to it whole.
    fn close(&mut self) {
        let (Some(_), Some(window)) = (self.left.take(), self.windows.last_mut()) else { return };
        window.to = window.to.max(last_end(window));
        let length = window.to - window.from;
        window.releases.retain(|release| release.0 < length);
    }

    fn finish(mut self, end: u64) -> Vec<Window> {
        for point in std::mem::take(&mut self.wanted) {
            self.reach(point);
        }
        if let (Some(_), Some(window)) = (self.left, self.windows.last_mut()) {
            window.to = window.to.min(end.max(window.from));
        }
        self.close();
        self.windows.retain(|window| window.to > window.from);
        self.windows
    }
}

/// A segment as a window that begins at a cycle has it.
fn part(segment: Segment, lane: u16, from: u64) -> (u64, u64, u16, u8) {
    let start = segment.start.clamp(from, segment.end.max(from));
    (start - from, segment.end.saturating_sub(start), lane, segment.domain)
}

fn last_end(window: &Window) -> u64 {
    window.segments.last().map_or(window.from, |segment| window.from + segment.0 + segment.1)
}
