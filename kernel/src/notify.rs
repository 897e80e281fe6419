//! Notifications, interrupts and time: what makes threads wait and wakes them.

use core::ptr::NonNull;

use abi::trace::{Event, header};
use abi::{Call, Error, Kind, rights};
use units::Instant;

use crate::arch::Arch;
use crate::kernel::Kernel;
use crate::objects::{Activation, Interrupt, Notification, State, Thread};
use crate::outcome::{DONE, Outcome};
use crate::queue::Wake;
use crate::ranks::Turn;
use crate::table::Ref;
use crate::virtual_processor::VirtualProcessor;

type Claim<A> = (Ref<Thread<A>>, Ref<Activation<A>>, u32);

impl<A: Arch> Kernel<A> {
    /// `YIELD`, with the switch that follows from it (see [`Kernel::switch`]).
    ///
    /// # Bound
    /// O(1), or a dispatch.
    #[inline(always)]
    pub fn on_yield(&mut self) -> Option<NonNull<A::Context>> {
        self.respond(self.resume, 0, []);
        let Activation { thread, outer, .. } = *self.top();
        let (Some(thread), None) = (thread, outer) else { return None };
        let Thread { mut next, budget, .. } = *self.threads.at(thread);
        if self.budgets.at(budget).turn == Turn::Next {
            self.invite(thread);
            next = self.threads.at(thread).next;
        }
        if next == thread {
            return None;
        }
        self.ready.rotate(&self.threads, thread);
        let now = self.arch.ticks();
        if !self.pay_and_charge(thread, now, self.yielding) {
            return self.yield_slowly();
        }
        self.switch_to(next, now)
    }

    /// The rest of [`Kernel::on_yield`] when a boundary may have passed: the refill comes before
    /// the price.
    #[cold]
    #[inline(never)]
    fn yield_slowly(&mut self) -> Option<NonNull<A::Context>> {
        self.pay(self.yielding);
        self.dispatch_slowly()
    }

    /// `SIGNAL`, as [`Kernel::on_yield`].
    ///
    /// # Bound
    /// O(1), or a dispatch.
    #[inline(always)]
    pub fn on_signal(&mut self, handle: u32, bits: u32) -> Option<NonNull<A::Context>> {
        let caller = self.resume;
        match self.notification(handle, rights::WRITE) {
            Ok((word, _)) => {
                if self.top().outer.is_some() && self.wakes_beyond_bound(word, bits) {
                    return self.refused(Call::Signal, Error::NoBudget);
                }
                self.respond(caller, 0, []);
                let (waiter, base, found) = self.claim(word, bits)?;
                let now = self.arch.ticks();
                self.alert(waiter, base, found, now, false)
            }
            Err(error) => self.refused(Call::Signal, error),
        }
    }

    /// Returns true if a callee's signal would wake a thread and what is left of its bound does not
    /// cover that. Then nothing is woken: the caller of the gate would pay for it.
    #[cold]
    #[inline(never)]
    fn wakes_beyond_bound(&mut self, word: Ref<Notification<A>>, bits: u32) -> bool {
        self.waiter(word, bits).is_some() && self.exceeds_bound(self.activation)
    }

    /// `WAIT`, as [`Kernel::on_yield`].
    ///
    /// # Bound
    /// O(1), or a dispatch.
    #[inline(always)]
    pub fn on_wait(&mut self, handle: u32, mask: u32) -> Option<NonNull<A::Context>> {
        match self.wait(handle, mask) {
            Ok(Outcome::Values(found, _)) => {
                self.respond(self.resume, 0, [found]);
                None
            }
            Ok(Outcome::Later) => self.give_way(),
            Err(error) => self.refused(Call::Wait, error),
        }
    }

    /// `SLEEP_UNTIL`, as [`Kernel::on_yield`].
    ///
    /// # Bound
    /// O(threads + budgets), or a dispatch beyond that.
    #[inline(always)]
    pub fn on_sleep(&mut self, low: u32, high: u32) -> Option<NonNull<A::Context>> {
        let slept = self.sleep_until(u64::from(low) | u64::from(high) << 32);
        self.slept(Call::SleepUntil, slept)
    }

