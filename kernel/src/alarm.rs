//! When the timer will interrupt. Several parts of one entry can ask for an earlier time; the timer is told once, at the end.

use units::Instant;

use crate::arch::Arch;

/// The next interrupt of the timer.
#[repr(C)]
pub(crate) struct Alarm {
    /// Not before [`crate::Kernel::since`], unless it is late.
    at: Instant,
    /// The timer has not been told yet, and must be before the kernel is left.
    untold: bool,
    /// Times have come that belong to threads less important than the one that ran when the timer was set. They are looked at when the
    /// priority falls, because no timer comes for them (rule (e) of docs/time.md).
    pub(crate) deferred: bool,
}

impl Alarm {
    pub(crate) const fn new() -> Alarm {
        Alarm { at: Instant::of(0), untold: false, deferred: false }
    }

    /// When it comes, or should have come.
    #[inline(always)]
    pub(crate) const fn at(&self) -> Instant {
        self.at
    }

    /// Returns true if the timer should have come by `now`.
    #[inline(always)]
    pub(crate) const fn is_due(&self, now: Instant) -> bool {
        !now.is_before(self.at)
    }

    /// It comes at `at`, whenever it was to come before.
    #[inline(always)]
    pub(crate) const fn move_to(&mut self, at: Instant) {
        self.at = at;
        self.untold = true;
    }

    /// It comes at `at` or before.
    #[inline(always)]
    pub(crate) const fn no_later_than(&mut self, at: Instant) {
        if at.is_before(self.at) {
            self.move_to(at);
        }
    }

    /// Tells the timer, if something has changed since it was told.
    #[inline(always)]
    pub(crate) fn flush<A: Arch>(&mut self, arch: &mut A) {
        if self.untold {
            self.untold = false;
            arch.arm_timer(self.at);
        }
    }

    /// As [`Alarm::move_to`], and tells the timer at once, for paths that do not end in [`Alarm::flush`].
    #[inline(always)]
    pub(crate) fn set<A: Arch>(&mut self, arch: &mut A, at: Instant) {
        self.at = at;
        arch.arm_timer(at);
    }

    /// The timer comes within `delay` ticks from `now` on: at their end, if it was to come later, and at once if it should have come by now.
    /// `delay` is more than [`Arch::SHORT`].
    #[inline(always)]
    pub(crate) fn cover<A: Arch>(&mut self, arch: &mut A, now: Instant, delay: u32) {
        let end = now.plus(delay);
        // One comparison answers two questions, because each switch comes here. If the timer is set for a time between `now` and the end, the
        // distance is less than `delay`. If it is set for later than the end, the distance is negative as a signed word. If it should have come
        // by now, the distance is `delay` or more.
        let distance = end.since(self.at);
        if distance >= delay {
            if end.is_before(self.at) {
                self.at = end;
                arch.arm_timer_in(delay);
            } else {
                arch.timer_again();
            }
        }
    }
}
