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
        if self.recheck || self.ready.first().unwrap_or(NOBODY) != self.current {
            self.reschedule();
        }
        self.deliver(self.current);
    }

    /// The part of [`Kernel::dispatch`] that is not needed when the running thread goes on.
    #[inline(never)]
    fn reschedule(&mut self) {
        let next = loop {
            match self.ready.first() {
                None => break NOBODY,
                Some(next) if self.admits(next) => break next,
                Some(_) => {}
            }
        };
        if next != self.current {
            self.switch_to(next);
        }
        self.recheck = false;
    }

    /// Whether a ready thread may run now. If not, it has left the ready queue.
    #[inline]
    fn admits(&mut self, thread: u8) -> bool {
        if thread == self.current && !self.recheck {
            return true;
        }
        let level = *self.thread(thread).level();
        // Activations begin only while their domain runs, and its epoch changes when it is stopped.
        if self.domain(level.domain).epoch != level.epoch {
            self.unwind(thread);
            return false;
        }
        let now = self.charge();
        self.affords(thread, now)
    }

    /// Whether the thread's budget, or the bound of the gate it is in, has time left. Arms the timer for its end.
    fn affords(&mut self, thread: u8, now: u64) -> bool {
        let (level, budget, depth) = {
            let thread = self.thread(thread);
            (*thread.level(), thread.budget, thread.depth)
        };
        if depth > 0 {
            if level.left <= 0 {
                self.overrun(thread);
                return false;
            }
            self.arm_before(now + level.left as u64);
            return true;
        }
        self.refill(budget, now);
        let left = self.budget_mut(budget).left;
        if left <= 0 {
            self.arch.trace(header(Event::BudgetOut, level.domain, u16::from(budget)), 0);
            self.throttle(thread);
            return false;
        }
        self.arm_before(now + left as u64);
        true
    }

    /// Takes a ready thread out of the queue until its budget is replenished.
    pub(crate) fn throttle(&mut self, thread: u8) {
        let priority = self.thread(thread).level().priority;
        self.ready.remove(thread, priority);
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

    fn switch_to(&mut self, next: u8) {
        if next == NOBODY {
            self.charge();
        }
        let domain = if next == NOBODY { IDLE } else { self.thread(next).level().domain };
        if domain != self.loaded {
            self.load(domain);
        }
        self.current = next;
        self.arch.trace(header(Event::Switch, domain, u16::from(next)), 0);
        if next == NOBODY {
            let earliest = self.times.earliest();
            self.arm_before(earliest);
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

    /// Charges the time since the last charge to the running thread; returns the time.
    ///
    /// # Bound
    /// O(1).
    #[inline]
    pub(crate) fn charge(&mut self) -> u64 {
        let now = self.arch.now();
        let elapsed = (now as u32).wrapping_sub(self.since) as i32;
        self.since = now as u32;
        if self.current == NOBODY {
            return now;
        }
        let current = self.current;
        let thread = self.thread_mut(current);
        let budget = thread.budget;
        if thread.depth > 0 {
            thread.level_mut().left -= elapsed;
        }
        let budget = self.budget_mut(budget);
        budget.left = budget.left.saturating_sub(elapsed);
        now
    }

    /// Makes sure that the timer interrupts at `at` or earlier. An interrupt that comes too early only looks around and
    /// arms the timer again; there is at most one for each call of this.
    #[inline]
    pub(crate) fn arm_before(&mut self, at: u64) {
        if at < self.armed {
            self.armed = at;
            self.arch.arm_timer(at);
        }
    }

    /// The timer fired: wakes what is due, and rechecks the running thread's budget.
    ///
    /// # Bound
    /// O(entries that are due), each at most once per its period.
    pub fn on_timer(&mut self) {
        self.armed = u64::MAX;
        let now = self.arch.now();
        while let Some(wake) = self.times.pop_due(now) {
            match wake {
                Wake::Thread(thread) => self.wake_sleeper(thread),
                Wake::Budget(budget) => self.replenished(budget, now),
            }
        }
        let earliest = self.times.earliest();
        self.arm_before(earliest);
        // The hardware counters wrap: look at them before they do.
        self.arm_before(now + u64::from(self.ticks_per_second / 2));
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
        let priority = record.level().priority;
        self.ready.remove(current, priority);
    }
}
