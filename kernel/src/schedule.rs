//! Who runs, and who pays. Every kernel entry ends in [`Kernel::dispatch`].

use core::ptr::NonNull;

use abi::trace::{Event, IDLE, header};

use crate::arch::Arch;
use crate::kernel::{Kernel, NOBODY};
use crate::objects::{Budget, Domain, Level, State, Thread};
use crate::protection::Protection;
use crate::queue::{NONE, Wake};
use crate::table::Ref;

impl<A: Arch> Kernel<A> {
    /// Chooses the thread that runs next and makes the machine ready for it: time is charged to the one that ran, the
    /// region registers hold the next one's domain, a pending result is delivered.
    ///
    /// # Bound
    /// O(1), plus one round for every ready thread whose budget is exhausted or whose domain was stopped since it last
    /// ran; each such round takes the thread out of the queue, so it happens once per exhaustion or stop.
    #[inline(never)]
    pub fn dispatch(&mut self) {
        self.dispatch_now();
    }

    /// [`Kernel::dispatch`] in line, for the entries that count.
    #[inline(always)]
    pub(crate) fn dispatch_now(&mut self) {
        if self.recheck || self.ready.first() != self.running() {
            self.reschedule();
        }
        self.arm();
    }

    /// Asks for the timer if it must come earlier than it was asked for.
    #[inline(always)]
    pub(crate) fn arm(&mut self) {
        if self.rearm {
            self.rearm = false;
            self.arch.arm_timer(self.armed);
        }
    }

    /// The part of [`Kernel::dispatch`] that is not needed when the running thread goes on.
    #[inline(always)]
    fn reschedule(&mut self) {
        let now = self.arch.ticks();
        self.charge(now);
        let level = self.top();
        if let (Some(thread), Some(_)) = (level.thread, level.outer) {
            self.step_aside(thread, now);
        }
        self.recheck = false;
        while !self.first_goes_on(now) {}
    }

    /// Makes the machine ready for the first thread of the ready queue if that may run: its activation is alive, and its budget,
    /// or the bound of the gate that it is in, has time left, for whose end the timer is armed. If it may not, it has left the
    /// ready queue or a level, and somebody else may be the first.
    #[inline(always)]
    fn first_goes_on(&mut self, now: u32) -> bool {
        let Some(next) = self.ready.first() else { return self.idle() };
        let Thread { top, budget, .. } = *self.threads.at(next);
        let Level { outer, domain, epoch, .. } = *self.levels.at(top);
        if outer.is_some() {
            return self.first_goes_on_in_gate(next, now);
        }
        // Activations begin only while their domain runs, and its epoch changes when it is stopped.
        if self.domains.at(domain).epoch != epoch {
            self.unwind(next);
            return false;
        }
        let limit = match self.covered(budget, now, 0) {
            Some(limit) => limit,
            None if !self.can_pay(next, budget) => return false,
            None => now.wrapping_add(self.budgets.at(budget).time.left() as u32),
        };
        self.limit = limit;
        self.go_on(next, top, limit);
        true
    }

    /// As [`Kernel::first_goes_on`], for a thread inside a gate: it finishes its call whatever its budget says.
    #[cold]
    fn first_goes_on_in_gate(&mut self, next: Ref<Thread<A>>, now: u32) -> bool {
        self.catch_up(next, now);
        let Thread { top, budget, base, .. } = *self.threads.at(next);
        let Level { domain, epoch, until, .. } = *self.levels.at(top);
        if self.domains.at(domain).epoch != epoch {
            self.unwind(next);
            return false;
        }
        if now.wrapping_sub(until) as i32 >= 0 {
            self.overrun(next);
            self.recheck = false;
            return false;
        }
        self.limit = now.wrapping_add(self.budgets.at(budget).time.left() as u32);
        self.go_on(next, top, until);
        self.threads.at_mut(next).top = base;
        true
    }

    /// A thread runs from now on, at the latest until `end`.
    #[inline(always)]
    fn go_on(&mut self, thread: Ref<Thread<A>>, top: Ref<Level<A>>, end: u32) {
        if self.armed.wrapping_sub(end) as i32 > 0 {
            self.armed = end;
            self.rearm = true;
        }
        if top != self.resume {
            let (from, to) = (self.top().domain, self.levels.at(top).domain);
            self.run(top, self.levels.at(top).tag());
            if from != to {
                self.load(to);
            }
        }
        self.deliver(thread, top);
    }

    /// A level of another thread runs from now on.
    #[inline(always)]
    fn run(&mut self, top: Ref<Level<A>>, tag: u32) {
        self.resume = top;
        // Before anything of that domain's memory changes, so that an observer can tell whose change it is.
        self.arch.trace(tag | Event::Switch as u32, 0);
    }

