//! State that each core has of its own. Whatever the cores share stands in [`crate::Kernel`].

use crate::arch::Arch;
use crate::objects::{Activation, Thread};
use crate::queue::Ready;
use crate::table::Ref;

/// State of one core: who runs on it, who pays for that until when, and its timer.
#[repr(C)]
pub struct PerCore<A: Arch> {
    /// The activation that runs, or the idle activation. The entry code saves into its context, and resumes it. Its domain's region registers are
    /// loaded.
    pub(crate) resume: Ref<Activation<A>>,
    /// When the running thread's budget ends, in ticks (low word). The time that the budget has
    /// left is brought up to date from it when somebody asks.
    pub(crate) limit: u32,
    /// When the timer will interrupt (low word): not before `since`.
    pub(crate) armed: u32,
    /// The running thread must be checked again before it goes on.
    pub(crate) recheck: bool,
    /// `armed` is earlier than what the timer was last asked for.
    pub(crate) rearm: bool,
    /// There are times that come before the timer does: those of threads that are less important than who ran when it was armed.
    pub(crate) deferred: bool,
    /// The processor.
    pub arch: A,
    /// A time in the past, less than half a wrap of [`Arch::ticks`] ago.
    pub(crate) since: u64,
    /// Thread that has set the timer for the end of a gate's bound. If the timer comes too early,
    /// because the gate was left, nobody else has paid for it.
    pub(crate) entered: Option<Ref<Thread<A>>>,
    /// The threads that can run here.
    pub(crate) ready: Ready<A>,
}

impl<A: Arch> PerCore<A> {
    /// A core on which nobody runs: `idle` is its idle activation.
    pub(crate) const fn new(arch: A, idle: Ref<Activation<A>>) -> Self {
        PerCore {
            resume: idle,
            limit: 0,
            armed: 0,
            recheck: false,
            rearm: false,
            deferred: false,
            arch,
            since: 0,
            entered: None,
            ready: Ready::new(),
        }
    }
}
