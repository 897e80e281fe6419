//! Choice of the thread that runs. An entry after which another thread may run ends in
//! [`Kernel::dispatch`], or in one of its short forms ([`Kernel::switch`]), which decline whatever
//! is not the common case. Who pays is in `charge.rs`.

use core::ptr::NonNull;

use abi::trace::{Event, IDLE, header};
use units::Instant;

use crate::arch::Arch;
use crate::arch::Protection;
use crate::kernel::{Kernel, NOBODY};
use crate::objects::{Activation, Budget, Domain, State, Thread};
use crate::table::Ref;

/// Most threads that one choice wakes or finds unable to go on. The rest is done in further entries, which the timer
/// asks for at once, so that no path grows with the number of threads.
const STEP: u32 = 2;

/// What became of the first thread of the ready queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    /// It goes on, or nobody is ready.
    GoesOn,
    /// It has left the queue, or its gate, because it cannot go on.
    PassedOver,
    /// The gate that it was in has exceeded its bound: a fault, and perhaps a supervisor that wakes.
    Overran,
}

impl<A: Arch> Kernel<A> {
    /// Chooses the thread that runs next and makes the machine ready for it: time is charged to the one that ran, the
    /// region registers hold the next one's domain, a pending result is delivered. When the running
    /// thread is still the first, and nobody has asked for another look at it, only the timer may
    /// have to be set.
    ///
    /// # Bound
    /// O(1): it wakes at most one thread that is due, and passes over at most [`STEP`] that are
    /// ready and cannot go on.
    #[inline(never)]
    pub fn dispatch(&mut self) {
        if self.recheck || self.ready.first() != self.running() {
            let now = self.now();
            self.suspend(now);
            self.choose(now, false);
        }
        self.alarm.flush(&mut self.arch);
    }

    /// Brings the running thread's account up to `now`, because another thread may be chosen. If it
    /// is inside a gate, what its call may still take is set aside. Both come before the choice:
    /// the choice looks at budgets, and a sharer of this one must not find time that was used, or
    /// that is reserved for the call.
    #[inline(never)]
    pub(crate) fn suspend(&mut self, now: u64) {
        self.charge_through(now);
        if let Activation { thread: Some(thread), outer: Some(_), .. } = *self.top() {
            self.reserve(thread, now);
        }
    }

    /// [`Kernel::dispatch`] without its test, for callers that know that somebody else may go on.
    /// Returns `None` because the choice has loaded the protection already, if it had to be loaded.
    #[cold]
    #[inline(never)]
    pub(crate) fn choose_anew(&mut self, prepaid: bool) -> Option<NonNull<A::Context>> {
        let now = self.now();
        self.suspend(now);
        self.choose(now, prepaid);
        self.alarm.flush(&mut self.arch);
        None
    }

    /// Makes the machine ready for the most important thread that can go on. The thread that ran
    /// until now was charged until `paused`. If it goes on, it also pays for the time since then,
    /// because no other thread has. `prepaid` says that an activation has paid for that time: then
    /// even the thread that ran counts as switched to, and pays from the end of this path on.
    #[inline(always)]
    pub(crate) fn choose(&mut self, paused: u64, prepaid: bool) {
        self.choose_first(paused, prepaid, false);
    }

    /// As [`Kernel::choose`]. `woken` says that this entry has looked for whoever is due already, so
    /// that the first thread can go on without another wake-up.
    #[inline(never)]
    pub(crate) fn choose_first(&mut self, paused: u64, prepaid: bool, woken: bool) {
        self.recheck = false;
        // The timer is late and must come at once. Prices take no time, and many of them could
        // otherwise be paid while it is late: see [`Kernel::arm_for_end`].
        if self.alarm.is_due(Instant::of(paused)) {
            self.arch.timer_again();
        }
        let (mut steps, mut woken) = (0, woken);
        while steps < STEP {
            let now = self.now();
            if self.alarm.deferred && !woken {
                let first = self.ready.first().map_or(u8::MAX, |first| self.threads.at(first).queue);
                steps += u32::from(self.wake_due(now, first));
            }
            match self.first_goes_on(now, paused, prepaid) {
                First::GoesOn => return,
                First::PassedOver => steps += 1,
                // To end a call takes as long as several wake-ups, so those that are due wait.
                First::Overran if self.alarm.deferred => break,
                First::Overran => steps += 1,
            }
            woken = false;
        }
        // Enough threads were passed over: the others wait for the next entry, which the timer
        // makes at once, so that no path grows with their number. Until then nobody runs. A line
        // that is pending waits as well, because the timer goes first where both have one priority.
        self.idle();
        self.recheck = true;
        self.arch.timer_again();
    }

