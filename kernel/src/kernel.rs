//! The kernel of one CPU: its objects, and the decoding of system calls.

use abi::trace::{Event, header};
use abi::{Call, Error, Kind, rights};
use memory::frames::FrameTable;
use protect::slots::RegionImage;
use system::System;

use crate::arch::Arch;
use crate::frames::FrameRange;
use crate::objects::{Budget, Cap, Domain, Gate, Interrupt, Notification, Thread};
use crate::queue::{Ready, Times};

/// Thread number when no thread runs.
pub const NOBODY: u8 = 0xff;

/// Most typed ranges of physical memory.
pub const MAX_RANGES: usize = 160;

/// What a call that succeeded leaves for its caller.
pub(crate) enum Outcome {
    /// Status 0 and two values, now.
    Values(u32, u32),
    /// The caller waits, was moved elsewhere or gets its result later.
    Later,
    /// The caller goes on in a gate.
    Entered,
}

/// Success without values.
pub(crate) const DONE: Result<Outcome, Error> = Ok(Outcome::Values(0, 0));

/// Everything that the kernel of one CPU knows. There is no other kernel state.
pub struct Kernel<A: Arch> {
    /// The processor.
    pub arch: A,
    pub(crate) tables: System<'static>,
    pub(crate) domains: &'static mut [Domain],
    pub(crate) threads: &'static mut [Thread<A>],
    pub(crate) budgets: &'static mut [Budget],
    pub(crate) gates: &'static mut [Gate],
    pub(crate) notifications: &'static mut [Notification],
    pub(crate) interrupts: &'static mut [Interrupt],
    pub(crate) ranges: &'static mut [FrameRange],
    pub(crate) frames: &'static mut FrameTable<MAX_RANGES>,
    pub(crate) ready: Ready,
    pub(crate) times: Times,
    pub(crate) idle_image: RegionImage,
    /// The running thread, or [`NOBODY`].
    pub(crate) current: u8,
    /// The domain whose registers are loaded.
    pub(crate) loaded: u8,
    /// What the entry code resumes; null when nobody runs.
    pub(crate) resume: *mut A::Context,
    /// The running thread must be checked again before it goes on.
    pub(crate) recheck: bool,
    /// `armed` is earlier than what the timer was last asked for.
    pub(crate) rearm: bool,
    /// Time up to which everything is charged.
    pub(crate) since: u64,
    /// When the timer will interrupt.
    pub(crate) armed: u64,
    pub(crate) ticks_per_second: u32,
    /// Domains that the run waits for.
    pub(crate) awaited: u16,
    /// First exit code that was not 0.
    pub(crate) status: u32,
}

impl<A: Arch> Kernel<A> {
    /// A thread by number.
    #[inline]
    pub(crate) fn thread(&self, index: u8) -> &Thread<A> {
        &self.threads[usize::from(index)]
    }

    /// A thread by number.
    #[inline]
    pub(crate) fn thread_mut(&mut self, index: u8) -> &mut Thread<A> {
        &mut self.threads[usize::from(index)]
    }

    /// A domain by number.
    #[inline]
    pub(crate) fn domain(&self, index: u8) -> &Domain {
        &self.domains[usize::from(index)]
    }

    /// A domain by number.
    #[inline]
    pub(crate) fn domain_mut(&mut self, index: u8) -> &mut Domain {
        &mut self.domains[usize::from(index)]
    }

    /// A budget by number.
    #[inline]
    pub(crate) fn budget_mut(&mut self, index: u8) -> &mut Budget {
        &mut self.budgets[usize::from(index)]
    }

    /// The domain in which the running thread is.
    #[inline]
    pub(crate) fn here(&self) -> u8 {
        self.thread(self.current).top.domain
    }

    /// The registers of the running thread, or `None` when nobody runs. The entry code saves into it and resumes from it.
    #[inline]
    pub fn current_context(&mut self) -> Option<&mut A::Context> {
        self.threads.get_mut(usize::from(self.current)).map(Thread::context_mut)
    }

    /// The time. (Somebody is charged at every timer interrupt, thus long before the low word has wrapped.)
    #[inline]
    pub(crate) fn now(&mut self) -> u64 {
        self.since + u64::from(self.elapsed())
    }

    /// Ticks that have not been charged yet.
    #[inline]
    pub(crate) fn elapsed(&mut self) -> u32 {
        self.arch.ticks().wrapping_sub(self.since as u32)
    }

    /// The registers to resume, null when nobody runs.
    #[inline]
    pub fn resume(&self) -> *mut A::Context {
        self.resume
    }

    /// Looks a handle up in the running thread's domain.
    ///
    /// # Errors
    /// `BAD_HANDLE` (no such slot, empty, revoked), `WRONG_KIND`, `NO_RIGHT`.
    #[inline]
    pub(crate) fn lookup(&self, handle: u32, kind: Kind, needed: u8) -> Result<Cap, Error> {
        let domain = self.domain(self.here());
        let cap = *domain.caps.get(handle as usize).ok_or(Error::BadHandle)?;
        if cap.kind != kind {
            return Err(cap.other_kind());
        }
        if cap.generation != self.generation(kind, cap.object) {
            return Err(Error::BadHandle);
        }
        if cap.rights & needed != needed {
            return Err(Error::NoRight);
        }
        Ok(cap)
    }