    /// `WAIT_PERIOD`, as [`Kernel::on_yield`].
    ///
    /// # Bound
    /// As for [`Kernel::on_sleep`].
    #[inline(always)]
    pub fn on_period(&mut self) -> Option<NonNull<A::Context>> {
        let slept = self.wait_period();
        self.slept(Call::WaitPeriod, slept)
    }

    #[inline(always)]
    fn slept(&mut self, call: Call, outcome: Result<Outcome, Error>) -> Option<NonNull<A::Context>> {
        match outcome {
            Ok(Outcome::Values(value, _)) => {
                self.respond(self.resume, 0, [value]);
                None
            }
            Ok(Outcome::Later) => {
                let next = self.give_way();
                self.alarm.flush(&mut self.arch);
                next
            }
            Err(error) => self.refused(call, error),
        }
    }

    /// `EXIT`, as [`Kernel::on_yield`].
    ///
    /// # Bound
    /// O(1), or a dispatch.
    #[inline(always)]
    pub fn on_exit(&mut self, code: u32) -> Option<NonNull<A::Context>> {
        match self.exit(code) {
            Ok(_) => match self.ready.first() {
                Some(next) => self.switch_over(next),
                None => self.dispatch_slowly(),
            },
            Err(error) => self.refused(Call::Exit, error),
        }
    }

    #[cold]
    #[inline(never)]
    fn refused(&mut self, call: Call, error: Error) -> Option<NonNull<A::Context>> {
        self.refuse(self.resume, call as u32, error);
        None
    }

    /// Wakes a thread, and switches to it if it is more important than the running one, which pays for that unless it was `prepaid`.
    #[inline(always)]
    fn alert(
        &mut self,
        waiter: Ref<Thread<A>>,
        base: Ref<Activation<A>>,
        found: u32,
        now: Instant,
        prepaid: bool,
    ) -> Option<NonNull<A::Context>> {
        let (place, priority) = self.awake(waiter, base, now);
        let Activation { thread, outer, priority: running, .. } = *self.top();
        let price = if prepaid { 0 } else { self.activation };
        if priority >= running
            || outer.is_some()
            || !thread.is_none_or(|thread| self.pay_and_charge(thread, now, price))
        {
            return self.alert_slowly(waiter, found, price);
        }
        // It is first in its queue: no thread at least as important as this one was ready, or that
        // one would run.
        let budget = self.threads.at(waiter).budget;
        if !self.take_over(base, place, budget, now) {
            self.threads.at_mut(waiter).pending = Some((0, found));
            return self.choose_anew(prepaid);
        }
        self.respond(base, 0, [found]);
        Some(base.place().cast())
    }

    /// The rest of [`Kernel::alert`] when the switch is not the common one, or there is none. With
    /// a price of 0 the activation was paid before, by the acknowledgement of a line.
    #[inline(never)]
    fn alert_slowly(&mut self, waiter: Ref<Thread<A>>, found: u32, price: u32) -> Option<NonNull<A::Context>> {
        let record = self.threads.at_mut(waiter);
        record.pending = Some((0, found));
        let queue = record.queue;
        let Activation { outer, priority, .. } = *self.top();
        let now = self.arch.ticks();
        if price > 0 {
            self.pay_at(now, price);
        }
        if queue < priority || outer.is_some() {
            return self.choose_anew(price == 0);
        }
        if price > 0 {
            self.arm_for_end(now);
        }
        None
    }

