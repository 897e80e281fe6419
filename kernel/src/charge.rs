//! Charging of budgets: docs/time.md, rules (a) to (d) and (f).
//!
//! The running thread's budget ends at [`Kernel::limit`]; nothing else is written while it runs. A thread that is switched to starts with
//! [`Kernel::path`] more than is left, which covers the way out of the kernel and the way back in: who arranged the switch has paid
//! for it.

use abi::trace::{Event, IDLE, header};

use crate::arch::Arch;
use crate::kernel::Kernel;
use crate::objects::{Activation, Budget, Thread};
use crate::table::Ref;
use crate::timer::earlier;

impl<A: Arch> Kernel<A> {
    /// Takes time of direct handlers off the running thread: moves the end of its budget, and of
    /// the gates that it is in, by the ticks that they took. To be called before one of these ends
    /// is compared with the time, or the thread would be charged for them. While no thread runs
    /// there is no end to move.
    #[inline(always)]
    pub(crate) fn see_displaced(&mut self) {
        if self.core.arch.is_displaced() {
            self.displaced();
        }
    }

    #[cold]
    #[inline(never)]
    fn displaced(&mut self) {
        let ticks = self.core.arch.displaced();
        if let Some(thread) = self.running() {
            // Handlers can write what counts them. They have not taken more than has passed: the way out of the kernel, and what the thread has used since it
            // was charged.
            let left = self.budgets.at(self.threads.at(thread).budget).time.left();
            let until_end = self.core.limit.wrapping_sub(self.core.arch.ticks());
            let passed = (left as u32).wrapping_add(self.path).wrapping_sub(until_end);
            self.shift(ticks.min((passed as i32).max(0) as u32));
        }
    }

    /// The thread that runs from now on begins behind all that handlers have taken so far.
    #[inline(always)]
    pub(crate) fn forget_displaced(&mut self) {
        if self.core.arch.is_displaced() {
            self.core.arch.displaced();
        }
    }

    /// Brings what the running thread's budget has left up to date.
    ///
    /// # Bound
    /// O(1).
    #[inline(always)]
    pub(crate) fn charge(&mut self, now: u32) {
        self.see_displaced();
        if let Some(thread) = self.running() {
            let budget = self.threads.at(thread).budget;
            let time = &mut self.budgets.at_mut(budget).time;
            if time.is_current(now) {
                time.set_left(self.core.limit.wrapping_sub(now) as i32);
            } else {
                self.charge_across();
            }
        }
    }

    /// [`Kernel::charge`] where a call does not matter, and now.
    #[cold]
    #[inline(never)]
    fn charge_across(&mut self) {
        let now = self.now();
        self.bring_up(now);
    }

    /// As [`Kernel::charge`]; the thread may have run across a boundary of its budget's grid.
    #[inline(never)]
    pub(crate) fn bring_up(&mut self, now: u64) {
        self.see_displaced();
        let Some(thread) = self.running() else { return };
        let index = self.threads.at(thread).budget;
        let budget = self.budgets.at_mut(index);
        if budget.ran(self.core.limit.wrapping_sub(now as u32) as i32, now) {
            self.core.limit = (now as u32).wrapping_add(budget.time.left() as u32);
            self.replenished(index);
        }
    }

    /// Brings a budget up to date, whoever runs.
    #[cold]
    #[inline(never)]
    pub(crate) fn settle_budget(&mut self, index: Ref<Budget>, now: u64) {
        if self.running().is_some_and(|thread| self.threads.at(thread).budget == index) {
            self.bring_up(now);
        } else {
            self.refill(index, now);
        }
    }

    /// Brings a budget up to date that no thread runs on: since [`Kernel::pause`] nobody does, and what was set aside then must stay so.
    #[inline(never)]
    pub(crate) fn refill(&mut self, index: Ref<Budget>, now: u64) {
        if self.budgets.at_mut(index).replenish(now) {
            self.replenished(index);
        }
    }

    fn replenished(&mut self, index: Ref<Budget>) {
        let number = self.budgets.index_of(index) as u16;
        self.core.arch.trace(header(Event::Replenish, IDLE, number), self.budgets.at(index).capacity());
    }

    /// When the running thread must stop at the latest: when its budget ends, or the bound of the gate that it is in.
    #[inline(always)]
    pub(crate) fn end(&self) -> u32 {
        let Activation { outer, until, .. } = *self.top();
        if outer.is_some() { until } else { self.core.limit }
    }

    /// The running thread pays for what it arranges, and goes on.
    #[inline(never)]
    pub(crate) fn pay_in_time(&mut self, price: u32) {
        let now = self.core.arch.ticks();
        self.pay_at(now, price);
        self.arm_for_end(now);
    }

    /// The running thread pays for what it arranges, in a gate out of the gate's bound. If it goes on afterwards, [`Kernel::arm_for_end`]
    /// has to follow.
    #[inline(always)]
    pub(crate) fn pay(&mut self, price: u32) {
        let now = self.core.arch.ticks();
        self.pay_at(now, price);
    }

    /// [`Kernel::pay`] at a time that was read already.
    #[inline(always)]
    pub(crate) fn pay_at(&mut self, now: u32, price: u32) {
        self.see_boundary(now);
        self.shift(price.wrapping_neg());
    }

