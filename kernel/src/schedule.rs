//! Choice of the thread that runs. Every kernel entry ends in [`Kernel::dispatch`]; who pays is in
//! `charge.rs`.

use core::ptr::NonNull;

use abi::trace::{Event, IDLE, header};

use crate::arch::Arch;
use crate::arch::Protection;
use crate::kernel::{Kernel, NOBODY};
use crate::objects::{Activation, Budget, Domain, State, Thread};
use crate::table::Ref;

/// Most threads that one choice wakes or finds unable to go on. The rest is done in further entries, which the timer
/// asks for at once, so that no path grows with the number of threads.
const STEP: u32 = 2;

impl<A: Arch> Kernel<A> {
    /// Chooses the thread that runs next and makes the machine ready for it: time is charged to the one that ran, the
    /// region registers hold the next one's domain, a pending result is delivered.
    ///
    /// # Bound
    /// O(1): at most [`STEP`] threads that are due, or ready and cannot go on, and one more that is due.
    #[inline(never)]
    pub fn dispatch(&mut self) {
        if self.core.recheck || self.core.ready.first() != self.running() {
            let now = self.now();
            self.pause(now);
            self.choose(now, false);
        }
        self.arm();
    }

    /// Asks for the timer if it must come earlier than it was asked for.
    #[inline(always)]
    pub(crate) fn arm(&mut self) {
        if self.core.rearm {
            self.core.rearm = false;
            self.core.arch.arm_timer(self.core.armed);
        }
    }

    /// Notes that the timer must come at a time (low word) or before; [`Kernel::arm`] asks for it.
    #[inline(always)]
    pub(crate) fn arm_by(&mut self, at: u32) {
        if (at.wrapping_sub(self.core.armed) as i32) < 0 {
            self.core.armed = at;
            self.core.rearm = true;
        }
    }

    /// The running thread may have to make way: it is charged until `now`.
    #[inline(never)]
    pub(crate) fn pause(&mut self, now: u64) {
        self.bring_up(now);
        if let Activation { thread: Some(thread), outer: Some(_), .. } = *self.top() {
            self.step_aside(thread, now);
        }
    }

    /// [`Kernel::dispatch`], when somebody has become ready. It leaves nothing to load.
    #[cold]
    #[inline(never)]
    pub(crate) fn choose_anew(&mut self, prepaid: bool) -> Option<NonNull<A::Context>> {
        let now = self.now();
        self.pause(now);
        self.choose(now, prepaid);
        self.arm();
        None
    }

    /// Makes the machine ready for the most important thread that can go on. The thread that ran
    /// until now was charged until `paused`; if it goes on, it pays for what lies between, unless
    /// that was `prepaid` by an activation.
    #[inline(never)]
    pub(crate) fn choose(&mut self, paused: u64, prepaid: bool) {
        self.core.recheck = false;
        // A timer that is late comes at once: see [`Kernel::arm_for_end`].
        if (self.core.armed.wrapping_sub(paused as u32) as i32) <= 0 {
            self.core.arch.timer_again();
        }
        let mut steps = 0;
        while steps < STEP {
            let now = self.now();
            if self.core.deferred {
                let first = self.core.ready.first().map_or(u8::MAX, |first| self.threads.at(first).queue);
                steps += u32::from(self.wake_due(now, first));
            }
            if self.first_goes_on(now, paused, prepaid) {
                return;
            }
            steps += 1;
        }
        // No path grows with the rest. A line that is pending still waits for it: the timer goes first where both have one priority.
        self.idle();
        self.core.recheck = true;
        self.core.arch.timer_again();
    }

