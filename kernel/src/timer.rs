//! The timer, and what happens at a time: docs/time.md, rules (e) and (j).

use abi::trace::Event;

use crate::arch::Arch;
use crate::kernel::Kernel;
use crate::objects::{Level, State};
use crate::queue::{NONE, Wake};
use crate::schedule::STEP;

/// The earlier of two times of which the low words are known, less than half a wrap apart.
#[inline(always)]
pub(crate) fn earlier(one: u32, other: u32) -> u32 {
    if (other.wrapping_sub(one) as i32) < 0 { other } else { one }
}

impl<A: Arch> Kernel<A> {
    /// A time in ticks, less than a wrap after `since`, of which the low word is known.
    #[inline]
    pub(crate) fn time_of(&self, low: u32) -> u64 {
        self.since + u64::from(low.wrapping_sub(self.since as u32))
    }

    /// Makes sure that the timer interrupts at `at` or earlier; it is set at the end of [`Kernel::dispatch`]. An interrupt that
    /// comes too early only looks around and arms the timer again; there is at most one for each call of this.
    #[inline]
    pub(crate) fn arm_before(&mut self, at: u64) {
        if at < self.time_of(self.armed) {
            self.armed = at as u32;
            self.rearm = true;
        }
    }

    /// Arms the timer for `at` (ticks, low word), at once.
    #[inline(always)]
    pub(crate) fn arm_at(&mut self, at: u32) {
        self.armed = at;
        self.arch.arm_timer(at);
    }

    /// The timer fired: wakes what is due and no less important than the running thread, and looks whether that has time left.
    ///
    /// # Bound
    /// O(1): at most [`STEP`] threads are woken and as many found unable to go on.
    #[inline(always)]
    pub fn on_timer(&mut self) {
        let now = self.now();
        self.since = now;
        let Level { thread, priority, .. } = *self.top();
        let left = self.end().wrapping_sub(now as u32) as i32;
        let calm = now < self.times.soonest();
        let next = if calm { self.times.soonest() } else { self.times.earliest(priority) };
        if thread.is_some() && left > 0 && now < next {
            self.came_in_vain();
            if calm {
                self.deferred = false;
                self.arm_ahead(now, next);
            } else {
                self.arm_for(now, next);
            }
            self.armed = earlier(self.armed, self.end());
            self.rearm = false;
            self.arch.arm_timer(self.armed);
            return;
        }
        self.on_due(now, priority);
    }

    /// The timer came too early for who runs, who gets back what that took, if others have set the timer. One for a gate that was left is the
    /// caller's matter, not the next callee's. Inside a gate, the timer that is set now is for its end.
    #[inline(always)]
    fn came_in_vain(&mut self) {
        let Level { thread, outer, .. } = *self.top();
        if self.entered.is_some() && self.entered == thread {
            self.limit = self.limit.wrapping_sub(self.early);
        }
        self.give_back(self.early);
        self.entered = if outer.is_some() { thread } else { None };
    }

    /// The rest of [`Kernel::on_timer`] when something is due.
    #[inline(never)]
    fn on_due(&mut self, now: u64, priority: u8) {
        self.pause(now);
        let woken = self.wake_due(now, priority);
        self.choose(now, woken > 0);
        self.arm();
    }

    /// Notes that the timer must come for the next time of who runs or is more important; less important times wait.
    #[inline(never)]
    fn arm_for(&mut self, now: u64, next: u64) {
        self.times.settle();
        self.deferred = self.times.soonest() < next;
        if self.deferred {
            // Of a gate: whoever leaves it is less important.
            self.levels.at_mut(self.resume).disturbed = true;
        }
        self.arm_ahead(now, next);
        self.rearm = true;
    }

    /// Notes that the timer must come at a time. The hardware counters wrap: it comes at the latest before they do.
    #[inline(always)]
    fn arm_ahead(&mut self, now: u64, next: u64) {
        if now >= self.swept.0 {
            self.sweep(now);
        }
        let longest = self.ticks_per_second / 2;
        let ahead = next.saturating_sub(now);
        let ahead = if ahead >> 32 == 0 { longest.min(ahead as u32) } else { longest };
        self.armed = (now as u32).wrapping_add(ahead);
    }

    /// Looks at one budget after the other, four in a second at most and one in a second at least, so that none is left alone for longer than
    /// low words can tell times apart.
    #[cold]
    #[inline(never)]
    fn sweep(&mut self, now: u64) {
        let (_, turn) = self.swept;
        if let Some(budget) = self.budgets.find(turn) {
            self.budgets.at_mut(budget).time.look(now);
        }
        let turn = if turn + 1 < self.budgets.len() { turn + 1 } else { 0 };
        self.swept = (now + u64::from(self.ticks_per_second / 4), turn);
    }

    /// Wakes what is due at a priority or a more important one, the most important first; how many it were.
    ///
    /// # Bound
    /// At most [`STEP`] threads. If more are due, the timer comes again at once.
    pub(crate) fn wake_due(&mut self, now: u64, priority: u8) -> u32 {
        let mut woken = 0;
        while woken < STEP
            && let Some(wake) = self.times.take_due(now, priority)
        {
            match wake {
                Wake::Thread(thread) => self.wake_sleeper(thread, now),
                Wake::Budget(budget) => self.wake_throttled(budget, now),
            }
            woken += 1;
        }
        self.arm_for(now, self.times.earliest(priority));
        if woken == STEP {
            self.arch.timer_again();
        }
        woken
    }

    /// A thread's sleep ends. One whose budget is empty waits for the refill at once.
    #[inline(never)]
    fn wake_sleeper(&mut self, number: u8, now: u64) {
        let record = self.thread_mut(number);
        if record.state != State::Sleeping {
            return;
        }
        record.pending = Some((0, 0));
        let released = record.period > 0 && record.open;
        let (nominal, base, budget) = (record.release as u32, record.base, record.budget);
        if released {
            self.arch.trace(self.levels.at(base).tag() | Event::Release as u32, nominal);
        }
        self.refill(budget, now);
        if self.budgets.at(budget).time.left() > 0 {
            self.make_ready(number);
        } else if let Some(thread) = self.threads.find(usize::from(number)) {
            self.await_refill(thread);
        }
    }

    /// A boundary for which threads wait: one of them becomes ready, and the others when this is performed again, at once. If the budget's
    /// debt exceeds a period, they wait for the boundary after.
    #[inline(never)]
    fn wake_throttled(&mut self, number: u8, now: u64) {
        let Some(index) = self.budgets.find(usize::from(number)) else { return };
        self.refill(index, now);
        let budget = self.budgets.at(index);
        let (thread, priority, full) = (budget.waiting, budget.priority, budget.time.left() > 0);
        let mut again = budget.time.next_replenishment();
        if full && thread != NONE {
            let record = self.thread_mut(thread);
            let rest = record.next_throttled;
            self.budgets.at_mut(index).waiting = rest;
            self.make_ready(thread);
            again = now;
        }
        if self.budgets.at(index).waiting != NONE {
            self.times.insert(again, priority, Wake::Budget(number));
        }
    }
}
