//! Restart of a stopped domain: memory, capabilities and threads as they were at the start, in steps that whoever asks for
//! the restart pays for.

use abi::trace::{Event, header};
use abi::{Error, Kind, STEP_BYTES, rights};
use system::Cap as CapEntry;
use system::Domain as DomainEntry;
use system::Thread as ThreadEntry;

use crate::arch::Arch;
use crate::kernel::{DONE, Kernel, Outcome};
use crate::objects::{Cap, Life, State};
use crate::queue::{NONE, Wake};

impl<A: Arch> Kernel<A> {
    /// `DOMAIN_RESTART`: one step.
    ///
    /// # Bound
    /// [`STEP_BYTES`] bytes, or one capability, or one thread.
    #[inline(never)]
    pub(crate) fn domain_restart(&mut self, handle: u32) -> Result<Outcome, Error> {
        let cap = self.lookup(handle, Kind::Domain, rights::WRITE)?;
        let index = cap.object as u8;
        if index == self.here() {
            return Err(Error::BadState);
        }
        match self.domain(index).life {
            Life::Running => return Err(Error::BadState),
            Life::Stopped => self.domain_mut(index).life = Life::Restoring(0),
            Life::Restoring(done) => self.restore(index, done),
            Life::Granting(entry) => self.grant_initial(index, entry),
            Life::Starting(thread) => {
                if self.start_thread(index, thread) {
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
        self.arch.trace(header(Event::Restart, index, restarts), 0);
        for thread in 0..self.threads.len() as u8 {
            let entry: ThreadEntry = self.tables.get(usize::from(thread));
            if entry.domain == u32::from(index) {
                self.make_ready(thread);
            }
        }
    }

    /// One step of restoring a domain's data: first the initialised part from flash, then zeros.
    fn restore(&mut self, index: u8, done: u32) {
        let entry: DomainEntry = self.tables.get(usize::from(index));
        let total = entry.data_bytes + entry.zero_bytes;
        if done >= total {
            self.domain_mut(index).slots.evict_all();
            self.domain_mut(index).life = Life::Granting(0);
            return;
        }
        let dst = entry.data_base + done;
        let step = if done < entry.data_bytes {
            let step = STEP_BYTES.min(entry.data_bytes - done);
            // SAFETY: the validated tables say that the range is the domain's own writable memory and the source flash.
            unsafe { self.arch.copy(dst, entry.data_source + done, step) };
            step
        } else {
            let step = STEP_BYTES.min(total - done);
            // SAFETY: as above.
            unsafe { self.arch.zero(dst, step) };
            step
        };
        self.domain_mut(index).life = Life::Restoring(done + step);
    }

    /// One step of giving a domain the capabilities that it started with, and none else.
    fn grant_initial(&mut self, index: u8, step: u16) {
        let slots = self.domain(index).caps.len() as u16;
        let granted = step.checked_sub(slots);
        match granted {
            None => self.domain_mut(index).caps[usize::from(step)] = Cap::EMPTY,
            Some(entry) if usize::from(entry) < self.tables.count::<CapEntry>() => {
                let record: CapEntry = self.tables.get(usize::from(entry));
                self.install(index, &record);
            }
            Some(_) => {
                let domain = self.domain_mut(index);
                domain.life = Life::Starting(0);
                domain.living = 0;
                domain.restarts = domain.restarts.wrapping_add(1);
                return;
            }
        }
        self.domain_mut(index).life = Life::Granting(step + 1);
    }

    /// Puts one initial capability into its slot if it belongs to the domain.
    #[inline(never)]
    pub(crate) fn install(&mut self, index: u8, record: &CapEntry) {
        if record.domain != u32::from(index) {
            return;
        }
        let Some(kind) = Kind::from_number(record.kind as u8) else { return };
        let object = record.object as u16;
        let (generation, place) = (self.generation(kind, object), self.place_of(kind, object));
        self.domain_mut(index).caps[record.slot as usize] =
            Cap { kind, rights: record.rights as u8, object, generation, badge: record.badge, place };
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

    /// Takes a thread at level 0 out of every queue.
    fn retire(&mut self, thread: u8) {
        let record = self.thread(thread);
        let (state, budget) = (record.state, self.budgets.index_of(record.budget) as u8);
        match state {
            State::Ready => self.unqueue(thread),
            State::Sleeping => self.times.remove(Wake::Thread(thread)),
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
                self.times.remove(Wake::Budget(budget));
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
