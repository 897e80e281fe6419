//! Charging of budgets: docs/time.md, rules (a) to (d) and (f).
//!
//! The running thread's budget ends with its [`crate::slice::Slice`]; nothing else is written while it runs. A thread that is switched to starts with
//! [`Kernel::path`] more than is left, which covers the way out of the kernel and the way back in: who arranged the switch has paid
//! for it.

use abi::trace::{Event, IDLE, header};
use units::Instant;

use crate::arch::Arch;
use crate::kernel::Kernel;
use crate::objects::{Activation, Budget, Thread};
use crate::table::Ref;
use crate::virtual_processor::VirtualProcessor;

impl<A: Arch> Kernel<A> {
    /// Takes time of direct handlers off the running thread: moves the end of its budget, and of
    /// the gates that it is in, by the ticks that they took. To be called before one of these ends
    /// is compared with the time, or the thread would be charged for them. While no thread runs
    /// there is no end to move.
    #[inline(always)]
    pub(crate) fn see_displaced(&mut self) {
        if self.arch.virtual_processor().is_displaced() {
            self.displaced();
        }
    }

    #[cold]
    #[inline(never)]
    fn displaced(&mut self) {
        let ticks = self.arch.virtual_processor().displaced();
        if let Some(thread) = self.running() {
            // Handlers can write the counter, and so claim any time. They have not taken more than
            // has passed since the thread was charged, the way out of the kernel included.
            let left = self.budgets.at(self.threads.at(thread).budget).time.left();
            let until_end = self.slice.left(self.arch.ticks()) as u32;
            let passed = (left as u32).wrapping_add(self.path).wrapping_sub(until_end);
            self.shift(ticks.min((passed as i32).max(0) as u32));
        }
    }

    /// Forgets what handlers have taken so far: the thread that is switched to did not run
    /// meanwhile, so its end must not move by that.
    #[inline(always)]
    pub(crate) fn forget_displaced(&mut self) {
        if self.arch.virtual_processor().is_displaced() {
            self.arch.virtual_processor().displaced();
        }
    }

    /// Brings what the running thread's budget has left up to date.
    ///
    /// # Bound
    /// O(1).
    #[inline(always)]
    pub(crate) fn charge(&mut self, now: Instant) {
        self.see_displaced();
        if let Some(thread) = self.running() {
            let budget = self.threads.at(thread).budget;
            let time = &mut self.budgets.at_mut(budget).time;
            if time.is_current(now) {
                time.set_left(self.slice.left(now));
            } else {
                self.charge_across();
            }
        }
    }

    /// As [`Kernel::charge`], if a boundary may have passed. Not inlined, because that is rare and
    /// [`Kernel::charge`] is on the way of every switch.
    #[cold]
    #[inline(never)]
    fn charge_across(&mut self) {
        let now = self.now();
        self.charge_through(now);
    }

    /// As [`Kernel::charge`], for a thread that may have run across a boundary of its budget's
    /// grid. Each period pays its own part (rule (a)), or the result would depend on when somebody
    /// looks.
    #[inline(never)]
    pub(crate) fn charge_through(&mut self, now: u64) {
        self.see_displaced();
        let Some(thread) = self.running() else { return };
        let index = self.threads.at(thread).budget;
        let budget = self.budgets.at_mut(index);
        if budget.ran(self.slice.left(Instant::of(now)), now) {
            self.slice.begin(Instant::of(now), budget.time.left());
            self.replenished(index);
        }
    }

    /// Brings a budget up to date. If the running thread is on it, that thread is charged first:
    /// its use is in `limit` only.
    #[cold]
    #[inline(never)]
    pub(crate) fn replenish_any(&mut self, index: Ref<Budget>, now: u64) {
        if self.running().is_some_and(|thread| self.threads.at(thread).budget == index) {
            self.charge_through(now);
        } else {
            self.replenish(index, now);
        }
    }

    /// Brings a budget up to date that no thread runs on. After [`Kernel::suspend`] no thread runs,
    /// and charging one then would undo what was set aside for its call.
    #[inline(never)]
    pub(crate) fn replenish(&mut self, index: Ref<Budget>, now: u64) {
        if self.budgets.at_mut(index).replenish(now) {
            self.replenished(index);
        }
    }

    fn replenished(&mut self, index: Ref<Budget>) {
        let number = self.budgets.index_of(index) as u16;
        self.arch.trace(header(Event::Replenish, IDLE, number), self.budgets.at(index).capacity());
    }

    /// When the running thread must stop at the latest: when its budget ends, or the bound of the gate that it is in.
    #[inline(always)]
    pub(crate) fn end(&self) -> Instant {
        let Activation { outer, until, .. } = *self.top();
        if outer.is_some() { until } else { self.slice.end() }
    }

    /// The running thread pays for what it arranges, and goes on. So the timer is set for its new
    /// end, or it could run on with time that it has paid away.
    #[inline(never)]
    pub(crate) fn pay_in_time(&mut self, price: u32) {
        let now = self.arch.ticks();
        self.pay_at(now, price);
        self.arm_for_end(now);
    }

    /// The running thread pays for what it arranges, in a gate out of the gate's bound, so that a
    /// callee cannot spend its caller's budget. If it goes on afterwards, the caller must call
    /// [`Kernel::arm_for_end`].
    #[inline(always)]
    pub(crate) fn pay(&mut self, price: u32) {
        let now = self.arch.ticks();
        self.pay_at(now, price);
    }

    /// [`Kernel::pay`] for callers that have read the clock already: reading it twice lengthens
    /// every signal.
    #[inline(always)]
    pub(crate) fn pay_at(&mut self, now: Instant, price: u32) {
        self.see_boundary(now);
        self.shift(price.wrapping_neg());
    }

