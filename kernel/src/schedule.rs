//! Who runs, and who pays. Every kernel entry ends in [`Kernel::dispatch`].

use abi::trace::{Event, IDLE, header};

use crate::arch::Arch;
use crate::kernel::{Kernel, NOBODY};
use crate::objects::State;
use crate::queue::{NONE, Wake};

impl<A: Arch> Kernel<A> {
    /// Chooses the thread that runs next and makes the machine ready for it: time is charged to the one that ran, the
    /// region registers hold the next one's domain, a pending result is delivered.
    ///
    /// # Bound
    /// O(1), plus one round for every ready thread whose budget is exhausted or whose domain was stopped since it last
    /// ran; each such round takes the thread out of the queue, so it happens once per exhaustion or stop.
    #[inline]
    pub fn dispatch(&mut self) {
        if self.recheck || self.ready.first() != self.current {
            self.reschedule();
        }
        if self.rearm {
            self.rearm = false;
            self.arch.arm_timer(self.armed);
        }
    }

    /// The part of [`Kernel::dispatch`] that is not needed when the running thread goes on.
    #[inline(never)]
    fn reschedule(&mut self) {
        self.charge();
        let now = self.arch.now();
        if self.threads.get(usize::from(self.current)).is_some_and(|thread| thread.state == State::Ready) {
            self.settle(self.current);
        }
        let next = loop {
            let next = self.ready.first();
            if next == NOBODY || self.admits(next, now) {
                break next;
            }
        };
        if next != self.current {
            self.switch_to(next);
        }
        self.recheck = false;
        self.deliver(next);
    }

    /// Whether a ready thread may run now: its activation is alive, and its budget, or the bound of the gate that it is in,
    /// has time left, for whose end the timer is armed. If not, it has left the ready queue or a level.
    #[inline]
    fn admits(&mut self, thread: u8, now: u64) -> bool {
        let record = &self.threads[usize::from(thread)];
        // Activations begin only while their domain runs, and its epoch changes when it is stopped.
        if self.domains[usize::from(record.top.domain)].epoch != record.top.epoch {
            self.unwind(thread);
            return false;
        }
        let left = if record.depth > 0 {
            if record.top.left <= 0 {
                self.overrun(thread);
                return false;
            }
            record.top.left
        } else {
            let index = record.budget;
            let budget = &self.budgets[usize::from(index)];
            let left = if now >= budget.next { self.refilled(index, now) } else { budget.left };
            if left <= 0 {
                self.exhausted(thread);
                return false;
            }
            left
        };
        self.arm_before(now + left as u64);
        true
    }

    /// Replenishes a budget; what it has then.
    #[cold]
    fn refilled(&mut self, index: u8, now: u64) -> i32 {
        self.refill(index, now);
        self.budget_mut(index).left
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

    #[inline]
    fn switch_to(&mut self, next: u8) {
        let domain = self.threads.get(usize::from(next)).map_or(IDLE, |thread| thread.top.domain);
        if domain != self.loaded {
            self.load(domain);
        }
        self.current = next;
        self.arch.trace(header(Event::Switch, domain, u16::from(next)), 0);
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

    /// Hands a thread that runs again the result it was waiting for.
    #[inline]
    fn deliver(&mut self, thread: u8) {
        let index = usize::from(thread);
        if let Some(record) = self.threads.get_mut(index)
            && let Some((status, values)) = record.pending
        {
            record.pending = None;
            let depth = usize::from(record.depth).min(crate::objects::LEVELS - 1);
            self.arch.respond(&mut record.contexts[depth], status, values);
        }
    }

    /// Charges the time since the last charge to the running thread; returns the time (low word).
    ///
    /// # Bound
    /// O(1).
    #[inline]
    pub(crate) fn charge(&mut self) -> u32 {
        let now = self.arch.ticks();
        let elapsed = now.wrapping_sub(self.since) as i32;
        self.since = now;
        if let Some(thread) = self.threads.get_mut(usize::from(self.current)) {
            // At level 0 it means nothing.
            thread.top.left = thread.top.left.wrapping_sub(elapsed);
            let budget = &mut self.budgets[usize::from(thread.budget)];
            budget.left = budget.left.saturating_sub(elapsed);
        }
        now
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

    /// As [`Kernel::arm_before`], so many ticks from now.
    #[cold]
    pub(crate) fn arm_within(&mut self, ticks: i32) {
        let now = self.arch.now();
        self.arm_before(now + ticks as u64);
    }

    /// The timer fired: wakes what is due, and rechecks the running thread's budget.
    ///
    /// # Bound
    /// O(entries that are due), each at most once per its period.
    pub fn on_timer(&mut self) {
        let now = self.arch.now();
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
        self.dispatch();
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
    #[inline]
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