    /// Makes the machine ready for the first thread of the ready queue, if that thread may run: its
    /// activation is alive, and its budget, or the bound of the gate that it is in, has time left.
    /// The timer is set for the end of that time. Otherwise it leaves the ready queue, or its gate,
    /// so that the caller can look at who is first now.
    #[inline(always)]
    fn first_goes_on(&mut self, now: u64, paused: u64, prepaid: bool) -> First {
        let Some(next) = self.ready.first() else {
            self.idle();
            return First::GoesOn;
        };
        let stays = self.running() == Some(next) && !prepaid;
        // Its time counts from here. A thread that is switched to does not pay for the way out of
        // the kernel and the way back in: whoever arranged the switch has (rule (b)).
        let from = if stays { Instant::of(paused) } else { Instant::of(now).plus(self.path) };
        if !stays {
            self.forget_displaced();
        }
        let Thread { top, budget, .. } = *self.threads.at(next);
        let Activation { outer, domain, epoch, .. } = *self.activations.at(top);
        if outer.is_some() {
            return self.first_goes_on_in_gate(next, now, (from, if stays { 0 } else { self.path }));
        }
        // An activation begins only while its domain runs, and stopping a domain changes its epoch.
        // So one comparison finds every activation that is dead.
        if self.domains.at(domain).epoch != epoch {
            self.unwind(next);
            return First::PassedOver;
        }
        // `covered` is quick, but does not see a boundary that has passed. So a budget that it
        // finds empty is brought up to date before its thread has to wait.
        if self.budgets.at(budget).time.covered(Instant::of(now), 0).is_none() && !self.can_pay(next, budget, now) {
            return First::PassedOver;
        }
        self.slice.begin(from, self.budgets.at(budget).time.left());
        self.go_on(next, top, self.slice.end());
        First::GoesOn
    }

    /// As [`Kernel::first_goes_on`], for a thread inside a gate. When it had to make way, what its
    /// call may still take was set aside; that goes back to the budget first. Its bound is moved by
    /// the time that it was away before it is compared, because that time does not count. The
    /// budget is not asked, because the reservation covers the bound.
    ///
    /// `way`: of the time since it made way, or was interrupted by a line, so much before `from` is
    /// the kernel's and not its own. An interrupt that comes in the last moment of a call would
    /// otherwise end it.
    #[cold]
    fn first_goes_on_in_gate(&mut self, next: Ref<Thread<A>>, now: u64, (from, way): (Instant, u32)) -> First {
        self.unreserve(next, now);
        self.extend_bounds(next, from);
        let Thread { top, budget, base, .. } = *self.threads.at(next);
        let Activation { domain, epoch, until, .. } = *self.activations.at(top);
        if self.domains.at(domain).epoch != epoch {
            self.unwind(next);
            return First::PassedOver;
        }
        if !from.minus(way).is_before(until) {
            self.overrun(next);
            // The end of the call asks for another choice, which the caller's loop is making
            // already.
            self.recheck = false;
            return First::Overran;
        }
        self.slice.begin(from, self.budgets.at(budget).time.left());
        self.go_on(next, top, until);
        // While it runs, `resume` says which activation it is in. The short way out of a gate does
        // not write `top`, so that must name the base by then.
        self.threads.at_mut(next).top = base;
        First::GoesOn
    }

    /// Lets a thread run in its activation `top` from now on, at the latest until `end`. Where the
    /// activation is the one that ran, or its domain the one that is loaded, nothing is loaded
    /// anew.
    #[inline(always)]
    fn go_on(&mut self, thread: Ref<Thread<A>>, top: Ref<Activation<A>>, end: Instant) {
        self.alarm.no_later_than(end);
        if top != self.resume {
            let (from, to) = (self.top().domain, self.activations.at(top).domain);
            self.run(top, self.activations.at(top).tag());
            if from != to {
                self.load(to);
            }
        }
        self.deliver(thread, top);
    }