    /// `YIELD`.
    ///
    /// # Bound
    /// O(1).
    #[inline(always)]
    pub(crate) fn yield_now(&mut self) -> Result<Outcome, Error> {
        self.respond(self.resume, 0, []);
        let Activation { thread, outer, .. } = *self.top();
        // Inside a gate it changes nothing: a rival of the same priority would find the gate busy.
        if let (Some(thread), None) = (thread, outer) {
            if self.budgets.at(self.threads.at(thread).budget).turn == Turn::Next {
                self.invite(thread);
            }
            if self.threads.at(thread).next != thread {
                self.pay(self.yielding);
                self.ready.rotate(&self.threads, thread);
            }
        }
        Ok(Outcome::Later)
    }

    #[inline(always)]
    fn notification(&self, handle: u32, needed: u8) -> Result<(Ref<Notification<A>>, u16), Error> {
        let cap = self.domains.at(self.top().domain).caps.get(handle as usize).ok_or(Error::BadHandle)?;
        let word = cap.notification().ok_or_else(|| cap.other_kind())?;
        if cap.generation != self.notifications.at(word).generation {
            return Err(Error::BadHandle);
        }
        if cap.rights & needed != needed {
            return Err(Error::NoRight);
        }
        Ok((word, cap.object()))
    }

    /// `WAIT`.
    ///
    /// # Bound
    /// O(1).
    #[inline(always)]
    pub(crate) fn wait(&mut self, handle: u32, mask: u32) -> Result<Outcome, Error> {
        let (index, number) = self.notification(handle, rights::READ)?;
        if mask == 0 {
            return Err(Error::BadArgument);
        }
        let Activation { thread, outer, place, .. } = *self.top();
        let (Some(thread), None) = (thread, outer) else { return Err(Error::InGate) };
        let word = self.notifications.at_mut(index);
        let found = word.bits & mask;
        if found != 0 {
            word.bits &= !found;
            return Ok(Outcome::Values(found, 0));
        }
        let waiter = word.waiter;
        if waiter.is_some_and(|waiter| self.waits(waiter)) {
            return Err(Error::Busy);
        }
        self.notifications.at_mut(index).waiter = Some(thread);
        let record = self.threads.at_mut(thread);
        record.mask = mask;
        record.state = State::Waiting(number);
        if record.open && record.period == 0 {
            // A thread that waits again has done what its event asked, so its release is complete.
            // A periodic one that waits is still in its job.
            record.open = false;
            self.arch.trace(place | Event::Complete as u32, 0);
        }
        self.leave_queue(thread);
        Ok(Outcome::Later)
    }

    #[inline(always)]
    pub(crate) fn poll(&mut self, handle: u32, mask: u32) -> Result<u32, Error> {
        let (index, _) = self.notification(handle, rights::READ)?;
        let word = self.notifications.at_mut(index);
        let found = word.bits & mask;
        word.bits &= !found;
        Ok(found)
    }

    /// `SIGNAL`.
    ///
    /// # Bound
    /// O(1).
    #[inline(always)]
    pub(crate) fn signal(&mut self, handle: u32, bits: u32) -> Result<Outcome, Error> {
        let (word, _) = self.notification(handle, rights::WRITE)?;
        if self.wakes_beyond_bound(word, bits) {
            return Err(Error::NoBudget);
        }
        self.respond(self.resume, 0, []);
        if self.wake_waiter(word, bits) {
            self.pay_in_time(self.activation);
        }
        Ok(Outcome::Later)
    }

    /// Sets bits and wakes the thread that waits for one of them. Returns true if there was one,
    /// because its activation has to be paid.
    ///
    /// # Bound
    /// O(1).
    pub(crate) fn notify(&mut self, notification: u16, bits: u32) -> bool {
        let word = self.notifications.find(usize::from(notification));
        word.is_some_and(|word| self.wake_waiter(word, bits))
    }

    fn wake_waiter(&mut self, notification: Ref<Notification<A>>, bits: u32) -> bool {
        let Some((waiter, base, found)) = self.claim(notification, bits) else { return false };
        let now = self.arch.ticks();
        self.awake(waiter, base, now);
        self.threads.at_mut(waiter).pending = Some((0, found));
        true
    }

