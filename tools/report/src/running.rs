//! Turns switches and gate calls into segments of running threads.

use abi::trace::{Event, IDLE};
use record::RunEvent;

/// A stretch of time in which one thread ran in one domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First cycle.
    pub start: u64,
    /// First cycle behind it.
    pub end: u64,
    /// Index of the thread.
    pub thread: u16,
    /// Index of the domain it was in: its own, or that of the gate it had called.
    pub domain: u8,
}

/// The thread that runs now.
#[derive(Clone, Debug, Default)]
pub struct Running {
    current: Option<Segment>,
    last: u64,
}

impl Running {
    /// The running thread and its domain.
    pub fn thread(&self) -> Option<(u16, u8)> {
        self.current.map(|segment| (segment.thread, segment.domain))
    }

    /// Cycles that passed for the running thread since the event before. Call once per event, before [`Self::apply`].
    pub fn elapse(&mut self, cycle: u64) -> Option<(u16, u64)> {
        let passed = cycle.saturating_sub(self.last);
        self.last = self.last.max(cycle);
        self.current.map(|segment| (segment.thread, passed))
    }

    /// Takes an event; returns the segment that it ended, unless that was empty.
    pub fn apply(&mut self, event: &RunEvent) -> Option<Segment> {
        let next = match Event::from_number(event.event) {
            Some(Event::Switch) if event.domain == IDLE => None,
            Some(Event::Switch) => Some((event.detail, event.domain)),
            Some(Event::GateEnter | Event::GateExit) => {
                let (thread, _) = self.thread().filter(|(thread, _)| *thread == event.detail)?;
                Some((thread, event.domain))
            }
            _ => return None,
        };
        if next.is_some() && next == self.thread() {
            return None;
        }
        let ended = self.close(event.cycle);
        self.current = next.map(|(thread, domain)| Segment { start: event.cycle, end: event.cycle, thread, domain });
        ended
    }

    /// Ends what runs now.
    pub fn close(&mut self, cycle: u64) -> Option<Segment> {
        let segment = self.current.take()?;
        (cycle > segment.start).then_some(Segment { end: cycle, ..segment })
    }
}
