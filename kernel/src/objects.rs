//! The kernel's objects as plain data. They live in memory that was retyped for them at boot and never move.

use abi::{Error, Kind, MAX_NESTING};
use protect::access::AccessMap;
use protect::pctrie::PcTrie;
use protect::slots::Slots;

use crate::arch::Arch;
use crate::queue::NONE;

/// Most areas of one domain.
pub const MAX_AREAS: usize = 16;

/// Activation levels of a thread: its own domain and the gates it may be inside.
pub const LEVELS: usize = MAX_NESTING + 1;

/// An unforgeable reference to an object, held in a domain's table. Stale once the object's generation has moved on.
#[derive(Clone, Copy, Debug)]
pub struct Cap {
    /// What kind of object.
    pub kind: Kind,
    /// `abi::rights`.
    pub rights: u8,
    /// Index of the object.
    pub object: u16,
    /// Generation of the object when the capability was made.
    pub generation: u16,
    /// What a gate's callee sees as its caller's identity.
    pub badge: u32,
}

impl Cap {
    /// An empty slot.
    pub const EMPTY: Cap = Cap { kind: Kind::Empty, rights: 0, object: 0, generation: 0, badge: 0 };

    /// Why a capability to something else cannot be used.
    #[cold]
    pub(crate) fn other_kind(&self) -> Error {
        if self.kind == Kind::Empty { Error::BadHandle } else { Error::WrongKind }
    }
}

/// How far the restart of a stopped domain has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// Its threads may run.
    Running,
    /// Nothing of it runs; a restart would begin at the start.
    Stopped,
    /// Initialised data: this many bytes are done.
    Restoring(u32),
    /// Capabilities: the next entry of the table to look at.
    Granting(u16),
    /// Threads: the next one to look at.
    Starting(u8),
}

/// A fault that nobody has read yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct FaultReport {
    /// Number of the kind (`abi::trace::Fault`), 0 for none.
    pub kind: u8,
    /// Address or program counter, as the kind says.
    pub address: u32,
}

/// A protection domain.
pub struct Domain {
    /// Its region registers, ready for a block load, and which of them are paged.
    pub slots: Slots,
    /// The regions behind the paged slots.
    pub trie: PcTrie<'static>,
    /// What it may access: the reference against which pointers are checked.
    pub access: AccessMap<MAX_AREAS>,
    /// Its capabilities.
    pub caps: &'static mut [Cap],
    /// Whether it runs.
    pub life: Life,
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
    /// Whether the run waits for it to finish.
    pub awaited: bool,
    /// Address of its information block.
    pub info: u32,
    /// Where its gate entry functions return.
    pub gate_return: u32,
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

/// One activation of a thread: in its own domain, or inside a gate.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// The domain it runs in.
    pub domain: u8,
    /// Priority at this level.
    pub priority: u8,
    /// The gate (levels above 0).
    pub gate: u16,
    /// The domain's epoch at entry.
    pub epoch: u32,
    /// Ticks left of the gate's bound (levels above 0).
    pub left: i32,
}

/// A thread.
pub struct Thread<A: Arch> {
    /// Saved registers of each level.
    pub contexts: [A::Context; LEVELS],
    /// The current level.
    pub top: Level,
    /// The levels outside of the current one: of these, the first `depth` mean something.
    pub levels: [Level; LEVELS],
    /// Current level.
    pub depth: u8,
    /// State.
    pub state: State,
    /// Next thread that waits for the same budget.
    pub next_throttled: u8,
    /// The budget that pays.
    pub budget: u8,
    /// A result to deliver when it runs again: status and values.
    pub pending: Option<(u32, [u32; 2])>,
    /// Bits it waits for.
    pub mask: u32,
    /// Ticks between releases, or 0.
    pub period: u32,
    /// Nominal time of the current release; 0 before the first.
    pub release: u64,
    /// A release is open: released and not completed.
    pub open: bool,
    /// Generation of capabilities to it.
    pub generation: u16,
}

