//! Gates: a thread continues in another domain, on that domain's stack, and comes back.
//!
//! Nobody can freeze a service by running out of budget inside it: a call enters only when the caller's budget (or what is
//! left of the gate it is already in) covers the gate's whole bound, and the ceiling priority keeps every other user of the gate from running
//! meanwhile, so that one stack per gate is enough and nobody ever queues.

use abi::trace::{Event, Fault, header};
use abi::{COPY_MAX_BYTES, Error, Kind, rights};
use protect::pmsav7::AccessKind;

use crate::arch::{Arch, Start};
use crate::kernel::{DONE, Kernel, Outcome};
use crate::objects::{LEVELS, Life};
use crate::queue::NONE;

impl<A: Arch> Kernel<A> {
    /// `GATE_CALL`.
    ///
    /// # Bound
    /// O(1).
    #[inline]
    pub(crate) fn gate_call(&mut self, args: [u32; 4]) -> Result<Outcome, Error> {
        let current = self.current;
        let Kernel { threads, gates, domains, budgets, arch, .. } = self;
        let thread = threads.get_mut(usize::from(current)).ok_or(Error::BadHandle)?;
        // As `lookup`, whose borrow would be in the way of what follows.
        let caller = domains.get(usize::from(thread.top.domain)).ok_or(Error::BadHandle)?;
        let cap = caller.caps.get(args[0] as usize).ok_or(Error::BadHandle)?;
        if cap.kind != Kind::Gate {
            return Err(cap.other_kind());
        }
        let gate = gates.get_mut(usize::from(cap.object)).ok_or(Error::BadHandle)?;
        if cap.generation != gate.generation {
            return Err(Error::BadHandle);
        }
        if cap.rights & rights::WRITE == 0 {
            return Err(Error::NoRight);
        }
        let callee = domains.get(usize::from(gate.domain)).ok_or(Error::BadHandle)?;
        let budget = budgets.get(usize::from(thread.budget)).ok_or(Error::BadHandle)?;
        let depth = usize::from(thread.depth);
        if thread.top.priority < gate.ceiling {
            return Err(Error::Ceiling);
        }
        if depth >= abi::MAX_NESTING {
            return Err(Error::Nesting);
        }
        if gate.inside != NONE {
            return Err(Error::Busy);
        }
        if callee.life != Life::Running {
            return Err(Error::Stopped);
        }
        let ticks = arch.ticks();
        // What has not been charged yet will be at the level that is current then: it gets as much more.
        let elapsed = ticks.wrapping_sub(self.since as u32) as i32;
        thread.top.left = thread.top.left.wrapping_sub(elapsed);
        let bound = gate.bound;
        let left = if depth > 0 { thread.top.left } else { budget.left.saturating_sub(elapsed) };
        if left < bound {
            if depth > 0 {
                thread.top.left = thread.top.left.wrapping_add(elapsed);
                return Err(Error::NoBudget);
            }
            let index = thread.budget;
            return self.call_again(index, bound);
        }

        // Nothing can fail from here on.
        let late = bound < (self.armed as u32).wrapping_sub(ticks) as i32;
        thread.levels[depth] = thread.top;
        thread.top.left = bound.saturating_add(elapsed);
        gate.inside = current;
        // Before anything of the callee's memory changes, so that an observer can tell whose change it is.
        arch.trace(header(Event::GateEnter, gate.domain, u16::from(current)), u32::from(cap.object));
        let start = Start {
            entry: gate.entry,
            link: callee.gate_return,
            stack_base: gate.stack_base,
            stack_bytes: gate.stack_bytes,
            args: [cap.badge, args[1], args[2], args[3]],
        };
        let context = &mut thread.contexts[depth + 1];
        // SAFETY: the tables guarantee that the gate's stack is pinned memory of the callee's domain; `inside` says that
        // nobody else is on it.
        unsafe { arch.prepare(context, start) };
        self.resume = context;
        thread.depth = depth as u8 + 1;
        // The thread stays in its queue until somebody else is to run (see `settle`).
        thread.top.domain = gate.domain;
        thread.top.priority = gate.ceiling;
        thread.top.epoch = callee.epoch;
        thread.top.gate = cap.object;
        self.loaded = gate.domain;
        arch.load_image(callee.slots.image());
        if late {
            self.arm_within(bound);
        }
        Ok(Outcome::Entered)
    }

    /// Too little is left of this period: the call is performed again after the replenishment, which may be due already.
    #[cold]
    fn call_again(&mut self, index: u8, bound: i32) -> Result<Outcome, Error> {
        if self.budget_mut(index).capacity < bound {
            return Err(Error::NoBudget);
        }
        self.charge();
        let now = self.since;
        self.refill(index, now);
        let caller = self.current;
        self.arch.repeat(&mut self.threads[usize::from(caller)].contexts[0]);
        if self.budget_mut(index).left < bound {
            self.throttle(caller);
        }
        Ok(Outcome::Later)
    }

    /// Moves a ready thread to the queue of its priority, before its new equals. The running thread may be in that of an
    /// outer level: whoever is more important than its gate's ceiling is more important than that, too.
    #[cold]
    pub(crate) fn settle(&mut self, thread: u8) {
        let priority = self.thread(thread).top.priority;
        if self.ready.queue_of(thread) != priority {
            self.ready.remove(thread);
            self.ready.push_front(thread, priority);
        }
    }

