//! The timer, and what happens at a time: docs/time.md, rules (e) and (j).

use abi::trace::Event;
use units::Instant;

use crate::arch::Arch;
use crate::kernel::Kernel;
use crate::objects::{Activation, State, Thread};
use crate::queue::Wake;
use crate::table::Ref;

impl<A: Arch> Kernel<A> {
    /// Makes sure that the timer interrupts at `at` or earlier; it is set at the end of [`Kernel::dispatch`]. An interrupt that
    /// comes too early only looks around and arms the timer again; there is at most one for each call of this.
    #[inline]
    pub(crate) fn arm_before(&mut self, at: u64) {
        // A timer that should have come by now comes at once, and is not set for later: taken for a time after `since`, the one that it was set
        // for would be a wrap of the counter ahead, and whoever waits for anything before `at` would sleep until then.
        let ahead = Instant::of(self.since).until(self.alarm.at());
        if ahead > 0 && at < self.since + ahead as u64 {
            self.alarm.move_to(Instant::of(at));
        }
    }

    /// The timer fired: wakes what is due and no less important than the running thread, and looks whether that has time left.
    ///
    /// # Bound
    /// O(1): as [`Kernel::wake_due`], and then [`Kernel::choose`].
    #[inline(always)]
    pub fn on_timer(&mut self) {
        self.see_displaced();
        let now = self.now();
        self.since = now;
        let Activation { thread, priority, .. } = *self.top();
        let left = Instant::of(now).until(self.end());
        let Some(thread) = thread.filter(|_| left > 0) else { return self.on_due(now, priority) };
        let soonest = self.times.soonest();
        let calm = now < soonest;
        let next = if calm { soonest } else { self.times.earliest(priority) };
        if next <= now {
            return self.on_due(now, priority);
        }
        self.came_in_vain(thread, Instant::of(now));
        let at = self.next_alarm(now, next - now, !calm);
        self.alarm.move_to(at.earlier(self.end()));
        self.alarm.flush(&mut self.arch);
        self.sweep(now);
    }

    /// Gives the interrupted thread back what a timer took that came too early, because whoever set
    /// it has paid for that. A timer for a gate's bound whose gate was left is different: the
    /// caller pays, out of the call's slack (rule (c)), and so do the gates that the caller is in;
    /// those that were entered since do not. Inside a gate the timer that is set now is for its
    /// end.
    #[inline(always)]
    fn came_in_vain(&mut self, thread: Ref<Thread<A>>, now: Instant) {
        let payer = self.entered.filter(|payer| self.activations.at(*payer).thread == Some(thread));
        match payer {
            None => self.give_back(now, self.early),
            Some(payer) => {
                self.see_boundary(now);
                self.shift_gates(self.resume, Some(payer), self.early);
            }
        }
        self.entered = self.top().outer;
    }

    /// The rest of [`Kernel::on_timer`] when something is due. The running thread is charged before
    /// anything is woken, because budgets decide who can run.
    #[inline(never)]
    fn on_due(&mut self, now: u64, priority: u8) {
        self.suspend(now);
        let woken = self.wake_due(now, priority);
        // Who is first now is at least as important as the thread that ran. Of those that are due
        // and come before it one is awake, and for others the timer comes at once.
        self.choose_first(now, woken, true);
        self.alarm.flush(&mut self.arch);
    }

    /// Returns when the timer must come: after `ahead` ticks, when something is due of who runs or is more important, or at the latest before the
    /// hardware counters wrap. Times of less important threads that are due are `deferred` until then.
    #[inline(always)]
    fn next_alarm(&mut self, now: u64, ahead: u64, deferred: bool) -> Instant {
        self.alarm.deferred = deferred;
        if deferred {
            // Leaving a gate lowers the priority, so the deferred wake-ups must be looked at then.
            self.activations.at_mut(self.resume).disturbed = true;
        }
        let longest = self.ticks_per_second / 2;
        let ahead = if ahead < u64::from(longest) { ahead as u32 } else { longest };
        Instant::of(now).plus(ahead)
    }

    /// Looks at one budget after the other, so that none is left alone for longer than low words
    /// can tell times apart. A look comes a quarter of a second after the last at the earliest, to
    /// keep the cost low, and three quarters after it at the latest: the timer is never set for
    /// more than half a second, and one that came just before a quarter was over does not look.
    /// Boot checks that a turn with the most budgets is short enough.
    #[inline(always)]
    fn sweep(&mut self, now: u64) {
        let now = Instant::of(now);
        if !now.is_before(self.sweep_at) {
            self.sweep_at = now.plus(self.ticks_per_second / 4);
            self.sweep_next = match self.budgets.find(self.sweep_next) {
                Some(budget) => {
                    self.budgets.at_mut(budget).time.look(now);
                    self.sweep_next + 1
                }
                // After the last budget comes a turn without one, instead of a second look-up in
                // this entry.
                None => 0,
            };
        }
    }

    /// Wakes the most important thread that is due at a priority or a more important one. Returns
    /// true if there was one.
    ///
    /// # Bound
    /// One thread, because interrupts are masked meanwhile. If more are due, the timer comes again
    /// at once.
    pub(crate) fn wake_due(&mut self, now: u64, priority: u8) -> bool {
        let due = self.times.take_due(now, priority);
        match due {
            Some(Wake::Thread(thread)) => self.wake_sleeper(thread, now),
            Some(Wake::Budget(budget)) => self.wake_throttled(budget, now),
            None => {}
        }
        let next = self.times.earliest(priority);
        let at = self.next_alarm(now, next.saturating_sub(now), self.times.soonest() < next);
        self.alarm.move_to(at);
        self.sweep(now);
        if next <= now {
            self.arch.timer_again();
        }
        due.is_some()
    }

    /// Ends a thread's sleep. If its budget is empty it waits for the refill at once, and is not
    /// made ready first: the choice would only pass over it. A thread whose domain was stopped
    /// meanwhile does not wake, because its next life begins at its entry.
    #[inline(never)]
    fn wake_sleeper(&mut self, number: u8, now: u64) {
        let record = self.thread_mut(number);
        if record.state != State::Sleeping {
            return;
        }
        let (nominal, base, budget) = (record.release, record.base, record.budget);
        let Activation { domain, epoch, .. } = *self.activations.at(base);
        if self.domains.at(domain).epoch != epoch {
            self.thread_mut(number).state = State::Ended;
            return;
        }
        let record = self.thread_mut(number);
        record.pending = Some((0, 0));
        // This sleep was for the next release, unless the thread is in a job, whose release is open,
        // or has not asked for its first release yet.
        let released = record.period > 0 && !record.open && nominal != 0;
        record.open |= released;
        if released {
            self.arch.trace(self.activations.at(base).tag() | Event::Release as u32, nominal as u32);
        }
        self.replenish(budget, now);
        if self.budgets.at(budget).time.left() > 0 {
            self.make_ready(number);
        } else if let Some(thread) = self.threads.find(usize::from(number)) {
            self.await_refill(thread);
        }
    }
}
