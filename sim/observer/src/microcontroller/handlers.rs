//! Handlers of a domain that interrupts reach without the kernel. They run in place of whatever they interrupt, a thread or the kernel, to
//! which nothing of it is charged.

use record::{Entered, HandlersWatch, RunEvent, observed};
use timing::thumb;

use super::{Displaced, Microcontroller, Modelled, Protects};
use crate::block::flag;
use crate::per_core::{BlockOf, CoreObserver, Family};

/// `CONTROL.nPRIV`: Thread mode is unprivileged.
const N_PRIV: u32 = 1;

impl<C: Modelled, P: Protects> CoreObserver<Microcontroller<C, P>> {
    /// Whether code runs privileged: the kernel, handlers in their state, and Thread mode of that state if handlers have made it so.
    #[inline]
    pub(super) fn is_privileged(&mut self) -> bool {
        self.kernel != 0
            || self.family.is_displaced() && (self.exceptions.innermost().is_some() || self.is_privileged_thread())
    }

    /// Handlers whose vectors are their own are not known as such.
    #[cold]
    fn is_privileged_thread(&mut self) -> bool {
        let control = self.family.protection.banked().control;
        self.family.protection.is_apart() && (self.ipsr() != 0 || self.target.register(control) & N_PRIV == 0)
    }

    /// Whether the state of handlers runs, but no handler: nothing may be executed then.
    #[inline]
    pub(super) fn is_displaced_thread(&self) -> bool {
        self.family.is_displaced() && self.exceptions.innermost().is_none()
    }

    /// Whether code is the handlers' way into the other state, which they call.
    pub(super) fn is_way_in(&self, pc: u32) -> bool {
        self.shared.watch.handlers.as_ref().is_some_and(|handlers| handlers.way_in.holds(pc, 1))
    }

    /// Whether the kernel serves an exception from here on that came to the state of handlers, where a handler had returned into a thread's place.
    pub(super) fn is_served(&self, pc: u32) -> bool {
        self.family.is_displaced() && self.shared.watch.handlers.as_ref().is_some_and(|handlers| handlers.served == pc)
    }

    /// Code of the state of handlers runs. Its address says so, wherever a vector of theirs has led: one can lead into the middle of their code, where nobody takes it
    /// for the begin of an exception. The end of that one is then to be seen, too.
    pub(super) fn displace(&mut self, tb: &BlockOf<Microcontroller<C, P>>) {
        if self.family.is_displaced() {
            self.end_above();
        } else {
            // Handlers can make code in their domain's memory, too.
            let handlers = self.shared.watch.handlers.as_ref();
            let owner = handlers.and_then(|handlers| handlers.owner(tb.pc).or(handlers.only_owner()));
            self.watched &= !flag::APART;
            self.watched_after |= flag::RETURNS;
            self.settle(0, 0);
            let (kernel, domain, exception) = (self.kernel, self.domain, self.ipsr());
            let (since, depth) = (self.moment(), self.exceptions.depth());
            self.family.displaced =
                Some(Displaced { kernel, domain, exception, since, depth, above: None, above_cycles: 0 });
            self.become_domain(tb.pc, owner.unwrap_or(self.domain));
        }
        self.kernel = 0;
    }

    /// Non-secure code runs, its counter from `now` on.
    pub(super) fn begin_count(&mut self, now: u64) {
        if let Some(due) = self.family.counter.begin(&*self.target, now) {
            self.tick_by(due);
        }
    }

    /// Secure code runs while handlers have something interrupted: their way in, or an exception above them; so both are theirs. Otherwise what they have
    /// interrupted goes on.
    pub(super) fn goes_on_displaced(&mut self, tb: &BlockOf<Microcontroller<C, P>>) -> bool {
        let depth = self.family.displaced.as_ref().map_or(0, |displaced| displaced.depth);
        if self.kernel == 0 {
            let sp = self.family.protection.handlers_stack();
            self.handler_ran = (self.last, sp.map_or(0, |sp| self.target.register(sp)));
        }
        let is_way_in = self.is_way_in(tb.pc);
        if is_way_in {
            self.end_above();
            if self.kernel == 0 {
                self.pass_gateway(tb.pc);
            }
        }
        if is_way_in || self.exceptions.depth() > depth || self.ends_handler(tb) {
            self.kernel = flag::KERNEL;
            return true;
        }
        self.replace(tb);
        false
    }