    /// Sets bits, and takes out those for which a thread waits. Returns that thread, which waits no
    /// more, its activation, and the bits. They go straight to the thread, so that no other can
    /// take them before it runs.
    #[inline(always)]
    fn claim(&mut self, notification: Ref<Notification<A>>, bits: u32) -> Option<Claim<A>> {
        let word = self.notifications.at_mut(notification);
        word.bits |= bits;
        let claim = self.waiter(notification, 0);
        if let Some((_, _, found)) = claim {
            let word = self.notifications.at_mut(notification);
            word.bits &= !found;
            word.waiter = None;
        }
        claim
    }

    /// The thread that these bits, or those that are set, would wake, its activation, and the bits that it waits for.
    #[inline(always)]
    fn waiter(&self, notification: Ref<Notification<A>>, bits: u32) -> Option<Claim<A>> {
        let word = self.notifications.at(notification);
        let waiter = word.waiter?;
        let thread = self.threads.at(waiter);
        let found = (word.bits | bits) & thread.mask;
        // A thread that waits is in no gate ([`Kernel::wait`] refuses), so its base is its
        // activation.
        let base = thread.base;
        let Activation { domain, epoch, .. } = *self.activations.at(base);
        (found != 0 && self.domains.at(domain).epoch == epoch).then_some((waiter, base, found))
    }

    /// Makes a thread ready that waited for a notification at its activation. Returns place and
    /// priority of that activation, which the caller would have to read again.
    #[inline(always)]
    fn awake(&mut self, waiter: Ref<Thread<A>>, base: Ref<Activation<A>>, now: Instant) -> (u32, u8) {
        let thread = self.threads.at_mut(waiter);
        let Activation { place, priority, .. } = *self.activations.at(base);
        thread.state = State::Ready;
        if thread.period == 0 {
            // The event is the release of a thread that is not periodic: it has no other.
            thread.open = true;
            self.arch.trace(place | Event::Release as u32, now.low());
        }
        self.ready.push_back(&mut self.threads, waiter, priority);
        (place, priority)
    }

    /// Returns true if the thread that a notification names still waits. One whose domain was
    /// stopped is still named, because stopping takes constant time, but does not wait any more.
    #[inline]
    fn waits(&self, waiter: Ref<Thread<A>>) -> bool {
        let home = self.activations.at(self.threads.at(waiter).base);
        self.domains.at(home.domain).epoch == home.epoch
    }

    /// Takes a thread out of the notification that names it. In its next life it has the domain's
    /// epoch again, and would be taken for one that still waits.
    pub(crate) fn forget_waiter(&mut self, thread: u8, notification: u16) {
        let waiter = self.threads.find(usize::from(thread));
        let word = &mut self.notifications[usize::from(notification)];
        if word.waiter == waiter {
            word.waiter = None;
        }
    }

    /// An interrupt line became active.
    ///
    /// # Bound
    /// O(interrupts) to find the line, one notification, one dispatch. The line stays masked until `INTERRUPT_ACK`, so that a
    /// storm costs one entry for each acknowledgement, which its owner's budget has paid for: whoever goes on gets the time back.
    ///
    /// `mask`: a line that is delivered to a handler, which asks for its thread, asks once for each acknowledgement, too, but goes on interrupting.
    #[inline(always)]
    pub fn on_interrupt(&mut self, line: u32, mask: bool) -> Option<NonNull<A::Context>> {
        if mask {
            self.arch.mask(line);
        }
        let found = self.interrupts.iter().find(|interrupt| u32::from(interrupt.line) == line)?;
        let Interrupt { line, notification, bits, .. } = *found;
        self.arch.trace(header(Event::Interrupt, abi::trace::IDLE, line), 0);
        let claim = self.claim(notification, bits);
        let now = self.arch.ticks();
        let Some((waiter, base, found)) = claim else {
            self.give_back(now, self.path);
            return None;
        };
        let Activation { outer, priority, .. } = *self.top();
        if self.activations.at(base).priority >= priority && outer.is_none() {
            self.give_back(now, self.path);
        }
        self.alert(waiter, base, found, now, true)
    }