    /// Makes an activation of another thread the one that runs, and says so in the trace.
    #[inline(always)]
    fn run(&mut self, top: Ref<Activation<A>>, tag: u32) {
        self.resume = top;
        // The record comes before the result is written into that domain's stack, so that an
        // observer of memory can tell whose change it is.
        self.arch.trace(tag | Event::Switch as u32, 0);
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
    /// still be loaded, which the entry code does.
    ///
    /// # Bound
    /// O(1), or a dispatch.
    #[inline(always)]
    pub(crate) fn switch(&mut self, next: Ref<Thread<A>>) -> Option<NonNull<A::Context>> {
        // Wake-ups were put off because the running thread is more important. The next one is less
        // so, and a thread that is due may go before it.
        if self.alarm.deferred && self.threads.at(next).queue > self.top().priority {
            return self.dispatch_slowly();
        }
        let now = self.arch.ticks();
        self.charge(now);
        self.switch_to(next, now)
    }

    /// [`Kernel::switch`] to a thread that is no less important than the running one, which was
    /// charged until `now`. A wake-up that was put off cannot go before such a thread, so none is
    /// looked at.
    #[inline(always)]
    pub(crate) fn switch_to(&mut self, next: Ref<Thread<A>>, now: Instant) -> Option<NonNull<A::Context>> {
        let Thread { top, budget, .. } = *self.threads.at(next);
        if !self.is_clear(top) || !self.take_over(top, self.activations.at(top).place, budget, now) {
            return self.dispatch_slowly();
        }
        self.deliver(next, top);
        Some(top.place().cast())
    }

    /// Returns true if nothing is in the way of a thread whose innermost activation this is: it is
    /// in no gate, and its activation is alive.
    #[inline(always)]
    fn is_clear(&self, activation: Ref<Activation<A>>) -> bool {
        let Activation { outer, domain, epoch, .. } = *self.activations.at(activation);
        // One test for both: this is on the way of every switch.
        let inside = outer.map_or(0, |outer| outer.place().as_ptr().addr());
        inside | (self.domains.at(domain).epoch ^ epoch) as usize == 0
    }

    /// [`Kernel::switch`] as a function of its own, for paths that are not the shortest: the
    /// inlined one is long, and each copy of it takes code and lines of a cache.
    #[inline(never)]
    pub(crate) fn switch_over(&mut self, next: Ref<Thread<A>>) -> Option<NonNull<A::Context>> {
        self.switch(next)
    }

    /// Lets a thread run in its own domain from now on, and sets the timer for the end of its
    /// budget. `place` is the activation's. The thread that ran before has been charged. Returns
    /// false, and does nothing, unless the budget is up to date and lasts for longer than the
    /// timer's shortest delay: the timer could not come in time for its end.
    #[inline(always)]
    pub(crate) fn take_over(
        &mut self,
        base: Ref<Activation<A>>,
        place: u32,
        budget: Ref<Budget>,
        now: Instant,
    ) -> bool {
        let Some(left) = self.budgets.at(budget).time.covered(now, A::SHORT as i32) else { return false };
        let delay = left + self.path;
        self.slice.begin(now, delay as i32);
        self.alarm.cover(&mut self.arch, now, delay);
        self.run(base, place);
        true
    }

    /// The running thread has left the ready queue: as [`Kernel::switch`], to the thread that is
    /// first now.
    #[inline(always)]
    pub(crate) fn give_way(&mut self) -> Option<NonNull<A::Context>> {
        match self.ready.first() {
            Some(next) => self.switch(next),
            None => self.dispatch_slowly(),
        }
    }

    /// The whole choice, for the short forms when something is in their way. It loads the
    /// protection itself, so that the entry code need not.
    #[cold]
    #[inline(never)]
    pub(crate) fn dispatch_slowly(&mut self) -> Option<NonNull<A::Context>> {
        self.choose_anew(false)
    }

    /// No thread is ready: the idle activation runs, the last of the table. Its domain is loaded,
    /// so that the memory of the thread that ran is not open to the idle loop.
    #[cold]
    fn idle(&mut self) {
        if self.running().is_some() {
            self.arch.trace(header(Event::Switch, IDLE, u16::from(NOBODY)), 0);
        }
        if let Some(activation) = self.activations.len().checked_sub(1).and_then(|last| self.activations.find(last)) {
            self.resume = activation;
            self.load(self.top().domain);
        }
    }

    /// Loads the protection of the domain that runs. A short form leaves that to the entry code;
    /// this is for its callers on paths that do not return through there.
    #[cold]
    pub fn load_top(&mut self) {
        self.load(self.top().domain);
    }

    /// Puts a domain's rights in force.
    #[inline(always)]
    pub(crate) fn load(&mut self, domain: Ref<Domain<A>>) {
        self.domains.at(domain).protection.load(&mut self.arch);
    }

    /// Puts a thread at the end of its ready queue, because its equals there have waited for
    /// longer.
    #[inline]
    pub(crate) fn make_ready(&mut self, thread: u8) {
        let Some(thread) = self.threads.find(usize::from(thread)) else { return };
        let record = self.threads.at_mut(thread);
        record.state = State::Ready;
        let priority = self.activations.at(record.top).priority;
        self.ready.push_back(&mut self.threads, thread, priority);
    }

    /// Takes the running thread out of the ready queue. If others wait for a turn on its budget,
    /// the next of them becomes ready (`turns.rs`).
    #[inline(always)]
    pub(crate) fn block_current(&mut self, state: State) {
        if let Some(thread) = self.running() {
            self.threads.at_mut(thread).state = state;
            self.leave_queue(thread);
        }
    }
}
