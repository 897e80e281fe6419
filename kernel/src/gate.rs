//! No caller can freeze a service by running out of budget inside it. A call enters only when the
//! caller's budget (or what is left of the gate it is already in) covers the gate's whole bound,
//! which stays set aside for it (`charge.rs`). The ceiling priority keeps every other user of the
//! gate from running meanwhile, so that one stack per gate is enough and no caller ever queues.

use core::ptr::NonNull;

use abi::trace::{Event, Fault};
use abi::{COPY_MAX_BYTES, Error, MAX_NESTING, rights};
use protect::AccessKind;
use units::Instant;

use crate::arch::{Arch, Len, Virt};
use crate::arch::{Protection, Untouched};
use crate::kernel::Kernel;
use crate::objects::{Activation, State, Thread};
use crate::outcome::{DONE, Outcome};
use crate::table::Ref;

impl<A: Arch> Kernel<A> {
    /// Returns the gate that a handle of the caller names, and its badge, if the caller may enter
    /// it now. Both ways into a gate use it, so that they cannot differ in what they check.
    #[inline(always)]
    fn enterable(&self, caller: Ref<Activation<A>>, handle: u32) -> Result<(Ref<Activation<A>>, u32), Error> {
        let from = self.activations.at(caller);
        let cap = self.domains.at(from.domain).caps.get(handle as usize).ok_or(Error::BadHandle)?;
        let gate = cap.gate().ok_or_else(|| cap.other_kind())?;
        let into = self.activations.at(gate);
        if cap.generation != into.generation {
            return Err(Error::BadHandle);
        }
        if cap.rights & rights::WRITE == 0 {
            return Err(Error::NoRight);
        }
        if from.priority < into.priority {
            return Err(Error::Ceiling);
        }
        if into.thread.is_some() {
            return Err(Error::Busy);
        }
        if !self.domains.at(into.domain).life.runs() {
            return Err(Error::Stopped);
        }
        Ok((gate, cap.word))
    }

    /// Puts the running thread into a gate that it may enter, until `until`. The region registers
    /// are still the caller's, and the callee's stack is as it was. The thread stays in its ready
    /// queue, because most calls end before another thread runs; [`Kernel::requeue`] moves it if one
    /// does.
    #[inline(always)]
    fn enter(&mut self, caller: Ref<Activation<A>>, gate: Ref<Activation<A>>, until: Instant, badge: u32) {
        let Activation { thread, who, .. } = *self.activations.at(caller);
        let into = self.activations.at_mut(gate);
        into.thread = thread;
        into.who = who;
        into.outer = Some(caller);
        into.until = until;
        into.epoch = self.domains.at(into.domain).epoch;
        A::introduce(&mut into.entry, badge);
        // Before anything of the callee's memory changes, so that an observer can tell whose change it is.
        self.arch.trace(into.tag() | Event::GateEnter as u32, into.number);
        self.resume = gate;
        if until.is_before(self.alarm.at()) {
            self.entered = Some(caller);
            self.alarm.set(&mut self.arch, until);
        }
    }

    /// `GATE_CALL` by a thread in its own domain whose budget covers the bound. The callee's registers, its stack and the region
    /// registers are the entry code's to set.
    ///
    /// # Bound
    /// O(1).
    #[inline(always)]
    pub fn pass_in(&mut self, handle: u32) -> Option<NonNull<A::Context>> {
        let caller = self.resume;
        if self.activations.at(caller).outer.is_some() {
            return None;
        }
        let (gate, badge) = self.enterable(caller, handle).ok()?;
        self.see_displaced();
        let until = self.arch.ticks().plus(self.activations.at(gate).bound);
        if self.slice.end().is_before(until) {
            return None;
        }
        self.enter(caller, gate, until, badge);
        Some(gate.place().cast())
    }

    /// `GATE_CALL`.
    ///
    /// # Bound
    /// O(1).
    pub(crate) fn gate_call(&mut self, args: [u32; 4]) -> Result<Outcome, Error> {
        let caller = self.resume;
        let (gate, badge) = self.enterable(caller, args[0])?;
        let nesting = self.depth_of(caller);
        if nesting >= MAX_NESTING {
            return Err(Error::Nesting);
        }
        let Activation { bound, domain, .. } = *self.activations.at(gate);
        let now = self.now();
        self.charge_through(now);
        let until = Instant::of(now).plus(bound);
        // The callee can exceed its bound by the slack. For a thread's own call admission has
        // counted that. A gate that calls has nothing but the rest of its own bound to pay with.
        let nested = nesting > 0;
        let needed = if nested { until.plus(self.slack) } else { until };
        if self.end().is_before(needed) {
            return if nested { Err(Error::NoBudget) } else { self.call_again(bound as i32, now) };
        }
        self.enter(caller, gate, until, badge);
        // A gate that has called others is left the long way: its caller takes over what it owes.
        self.activations.at_mut(caller).disturbed |= nested;
        let into = self.activations.at_mut(gate);
        into.disturbed = nested;
        // SAFETY: the tables guarantee that the gate's stack is pinned memory of the callee's domain; nobody else is on it.
        unsafe { self.arch.enter(&mut into.context, &into.entry, [badge, args[1], args[2], args[3]]) };
        self.load(domain);
        Ok(Outcome::Later)
    }