    pub(crate) fn interrupt_ack(&mut self, handle: u32) -> Result<(), Error> {
        let cap = self.lookup(handle, Kind::Interrupt, rights::WRITE)?;
        let line = self.interrupts[usize::from(cap.object())].line;
        if self.exceeds_bound(self.activation) {
            return Err(Error::NoBudget);
        }
        if !self.arch.virtual_processor().acknowledge(line.into()) {
            self.arch.unmask(line.into());
        }
        self.pay_in_time(self.activation);
        Ok(())
    }

    /// `SLEEP_UNTIL`.
    ///
    /// # Bound
    /// O(threads + budgets): insertion into the times.
    pub(crate) fn sleep_until(&mut self, at: u64) -> Result<Outcome, Error> {
        self.outside_gates()?;
        if at <= self.now() {
            return DONE;
        }
        self.sleep(self.current(), self.top().priority, at);
        Ok(Outcome::Later)
    }

    /// Lets the running thread, which is in its own domain, sleep. It pays for being woken now,
    /// because an activation is paid before it happens (rule (c)).
    #[inline(always)]
    fn sleep(&mut self, number: u8, priority: u8, until: u64) {
        self.pay(self.activation);
        self.block_current(State::Sleeping);
        self.times.insert(until, priority, Wake::Thread(number));
        self.arm_before(until);
    }

    /// Returns the first release of a thread: a boundary of its budget's grid at which the budget
    /// is full, the price of this sleep included. The bound of its responses counts on that (rule
    /// (h)).
    #[cold]
    fn first_release(&mut self, thread: Ref<Thread<A>>, now: u64) -> u64 {
        let budget = self.threads.at(thread).budget;
        self.charge_through(now);
        let mut after = self.budgets.at(budget).time;
        after.pay(self.activation);
        after.first_release()
    }

    /// `WAIT_PERIOD`.
    ///
    /// # Bound
    /// O(threads + budgets): insertion into the times.
    pub(crate) fn wait_period(&mut self) -> Result<Outcome, Error> {
        let Activation { thread, outer, place, priority, .. } = *self.top();
        let (Some(thread), None) = (thread, outer) else { return Err(Error::InGate) };
        let now = self.now();
        let Thread { period, open, release, .. } = *self.threads.at(thread);
        if period == 0 {
            return Err(Error::NotPeriodic);
        }
        if open {
            self.arch.trace(place | Event::Complete as u32, 0);
        }
        // The first call ends the thread's preparation, so there is no release before it to count
        // from.
        let nominal = if release == 0 { self.first_release(thread, now) } else { release + u64::from(period) };
        let record = self.threads.at_mut(thread);
        record.release = nominal;
        record.open = nominal <= now;
        if record.open {
            self.arch.trace(place | Event::Overrun as u32, nominal as u32);
            self.arch.trace(place | Event::Release as u32, nominal as u32);
            return Ok(Outcome::Values(1, 0));
        }
        let number = record.number;
        self.sleep(number, priority, nominal);
        Ok(Outcome::Later)
    }

    /// `BUDGET_QUERY`. A function of its own, so that a port can have it in slower memory.
    #[inline(never)]
    pub(crate) fn budget_query(&mut self, handle: u32) -> Result<Outcome, Error> {
        let index = usize::from(self.lookup(handle, Kind::Budget, rights::READ)?.object());
        let Some(budget) = self.budgets.find(index) else {
            let (left, next) = self.arch.virtual_processor().server_left(index - self.budgets.len());
            return Ok(Outcome::Values(left, next));
        };
        let now = self.now();
        self.replenish_any(budget, now);
        let time = &self.budgets.at(budget).time;
        Ok(Outcome::Values(time.remaining() as u32, (time.next_replenishment() - now) as u32))
    }
}