    /// Whether the kernel goes on in a handler's place, to end it: also one that is not known as active, as its vector was a handler's own.
    fn ends_handler(&mut self, tb: &BlockOf<Microcontroller<C, P>>) -> bool {
        let number = self.ipsr();
        let is_theirs = |handlers: &HandlersWatch| handlers.exceptions.contains(&number);
        self.kernel & tb.flags & flag::KERNEL != 0 && self.shared.watch.handlers.as_ref().is_some_and(is_theirs)
    }

    /// Handlers have called Secure code, of which the instruction at `pc` is the first that the simulator tells of: it executes SG, 4 bytes in front, by itself.
    fn pass_gateway(&mut self, pc: u32) {
        const SG: [u8; 4] = [0x7f, 0xe9, 0x7f, 0xe9];
        const SG_BYTES: u32 = 4;
        let attr = self.family.attr(pc);
        let code = self.family.core.describe(pc.wrapping_sub(SG_BYTES), &[thumb::classify(&SG)], false);
        let charged = self.family.core.fetch(&code, &attr);
        self.clock.pass(u64::from(charged.cycles));
        self.instructions += 1;
    }

    /// An exception of the kernel is taken above handlers, or above what they have called: a look of the meter, or a fault of theirs. It is the kernel's time.
    pub(super) fn begin_above(&mut self, exception: u16) {
        let cycle = self.exceptions.entry_cycle;
        if let Some(displaced) = &mut self.family.displaced {
            displaced.above.get_or_insert((exception, cycle));
        }
    }

    /// Nothing is above handlers any more.
    fn end_above(&mut self) {
        let Some(displaced) = &mut self.family.displaced else { return };
        let Some((exception, since)) = displaced.above.take() else { return };
        let now = self.clock.now();
        let length = now.saturating_sub(since);
        displaced.above_cycles += length;
        if let Some(record) = self.meter.looked((self.domain, exception), length, now) {
            self.record(record);
        }
    }

    /// A handler begins: what it cannot have interrupted is over.
    pub(super) fn end_what_is_above(&mut self) {
        let shared = self.shared.clone();
        let Some(handlers) = &shared.watch.handlers else { return };
        let now = self.moment();
        while self.exceptions.innermost().is_some_and(|innermost| handlers.above.contains(&innermost)) {
            self.exceptions.end_activation(now);
        }
    }

    /// Handlers give way to the thread or the kernel that they have interrupted, if they had, or to an exception of the kernel.
    pub(super) fn replace(&mut self, tb: &BlockOf<Microcontroller<C, P>>) {
        self.end_above();
        let Some(displaced) = self.family.displaced.take() else { return };
        let Displaced { kernel, domain, exception, since, above_cycles, .. } = displaced;
        self.watched |= flag::APART;
        self.settle(0, 0);
        let now = self.moment();
        self.exceptions.exclude(since, now);
        if let Some(record) = self.meter.served((self.domain, exception), (since.cycle, now.cycle), above_cycles) {
            self.record(record);
        }
        self.kernel = kernel;
        self.become_domain(tb.pc, domain);
    }

    /// Whether a store of handlers goes to registers of the core that are their state's own.
    pub(super) fn is_own_register(&self, address: u32) -> bool {
        const PRIVATE_BUS: std::ops::Range<u32> = 0xe000_0000..0xe010_0000;
        self.family.is_displaced() && PRIVATE_BUS.contains(&address)
    }

    /// Another domain's code runs, without the kernel having said so.
    fn become_domain(&mut self, pc: u32, domain: u8) {
        if self.domain != domain {
            self.leave_slice(pc);
            self.domain = domain;
            self.enter_slice();
        }
    }

    /// Timers have expired.
    pub(super) fn note_pending(&mut self, due: u64) {
        let (due, now) = ((due, self.instructions), (self.clock.sleeps(), self.exceptions.innermost()));
        let target = &mut self.target;
        self.family.pending.note(due, now, |address| target.word(address));
    }

    /// A handler begins.
    pub(super) fn note_entry(&mut self, exception: u16) {
        let taken = (self.exceptions.entry_cycle, self.instructions);
        let (cycle, instructions) = self.family.pending.take(exception, taken, self.clock.sleeps());
        let cycles = self.clock.now().saturating_sub(cycle);
        let displaced = self.family.displaced.as_ref();
        let (kernel, domain) = displaced.map_or((false, self.domain), |over| (over.kernel != 0, over.domain));
        let instructions = self.instructions.saturating_sub(instructions);
        let (detail, payload) = Entered { exception, kernel, cycles, instructions }.pack();
        let (cycle, event) = (self.clock.now(), observed::ENTERED);
        self.record(RunEvent { cycle, event, domain, detail, payload, ..RunEvent::default() });
    }
}
