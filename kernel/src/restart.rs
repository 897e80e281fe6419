//! Restart of a stopped domain: memory, capabilities and threads as they were at the start, in steps that whoever asks for
//! the restart pays for.
//!
//! * The restart takes away what was mapped to the domain while it ran, and counts it as taken
//!   away: a manager that unmaps it later is told that it is not mapped. Memory that was given for
//!   its table stays with the table.
//! * A revocation outlives the restart: of the capabilities that the domain began with, those whose objects were revoked since stay
//!   away, unless the domain holds a newer one in the same slot, as it does when it was the one who revoked.

use abi::trace::{Event, header};
use abi::{Error, Kind, RESTART_BYTES, rights};
use system::Cap as CapEntry;
use system::Domain as DomainEntry;
use system::Thread as ThreadEntry;

use crate::arch::{Arch, Virt};
use crate::arch::{Hardware, Protection};
use crate::kernel::Kernel;
use crate::objects::{Cap, Life, State};
use crate::outcome::{DONE, Outcome};
use crate::queue::{NONE, Wake};

impl<A: Arch> Kernel<A> {
    /// `DOMAIN_RESTART`: one step.
    ///
    /// # Bound
    /// [`RESTART_BYTES`] bytes, or one region, or one capability, or one thread.
    #[inline(never)]
    pub(crate) fn domain_restart(&mut self, handle: u32) -> Result<Outcome, Error> {
        let cap = self.lookup(handle, Kind::Domain, rights::WRITE)?;
        let index = cap.object() as u8;
        if index == self.here() {
            return Err(Error::BadState);
        }
        match self.domain(index).life {
            Life::Running => return Err(Error::BadState),
            Life::Stopped => self.domain_mut(index).life = Life::Restoring(0),
            Life::Restoring(done) => self.restore(index, done)?,
            Life::Unmapping(from) => self.unmap_step(index, from),
            Life::Granting(entry) => self.grant_initial(index, entry),
            Life::Emptying(slot) => self.empty_slot(index, slot),
            Life::Starting(thread) => {
                if self.start_thread(index, thread) {
                    if self.exceeds_bound(self.activation * u32::from(self.domain(index).living)) {
                        return Err(Error::NoBudget);
                    }
                    self.release_threads(index);
                    return DONE;
                }
            }
        }
        Err(Error::Again)
    }

    /// The last step: the domain runs, and all of its threads become ready at once. None may before: one that is more
    /// important than whoever restarts the domain would be found in a domain that does not run.
    ///
    /// # Bound
    /// O(threads).
    fn release_threads(&mut self, index: u8) {
        let domain = self.domain_mut(index);
        let restarts = domain.restarts;
        domain.life = Life::Running;
        self.core.arch.trace(header(Event::Restart, index, restarts), 0);
        // Of the kernel's own objects: the tables may lie far away.
        for thread in 0..self.threads.len() as u8 {
            let base = self.thread(thread).base;
            if self.activations.at(base).domain_number() == index {
                self.pay_in_time(self.activation);
                self.make_ready(thread);
            }
        }
    }

    /// One step of restoring a domain's data: first the initialised part from flash, then zeros.
    ///
    /// # Errors
    /// `BAD_STATE`: the memory of the data was taken away from the domain while it ran.
    fn restore(&mut self, index: u8, done: u32) -> Result<(), Error> {
        let entry: DomainEntry = self.tables.get(usize::from(index));
        let total = entry.data_bytes + entry.zero_bytes;
        if done >= total {
            let domain = usize::from(index);
            let hardware = Hardware { arch: &mut self.core.arch, shared: &mut self.shared, loaded: false };
            self.domains[domain].protection.evict(hardware);
            self.domains[domain].life = Life::Unmapping(Virt::<A>::default());
            return Ok(());
        }
        let (source, end) = if done < entry.data_bytes {
            (Some((entry.data_source + done).into()), entry.data_bytes)
        } else {
            (None, total)
        };
        let step = RESTART_BYTES.min(end - done);
        // SAFETY: the validated tables say that the source is flash.
        if !unsafe { self.write_to(index, (entry.data_base + done).into(), source, step.into()) } {
            return Err(Error::BadState);
        }
        self.domains[usize::from(index)].life = Life::Restoring(done + step);
        Ok(())
    }

    /// One step of taking away what was mapped while the domain ran.
    fn unmap_step(&mut self, index: u8, from: Virt<A>) {
        let next = self.unmap_next(index, from);
        self.domain_mut(index).life = next.map_or(Life::Granting(0), Life::Unmapping);
    }

    /// One step of giving a domain the capabilities that it started with.
    fn grant_initial(&mut self, index: u8, step: u16) {
        if usize::from(step) >= self.tables.count::<CapEntry>() {
            self.domain_mut(index).life = Life::Emptying(0);
            return;
        }
        let record: CapEntry = self.tables.get(usize::from(step));
        self.install(index, &record);
        self.domain_mut(index).life = Life::Granting(step + 1);
    }

    /// One step of taking away the capabilities that a domain did not start with.
    fn empty_slot(&mut self, index: u8, slot: u16) {
        let domain = self.domain_mut(index);
        let Some(cap) = domain.caps.get_mut(usize::from(slot)) else {
            domain.life = Life::Starting(0);
            domain.living = 0;
            domain.restarts = domain.restarts.wrapping_add(1);
            return;
        };
        if cap.rights & Cap::INITIAL == 0 {
            *cap = Cap::EMPTY;
        }
        cap.settled();
        domain.life = Life::Emptying(slot + 1);
    }

    /// Looks at one thread and puts it at its entry if it is the domain's. Returns whether all threads were looked at. A
    /// thread that is still inside another domain's gate returns from there first; the step is then repeated.
    fn start_thread(&mut self, index: u8, thread: u8) -> bool {
        if usize::from(thread) >= self.threads.len() {
            return true;
        }
        let entry: ThreadEntry = self.tables.get(usize::from(thread));
        if entry.domain == u32::from(index) {
            if self.is_in_gate(thread) {
                return false;
            }
            self.retire(thread);
            self.domain_mut(index).living += 1;
            self.init_thread(thread, &entry);
        }
        self.domain_mut(index).life = Life::Starting(thread + 1);
        false
    }

    /// Takes a thread that is in no gate out of every queue.
    fn retire(&mut self, thread: u8) {
        let record = self.thread(thread);
        let (state, budget) = (record.state, self.budgets.index_of(record.budget) as u8);
        let priority = self.activations.at(record.base).priority;
        match state {
            State::Ready => self.unqueue(thread),
            State::Sleeping => self.times.remove(priority, Wake::Thread(thread)),
            State::Throttled => self.forget_throttled(thread, budget),
            State::Waiting(notification) => self.forget_waiter(thread, notification),
            State::Ended => {}
        }
        self.thread_mut(thread).state = State::Ended;
    }

    /// Unlinks a thread from the list of those that wait for a budget.
    fn forget_throttled(&mut self, thread: u8, budget: u8) {
        let after = self.thread(thread).next_throttled;
        let mut link = self.budget_mut(budget).waiting;
        if link == thread {
            self.budget_mut(budget).waiting = after;
            if after == NONE {
                self.times.remove(self.budgets[usize::from(budget)].priority, Wake::Budget(budget));
            }
            return;
        }
        // Bounded: a thread is in the list at most once.
        while link != NONE {
            let next = self.thread(link).next_throttled;
            if next == thread {
                self.thread_mut(link).next_throttled = after;
                return;
            }
            link = next;
        }
    }
}