    /// `GATE_RETURN`.
    ///
    /// # Bound
    /// O(1); unwinding past callers that were stopped meanwhile happens in [`Kernel::dispatch`].
    #[inline]
    pub(crate) fn gate_return(&mut self, status: u32, value: u32) -> Result<Outcome, Error> {
        let current = self.current;
        let Kernel { threads, gates, domains, ready, arch, .. } = self;
        let thread = threads.get_mut(usize::from(current)).ok_or(Error::NotInGate)?;
        let gate = gates.get_mut(usize::from(thread.top.gate)).ok_or(Error::NotInGate)?;
        let outer = usize::from(thread.depth).wrapping_sub(1);
        if outer >= LEVELS {
            return Err(Error::NotInGate);
        }
        // Positive or foreign statuses would let a callee imitate the kernel; they arrive as they are, but only as a
        // callee's word: the kernel's own errors of this call are those that unwind.
        // At level 0 there is no bound from which the time inside would have to be taken.
        let elapsed = if outer > 0 { arch.ticks().wrapping_sub(self.since as u32) as i32 } else { 0 };
        thread.leave(outer, gate, elapsed);
        arch.trace(header(Event::GateExit, thread.top.domain, u16::from(current)), status);
        let domain = domains.get(usize::from(thread.top.domain));
        if let Some(domain) = domain.filter(|domain| domain.epoch == thread.top.epoch) {
            self.loaded = thread.top.domain;
            let context = &mut thread.contexts[outer];
            arch.respond(context, status, [value, 0]);
            self.resume = context;
            arch.load_image(domain.slots.image());
        } else {
            // The memory of a caller that was stopped is not touched.
            self.recheck = true;
        }
        if ready.queue_of(current) != thread.top.priority {
            self.settle(current);
        }
        Ok(Outcome::Later)
    }

    /// Pops a thread's innermost gate, with an error for the caller when it runs again.
    #[cold]
    fn leave_with(&mut self, thread: u8, error: Error) {
        let record = &mut self.threads[usize::from(thread)];
        let outer = usize::from(record.depth.saturating_sub(1));
        record.leave(outer, &mut self.gates[usize::from(record.top.gate)], 0);
        record.pending = Some((error.status(), [0; 2]));
        self.arch.trace(header(Event::GateExit, record.top.domain, u16::from(thread)), error.status());
        self.settle(thread);
    }

    /// A ready thread's innermost activation is dead: it goes back to its caller with an error, or ends.
    #[cold]
    pub(crate) fn unwind(&mut self, thread: u8) {
        let record = self.thread(thread);
        if record.depth == 0 {
            self.ready.remove(thread);
            self.thread_mut(thread).state = crate::objects::State::Ended;
            return;
        }
        if thread == self.current {
            self.charge();
        }
        self.leave_with(thread, Error::CalleeFault);
        if thread == self.current {
            // The registers that are loaded belong to the level just left.
            let level = *self.thread(thread).level();
            self.load(level.domain);
        }
    }

    /// A gate took longer than its bound: the callee has failed.
    #[cold]
    pub(crate) fn overrun(&mut self, thread: u8) {
        let level = *self.thread(thread).level();
        self.fault_in(level.domain, Fault::GateOverrun, u32::from(level.gate), 0);
        self.leave_with(thread, Error::GateOverrun);
        if thread == self.current {
            let level = *self.thread(thread).level();
            self.load(level.domain);
        }
    }

    /// `GATE_COPY_IN` and `GATE_COPY_OUT`: between the caller's and the callee's memory.
    ///
    /// # Bound
    /// Two range checks and [`COPY_MAX_BYTES`] bytes.
    pub(crate) fn gate_copy(&mut self, dst: u32, src: u32, len: u32, inward: bool) -> Result<Outcome, Error> {
        let record = self.thread(self.current);
        let depth = usize::from(record.depth);
        if depth == 0 {
            return Err(Error::NotInGate);
        }
        if len > COPY_MAX_BYTES {
            return Err(Error::BadArgument);
        }
        let outer = record.levels[depth - 1];
        let (callee, caller) = (record.top.domain, outer.domain);
        if self.domain(caller).epoch != outer.epoch {
            // The caller was stopped; what is there now may be its restarted successor's.
            return Err(Error::BadAddress);
        }
        let (reader, writer) = if inward { (caller, callee) } else { (callee, caller) };
        if len == 0 {
            return DONE;
        }
        if dst.abs_diff(src) < len {
            return Err(Error::BadArgument);
        }
        self.allowed(reader, src, len, AccessKind::Read)?;
        self.allowed(writer, dst, len, AccessKind::Write)?;
        // SAFETY: both ranges were just checked, every byte, against what the two domains may access; they do not overlap.
        unsafe { self.arch.copy(dst, src, len) };
        DONE
    }

    /// Whether a domain may access every byte of a range so. Device memory is never touched on a domain's behalf.
    pub(crate) fn allowed(&self, domain: u8, base: u32, len: u32, kind: AccessKind) -> Result<(), Error> {
        self.domain(domain).access.check(base, len, kind).map_err(|_| Error::BadAddress)
    }
}