    /// Makes the machine ready for the first thread of the ready queue if that may run: its activation is alive, and its budget,
    /// or the bound of the gate that it is in, has time left, for whose end the timer is armed. If it may not, it has left the
    /// ready queue or an activation, and somebody else may be the first.
    #[inline(always)]
    fn first_goes_on(&mut self, now: u64, paused: u64, prepaid: bool) -> bool {
        let Some(next) = self.core.ready.first() else { return self.idle() };
        let stays = self.running() == Some(next) && !prepaid;
        let from = if stays { paused as u32 } else { (now as u32).wrapping_add(self.path) };
        if !stays {
            self.forget_displaced();
        }
        let Thread { top, budget, .. } = *self.threads.at(next);
        let Activation { outer, domain, epoch, .. } = *self.activations.at(top);
        if outer.is_some() {
            return self.first_goes_on_in_gate(next, now, from);
        }
        // Activations begin only while their domain runs, and its epoch changes when it is stopped.
        if self.domains.at(domain).epoch != epoch {
            self.unwind(next);
            return false;
        }
        if self.budgets.at(budget).time.covered(now as u32, 0).is_none() && !self.can_pay(next, budget, now) {
            return false;
        }
        self.core.limit = from.wrapping_add(self.budgets.at(budget).time.left() as u32);
        self.go_on(next, top, self.core.limit);
        true
    }

    /// As [`Kernel::first_goes_on`], for a thread inside a gate: what the call may take was set aside.
    #[cold]
    fn first_goes_on_in_gate(&mut self, next: Ref<Thread<A>>, now: u64, from: u32) -> bool {
        self.take_back(next, now);
        self.catch_up(next, from);
        let Thread { top, budget, base, .. } = *self.threads.at(next);
        let Activation { domain, epoch, until, .. } = *self.activations.at(top);
        if self.domains.at(domain).epoch != epoch {
            self.unwind(next);
            return false;
        }
        if from.wrapping_sub(until) as i32 >= 0 {
            self.overrun(next);
            self.core.recheck = false;
            return false;
        }
        self.core.limit = from.wrapping_add(self.budgets.at(budget).time.left() as u32);
        self.go_on(next, top, until);
        self.threads.at_mut(next).top = base;
        true
    }

    /// A thread runs from now on, at the latest until `end`.
    #[inline(always)]
    fn go_on(&mut self, thread: Ref<Thread<A>>, top: Ref<Activation<A>>, end: u32) {
        self.arm_by(end);
        if top != self.core.resume {
            let (from, to) = (self.top().domain, self.activations.at(top).domain);
            self.run(top, self.activations.at(top).tag());
            if from != to {
                self.load(to);
            }
        }
        self.deliver(thread, top);
    }

    /// An activation of another thread runs from now on.
    #[inline(always)]
    fn run(&mut self, top: Ref<Activation<A>>, tag: u32) {
        self.core.resume = top;
        // Before anything of that domain's memory changes, so that an observer can tell whose change it is.
        self.core.arch.trace(tag | Event::Switch as u32, 0);
    }

    /// Delivers the result that a thread has waited for, if it has.
    #[inline(always)]
    fn deliver(&mut self, thread: Ref<Thread<A>>, top: Ref<Activation<A>>) {
        let record = self.threads.at_mut(thread);
        if let Some((status, value)) = record.pending {
            record.pending = None;
            self.respond(top, status, [value]);
        }
    }

    /// Switches from a thread that is in its own domain, or from the idle loop, to the thread that
    /// is first in line. This is the short form of [`Kernel::dispatch`] for when nothing is in the
    /// way; otherwise it dispatches. Returns the context of the next thread, if its protection must
    /// still be loaded.
    ///
    /// # Bound
    /// O(1), or a dispatch.
    #[inline(always)]
    pub(crate) fn switch(&mut self, next: Ref<Thread<A>>) -> Option<NonNull<A::Context>> {
        // A thread that is due may be more important than who is next.
        if self.core.deferred && self.threads.at(next).queue > self.top().priority {
            return self.dispatch_slowly();
        }
        let now = self.core.arch.ticks();
        self.charge(now);
        self.switch_to(next, now)
    }

    /// [`Kernel::switch`] to a thread that is no less important than the running one, which was charged until `now`.
    #[inline(always)]
    pub(crate) fn switch_to(&mut self, next: Ref<Thread<A>>, now: u32) -> Option<NonNull<A::Context>> {
        let Thread { top, budget, .. } = *self.threads.at(next);
        if !self.is_clear(top) || !self.take_over(top, self.activations.at(top).place, budget, now) {
            return self.dispatch_slowly();
        }
        self.deliver(next, top);
        Some(top.place().cast())
    }

