//! The kernel: its objects, and the decoding of system calls.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU16, Ordering::Relaxed};

use abi::trace::{Event, header};
use abi::{Call, Error, Kind, rights};
use memory::frames::FrameTable;
use system::System;
use units::Instant;

use crate::alarm::Alarm;
use crate::arch::Shared;
use crate::arch::{Arch, Protection};
use crate::edit::Edit;
use crate::objects::{Activation, Budget, Cap, Domain, Interrupt, Notification, Thread};
use crate::outcome::{DONE, Outcome};
use crate::queue::{Ready, Times};
use crate::ranges::FrameRange;
use crate::ranks::Ranks;
use crate::slice::Slice;
use crate::table::{AnyRef, Ref, Table};
use crate::virtual_processor::VirtualProcessor;

/// Thread number when no thread runs.
pub const NOBODY: u8 = 0xff;

/// Everything that the kernel knows. Each core has a kernel of its own, which shares nothing with the others'.
#[repr(C)]
pub struct Kernel<A: Arch> {
    /// The activation that runs, or the idle activation. The entry code knows that this comes first: it saves into its context and
    /// resumes it. Its domain's region registers are loaded.
    pub(crate) resume: Ref<Activation<A>>,
    pub(crate) slice: Slice,
    pub(crate) alarm: Alarm,
    /// The processor. [`arch_offset`] tells the entry code where it is.
    pub arch: A,
    /// The running thread must be checked again before it goes on, because its domain, its budget
    /// or its gate may not let it.
    pub(crate) recheck: bool,
    /// A time in the past, less than half a wrap of [`Arch::ticks`] ago, so that a low word and
    /// this one give the whole time.
    pub(crate) since: u64,
    /// Activation whose call has set the timer for the end of a gate's bound. If the timer comes too
    /// early, because the gate was left, it pays: nobody else has.
    pub(crate) entered: Option<Ref<Activation<A>>>,
    /// The threads that can run.
    pub(crate) ready: Ready<A>,
    /// Stands here because the entry of an interrupt reads address and length with one instruction.
    pub(crate) interrupts: &'static mut [Interrupt<A>],
    /// Time beyond its budget with which a thread that is switched to starts, because the switch
    /// was paid by whoever arranged it ([`sched::switching::Switching`], in ticks, as the next
    /// two).
    pub(crate) path: u32,
    /// Time that a timer interrupt takes after which the same thread goes on (Y in docs/time.md).
    pub(crate) early: u32,
    /// The price of yielding to another thread (A / 2 in docs/time.md).
    pub(crate) yielding: u32,
    /// The price of an activation (A in docs/time.md).
    pub(crate) activation: u32,
    /// Time that a callee can cost its caller beyond its bound (the slack of a call in docs/time.md).
    pub(crate) slack: u32,
    pub(crate) domains: Table<Domain<A>>,
    /// The threads' bases, then the gates, then the idle activation, so that the number of a thread
    /// or a gate tells the index.
    pub(crate) activations: Table<Activation<A>>,
    pub(crate) threads: Table<Thread<A>>,
    pub(crate) budgets: Table<Budget>,
    pub(crate) notifications: Table<Notification<A>>,
    pub(crate) ticks_per_second: u32,
    /// Domains whose end the run waits for.
    pub(crate) awaited: u16,
    /// First exit code that was not 0.
    pub(crate) status: u32,
    pub(crate) tables: System<'static>,
    pub(crate) ranges: &'static mut [FrameRange<A::Width>],
    pub(crate) frames: FrameTable<'static>,
    /// The change of what is mapped that is under way. There is one at most (`edit`).
    pub(crate) edit: Option<Edit<A>>,
    pub(crate) times: Times,
    pub(crate) ranks: Ranks,
    /// When a budget is next looked at so that low words can be trusted.
    pub(crate) sweep_at: Instant,
    /// Index of that budget. One at a time, so that a timer's path does not grow with their number.
    pub(crate) sweep_next: usize,
    pub(crate) shared: Shared<A>,
}

/// Offset of [`Kernel::arch`], in bytes.
pub const fn arch_offset<A: Arch>() -> usize {
    core::mem::offset_of!(Kernel<A>, arch)
}

