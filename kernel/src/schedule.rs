//! Who runs, and who pays. Every kernel entry ends in [`Kernel::dispatch`].

use abi::trace::{Event, IDLE, header};

use crate::arch::Arch;
use crate::kernel::{Kernel, NOBODY};
use crate::objects::{LEVELS, State};
use crate::queue::{NONE, Wake};

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
        if self.recheck || self.ready.first() != self.current {
            self.reschedule();
        }
        if self.rearm {
            self.rearm = false;
            self.arch.arm_timer(self.armed);
        }
    }

    /// The part of [`Kernel::dispatch`] that is not needed when the running thread goes on.
    #[inline(always)]
    fn reschedule(&mut self) {
        let elapsed = self.elapsed();
        let now = self.since + u64::from(elapsed);
        self.since = now;
        let elapsed = elapsed as i32;
        let current = self.current;
        if let Some(thread) = self.threads.get_mut(usize::from(current))
            && let Some(budget) = self.budgets.get_mut(usize::from(thread.budget))
        {
            thread.pay(budget, elapsed);
            if self.ready.queue_of(current) != thread.top.priority && thread.state == State::Ready {
                self.settle(current);
            }
        }
        self.recheck = false;
        while !self.runs_first(now) {}
    }

    /// Makes the machine ready for the first thread of the ready queue if that may run: its activation is alive, and its budget,
    /// or the bound of the gate that it is in, has time left, for whose end the timer is armed. If it may not, it has left the
    /// ready queue or a level, and somebody else may be the first.
    #[inline(always)]
    fn runs_first(&mut self, now: u64) -> bool {
        let next = self.ready.first();
        let Kernel { threads, domains, budgets, arch, .. } = self;
        let Some(thread) = threads.get_mut(usize::from(next)) else { return self.idle() };
        let Some(domain) = domains.get(usize::from(thread.top.domain)) else { return self.idle() };
        // Activations begin only while their domain runs, and its epoch changes when it is stopped.
        if domain.epoch != thread.top.epoch {
            self.unwind(next);
            return false;
        }
        let left = if thread.depth > 0 {
            if thread.top.left <= 0 {
                self.overrun(next);
                self.recheck = false;
                return false;
            }
            thread.top.left
        } else {
            let index = thread.budget;
            let Some(budget) = budgets.get(usize::from(index)) else { return self.idle() };
            if now >= budget.next {
                self.refill(index, now);
                return false;
            }
            if budget.left <= 0 {
                self.exhausted(next);
                return false;
            }
            budget.left
        };
        if left < (self.armed as u32).wrapping_sub(now as u32) as i32 {
            self.armed = now + left as u64;
            self.rearm = true;
        }
        let context = &mut thread.contexts[usize::from(thread.depth).min(LEVELS - 1)];
        self.resume = context;
        if next != self.current {
            self.current = next;
            let number = thread.top.domain;
            // Before anything of that domain's memory changes, so that an observer can tell whose change it is.
            arch.trace(header(Event::Switch, number, u16::from(next)), 0);
            if number != self.loaded {
                self.loaded = number;
                arch.load_image(domain.slots.image());
            }
        }
        if let Some((status, values)) = thread.pending {
            thread.pending = None;
            arch.respond(context, status, values);
        }
        true
    }

    /// Nobody is ready.
    #[cold]
    fn idle(&mut self) -> bool {
        if self.current != NOBODY {
            self.current = NOBODY;
            if self.loaded != IDLE {
                self.load(IDLE);
            }
            self.arch.trace(header(Event::Switch, IDLE, u16::from(NOBODY)), 0);
        }
        self.resume = core::ptr::null_mut();
        true
    }

    /// A thread's budget has nothing left.
    #[cold]
    fn exhausted(&mut self, thread: u8) {
        let record = self.thread(thread);
        let (domain, budget) = (record.top.domain, record.budget);
        self.arch.trace(header(Event::BudgetOut, domain, u16::from(budget)), 0);
        self.throttle(thread);
    }

    /// Takes a ready thread out of the queue until its budget is replenished.
    #[cold]
    pub(crate) fn throttle(&mut self, thread: u8) {
        self.ready.remove(thread);
        let index = self.thread(thread).budget;
        let budget = self.budget_mut(index);
        let (first, at) = (budget.waiting, budget.next);
        budget.waiting = thread;
        let record = self.thread_mut(thread);
        record.state = State::Throttled;
        record.next_throttled = first;
        if first == NONE {
            self.times.insert(at, Wake::Budget(index));
            self.arm_before(at);
        }
    }

    /// Loads a domain's region registers ([`IDLE`]: those of the idle loop).
    #[inline]
    pub(crate) fn load(&mut self, domain: u8) {
        self.loaded = domain;
        match self.domains.get(usize::from(domain)) {
            Some(domain) => self.arch.load_image(domain.slots.image()),
            None => self.arch.load_image(&self.idle_image),
        }
    }

    /// Charges the time since the last charge to the running thread.
    ///
    /// # Bound
    /// O(1).
    #[inline]
    pub(crate) fn charge(&mut self) {
        let elapsed = self.elapsed();
        self.since += u64::from(elapsed);
        if let Some(thread) = self.threads.get_mut(usize::from(self.current))
            && let Some(budget) = self.budgets.get_mut(usize::from(thread.budget))
        {
            thread.pay(budget, elapsed as i32);
        }
    }

    /// Makes sure that the timer interrupts at `at` or earlier; it is set at the end of [`Kernel::dispatch`]. An interrupt that
    /// comes too early only looks around and arms the timer again; there is at most one for each call of this.
    #[inline]
    pub(crate) fn arm_before(&mut self, at: u64) {
        if at < self.armed {
            self.armed = at;
            self.rearm = true;
        }
    }

    /// As [`Kernel::arm_before`], so many ticks from now, and at once.
    #[cold]
    pub(crate) fn arm_within(&mut self, ticks: i32) {
        self.armed = self.now() + ticks as u64;
        self.arch.arm_timer(self.armed);
    }

    /// The timer fired: wakes what is due, and rechecks the running thread's budget.
    ///
    /// # Bound
    /// O(entries that are due), each at most once per its period.
    pub fn on_timer(&mut self) {
        let now = self.now();
        while let Some(wake) = self.times.pop_due(now) {
            match wake {
                Wake::Thread(thread) => self.wake_sleeper(thread),
                Wake::Budget(budget) => self.replenished(budget, now),
            }
        }
        // The hardware counters wrap: look at them before they do.
        self.armed = self.times.earliest().min(now + u64::from(self.ticks_per_second / 2));
        self.rearm = true;
        self.recheck = true;
        self.dispatch_now();
    }

    fn wake_sleeper(&mut self, thread: u8) {
        let record = self.thread_mut(thread);
        if record.state != State::Sleeping {
            return;
        }
        record.pending = Some((0, [0; 2]));
        if record.period > 0 && record.open {
            let (nominal, domain) = (record.release as u32, record.level().domain);
            self.arch.trace(header(Event::Release, domain, u16::from(thread)), nominal);
        }
        self.make_ready(thread);
    }

    /// Replenishes a budget when its time has come, and traces that.
    #[cold]
    pub(crate) fn refill(&mut self, index: u8, now: u64) {
        let budget = self.budget_mut(index);
        if budget.refill(now) {
            let capacity = budget.capacity as u32;
            self.arch.trace(header(Event::Replenish, IDLE, u16::from(index)), capacity);
        }
    }

    #[cold]
    fn replenished(&mut self, index: u8, now: u64) {
        self.refill(index, now);
        let mut waiting = core::mem::replace(&mut self.budget_mut(index).waiting, NONE);
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
        let record = self.thread_mut(thread);
        record.state = State::Ready;
        let priority = record.level().priority;
        self.ready.push_back(thread, priority);
    }

    /// Takes the running thread out of the ready queue.
    #[inline]
    pub(crate) fn block_current(&mut self, state: State) {
        let current = self.current;
        let record = self.thread_mut(current);
        record.state = state;
        self.ready.remove(current);
    }
}