    /// Whether a thread whose innermost activation this is has nothing in its way: it is in no gate, and its activation is alive.
    #[inline(always)]
    fn is_clear(&self, activation: Ref<Activation<A>>) -> bool {
        let Activation { outer, domain, epoch, .. } = *self.activations.at(activation);
        // One test for both: this is on the way of every switch.
        let inside = outer.map_or(0, |outer| outer.place().as_ptr().addr());
        inside | (self.domains.at(domain).epoch ^ epoch) as usize == 0
    }

    /// [`Kernel::switch`] where a call does not matter.
    #[inline(never)]
    pub(crate) fn switch_over(&mut self, next: Ref<Thread<A>>) -> Option<NonNull<A::Context>> {
        self.switch(next)
    }

    /// A thread runs in its own domain from now on, if its budget lasts for longer than the timer's shortest delay; the timer is armed for
    /// its end. `place` is the activation's. The budget of who ran before was charged.
    #[inline(always)]
    pub(crate) fn take_over(&mut self, base: Ref<Activation<A>>, place: u32, budget: Ref<Budget>, now: u32) -> bool {
        let Some(left) = self.budgets.at(budget).time.covered(now, A::SHORT as i32) else { return false };
        let delay = left + self.path;
        let limit = now.wrapping_add(delay);
        self.core.limit = limit;
        // One test for two: the timer comes behind the end, or should have come before now.
        let behind = limit.wrapping_sub(self.core.armed);
        if behind >= delay {
            if (behind as i32) < 0 {
                self.core.armed = limit;
                self.core.arch.arm_timer_in(delay);
            } else {
                self.core.arch.timer_again();
            }
        }
        self.run(base, place);
        true
    }

    /// The running thread has left the ready queue: [`Kernel::switch`] to who is first now.
    #[inline(always)]
    pub(crate) fn give_way(&mut self) -> Option<NonNull<A::Context>> {
        match self.core.ready.first() {
            Some(next) => self.switch(next),
            None => self.dispatch_slowly(),
        }
    }

    /// [`Kernel::dispatch`], which leaves nothing to load.
    #[cold]
    #[inline(never)]
    pub(crate) fn dispatch_slowly(&mut self) -> Option<NonNull<A::Context>> {
        self.choose_anew(false)
    }

    /// Nobody is ready.
    #[cold]
    fn idle(&mut self) -> bool {
        if self.running().is_some() {
            self.core.arch.trace(header(Event::Switch, IDLE, u16::from(NOBODY)), 0);
        }
        if let Some(activation) = self.activations.len().checked_sub(1).and_then(|last| self.activations.find(last)) {
            self.core.resume = activation;
            self.load(self.top().domain);
        }
        true
    }

    /// Makes the domain of who runs the one that is in force.
    #[cold]
    pub fn load_top(&mut self) {
        self.load(self.top().domain);
    }

    /// Makes a domain the one that is in force.
    #[inline(always)]
    pub(crate) fn load(&mut self, domain: Ref<Domain<A>>) {
        self.domains.at(domain).protection.load(&mut self.core.arch);
    }

    /// Puts a thread at the end of its ready queue.
    #[inline]
    pub(crate) fn make_ready(&mut self, thread: u8) {
        let Some(thread) = self.threads.find(usize::from(thread)) else { return };
        let record = self.threads.at_mut(thread);
        record.state = State::Ready;
        let priority = self.activations.at(record.top).priority;
        self.core.ready.push_back(&mut self.threads, thread, priority);
    }

    /// Takes the running thread out of the ready queue.
    #[inline(always)]
    pub(crate) fn block_current(&mut self, state: State) {
        if let Some(thread) = self.running() {
            self.threads.at_mut(thread).state = state;
            self.leave_queue(thread);
        }
    }
}