/// Offset of the address of the domain's region image behind the context that the kernel resumes,
/// in bytes.
pub const fn domain_offset<A: Arch>() -> usize {
    assert!(core::mem::offset_of!(Activation<A>, context) == 0 && core::mem::offset_of!(Domain<A>, protection) == 0);
    core::mem::offset_of!(Activation<A>, domain)
}

impl<A: Arch> Kernel<A> {
    #[inline]
    pub(crate) fn thread(&self, index: u8) -> &Thread<A> {
        &self.threads[usize::from(index)]
    }

    #[inline]
    pub(crate) fn thread_mut(&mut self, index: u8) -> &mut Thread<A> {
        &mut self.threads[usize::from(index)]
    }

    #[inline]
    pub(crate) fn domain(&self, index: u8) -> &Domain<A> {
        &self.domains[usize::from(index)]
    }

    #[inline]
    pub(crate) fn domain_mut(&mut self, index: u8) -> &mut Domain<A> {
        &mut self.domains[usize::from(index)]
    }

    /// Index in the activations of a gate's, if there is such a gate.
    pub(crate) fn gate_activation(&self, gate: usize) -> Option<usize> {
        let index = self.threads.len() + gate;
        (index < self.activations.len() - 1).then_some(index)
    }

    /// The activation that runs. It is found by `resume`, not by the thread: while a thread runs,
    /// the short ways into a gate and out of it do not keep its `top` up to date.
    #[inline(always)]
    pub(crate) fn top(&self) -> &Activation<A> {
        self.activations.at(self.resume)
    }

    #[inline(always)]
    pub(crate) fn running(&self) -> Option<Ref<Thread<A>>> {
        self.top().thread
    }

    /// Number of the running thread, or [`NOBODY`] while the idle loop runs.
    #[inline]
    pub(crate) fn current(&self) -> u8 {
        self.running().map_or(NOBODY, |thread| self.threads.at(thread).number)
    }

    /// The domain whose code runs: in a gate the callee's.
    #[inline]
    pub(crate) fn here(&self) -> u8 {
        self.top().domain_number()
    }

    #[inline]
    pub(crate) fn is_loaded(&self, domain: u8) -> bool {
        Some(self.top().domain) == self.domains.find(usize::from(domain))
    }

    /// Returns true if a thread is inside a gate. The innermost activation decides, because `top` of
    /// the running thread names its base, and a callee may have the right to restart its caller.
    #[inline]
    pub(crate) fn is_in_gate(&self, thread: u8) -> bool {
        let found = self.threads.find(usize::from(thread));
        found.is_some_and(|thread| self.innermost(thread) != self.threads.at(thread).base)
    }

    /// The registers of the running thread, or `None` when nobody runs.
    pub fn current_context(&mut self) -> Option<&mut A::Context> {
        let activation = self.activations.at_mut(self.resume);
        activation.thread.is_some().then_some(&mut activation.context)
    }

    /// The time. (`since` moves at every timer interrupt, thus long before the low word has wrapped.)
    #[inline]
    pub(crate) fn now(&mut self) -> u64 {
        self.since + u64::from(self.elapsed())
    }

    /// Ticks since `since`.
    #[inline]
    pub(crate) fn elapsed(&mut self) -> u32 {
        self.arch.ticks().since(Instant::of(self.since))
    }

    /// The registers to resume. They come first in an activation, so its place is their address.
    #[inline(always)]
    pub fn resume(&self) -> *mut A::Context {
        self.resume.place().as_ptr().cast()
    }

    /// Looks a handle up in the running thread's domain.
    ///
    /// # Errors
    /// `BAD_HANDLE` (no such slot, empty, revoked), `WRONG_KIND`, `NO_RIGHT`.
    #[inline]
    pub(crate) fn lookup(&self, handle: u32, kind: Kind, needed: u8) -> Result<Cap, Error> {
        let domain = self.domains.at(self.top().domain);
        let cap = *domain.caps.get(handle as usize).ok_or(Error::BadHandle)?;
        if cap.kind != kind {
            return Err(cap.other_kind());
        }
        if cap.generation != self.generation(&cap) {
            return Err(Error::BadHandle);
        }
        if cap.rights & needed != needed {
            return Err(Error::NoRight);
        }
        Ok(cap)
    }