    /// The generation of an object: capabilities of another generation are stale.
    #[inline]
    pub(crate) fn generation(&self, kind: Kind, object: u16) -> u16 {
        let index = usize::from(object);
        let found = match kind {
            Kind::Gate => self.gates.get(index).map(|gate| gate.generation),
            Kind::Notification => self.notifications.get(index).map(|word| word.generation),
            Kind::Domain => self.domains.get(index).map(|domain| domain.generation),
            Kind::Thread => self.threads.get(index).map(|thread| thread.generation),
            Kind::Budget => self.budgets.get(index).map(|budget| budget.generation),
            Kind::Interrupt => self.interrupts.get(index).map(|interrupt| interrupt.generation),
            Kind::Frames => self.ranges.get(index).map(|range| range.generation),
            Kind::Empty => Some(0),
        };
        // An index that no object has matches no capability: generations start at 0 and skip this value.
        found.unwrap_or(u16::MAX)
    }

    /// The running thread performed a system call.
    ///
    /// # Bound
    /// The bound of the call (see [`abi::CALLS`]) and one [`Kernel::dispatch`].
    #[inline(always)]
    pub fn on_call(&mut self) {
        let caller = self.current;
        let Some(thread) = self.threads.get_mut(usize::from(caller)) else { return };
        let request = self.arch.request(thread.context());
        let [a, b, c, d] = request.args;
        let outcome = match Call::from_number(request.number) {
            Some(Call::GateCall) => self.gate_call(request.args),
            Some(Call::GateReturn) => self.gate_return(a, b),
            Some(Call::Yield) => {
                self.arch.respond(thread.context_mut(), 0, [0; 2]);
                // Inside a gate it changes nothing: a rival of the same priority would find the gate busy.
                if thread.depth == 0 {
                    self.ready.rotate(caller);
                }
                Ok(Outcome::Later)
            }
            Some(Call::Signal) => self.signal(caller, a, b),
            Some(Call::Wait) => self.wait(a, b),
            Some(call) => self.perform(call, a, b, c, d),
            None => Err(Error::BadCall),
        };
        match outcome {
            // Nobody became ready, and the gate's ceiling is at least as important as its caller.
            Ok(Outcome::Entered) => return,
            Ok(Outcome::Values(first, second)) => self.respond(caller, 0, [first, second]),
            Ok(Outcome::Later) => {}
            Err(error) => self.refuse(caller, request.number, error),
        }
        self.dispatch_now();
    }

    #[inline]
    pub(crate) fn respond(&mut self, thread: u8, status: u32, values: [u32; 2]) {
        if let Some(record) = self.threads.get_mut(usize::from(thread)) {
            let depth = usize::from(record.depth).min(crate::objects::LEVELS - 1);
            self.arch.respond(&mut record.contexts[depth], status, values);
        }
    }

    #[cold]
    fn refuse(&mut self, thread: u8, number: u32, error: Error) {
        let domain = self.thread(thread).level().domain;
        let number = number.min(u32::from(u16::MAX)) as u16;
        self.arch.trace(header(Event::Refused, domain, number), error.status());
        self.respond(thread, error.status(), [0; 2]);
    }

    #[inline(never)]
    fn perform(&mut self, call: Call, a: u32, b: u32, c: u32, d: u32) -> Result<Outcome, Error> {
        match call {
            Call::Exit => self.exit(a),
            Call::Poll => self.poll(a, b),
            Call::SleepUntil => self.sleep_until(u64::from(a) | u64::from(b) << 32),
            Call::WaitPeriod => self.wait_period(),
            Call::GateCopyIn => self.gate_copy(a, b, c, true),
            Call::GateCopyOut => self.gate_copy(a, b, c, false),
            Call::InterruptAck => self.interrupt_ack(a),
            Call::TimeNow => {
                let now = self.now();
                Ok(Outcome::Values(now as u32, (now >> 32) as u32))
            }
            Call::Mark => {
                let domain = self.here();
                self.arch.trace(header(Event::Mark, domain, a as u16), b);
                DONE
            }
            Call::BudgetQuery => self.budget_query(a),
            Call::DomainStop => {
                let cap = self.lookup(a, Kind::Domain, rights::WRITE)?;
                self.stop_domain(cap.object as u8);
                DONE
            }
            Call::DomainRestart => self.domain_restart(a),
            Call::FaultNext => self.fault_next(a),
            Call::CapCopy => self.cap_copy(a, b, c),
            Call::CapGrant => self.cap_grant(a, b, c, d),
            Call::CapDelete => self.cap_delete(a),
            Call::Revoke => self.revoke(a),
            Call::GateCall | Call::GateReturn | Call::Yield | Call::Signal | Call::Wait => Err(Error::BadCall),
            Call::FramesRetype => self.frames_retype(a, b, c),
            Call::FramesMap => self.frames_map(a, b, c, d),
            Call::FramesUnmap => self.frames_unmap(a, b, c, d),
            Call::FramesClean => self.frames_clean(a, b, c),
            Call::NodesGive => self.nodes_give(a, b, c, d),
        }
    }

    /// Refuses calls that block while inside a gate.
    #[inline]
    pub(crate) fn outside_gates(&self) -> Result<(), Error> {
        if self.thread(self.current).depth > 0 { Err(Error::InGate) } else { Ok(()) }
    }
}
