//! What the running thread's budget pays for.

use units::Instant;

/// The running thread's time: it ends with its budget. Nothing else is written while the thread runs; what the budget has left is brought up
/// to date from the end when somebody asks.
pub(crate) struct Slice {
    end: Instant,
}

impl Slice {
    pub(crate) const fn new() -> Slice {
        Slice { end: Instant::of(0) }
    }

    /// A thread is charged from `from` on, and its budget has `left` ticks: a debt ends before it begins.
    #[inline(always)]
    pub(crate) const fn begin(&mut self, from: Instant, left: i32) {
        self.end = from.plus(left as u32);
    }

    #[inline(always)]
    pub(crate) const fn end(&self) -> Instant {
        self.end
    }

    /// Returns the ticks that the budget has left at `now`; negative is debt.
    #[inline(always)]
    pub(crate) const fn left(&self, now: Instant) -> i32 {
        now.until(self.end)
    }

    /// The thread gets ticks that it does not pay for.
    #[inline(always)]
    pub(crate) const fn lengthen(&mut self, ticks: u32) {
        self.end = self.end.plus(ticks);
    }

    /// The thread pays a price.
    #[inline(always)]
    pub(crate) const fn shorten(&mut self, ticks: u32) {
        self.end = self.end.minus(ticks);
    }
}