    /// Returns how many gates an activation is inside, counting itself: nesting is limited, because
    /// paths that follow the gates must be bounded.
    pub(crate) fn depth_of(&self, activation: Ref<Activation<A>>) -> usize {
        let mut depth = 0;
        let mut outer = self.activations.at(activation).outer;
        // Bounded by [`MAX_NESTING`], which is tested before a gate is entered.
        while let Some(activation) = outer {
            depth += 1;
            outer = self.activations.at(activation).outer;
        }
        depth
    }

    /// Too little is left of this period: lets the caller wait for the next boundary, and perform
    /// the call again then. A bound above the capacity is refused, because no boundary would ever
    /// be enough. The budget is up to date.
    #[cold]
    fn call_again(&mut self, bound: i32, now: u64) -> Result<Outcome, Error> {
        let Some(caller) = self.running() else { return Err(Error::NoBudget) };
        let budget = self.threads.at(caller).budget;
        if (self.budgets.at(budget).capacity() as i32) < bound {
            return Err(Error::NoBudget);
        }
        self.arch.repeat(&mut self.activations.at_mut(self.resume).context);
        self.wait_for_boundary(caller, now);
        Ok(Outcome::Later)
    }

    /// Moves a ready thread to the queue of its innermost activation's priority. It goes before its
    /// new equals: a call of a gate does not cost a thread its turn.
    #[cold]
    pub(crate) fn requeue(&mut self, thread: Ref<Thread<A>>) {
        let activation = self.innermost(thread);
        let into = self.activations.at_mut(activation);
        let priority = into.priority;
        if self.threads.at(thread).queue != priority {
            into.disturbed = true;
            self.ready.remove(&mut self.threads, thread);
            self.ready.push_front(&mut self.threads, thread, priority);
        }
    }

    #[inline]
    pub(crate) fn innermost(&self, thread: Ref<Thread<A>>) -> Ref<Activation<A>> {
        if self.running() == Some(thread) { self.resume } else { self.threads.at(thread).top }
    }

    /// `GATE_RETURN` to a caller that is alive and in its own domain, if no other thread ran
    /// meanwhile or could have. Otherwise it declines: the caller's budget, the ready queue or the
    /// timer would have to be looked at. The entry code loads the region registers.
    ///
    /// # Bound
    /// O(1).
    #[inline(always)]
    pub fn pass_out(&mut self, status: u32, value: u32) -> Option<NonNull<A::Context>> {
        let gate = self.resume;
        let Activation { outer, disturbed, .. } = *self.activations.at(gate);
        let outer = outer?;
        let Activation { domain, epoch, place, .. } = *self.activations.at(outer);
        if disturbed || self.domains.at(domain).epoch != epoch {
            return None;
        }
        if A::Protection::DEMAND && status == Error::Untouched.status() {
            return None;
        }
        self.leave(gate, outer, place, status);
        self.respond(outer, status, [value]);
        Some(outer.place().cast())
    }

    #[inline(always)]
    fn leave(&mut self, gate: Ref<Activation<A>>, outer: Ref<Activation<A>>, tag: u32, status: u32) {
        self.activations.at_mut(gate).thread = None;
        self.resume = outer;
        self.arch.trace(tag | Event::GateExit as u32, status);
    }

    /// `GATE_RETURN`.
    ///
    /// # Bound
    /// O(1); unwinding past callers that were stopped meanwhile happens in [`Kernel::dispatch`].
    pub(crate) fn gate_return(&mut self, status: u32, value: u32) -> Result<Outcome, Error> {
        let gate = self.resume;
        let Activation { outer, thread, .. } = *self.activations.at(gate);
        let (Some(outer), Some(thread)) = (outer, thread) else { return Err(Error::NotInGate) };
        self.end_call(gate, outer);
        // Positive or foreign statuses would let a callee imitate the kernel; they arrive as they are, but only as a
        // callee's word: the kernel's own errors of this call are those that unwind, and `UNTOUCHED`.
        let (status, value) = self.told(gate, status, value);
        self.leave(gate, outer, self.activations.at(outer).tag(), status);
        let Activation { domain, epoch, .. } = *self.activations.at(outer);
        self.load(domain);
        if self.domains.at(domain).epoch == epoch {
            self.respond(outer, status, [value]);
        } else {
            // A caller that was stopped has no use for the result, and its memory may be its
            // successor's.
            self.recheck = true;
        }
        self.requeue(thread);
        Ok(Outcome::Later)
    }

