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
use crate::objects::{Level, Life};
use crate::queue::NONE;

impl<A: Arch> Kernel<A> {
    /// `GATE_CALL`.
    ///
    /// # Bound
    /// O(1).
    #[inline]
    pub(crate) fn gate_call(&mut self, args: &[u32; 4]) -> Result<Outcome, Error> {
        let cap = self.lookup(args[0], Kind::Gate, rights::WRITE)?;
        let gate = *self.gates.get(usize::from(cap.object)).ok_or(Error::BadHandle)?;
        let caller = self.current;
        let thread = self.thread(caller);
        let (depth, priority, budget) = (thread.depth, thread.level().priority, thread.budget);
        if priority < gate.ceiling {
            return Err(Error::Ceiling);
        }
        if usize::from(depth) >= abi::MAX_NESTING {
            return Err(Error::Nesting);
        }
        if gate.inside != NONE {
            return Err(Error::Busy);
        }
        let callee = self.domain(gate.domain);
        if callee.life != Life::Running {
            return Err(Error::Stopped);
        }
        let (epoch, gate_return) = (callee.epoch, callee.gate_return);
        let now = self.charge();
        if depth > 0 && self.thread(caller).level().left < gate.bound {
            return Err(Error::NoBudget);
        }
        if depth == 0 && !self.covers(budget, gate.bound, now)? {
            return self.call_again(caller);
        }

        // Nothing can fail from here on.
        self.gates[usize::from(cap.object)].inside = caller;
        let start = Start {
            entry: gate.entry,
            link: gate_return,
            stack_base: gate.stack_base,
            stack_bytes: gate.stack_bytes,
            args: [cap.badge, args[1], args[2], args[3]],
        };
        // Before anything of the callee's memory changes, so that an observer can tell whose change it is.
        self.arch.trace(header(Event::GateEnter, gate.domain, u16::from(caller)), u32::from(cap.object));
        // SAFETY: the tables guarantee that the gate's stack is pinned memory of the callee's domain; `inside` says that
        // nobody else is on it.
        let context = unsafe { self.arch.prepare(start) };
        let record = self.thread_mut(caller);
        record.depth = depth + 1;
        let level = usize::from(depth) + 1;
        record.contexts[level] = context;
        record.levels[level] =
            Level { domain: gate.domain, priority: gate.ceiling, epoch, gate: cap.object, left: gate.bound };
        self.reprioritise(caller, priority, gate.ceiling);
        self.load(gate.domain);
        self.arm_before(now + gate.bound as u64);
        Ok(Outcome::Later)
    }

    /// Too little is left of this period: the call is performed again after the replenishment.
    #[cold]
    fn call_again(&mut self, caller: u8) -> Result<Outcome, Error> {
        self.arch.repeat(&mut self.threads[usize::from(caller)].contexts[0]);
        self.throttle(caller);
        Ok(Outcome::Later)
    }

    /// Whether a budget covers a bound now. `Err`: it never will.
    #[inline]
    fn covers(&mut self, budget_index: u8, bound: i32, now: u64) -> Result<bool, Error> {
        let budget = self.budget_mut(budget_index);
        if budget.left >= bound {
            return Ok(true);
        }
        if budget.capacity < bound {
            return Err(Error::NoBudget);
        }
        self.refill(budget_index, now);
        Ok(self.budget_mut(budget_index).left >= bound)
    }

    /// A running or ready thread's priority changes: it goes before its new equals.
    #[inline]
    fn reprioritise(&mut self, thread: u8, from: u8, to: u8) {
        if from != to {
            self.ready.remove(thread, from);
            self.ready.push_front(thread, to);
        }
    }

    /// `GATE_RETURN`.
    ///
    /// # Bound
    /// O(1); unwinding past callers that were stopped meanwhile happens in [`Kernel::dispatch`].
    #[inline]
    pub(crate) fn gate_return(&mut self, status: u32, value: u32) -> Result<Outcome, Error> {
        let current = self.current;
        if self.thread(current).depth == 0 {
            return Err(Error::NotInGate);
        }
        // Positive or foreign statuses would let a callee imitate the kernel; they arrive as they are, but only as a
        // callee's word: the kernel's own errors of this call are those that unwind.
        self.charge();
        self.leave(current, status, value);
        let level = *self.thread(current).level();
        if self.domain(level.domain).epoch != level.epoch {
            self.recheck = true;
        } else {
            self.load(level.domain);
        }
        Ok(Outcome::Later)
    }

    /// Pops a thread's innermost gate and leaves it the result.
    fn leave(&mut self, thread: u8, status: u32, value: u32) {
        let record = &mut self.threads[usize::from(thread)];
        let inner = *record.level();
        let gate = &mut self.gates[usize::from(inner.gate)];
        gate.inside = NONE;
        record.depth -= 1;
        record.pending = Some((status, [value, 0]));
        let outer = record.level_mut();
        // Level 0 has no bound; its `left` means nothing. What an overrun took beyond the bound is the kernel's granularity, not
        // the caller's doing.
        outer.left = outer.left.wrapping_sub(gate.bound - inner.left.max(0));
        let (domain, priority) = (outer.domain, outer.priority);
        self.reprioritise(thread, inner.priority, priority);
        self.arch.trace(header(Event::GateExit, domain, u16::from(thread)), status);
    }

    /// A ready thread's innermost activation is dead: it goes back to its caller with an error, or ends.
    pub(crate) fn unwind(&mut self, thread: u8) {
        let record = self.thread(thread);
        if record.depth == 0 {
            let priority = record.level().priority;
            self.ready.remove(thread, priority);
            self.thread_mut(thread).state = crate::objects::State::Ended;
            return;
        }
        if thread == self.current {
            self.charge();
        }
        self.leave(thread, Error::CalleeFault.status(), 0);
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
        self.leave(thread, Error::GateOverrun.status(), 0);
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
        let (callee, caller) = (record.levels[depth].domain, outer.domain);
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