    /// Delivers the result that a thread has waited for, if it has.
    #[inline(always)]
    fn deliver(&mut self, thread: Ref<Thread<A>>, top: Ref<Level<A>>) {
        let record = self.threads.at_mut(thread);
        if let Some((status, value)) = record.pending {
            record.pending = None;
            self.respond(top, status, [value]);
        }
    }

    /// From a thread that is in its own domain, or from the idle loop, to the thread that is first in line: what [`Kernel::dispatch`]
    /// does when nothing is in the way, or else that. Of the thread that goes on if its region registers are yet to be loaded.
    ///
    /// # Bound
    /// O(1), or a dispatch.
    #[inline(always)]
    pub(crate) fn switch(&mut self, next: Ref<Thread<A>>) -> Option<NonNull<A::Context>> {
        let now = self.arch.ticks();
        self.charge(now);
        let Thread { top, budget, .. } = *self.threads.at(next);
        let Level { outer, domain, epoch, .. } = *self.levels.at(top);
        if outer.is_some() || self.domains.at(domain).epoch != epoch {
            return self.dispatch_slowly();
        }
        if !self.take_over(top, self.levels.at(top).place, budget, now) {
            return self.dispatch_slowly();
        }
        self.deliver(next, top);
        Some(top.place().cast())
    }

    /// A thread runs in its own domain from now on, if its budget lasts for longer than the timer's shortest delay; the timer is armed for
    /// its end. `place` is the level's. The budget of who ran before was charged.
    #[inline(always)]
    pub(crate) fn take_over(&mut self, base: Ref<Level<A>>, place: u32, budget: Ref<Budget>, now: u32) -> bool {
        let Some(limit) = self.covered(budget, now, A::SHORT as i32) else { return false };
        self.limit = limit;
        if (limit.wrapping_sub(self.armed) as i32) < 0 {
            self.armed = limit;
            self.arch.arm_timer_in(limit.wrapping_sub(now));
        }
        self.run(base, place);
        true
    }

    /// When a budget ends that pays from now on; `None` when no more than `least` is left or it may have to be replenished first.
    #[inline(always)]
    fn covered(&self, budget: Ref<Budget>, now: u32, least: i32) -> Option<u32> {
        let Budget { time, .. } = self.budgets.at(budget);
        let (left, due) = (time.left(), time.next_replenishment());
        // Of a budget that was not used for long the difference may have wrapped: it is looked at when nothing is left.
        let is_due = (due as u32).wrapping_sub(now) as i32 <= 0;
        (left > least && !is_due).then_some(now.wrapping_add(left as u32))
    }

    /// The running thread has left the ready queue: [`Kernel::switch`] to who is first now.
    #[inline(always)]
    pub(crate) fn give_way(&mut self) -> Option<NonNull<A::Context>> {
        match self.ready.first() {
            Some(next) => self.switch(next),
            None => self.dispatch_slowly(),
        }
    }

    /// [`Kernel::dispatch`], which leaves nothing to load.
    #[cold]
    #[inline(never)]
    pub(crate) fn dispatch_slowly(&mut self) -> Option<NonNull<A::Context>> {
        self.recheck = true;
        self.dispatch();
        None
    }

    /// Nobody is ready.
    #[cold]
    fn idle(&mut self) -> bool {
        if self.running().is_some() {
            self.arch.trace(header(Event::Switch, IDLE, u16::from(NOBODY)), 0);
        }
        if let Some(level) = self.levels.len().checked_sub(1).and_then(|last| self.levels.find(last)) {
            self.resume = level;
            self.load(self.top().domain);
        }
        true
    }

    /// Whether a ready thread's budget has something left, after the replenishment that may be due. If not, the thread waits for the
    /// next one.
    #[cold]
    fn can_pay(&mut self, thread: Ref<Thread<A>>, budget: Ref<Budget>) -> bool {
        let now = self.now();
        self.refill(budget, now);
        if self.budgets.at(budget).time.left() > 0 {
            return true;
        }
        let level = self.threads.at(thread).base;
        let domain = self.levels.at(level).domain_number();
        let number = self.budgets.index_of(budget) as u16;
        self.arch.trace(header(Event::BudgetOut, domain, number), 0);
        self.throttle(thread);
        false
    }

    /// Takes a ready thread out of the queue until its budget is replenished.
    #[cold]
    pub(crate) fn throttle(&mut self, thread: Ref<Thread<A>>) {
        self.ready.remove(&mut self.threads, thread);
        let record = self.threads.at_mut(thread);
        let index = self.budgets.index_of(record.budget) as u8;
        let budget = self.budgets.at_mut(record.budget);
        let (first, at) = (budget.waiting, budget.time.next_replenishment());
        budget.waiting = record.number;
        record.state = State::Throttled;
        record.next_throttled = first;
        if first == NONE {
            self.times.insert(at, Wake::Budget(index));
            self.arm_before(at);
        }
    }