impl<A: Arch> Thread<A> {
    /// The current level.
    #[inline]
    pub fn level(&self) -> &Level {
        &self.top
    }

    /// Takes ticks from what is left of the budget and of the gate that the thread is in. (At level 0 the latter means nothing.)
    #[inline]
    pub(crate) fn pay(&mut self, budget: &mut Budget, elapsed: i32) {
        self.top.left = self.top.left.wrapping_sub(elapsed);
        budget.left = budget.left.saturating_sub(elapsed);
    }

    /// Pops the innermost level, which is inside `gate`; `outer` is the level below it. The time that has not been charged yet,
    /// `elapsed`, will be charged to that one, though it was spent inside.
    #[inline]
    pub(crate) fn leave(&mut self, outer: usize, gate: &mut Gate, elapsed: i32) {
        gate.inside = NONE;
        // What an overrun took beyond the bound is the kernel's granularity, not the caller's doing.
        let used = gate.bound - self.top.left.wrapping_sub(elapsed).max(0);
        self.depth = outer as u8;
        self.top = self.levels[outer];
        self.top.left = self.top.left.wrapping_sub(used).wrapping_add(elapsed);
    }

    /// The registers of the current level.
    #[inline]
    pub fn context_mut(&mut self) -> &mut A::Context {
        &mut self.contexts[usize::from(self.depth).min(LEVELS - 1)]
    }

    /// The registers of the current level.
    #[inline]
    pub fn context(&self) -> &A::Context {
        &self.contexts[usize::from(self.depth).min(LEVELS - 1)]
    }
}

/// A budget: a deferrable server. What is left may be negative by at most the enforcement granularity and, for each other
/// thread that it pays for, the bound of one gate (a thread inside a gate finishes its call); the debt is paid by the next
/// periods.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Ticks between replenishments.
    pub period: u32,
    /// Ticks per period.
    pub capacity: i32,
    /// Ticks left in this period.
    pub left: i32,
    /// Time of the next replenishment.
    pub next: u64,
    /// First of the threads that wait for it.
    pub waiting: u8,
    /// Generation of capabilities to it.
    pub generation: u16,
}

impl Budget {
    /// Replenishes when the time has come. A budget that was not used for a whole period starts a new one now; two
    /// replenishments are never closer than a period.
    #[inline]
    pub fn refill(&mut self, now: u64) -> bool {
        if now < self.next {
            return false;
        }
        let period = u64::from(self.period);
        self.next += period;
        if self.next <= now {
            self.next = now + period;
        }
        self.left = self.capacity.min(self.left.saturating_add(self.capacity));
        true
    }
}

/// A gate: an entry into a domain with a bound.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// The callee.
    pub domain: u8,
    /// Ceiling priority.
    pub ceiling: u8,
    /// The thread inside, or [`NONE`].
    pub inside: u8,
    /// Entry function.
    pub entry: u32,
    /// Lowest address of its stack.
    pub stack_base: u32,
    /// Bytes of its stack.
    pub stack_bytes: u32,
    /// Ticks that one call may take.
    pub bound: i32,
    /// Generation of capabilities to it.
    pub generation: u16,
}

/// A notification word.
#[derive(Clone, Copy, Debug)]
pub struct Notification {
    /// Bits that are set.
    pub bits: u32,
    /// The thread that waits, or [`NONE`].
    pub waiter: u8,
    /// Generation of capabilities to it.
    pub generation: u16,
}

impl Notification {
    /// A notification with some bits set.
    pub const fn new(bits: u32) -> Notification {
        Notification { bits, waiter: NONE, generation: 0 }
    }
}

/// An interrupt line bound to a notification.
#[derive(Clone, Copy, Debug)]
pub struct Interrupt {
    /// The line.
    pub line: u16,
    /// The notification that it signals.
    pub notification: u16,
    /// With these bits.
    pub bits: u32,
    /// Generation of capabilities to it.
    pub generation: u16,
}
