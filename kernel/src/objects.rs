//! The kernel's objects as plain data. They live in memory that was retyped for them at boot and never move.

use abi::{Error, Kind};
use units::{Instant, VirtAddr};

use crate::arch::{Arch, Protection, Virt};
use crate::compared::Compared;
use crate::ranks::{Turn, Waiters};
use crate::table::{AnyRef, Ref};

/// An unforgeable reference to an object, held in a domain's table. Stale once the object's generation has moved on.
#[derive(Clone, Copy, Debug)]
pub struct Cap {
    /// Kind of the object.
    pub kind: Kind,
    /// `abi::rights`.
    pub rights: u8,
    /// Generation of the object when the capability was made.
    pub generation: u16,
    /// Index of the object. A gate is known by its place, so for a gate this is the badge that the
    /// callee sees.
    pub(crate) word: u32,
    /// Where a gate or a notification is: they are used most, and are found without a table
    /// look-up.
    pub(crate) place: AnyRef,
}

impl Cap {
    /// An empty slot.
    pub const EMPTY: Cap = Cap { kind: Kind::Empty, rights: 0, generation: 0, word: 0, place: AnyRef::DANGLING };

    #[inline(always)]
    pub(crate) const fn object(&self) -> u16 {
        self.word as u16
    }

    pub(crate) fn is_to_same(&self, other: &Cap) -> bool {
        (self.kind, self.place) == (other.kind, other.place) && (self.kind == Kind::Gate || self.word == other.word)
    }

    #[inline(always)]
    pub(crate) fn gate<A: Arch>(&self) -> Option<Ref<Activation<A>>> {
        // SAFETY: capabilities to gates are made with the gate's place (see `Kernel::place_of`), or copied.
        if self.kind == Kind::Gate { Some(unsafe { self.place.object() }) } else { None }
    }

    #[inline(always)]
    pub(crate) fn notification<A: Arch>(&self) -> Option<Ref<Notification<A>>> {
        // SAFETY: as above.
        if self.kind == Kind::Notification { Some(unsafe { self.place.object() }) } else { None }
    }

    /// In [`Cap::rights`] while the domain that holds it is made or restarted: it began with this
    /// capability. No call can set the bit, because `abi::rights` has no such right.
    pub(crate) const INITIAL: u8 = 0x80;

    /// Forgets whether the domain began with it.
    pub(crate) fn settled(&mut self) {
        self.rights &= !Self::INITIAL;
    }

    /// Why a capability to something else cannot be used.
    #[cold]
    pub(crate) fn other_kind(&self) -> Error {
        if self.kind == Kind::Empty { Error::BadHandle } else { Error::WrongKind }
    }
}

/// How far the restart of a stopped domain has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life<W> {
    /// Its threads may run.
    Running,
    /// As `Running`, but the restart is not over: the next thread to look at and make ready. The
    /// domain runs already, because a thread that was made ready may run at once.
    Releasing(u8),
    /// It was stopped again before the restart was over: who restarts is told that it is, and the next restart would begin at the start.
    Cut,
    /// Nothing of it runs; a restart would begin at the start.
    Stopped,
    /// Initialised data: this many bytes are done.
    Restoring(u32),
    /// Memory that was mapped while it ran: from this address on, and how far what lies there was compared.
    Unmapping(VirtAddr<W>, Compared),
    /// Capabilities: the next entry of the table to look at.
    Granting(u16),
    /// Capabilities: the next slot that is emptied unless it was granted.
    Emptying(u16),
    /// Threads: the next one to look at.
    Starting(u8),
}

impl<W> Life<W> {
    /// Returns true if threads may run, and gates be entered.
    #[inline(always)]
    pub(crate) const fn runs(&self) -> bool {
        matches!(self, Life::Running | Life::Releasing(_))
    }

    /// The state after a stop. A restart that was making threads ready is cut short, and its caller
    /// has to be told.
    pub(crate) fn stopped(&self) -> Life<W> {
        if matches!(self, Life::Releasing(_) | Life::Cut) { Life::Cut } else { Life::Stopped }
    }
}