    /// Makes the domain of who runs the one that is in force.
    #[cold]
    pub fn load_top(&mut self) {
        self.load(self.top().domain);
    }

    /// Makes a domain the one that is in force.
    #[inline(always)]
    pub(crate) fn load(&mut self, domain: Ref<Domain<A>>) {
        self.domains.at(domain).protection.load(&mut self.arch);
    }

    /// Brings what the running thread's budget has left up to date.
    ///
    /// # Bound
    /// O(1).
    #[inline(always)]
    pub(crate) fn charge(&mut self, now: u32) {
        if let Some(thread) = self.running() {
            let budget = self.threads.at(thread).budget;
            self.budgets.at_mut(budget).time.set_left(self.limit.wrapping_sub(now) as i32);
        }
    }

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

    /// The timer fired: wakes what is due, and rechecks the running thread's budget.
    ///
    /// # Bound
    /// O(entries that are due), each at most once per its period.
    #[inline(always)]
    pub fn on_timer(&mut self) {
        let now = self.now();
        self.since = now;
        let earliest = self.times.earliest();
        // The hardware counters wrap: look at them before they do.
        let look = now + u64::from(self.ticks_per_second / 2);
        let Level { thread, outer, until, .. } = *self.top();
        let end = if outer.is_some() { until } else { self.limit };
        let left = end.wrapping_sub(now as u32) as i32;
        if now < earliest && left > 0 && thread.is_some() {
            // It came too early, and whoever runs goes on.
            self.armed = look.min(earliest).min(now + left as u64) as u32;
            self.arch.arm_timer(self.armed);
            return;
        }
        self.on_due(now, look);
    }

    /// The rest of [`Kernel::on_timer`] when something is due.
    #[inline(never)]
    fn on_due(&mut self, now: u64, look: u64) {
        while let Some(wake) = self.times.pop_due(now) {
            match wake {
                Wake::Thread(thread) => self.wake_sleeper(thread),
                Wake::Budget(budget) => self.replenished(budget, now),
            }
        }
        self.armed = self.times.earliest().min(look) as u32;
        self.rearm = true;
        self.recheck = true;
        self.dispatch_now();
    }

    #[inline(never)]
    fn wake_sleeper(&mut self, thread: u8) {
        let record = self.thread_mut(thread);
        if record.state != State::Sleeping {
            return;
        }
        record.pending = Some((0, 0));
        let released = record.period > 0 && record.open;
        let (nominal, base) = (record.release as u32, record.base);
        if released {
            self.arch.trace(self.levels.at(base).tag() | Event::Release as u32, nominal);
        }
        self.make_ready(thread);
    }

    /// Replenishes a budget when its time has come, and traces that.
    #[cold]
    pub(crate) fn refill(&mut self, index: Ref<Budget>, now: u64) {
        let pays_now = self.running().is_some_and(|thread| self.threads.at(thread).budget == index);
        if pays_now {
            self.charge(now as u32);
        }
        let number = self.budgets.index_of(index) as u16;
        let budget = self.budgets.at_mut(index);
        if !budget.refill(now) {
            return;
        }
        if pays_now {
            self.limit = (now as u32).wrapping_add(budget.time.left() as u32);
        }
        self.arch.trace(header(Event::Replenish, IDLE, number), budget.capacity());
    }

    #[cold]
    fn replenished(&mut self, index: u8, now: u64) {
        let Some(budget) = self.budgets.find(usize::from(index)) else { return };
        self.refill(budget, now);
        let mut waiting = core::mem::replace(&mut self.budgets.at_mut(budget).waiting, NONE);
        // Bounded: a thread is in this list at most once.
        while waiting != NONE {
            let thread = waiting;
            let record = self.thread_mut(thread);
            waiting = record.next_throttled;
            if record.state == State::Throttled {
                self.make_ready(thread);
            }
        }
    }

    /// Puts a thread at the end of its ready queue.
    #[inline]
    pub(crate) fn make_ready(&mut self, thread: u8) {
        let Some(thread) = self.threads.find(usize::from(thread)) else { return };
        let record = self.threads.at_mut(thread);
        record.state = State::Ready;
        let priority = self.levels.at(record.top).priority;
        self.ready.push_back(&mut self.threads, thread, priority);
    }

    /// Takes a thread that is ready out of its queue.
    pub(crate) fn unqueue(&mut self, thread: u8) {
        if let Some(thread) = self.threads.find(usize::from(thread)) {
            self.ready.remove(&mut self.threads, thread);
        }
    }

    /// Takes the running thread out of the ready queue.
    #[inline(always)]
    pub(crate) fn block_current(&mut self, state: State) {
        if let Some(thread) = self.running() {
            self.threads.at_mut(thread).state = state;
            self.ready.remove(&mut self.threads, thread);
        }
    }
}