    /// Ends a call. Time beyond its bound is the caller's, which has kept the slack for that: if the
    /// end of an outer gate moved with it, a gate could prolong itself by callees that are late, one
    /// after the other.
    fn end_call(&mut self, gate: Ref<Activation<A>>, outer: Ref<Activation<A>>) {
        self.see_displaced();
        // Another thread that ran meanwhile may have used the caller's budget, so it is looked at
        // again.
        self.recheck |= core::mem::take(&mut self.activations.at_mut(gate).disturbed);
        if self.entered == Some(gate) {
            self.entered = Some(outer);
        }
    }

    /// Takes a thread out of its innermost gate. Its caller gets the error when it runs again.
    #[cold]
    fn leave_with(
        &mut self,
        thread: Ref<Thread<A>>,
        gate: Ref<Activation<A>>,
        outer: Ref<Activation<A>>,
        error: Error,
    ) {
        let runs = self.running() == Some(thread);
        self.end_call(gate, outer);
        let left = self.activations.at_mut(gate);
        left.thread = None;
        left.untouched.take();
        let record = self.threads.at_mut(thread);
        record.top = outer;
        record.pending = Some((error.status(), 0));
        let activation = self.activations.at(outer);
        let domain = activation.domain;
        self.arch.trace(activation.tag() | Event::GateExit as u32, error.status());
        if runs {
            // The registers that are loaded belong to the activation just left, whose memory the
            // caller must not see.
            self.resume = outer;
            self.load(domain);
        }
        self.requeue(thread);
    }

    /// Ends a ready thread's innermost activation, whose domain was stopped: the thread goes back
    /// to its caller with an error, or ends. This is done when the thread would run, so that
    /// stopping a domain takes constant time.
    #[cold]
    pub(crate) fn unwind(&mut self, thread: Ref<Thread<A>>) {
        let activation = self.innermost(thread);
        match self.activations.at(activation).outer {
            Some(outer) => self.leave_with(thread, activation, outer, Error::CalleeFault),
            None => {
                self.leave_queue(thread);
                self.threads.at_mut(thread).state = State::Ended;
            }
        }
    }

    /// A gate took longer than its bound. The callee has failed, not the caller, so the callee's
    /// domain gets the fault and the caller an error.
    #[cold]
    pub(crate) fn overrun(&mut self, thread: Ref<Thread<A>>) {
        let gate = self.innermost(thread);
        let activation = self.activations.at(gate);
        let Some(outer) = activation.outer else { return };
        let (domain, number) = (activation.domain_number(), activation.number);
        if self.fault_in(domain, Fault::GateOverrun, number, 0) {
            // As for a fault. The thread has been charged until it was switched away, and its
            // budget is what it goes on with.
            let (budget, price) = (self.threads.at(thread).budget, self.activation);
            self.budgets.at_mut(budget).time.pay(price);
            self.shift_gates(gate, None, price.wrapping_neg());
        }
        self.leave_with(thread, gate, outer, Error::GateOverrun);
    }

    /// `GATE_COPY_IN` and `GATE_COPY_OUT`: between the caller's and the callee's memory.
    ///
    /// # Bound
    /// Two range checks and [`COPY_MAX_BYTES`] bytes.
    pub(crate) fn gate_copy(&mut self, dst: u32, src: u32, len: u32, inward: bool) -> Result<Outcome, Error> {
        let Some(outer) = self.top().outer else { return Err(Error::NotInGate) };
        if len > COPY_MAX_BYTES {
            return Err(Error::BadArgument);
        }
        let outer = self.activations.at(outer);
        let (callee, caller) = (self.here(), outer.domain_number());
        if self.domains.at(outer.domain).epoch != outer.epoch {
            // The caller was stopped; what is there now may be its restarted successor's.
            return Err(Error::BadAddress);
        }
        let (reader, writer) = if inward { (caller, callee) } else { (callee, caller) };
        if len == 0 {
            return DONE;
        }
        let (dst, src, len) = (dst.into(), src.into(), len.into());
        if self.overlaps(writer, dst, reader, src, len) {
            return Err(Error::BadArgument);
        }
        let (theirs, own) = ((src, AccessKind::Read), (dst, AccessKind::Write));
        let (theirs, own) = if inward { (theirs, own) } else { (own, theirs) };
        if self.meets_untouched(caller, theirs.0, len, theirs.1) {
            return Err(Error::Untouched);
        }
        if self.touch_ends(callee, own.0, len, own.1) {
            return self.again();
        }
        self.allowed(reader, src, len, AccessKind::Read)?;
        self.allowed(writer, dst, len, AccessKind::Write)?;
        // SAFETY: both ranges were just checked, every byte, against what the two domains may access; they do not overlap.
        unsafe { self.copy_across(writer, dst, reader, src, len) };
        DONE
    }

    /// Checks that a domain may access every byte of a range so. Device memory is refused: it is
    /// never touched on a domain's behalf.
    pub(crate) fn allowed(&self, domain: u8, base: Virt<A>, len: Len<A>, kind: AccessKind) -> Result<(), Error> {
        let domain = self.domain(domain);
        if domain.protection.permits(base, len, kind) { Ok(()) } else { Err(Error::BadAddress) }
    }
}
