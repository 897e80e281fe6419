//! Restart of a stopped domain: memory, capabilities and threads as they were at the start. It is
//! done in steps, which the thread that asks for the restart pays for.

use abi::trace::{Event, header};
use abi::{Error, Kind, RESTART_BYTES, rights};
use system::Cap as CapEntry;
use system::Domain as DomainEntry;
use system::Thread as ThreadEntry;

use crate::arch::{Arch, Virt};
use crate::arch::{Hardware, Protection};
use crate::compared::Compared;
use crate::kernel::Kernel;
use crate::objects::{Cap, Life, State, Thread};
use crate::outcome::{DONE, Outcome};
use crate::queue::Wake;

impl<A: Arch> Kernel<A> {
    /// `DOMAIN_RESTART`: one step.
    ///
    /// # Bound
    /// [`RESTART_BYTES`] bytes, or one region, or a step of [`Compared`], or one capability, or one thread.
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
            Life::Unmapping(from, compared) => self.unmap_step(index, from, compared),
            Life::Granting(entry) => self.grant_initial(index, entry),
            Life::Emptying(slot) => self.empty_slot(index, slot),
            Life::Starting(thread) => self.start_thread(index, thread),
            Life::Releasing(thread) => return self.release_thread(index, thread),
            Life::Cut => {
                self.domain_mut(index).life = Life::Stopped;
                return DONE;
            }
        }
        Err(Error::Again)
    }

    /// Looks at one thread, and makes it ready if it is the domain's. It is one thread a step,
    /// because the thread that restarts pays for each activation. The domain runs already, since a
    /// thread that is more important than the restarting one runs at once.
    fn release_thread(&mut self, index: u8, thread: u8) -> Result<Outcome, Error> {
        let base = self.thread(thread).base;
        let own = self.activations.at(base).domain_number() == index;
        if own && self.exceeds_bound(self.activation) {
            return Err(Error::NoBudget);
        }
        let next = thread + 1;
        let last = usize::from(next) >= self.threads.len();
        self.domain_mut(index).life = if last { Life::Running } else { Life::Releasing(next) };
        if own {
            self.pay_in_time(self.activation);
            self.make_ready(thread);
        }
        if last { DONE } else { Err(Error::Again) }
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
            let hardware = Hardware { arch: &mut self.arch, shared: &mut self.shared, loaded: false };
            self.domains[domain].protection.evict(hardware);
            self.domains[domain].life = Life::Unmapping(Virt::<A>::default(), Compared::default());
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

    /// One step of taking away what was mapped while the domain ran: its former life may have been
    /// given memory that the new one knows nothing of.
    fn unmap_step(&mut self, index: u8, from: Virt<A>, mut compared: Compared) {
        let next = self.unmap_next(index, from, &mut compared);
        self.domain_mut(index).life = next.map_or(Life::Granting(0), |from| Life::Unmapping(from, compared));
    }

    /// One step of giving a domain the capabilities that it started with. One entry of the table a
    /// step, because the table has those of all domains.
    fn grant_initial(&mut self, index: u8, step: u16) {
        if usize::from(step) >= self.tables.count::<CapEntry>() {
            self.domain_mut(index).life = Life::Emptying(0);
            return;
        }
        let record: CapEntry = self.tables.get(usize::from(step));
        self.install(index, &record);
        self.domain_mut(index).life = Life::Granting(step + 1);
    }

    /// One step of taking away the capabilities that a domain did not start with. They come after
    /// the initial ones were granted, which are marked by then.
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

    /// Looks at one thread and puts it at its entry if it is the domain's. If the thread is still
    /// inside another domain's gate, it returns from there first, because the callee works on its
    /// own stack; the step is then repeated. Behind the last thread the domain runs.
    fn start_thread(&mut self, index: u8, thread: u8) {
        let mut life = Life::Starting(thread + 1);
        if usize::from(thread) >= self.threads.len() {
            life = Life::Releasing(0);
            self.arch.trace(header(Event::Restart, index, self.domain(index).restarts), 0);
        } else {
            // The kernel's own objects say whose a thread is: the tables may lie in slow memory.
            let base = self.thread(thread).base;
            if self.activations.at(base).domain_number() == index {
                if self.is_in_gate(thread) {
                    return;
                }
                self.retire(thread);
                self.domain_mut(index).living += 1;
                let entry: ThreadEntry = self.tables.get(usize::from(thread));
                self.init_thread(thread, &entry);
            }
        }
        self.domain_mut(index).life = life;
    }

    /// Takes a thread that is in no gate out of every queue. Stopping the domain has left it there,
    /// to take constant time.
    fn retire(&mut self, thread: u8) {
        let Some(own) = self.threads.find(usize::from(thread)) else { return };
        let Thread { state, base, .. } = *self.threads.at(own);
        let priority = self.activations.at(base).priority;
        match state {
            State::Ready => self.leave_queue(own),
            State::Sleeping => self.times.remove(priority, Wake::Thread(thread)),
            State::Throttled => self.forget_throttled(own),
            State::Waiting(notification) => self.forget_waiter(thread, notification),
            State::Ended => {}
        }
        self.threads.at_mut(own).state = State::Ended;
    }
}
