//! Steps of boot once the objects exist: initial data, capabilities, threads, and the clock.

use abi::trace::{Event, IDLE, header};
use units::Instant;

use crate::arch::{Arch, Start, Virt};
use crate::boot::BootError;
use crate::kernel::Kernel;
use crate::objects::{Cap, Life};

impl<A: Arch> Kernel<A> {
    /// Initial data, capabilities and threads of every domain. Zeros are there already: the validated tables say that the area begins clear.
    ///
    /// # Errors
    /// [`BootError::Areas`]: a domain cannot access its own data.
    pub(super) fn fill_domains(&mut self) -> Result<(), BootError> {
        for index in 0..self.domains.len() {
            let entry: system::Domain = self.tables.get(index);
            let (base, source) = (entry.data_base.into(), Some(entry.data_source.into()));
            // SAFETY: the validated tables say that the source is flash.
            if !unsafe { self.write_to(index as u8, base, source, entry.data_bytes.into()) } {
                return Err(BootError::Areas);
            }
            self.domains[index].life = Life::Running;
            self.awaited += u16::from(self.domains[index].awaited);
        }
        for record in self.tables.all::<system::Cap>() {
            self.install(record.domain as u8, &record);
        }
        self.domains.iter_mut().for_each(|domain| domain.caps.iter_mut().for_each(Cap::settled));
        for thread in 0..self.threads.len() {
            let entry: system::Thread = self.tables.get(thread);
            let domain = &mut self.domains[entry.domain as usize];
            domain.living += 1;
            self.init_thread(thread as u8, &entry);
            self.make_ready(thread as u8);
        }
        Ok(())
    }

    /// Puts a thread that is in no queue at its entry. It is not made ready, because a restart has
    /// to pay for that first.
    pub(crate) fn init_thread(&mut self, index: u8, entry: &system::Thread) {
        let domain = &self.domains[entry.domain as usize];
        let (epoch, info, restarts) = (domain.epoch, domain.info, domain.restarts);
        let start = Start {
            entry: entry.entry.into(),
            link: Virt::<A>::default(),
            stack_base: entry.stack_base.into(),
            stack_bytes: entry.stack_bytes.into(),
            args: [info.0, entry.argument.into(), u32::from(restarts).into(), 0.into()],
        };
        let record = &mut self.threads[usize::from(index)];
        record.pending = None;
        record.release = 0;
        record.open = false;
        let activation = self.activations.at_mut(record.base);
        // SAFETY: the tables guarantee that the stack is pinned memory of the domain; no activation of the thread is alive.
        unsafe { self.arch.prepare(&mut activation.context, start) };
        activation.epoch = epoch;
    }

    /// Chooses the first thread and starts the clock.
    pub fn start(&mut self) {
        let now = self.arch.now();
        self.arch.trace(header(Event::Start, IDLE, 0), now as u32);
        self.since = now;
        self.sweep_at = Instant::of(now);
        self.alarm.move_to(Instant::of(now).plus(self.ticks_per_second / 2));
        for budget in self.budgets.iter_mut() {
            budget.time = sched::budget::Budget::new(budget.time.params(), now);
        }
        self.load(self.top().domain);
        self.recheck = true;
        self.dispatch();
    }
}