    /// Returns the generation of the object that a capability is to. A capability of another
    /// generation is stale: revoking counts the object's generation up instead of looking for
    /// copies.
    #[inline]
    pub(crate) fn generation(&self, cap: &Cap) -> u16 {
        let index = usize::from(cap.object());
        let found = match cap.kind {
            Kind::Gate => cap.gate().map(|gate| self.activations.at(gate).generation),
            Kind::Notification => self.notifications.get(index).map(|word| word.generation),
            Kind::Domain => self.domains.get(index).map(|domain| domain.generation),
            Kind::Thread => self.threads.get(index).map(|thread| thread.generation),
            Kind::Budget => match self.budgets.get(index) {
                Some(budget) => Some(budget.generation),
                None => self.server(index).map(|generation| generation.load(Relaxed)),
            },
            Kind::Interrupt => self.interrupts.get(index).map(|interrupt| interrupt.generation),
            Kind::Frames => self.ranges.get(index).map(|range| range.generation),
            Kind::Empty => Some(0),
        };
        // An index that no object has matches no capability: generations start at 0 and skip this value.
        found.unwrap_or(u16::MAX)
    }

    /// Generation of a server of handlers' time. Servers are numbered behind the budgets, because a
    /// capability to one is of the same kind.
    #[inline(always)]
    pub(crate) fn server(&self, index: usize) -> Option<&'static AtomicU16> {
        self.arch.virtual_processor().server(index.checked_sub(self.budgets.len())?)
    }

    /// Place of an object if there is one, for capabilities that must be quick to use.
    #[inline(always)]
    pub(crate) fn place_of(&self, kind: Kind, index: usize) -> Option<AnyRef> {
        match kind {
            Kind::Gate => {
                self.gate_activation(index).and_then(|activation| self.activations.find(activation)).map(AnyRef::of)
            }
            Kind::Notification => self.notifications.find(index).map(AnyRef::of),
            _ => Some(AnyRef::DANGLING),
        }
    }

    /// The running thread performed a system call. Returns the context of the next thread, if its
    /// protection must still be loaded (see [`Kernel::switch`]).
    ///
    /// # Bound
    /// The bound of the call (see [`abi::CALLS`]) and one [`Kernel::dispatch`].
    pub fn on_call(&mut self) -> Option<NonNull<A::Context>> {
        let activation = self.resume;
        let request = self.arch.request(&self.activations.at(activation).context);
        let [a, b, c, d] = request.args;
        let outcome = match Call::from_number(request.number) {
            Some(call) => self.perform(call, a, b, c, d),
            None => Err(Error::BadCall),
        };
        match outcome {
            Ok(Outcome::Values(first, second)) => self.respond(activation, 0, [first, second]),
            Ok(Outcome::Later) => {}
            Err(error) => self.refuse(activation, request.number, error),
        }
        let Activation { thread, outer, .. } = *self.top();
        let next = match self.ready.first() {
            Some(next) if !self.recheck && outer.is_none() => {
                if thread == Some(next) {
                    None
                } else {
                    self.switch_over(next)
                }
            }
            _ => return self.dispatch_or_stay(),
        };
        self.alarm.flush(&mut self.arch);
        next
    }

    /// Performs a system call after which the caller goes on in any case: it makes no thread ready
    /// and none wait. So nothing is chosen afterwards.
    ///
    /// # Bound
    /// O(1).
    #[inline(always)]
    pub fn on_simple(&mut self, number: u32, args: &[u32; 4]) {
        let activation = self.resume;
        let outcome =
            Call::from_number(number).ok_or(Error::BadCall).and_then(|call| self.simple(call, args[0], args[1]));
        match outcome {
            Ok(values) => self.respond(activation, 0, values),
            Err(error) => self.refuse(activation, number, error),
        }
    }

    #[inline(always)]
    fn simple(&mut self, call: Call, a: u32, b: u32) -> Result<[u32; 2], Error> {
        match call {
            Call::Poll => Ok([self.poll(a, b)?, 0]),
            Call::InterruptAck => self.interrupt_ack(a).map(|()| [0; 2]),
            Call::TimeNow => {
                let now = self.now();
                Ok([now as u32, (now >> 32) as u32])
            }
            Call::Mark => {
                let domain = self.here();
                self.arch.trace(header(Event::Mark, domain, a as u16), b);
                Ok([0; 2])
            }
            _ => Err(Error::BadCall),
        }
    }

    /// [`Kernel::dispatch`], which has loaded the protection itself, so that nothing is left for
    /// the entry code.
    #[inline(never)]
    fn dispatch_or_stay(&mut self) -> Option<NonNull<A::Context>> {
        self.dispatch();
        None
    }

    #[inline(always)]
    pub(crate) fn respond<const N: usize>(&mut self, activation: Ref<Activation<A>>, status: u32, values: [u32; N]) {
        self.arch.respond(&mut self.activations.at_mut(activation).context, status, values);
    }

    #[cold]
    pub(crate) fn refuse(&mut self, activation: Ref<Activation<A>>, number: u32, error: Error) {
        let domain = self.activations.at(activation).domain_number();
        let number = number.min(u32::from(u16::MAX)) as u16;
        self.arch.trace(header(Event::Refused, domain, number), error.status());
        self.respond(activation, error.status(), []);
    }

    #[inline(never)]
    fn perform(&mut self, call: Call, a: u32, b: u32, c: u32, d: u32) -> Result<Outcome, Error> {
        match call {
            Call::Exit
            | Call::Poll
            | Call::InterruptAck
            | Call::TimeNow
            | Call::Mark
            | Call::SleepUntil
            | Call::WaitPeriod
            | Call::Yield
            | Call::Signal
            | Call::Wait => self.perform_short(call, a, b),
            Call::GateCopyIn => self.gate_copy(a, b, c, true),
            Call::GateCopyOut => self.gate_copy(a, b, c, false),
            Call::BudgetQuery => self.budget_query(a),
            Call::DomainStop => {
                let cap = self.lookup(a, Kind::Domain, rights::WRITE)?;
                self.arch.trace(header(Event::Stop, cap.object() as u8, 0), 0);
                self.stop_domain(cap.object() as u8);
                DONE
            }
            Call::DomainRestart => self.domain_restart(a),
            Call::FaultNext => self.fault_next(a),
            Call::CapCopy => self.cap_copy(a, b, c),
            Call::CapGrant => self.cap_grant(a, b, c, d),
            Call::CapDelete => self.cap_delete(a),
            Call::Revoke => self.revoke(a),
            Call::GateCall => self.gate_call([a, b, c, d]),
            Call::GateReturn => self.gate_return(a, b),
            Call::FramesRetype => self.frames_retype(a, b, c),
            Call::FramesMap => self.frames_map([a, b, c, d]),
            Call::FramesUnmap => self.frames_unmap([a, b, c, d]),
            Call::FramesClean => self.frames_clean(a, b, c),
            Call::NodesGive => self.nodes_give(a, b, c, d),
            Call::Occupy => self.occupy(a),
            Call::RegionMap if A::Protection::DEMAND => self.region_map(a, b, c),
            Call::RegionUnmap if A::Protection::DEMAND => self.region_unmap(a, b),
            Call::RegionMap | Call::RegionUnmap => Err(Error::BadCall),
        }
    }

    /// Calls that the entry code takes to functions of their own where it has short ways. There
    /// they never come here, and refusing them keeps a second copy of each out of the image.
    #[cold]
    #[inline(never)]
    fn perform_short(&mut self, call: Call, a: u32, b: u32) -> Result<Outcome, Error> {
        if A::SHORT_WAYS {
            return Err(Error::BadCall);
        }
        match call {
            Call::Exit => self.exit(a),
            Call::SleepUntil => self.sleep_until(u64::from(a) | u64::from(b) << 32),
            Call::WaitPeriod => self.wait_period(),
            Call::Yield => self.yield_now(),
            Call::Signal => self.signal(a, b),
            Call::Wait => self.wait(a, b),
            _ => self.simple(call, a, b).map(|[first, second]| Outcome::Values(first, second)),
        }
    }

    /// Refuses calls that block while inside a gate: a callee that sleeps would keep the gate from
    /// its other callers for longer than the gate's bound.
    #[inline]
    pub(crate) fn outside_gates(&self) -> Result<(), Error> {
        if self.top().outer.is_some() { Err(Error::InGate) } else { Ok(()) }
    }
}