/// A fault that nobody has read yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct FaultReport {
    /// Number of the kind (`abi::trace::Fault`), 0 for none.
    pub kind: u8,
    /// Address or program counter, as the kind says: the word that `FAULT_NEXT` tells.
    pub address: u32,
}

/// A protection domain.
#[repr(C)]
pub struct Domain<A: Arch> {
    /// Memory that it may access; the entry code knows that this comes first.
    pub protection: A::Protection,
    /// Its capabilities.
    pub caps: &'static mut [Cap],
    /// Says if it runs, or how far a restart has come.
    pub life: Life<A::Width>,
    /// Changes whenever the domain is stopped; activations of an older epoch are dead.
    pub epoch: u32,
    /// Threads that have not ended.
    pub living: u16,
    /// Restarts so far.
    pub restarts: u16,
    /// The oldest unread fault.
    pub fault: FaultReport,
    /// Notification to signal on a fault, or none.
    pub fault_notification: Option<u16>,
    /// True if the run waits for it to finish.
    pub awaited: bool,
    /// Address of its information block.
    pub info: Virt<A>,
    /// Address to which its gate entry functions return.
    pub gate_return: Virt<A>,
    /// Generation of capabilities to it.
    pub generation: u16,
}

/// Why a thread is where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// In a ready queue (the running thread too).
    Ready,
    /// Waits for a notification.
    Waiting(u16),
    /// In the time queue.
    Sleeping,
    /// Waits for its budget's replenishment.
    Throttled,
    /// Ended, or its domain was stopped.
    Ended,
}

/// One activation: a thread in its own domain, or in a gate. Every thread has one of the first kind, its *base*, and every
/// gate one of the second kind, because there is never more than one thread inside. There is one more, for the idle loop.
#[repr(C)]
pub struct Activation<A: Arch> {
    /// Saved registers; the entry code knows that they are here.
    pub(crate) context: A::Context,
    /// How the gate's callee starts; the entry code knows that this follows.
    pub(crate) entry: A::Entry,
    /// The domain in which it is; the entry code knows that this follows, and loads its region registers.
    pub(crate) domain: Ref<Domain<A>>,
    /// The thread that is in it: of a base always the same one, of the idle activation none. A gate
    /// whose field is empty can be entered.
    pub(crate) thread: Option<Ref<Thread<A>>>,
    /// The activation from which the thread came into the gate; a base has none.
    pub(crate) outer: Option<Ref<Activation<A>>>,
    /// The domain's epoch at entry: if the domain has another one, it was stopped meanwhile and
    /// this activation is dead. Stands beside what a switch reads with it.
    pub(crate) epoch: u32,
    /// When the gate's bound ends, as long as the thread is not kept waiting (see [`Thread::away`]).
    pub(crate) until: Instant,
    /// The thread as a trace header has it.
    pub(crate) who: u32,
    /// Number of the gate.
    pub(crate) number: u32,
    /// Domain bits of the trace header; a thread's base activation adds the thread bits.
    pub(crate) place: u32,
    /// Ticks that one call of the gate may take.
    pub(crate) bound: u32,
    /// Generation of capabilities to the gate: a revocation counts it up, so that older ones are
    /// stale.
    pub(crate) generation: u16,
    /// Priority; of a gate its ceiling, so that no other caller can run while a thread is inside.
    pub(crate) priority: u8,
    /// Somebody else was to run since the thread came in, or the call is nested: what holds for the caller must be looked at when
    /// it returns.
    pub(crate) disturbed: bool,
    /// Page of the caller that a copy of this call has found untouched. The callee's word is not
    /// enough: it could name any page.
    pub(crate) untouched: <A::Protection as Protection<A>>::Untouched,
    /// Answer of an edit of this epoch that somebody else completed, until the call that made it is
    /// performed again.
    pub(crate) answer: Option<(u32, Result<(), Error>)>,
}

impl<A: Arch> Activation<A> {
    #[inline]
    pub(crate) fn domain_number(&self) -> u8 {
        (self.place >> 8) as u8
    }

    /// Domain and thread as a trace header has them.
    #[inline]
    pub(crate) fn tag(&self) -> u32 {
        self.who | self.place
    }
}