    /// The running thread, which is in no gate, pays for a switch away from it and is charged until
    /// then. Returns false and does nothing if a boundary may have passed: the refill must be
    /// computed first, so that the new period pays.
    #[inline(always)]
    pub(crate) fn pay_and_charge(&mut self, thread: Ref<Thread<A>>, now: Instant, price: u32) -> bool {
        self.see_displaced();
        let budget = self.threads.at(thread).budget;
        let current = self.budgets.at(budget).time.is_current(now);
        if current {
            self.slice.shorten(price);
            self.budgets.at_mut(budget).time.set_left(self.slice.left(now));
        }
        current
    }

    /// A price belongs to the period in which it is arranged. If a boundary has passed since the running thread was charged, it must be charged
    /// before it pays: [`Kernel::charge_through`] takes what was paid for time, and would have the period before the boundary pay.
    #[inline(always)]
    pub(crate) fn see_boundary(&mut self, now: Instant) {
        if let Some(thread) = self.running()
            && !self.budgets.at(self.threads.at(thread).budget).time.is_current(now)
        {
            self.charge_across();
        }
    }

    /// Returns true if the gate's bound that the running thread is in does not cover a price.
    /// Nothing may be arranged then, because the caller would pay for it; the callee has overrun
    /// its bound, and the timer comes at once.
    #[inline(always)]
    pub(crate) fn exceeds_bound(&mut self, price: u32) -> bool {
        self.top().outer.is_some() && self.overruns_by(price)
    }

    #[cold]
    #[inline(never)]
    fn overruns_by(&mut self, price: u32) -> bool {
        self.see_displaced();
        let now = self.arch.ticks();
        let activation = self.activations.at_mut(self.resume);
        let left = now.until(activation.until);
        if left >= price as i32 {
            return false;
        }
        activation.until = activation.until.minus(left.max(0) as u32);
        self.arm_for_end(now);
        true
    }

    /// Makes sure that the timer comes when the running thread must stop. If a price has exceeded what was left, that is at once: a timer that is
    /// armed anew with each call would never come. It is at once, too, if the timer is late: prices need no time, and many of them must not add up
    /// to what a more important sharer of the budget is released for.
    #[inline(always)]
    pub(crate) fn arm_for_end(&mut self, now: Instant) {
        let end = self.end();
        let next = self.alarm.at().earlier(end);
        if !now.is_before(next) {
            self.arch.timer_again();
        } else if end.is_before(self.alarm.at()) {
            self.alarm.set(&mut self.arch, end);
        }
    }

    /// The running thread gets back what an interrupt took that others have paid for. A boundary that has passed is seen first: the interrupt
    /// came behind it, and the period before cannot pass on what it gets.
    #[inline(always)]
    pub(crate) fn give_back(&mut self, now: Instant, ticks: u32) {
        self.see_boundary(now);
        self.shift(ticks);
    }

    /// Moves the end of the running thread's budget, and the bounds of the gates that it is in:
    /// these are part of the budget's time and would otherwise end too early or too late.
    #[inline(always)]
    fn shift(&mut self, ticks: u32) {
        self.slice.lengthen(ticks);
        if self.top().outer.is_some() {
            self.shift_gates(self.resume, None, ticks);
        }
    }

    /// Moves the ends of gates, from the innermost out to an activation that pays for them.
    #[cold]
    #[inline(never)]
    pub(crate) fn shift_gates(&mut self, innermost: Ref<Activation<A>>, payer: Option<Ref<Activation<A>>>, ticks: u32) {
        let mut next = innermost;
        // Bounded by the nesting of gates, which [`Kernel::gate_call`] limits.
        while payer != Some(next) {
            let activation = self.activations.at_mut(next);
            let Some(outer) = activation.outer else { return };
            activation.until = activation.until.plus(ticks);
            next = outer;
        }
    }

    /// A thread inside a gate makes way for another, or may have to: what its call may still take is set aside, so that threads that share
    /// its budget cannot use it.
    #[cold]
    pub(crate) fn reserve(&mut self, thread: Ref<Thread<A>>, now: u64) {
        let mut activation = self.activations.at_mut(self.resume);
        activation.disturbed = true;
        let mut until = activation.until;
        // Bounded by the nesting of gates. Only the outermost bound is set aside: the inner ones
        // lie within it, because each was covered when its gate was entered.
        while let Some(outer) = activation.outer {
            until = activation.until;
            activation = self.activations.at_mut(outer);
        }
        let record = self.threads.at_mut(thread);
        record.top = self.resume;
        record.away = Instant::of(now);
        record.held = record.away.until(until).max(0);
        self.budgets.at_mut(record.budget).time.reserve(record.held);
        self.requeue(thread);
    }

    /// Returns to a thread's budget what was set aside for its call. The budget is brought up to
    /// date first, because a boundary refills only what is not set aside.
    pub(crate) fn unreserve(&mut self, thread: Ref<Thread<A>>, now: u64) {
        let record = self.threads.at_mut(thread);
        let (budget, held) = (record.budget, core::mem::take(&mut record.held));
        self.replenish(budget, now);
        self.budgets.at_mut(budget).time.unreserve(held);
    }

    /// Moves the bounds of the gates that a thread is in by the time for which it was switched
    /// away, because a bound does not count that (rule (f)).
    pub(crate) fn extend_bounds(&mut self, thread: Ref<Thread<A>>, from: Instant) {
        let record = self.threads.at_mut(thread);
        let (top, away) = (record.top, from.since(record.away));
        record.away = from;
        self.shift_gates(top, None, away);
    }
}