    /// The running thread, which is in no gate, pays for a switch away from it and is charged until then. If its budget may have reached a
    /// boundary, nothing happens.
    #[inline(always)]
    pub(crate) fn pay_and_charge(&mut self, thread: Ref<Thread<A>>, now: u32, price: u32) -> bool {
        self.see_displaced();
        let budget = self.threads.at(thread).budget;
        let current = self.budgets.at(budget).time.is_current(now);
        if current {
            self.core.limit = self.core.limit.wrapping_sub(price);
            self.budgets.at_mut(budget).time.set_left(self.core.limit.wrapping_sub(now) as i32);
        }
        current
    }

    /// A price belongs to the period in which it is arranged. If a boundary has passed since the running thread was charged, it must be charged
    /// before it pays: [`Kernel::bring_up`] takes what was paid for time, and would have the period before the boundary pay.
    #[inline(always)]
    pub(crate) fn see_boundary(&mut self, now: u32) {
        if let Some(thread) = self.running()
            && !self.budgets.at(self.threads.at(thread).budget).time.is_current(now)
        {
            self.charge_across();
        }
    }

    /// Whether a price is more than what is left of the bound of the gate that the running thread is in. Then nothing is arranged, and the
    /// callee has overrun its bound: the timer comes at once.
    #[inline(always)]
    pub(crate) fn exceeds_bound(&mut self, price: u32) -> bool {
        self.top().outer.is_some() && self.overruns_by(price)
    }

    #[cold]
    #[inline(never)]
    fn overruns_by(&mut self, price: u32) -> bool {
        self.see_displaced();
        let now = self.core.arch.ticks();
        let activation = self.activations.at_mut(self.core.resume);
        let left = activation.until.wrapping_sub(now) as i32;
        if left >= price as i32 {
            return false;
        }
        activation.until = activation.until.wrapping_sub(left.max(0) as u32);
        self.arm_for_end(now);
        true
    }

    /// Makes sure that the timer comes when the running thread must stop. If a price has exceeded what was left, that is at once: a timer that is
    /// armed anew with each call would never come. It is at once, too, if the timer is late: prices need no time, and many of them must not add up
    /// to what a more important sharer of the budget is released for.
    #[inline(always)]
    pub(crate) fn arm_for_end(&mut self, now: u32) {
        let end = self.end();
        let next = earlier(self.core.armed, end);
        if (next.wrapping_sub(now) as i32) <= 0 {
            self.core.arch.timer_again();
        } else if (end.wrapping_sub(self.core.armed) as i32) < 0 {
            self.arm_at(end);
        }
    }

    /// The running thread gets back what an interrupt took that others have paid for. A boundary that has passed is seen first: the interrupt
    /// came behind it, and the period before cannot pass on what it gets.
    #[inline(always)]
    pub(crate) fn give_back(&mut self, now: u32, ticks: u32) {
        self.see_boundary(now);
        self.shift(ticks);
    }

    /// Moves the end of the running thread's budget, and of the gates that it is in.
    #[inline(always)]
    fn shift(&mut self, ticks: u32) {
        self.core.limit = self.core.limit.wrapping_add(ticks);
        if self.top().outer.is_some() {
            self.shift_gates(self.core.resume, ticks);
        }
    }

    #[cold]
    #[inline(never)]
    fn shift_gates(&mut self, innermost: Ref<Activation<A>>, ticks: u32) {
        let mut activation = self.activations.at_mut(innermost);
        // Bounded by the nesting of gates.
        while let Some(outer) = activation.outer {
            activation.until = activation.until.wrapping_add(ticks);
            activation = self.activations.at_mut(outer);
        }
    }

    /// A thread inside a gate makes way for another, or may have to: what its call may still take is set aside, so that threads that share
    /// its budget cannot use it.
    #[cold]
    pub(crate) fn step_aside(&mut self, thread: Ref<Thread<A>>, now: u64) {
        let mut activation = self.activations.at_mut(self.core.resume);
        activation.disturbed = true;
        let mut until = activation.until;
        // Bounded by the nesting of gates. The outermost bound holds those inside.
        while let Some(outer) = activation.outer {
            until = activation.until;
            activation = self.activations.at_mut(outer);
        }
        let record = self.threads.at_mut(thread);
        record.top = self.core.resume;
        record.away = now as u32;
        record.held = (until.wrapping_sub(now as u32) as i32).max(0);
        self.budgets.at_mut(record.budget).time.reserve(record.held);
        self.settle(thread);
    }

    /// Returns what was set aside for a thread's call to its budget, which is then up to date.
    pub(crate) fn take_back(&mut self, thread: Ref<Thread<A>>, now: u64) {
        let record = self.threads.at_mut(thread);
        let (budget, held) = (record.budget, core::mem::take(&mut record.held));
        self.refill(budget, now);
        self.budgets.at_mut(budget).time.unreserve(held);
    }

    /// A thread inside gates is to go on from a time on: their bounds do not count the time for which it was away.
    pub(crate) fn catch_up(&mut self, thread: Ref<Thread<A>>, from: u32) {
        let record = self.threads.at_mut(thread);
        let (top, away) = (record.top, from.wrapping_sub(record.away));
        record.away = from;
        self.shift_gates(top, away);
    }
}