/// A thread.
pub struct Thread<A: Arch> {
    /// Its activation in its own domain.
    pub(crate) base: Ref<Activation<A>>,
    /// Its innermost activation.
    pub(crate) top: Ref<Activation<A>>,
    /// Neighbours in the ready queue, which is a ring, so that the last thread is found from the
    /// first.
    pub(crate) next: Ref<Thread<A>>,
    /// As `next`.
    pub(crate) prev: Ref<Thread<A>>,
    /// The budget that pays.
    pub(crate) budget: Ref<Budget>,
    /// When the thread, inside a gate, had to make way for another: gates' bounds do not count what has passed since.
    pub(crate) away: Instant,
    /// Ticks of its budget that are set aside for its call meanwhile, so that its sharers cannot
    /// use them.
    pub(crate) held: i32,
    pub(crate) number: u8,
    /// Priority of the ready queue that it is in. It is not always that of its activation: a thread
    /// is moved when another one is to run (`Kernel::requeue`).
    pub(crate) queue: u8,
    pub(crate) state: State,
    /// Its position among all threads by importance, which stands for it in the bits of
    /// [`Waiters`].
    pub(crate) rank: u8,
    /// A result to deliver when it runs again: status and value. Until then its domain's memory must
    /// not change, because an observer could not tell whose change it is.
    pub(crate) pending: Option<(u32, u32)>,
    /// Bits it waits for.
    pub(crate) mask: u32,
    /// Ticks between releases, or 0.
    pub(crate) period: u32,
    /// Nominal time of the current release; 0 before the first.
    pub(crate) release: u64,
    /// A release is open: released and not completed. While a thread sleeps until its next release
    /// none is.
    pub(crate) open: bool,
    /// Generation of capabilities to it.
    pub(crate) generation: u16,
}

/// A budget: a deferrable server. The time that is left may be negative, because activations are
/// paid when they are arranged, and because the timer that ends a thread can be late. docs/time.md,
/// rule (c), says by how much at most. The next periods pay this debt.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Ticks, by the arithmetic of the analysis.
    pub time: sched::budget::Budget,
    /// Misses per period; 0: any number.
    pub misses: u32,
    /// Misses left in this period.
    pub misses_left: u32,
    /// The threads that wait for it.
    pub waiters: Waiters,
    /// What they wait for.
    pub turn: Turn,
    /// Priority of the most important thread that it pays for: a boundary is looked at when no more
    /// important thread is ready.
    pub priority: u8,
    /// Generation of capabilities to it.
    pub generation: u16,
}

impl Budget {
    /// Brings it up to `now`, if no thread that it pays for runs. Returns true if a boundary has
    /// passed.
    #[inline]
    pub fn replenish(&mut self, now: u64) -> bool {
        let passed = self.time.replenish(now);
        self.grant_misses(passed)
    }

    /// As [`Budget::replenish`], when a thread has run that would have `left` if there were no boundaries.
    #[inline]
    pub fn ran(&mut self, left: i32, now: u64) -> bool {
        let passed = self.time.ran(left, now);
        self.grant_misses(passed)
    }

    fn grant_misses(&mut self, passed: bool) -> bool {
        if passed {
            self.misses_left = self.misses;
        }
        passed
    }

    /// Ticks per period.
    pub fn capacity(&self) -> u32 {
        self.time.params().capacity() as u32
    }
}

/// A notification word.
pub struct Notification<A: Arch> {
    pub(crate) bits: u32,
    /// The thread that waits. Its domain may have been stopped since; then it waits no more.
    pub(crate) waiter: Option<Ref<Thread<A>>>,
    /// Generation of capabilities to it.
    pub(crate) generation: u16,
}

impl<A: Arch> Notification<A> {
    pub(crate) const fn new(bits: u32) -> Notification<A> {
        Notification { bits, waiter: None, generation: 0 }
    }
}

/// An interrupt line bound to a notification.
pub struct Interrupt<A: Arch> {
    /// The line.
    pub line: u16,
    /// The notification that it signals.
    pub(crate) notification: Ref<Notification<A>>,
    /// With these bits.
    pub bits: u32,
    /// Generation of capabilities to it.
    pub generation: u16,
}
