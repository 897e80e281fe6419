//! The timer that looks at random times whether handlers run. Its interrupt is above all of them,
//! so it comes whatever they do.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use sched::sampling::{self, Intervals};

use super::instrument::Meter;
use super::registers::{enable_above_all, register};

pub(super) struct Looks {
    /// Its line, and the address of its timer's registers.
    pub line: AtomicU32,
    pub timer: AtomicU32,
    /// The interval that runs, and the state of the generator, not 0.
    interval: AtomicU32,
    seed: AtomicU32,
    lent: AtomicU32,
    /// Ticks of intervals that have ended since handlers were last charged, and the ticks from then to the next boundary of their period.
    since: AtomicU32,
    boundary: AtomicU32,
}

impl Looks {
    pub(super) const NEW: Looks = Looks {
        line: AtomicU32::new(0),
        timer: AtomicU32::new(0),
        interval: AtomicU32::new(0),
        seed: AtomicU32::new(0),
        lent: AtomicU32::new(0),
        since: AtomicU32::new(0),
        boundary: AtomicU32::new(0),
    };

    /// Begins to look. The seed of the generator must not be 0.
    pub(super) fn start(&self, seed: u32) {
        self.seed.store(seed | 1, Relaxed);
        self.arm(false);
        enable_above_all(self.line.load(Relaxed));
    }

    /// Returns true if an interval has ended, and adds that to the time that has passed.
    pub(super) fn take_end(&self) -> bool {
        let is_over = self.is_over();
        if is_over {
            self.since.store(self.since.load(Relaxed) + self.interval.load(Relaxed), Relaxed);
        }
        is_over
    }

    /// Returns true if an interval has ended and no boundary of the period has passed: then a look
    /// has nothing to refill.
    #[inline(always)]
    pub(super) fn is_within_period(&self) -> bool {
        self.is_over() && self.since.load(Relaxed) + self.interval.load(Relaxed) < self.boundary.load(Relaxed)
    }

    #[inline(always)]
    fn is_over(&self) -> bool {
        register(self.timer.load(Relaxed), MASKED_STATUS).read() & 1 != 0
    }

    pub(super) fn is_at_boundary(&self) -> bool {
        self.since.load(Relaxed) >= self.boundary.load(Relaxed)
    }

    /// Ticks of ended intervals since these were last taken.
    pub(super) fn passed(&self) -> u32 {
        self.since.load(Relaxed)
    }

    /// Ticks of ended intervals since this was last asked.
    pub(super) fn take_passed(&self) -> u32 {
        self.since.swap(0, Relaxed)
    }

    /// Notes that the next boundary is so many ticks ahead.
    pub(super) fn expect(&self, boundary: u32) {
        self.boundary.store(boundary, Relaxed);
    }

    /// Draws the next interval and starts it.
    pub(super) fn arm(&self, is_counted: bool) {
        if is_counted { self.draw_counted() } else { self.begin(Intervals::draw, u32::MAX) }
    }

    /// Adds an interval that has ended beside a counter, and begins the next.
    #[inline(always)]
    pub(super) fn next(&self) {
        self.since.store(self.since.load(Relaxed) + self.interval.load(Relaxed), Relaxed);
        self.draw_counted();
    }

    /// Draws an interval beside a counter. It ends soon behind the next boundary at the latest,
    /// because the servers are refilled there. It is one function for all looks, in the memory of
    /// those that find nothing.
    #[inline(never)]
    #[unsafe(link_section = ".hot.looks")]
    fn draw_counted(&self) {
        let most = self.boundary.load(Relaxed).saturating_sub(self.since.load(Relaxed));
        self.begin(Intervals::draw_counted, most.max(sampling::SHORTEST_TICKS));
    }

    #[inline(always)]
    fn begin(&self, draw: impl FnOnce(&mut Intervals) -> u32, most: u32) {
        let mut intervals = Intervals { seed: self.seed.load(Relaxed), lent: self.lent.load(Relaxed) };
        let ticks = draw(&mut intervals).min(most);
        self.seed.store(intervals.seed, Relaxed);
        self.lent.store(intervals.lent, Relaxed);
        self.interval.store(ticks, Relaxed);
        let timer = self.timer.load(Relaxed);
        register(timer, CONTROL).write(0);
        register(timer, CLEAR).write(1);
        register(timer, LOAD).write(ticks);
        register(timer, CONTROL).write(ENABLE | INTERRUPT | WIDE | ONCE);
    }
}

/// Charges one mean interval for each look that meets a handler: it cannot know how long the
/// handler ran.
pub(super) struct Sampler;

impl Meter for Sampler {
    fn used(&self, met: Option<bool>) -> u32 {
        if met == Some(true) { sampling::MEAN_TICKS } else { 0 }
    }

    fn pending(&self) -> u32 {
        0
    }

    fn grant(&self, _left: i32) {}
}

// CMSDK dual-input timer, its first half.
const LOAD: u32 = 0x00;
const CONTROL: u32 = 0x08;
const CLEAR: u32 = 0x0c;
const MASKED_STATUS: u32 = 0x14;
const ENABLE: u32 = 1 << 7;
const INTERRUPT: u32 = 1 << 5;
const WIDE: u32 = 1 << 1;
const ONCE: u32 = 1;
