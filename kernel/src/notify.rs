//! Notifications, interrupts and time: what makes threads wait and wakes them.

use abi::trace::{Event, header};
use abi::{Error, Kind, rights};

use crate::arch::Arch;
use crate::kernel::{DONE, Kernel, Outcome};
use crate::objects::State;
use crate::queue::{NONE, Wake};

impl<A: Arch> Kernel<A> {
    /// `WAIT`.
    ///
    /// # Bound
    /// O(1).
    #[inline(always)]
    pub(crate) fn wait(&mut self, handle: u32, mask: u32) -> Result<Outcome, Error> {
        let cap = self.lookup(handle, Kind::Notification, rights::READ)?;
        if mask == 0 {
            return Err(Error::BadArgument);
        }
        self.outside_gates()?;
        let current = self.current;
        let word = &mut self.notifications[usize::from(cap.object)];
        let found = word.bits & mask;
        if found != 0 {
            word.bits &= !found;
            return Ok(Outcome::Values(found, 0));
        }
        let waiter = word.waiter;
        if waiter != NONE && self.waits(waiter, cap.object) {
            return Err(Error::Busy);
        }
        let Kernel { threads, notifications, ready, arch, .. } = self;
        let thread = threads.get_mut(usize::from(current)).ok_or(Error::BadHandle)?;
        notifications[usize::from(cap.object)].waiter = current;
        thread.mask = mask;
        if thread.open {
            // Its release is complete.
            thread.open = false;
            arch.trace(header(Event::Complete, thread.top.domain, u16::from(current)), 0);
        }
        thread.state = State::Waiting(cap.object);
        ready.remove(current);
        Ok(Outcome::Later)
    }

    /// `POLL`.
    pub(crate) fn poll(&mut self, handle: u32, mask: u32) -> Result<Outcome, Error> {
        let cap = self.lookup(handle, Kind::Notification, rights::READ)?;
        let word = &mut self.notifications[usize::from(cap.object)];
        let found = word.bits & mask;
        word.bits &= !found;
        Ok(Outcome::Values(found, 0))
    }

    /// `SIGNAL`.
    ///
    /// # Bound
    /// O(1).
    #[inline(always)]
    pub(crate) fn signal(&mut self, caller: u8, handle: u32, bits: u32) -> Result<Outcome, Error> {
        let cap = self.lookup(handle, Kind::Notification, rights::WRITE)?;
        self.respond(caller, 0, [0; 2]);
        self.wake_waiter(cap.object, bits);
        Ok(Outcome::Later)
    }

    /// Sets bits and wakes the thread that waits for one of them.
    ///
    /// # Bound
    /// O(1).
    pub(crate) fn notify(&mut self, notification: u16, bits: u32) {
        self.wake_waiter(notification, bits);
    }

    #[inline(always)]
    fn wake_waiter(&mut self, notification: u16, bits: u32) {
        let Kernel { notifications, threads, domains, ready, arch, .. } = self;
        let Some(word) = notifications.get_mut(usize::from(notification)) else { return };
        word.bits |= bits;
        let waiter = word.waiter;
        let Some(thread) = threads.get_mut(usize::from(waiter)) else { return };
        let found = word.bits & thread.mask;
        if found == 0 || thread.state != State::Waiting(notification) {
            return;
        }
        let home = thread.top;
        if domains.get(usize::from(home.domain)).is_none_or(|domain| domain.epoch != home.epoch) {
            return;
        }
        word.bits &= !found;
        word.waiter = NONE;
        thread.pending = Some((0, [found, 0]));
        thread.state = State::Ready;
        ready.push_back(waiter, home.priority);
        if thread.period == 0 {
            // An event releases a thread that is not periodic.
            thread.open = true;
            let now = arch.ticks();
            arch.trace(header(Event::Release, home.domain, u16::from(waiter)), now);
        }
    }

    /// Whether a thread waits for a notification. One whose domain was stopped does not wait any more.
    #[inline]
    fn waits(&self, thread: u8, notification: u16) -> bool {
        let record = self.thread(thread);
        // A thread that waits is in no gate.
        let home = &record.top;
        record.state == State::Waiting(notification) && self.domain(home.domain).epoch == home.epoch
    }

    /// A thread's release is complete when it waits again.
    fn complete(&mut self, thread: u8) {
        let record = self.thread_mut(thread);
        if core::mem::replace(&mut record.open, false) {
            let domain = record.level().domain;
            self.arch.trace(header(Event::Complete, domain, u16::from(thread)), 0);
        }
    }

    /// An interrupt line became active.
    ///
    /// # Bound
    /// O(interrupts) to find the line, one notification, one dispatch. The line stays masked until `INTERRUPT_ACK`, so that a
    /// storm costs one entry for each acknowledgement, which its owner's budget pays.
    #[inline(always)]
    pub fn on_interrupt(&mut self, line: u32) {
        self.arch.mask(line);
        let found = self.interrupts.iter().find(|interrupt| u32::from(interrupt.line) == line);
        if let Some(&interrupt) = found {
            self.arch.trace(header(Event::Interrupt, abi::trace::IDLE, interrupt.line), 0);
            self.wake_waiter(interrupt.notification, interrupt.bits);
        }
        self.dispatch_now();
    }

    /// `INTERRUPT_ACK`.
    pub(crate) fn interrupt_ack(&mut self, handle: u32) -> Result<Outcome, Error> {
        let cap = self.lookup(handle, Kind::Interrupt, rights::WRITE)?;
        let line = self.interrupts[usize::from(cap.object)].line;
        self.arch.unmask(u32::from(line));
        DONE
    }

    /// `SLEEP_UNTIL`.
    ///
    /// # Bound
    /// O(threads + budgets): insertion into the time queue.
    pub(crate) fn sleep_until(&mut self, at: u64) -> Result<Outcome, Error> {
        self.outside_gates()?;
        if at <= self.now() {
            return DONE;
        }
        let current = self.current;
        self.block_current(State::Sleeping);
        self.times.insert(at, Wake::Thread(current));
        self.arm_before(at);
        Ok(Outcome::Later)
    }

    /// `WAIT_PERIOD`.
    ///
    /// # Bound
    /// O(threads + budgets): insertion into the time queue.
    pub(crate) fn wait_period(&mut self) -> Result<Outcome, Error> {
        self.outside_gates()?;
        let current = self.current;
        let period = u64::from(self.thread(current).period);
        if period == 0 {
            return Err(Error::NotPeriodic);
        }
        let now = self.now();
        self.complete(current);
        let record = self.thread_mut(current);
        // The first call ends the thread's preparation; its releases count from here.
        let nominal = if record.release == 0 { now + period } else { record.release + period };
        record.release = nominal;
        record.open = true;
        let domain = record.level().domain;
        if nominal <= now {
            self.arch.trace(header(Event::Overrun, domain, u16::from(current)), nominal as u32);
            self.arch.trace(header(Event::Release, domain, u16::from(current)), nominal as u32);
            return Ok(Outcome::Values(1, 0));
        }
        self.block_current(State::Sleeping);
        self.times.insert(nominal, Wake::Thread(current));
        self.arm_before(nominal);
        Ok(Outcome::Later)
    }

    /// `BUDGET_QUERY`.
    pub(crate) fn budget_query(&mut self, handle: u32) -> Result<Outcome, Error> {
        let cap = self.lookup(handle, Kind::Budget, rights::READ)?;
        self.charge();
        let now = self.now();
        self.refill(cap.object as u8, now);
        let budget = self.budget_mut(cap.object as u8);
        Ok(Outcome::Values(budget.left.max(0) as u32, (budget.next - now) as u32))
    }
}
