//! State that each core has of its own. Whatever the cores share stands in [`crate::Kernel`].

use crate::arch::Arch;
use crate::objects::Activation;
use crate::queue::Ready;
use crate::table::Ref;

/// State of one core: who runs on it, who pays for that until when, and its timer.
#[repr(C)]
pub struct PerCore<A: Arch> {
    /// The activation that runs, or the idle activation. The entry code saves into its context and
    /// resumes it. Its domain's region registers are loaded.
    pub(crate) resume: Ref<Activation<A>>,
    /// When the running thread's budget ends, in ticks (low word). The time that the budget has
    /// left is brought up to date from it when somebody asks.
    pub(crate) limit: u32,
    /// When the timer will interrupt (low word): not before `since`.
    pub(crate) armed: u32,
    /// The running thread must be checked again before it goes on, because its domain, its budget
    /// or its gate may not let it.
    pub(crate) recheck: bool,
    /// `armed` is earlier than what the timer was last asked for: it must be set before the kernel
    /// is left.
    pub(crate) rearm: bool,
    /// Times have come that belong to threads less important than the one that ran when the timer
    /// was set. They are looked at when the priority falls, because no timer comes for them (rule
    /// (e)).
    pub(crate) deferred: bool,
    /// The processor. [`crate::arch_offset`] tells the entry code where it is.
    pub arch: A,
    /// A time in the past, less than half a wrap of [`Arch::ticks`] ago, so that a low word and
    /// this one give the whole time.
    pub(crate) since: u64,
    /// Activation whose call has set the timer for the end of a gate's bound. If the timer comes too
    /// early, because the gate was left, it pays: nobody else has.
    pub(crate) entered: Option<Ref<Activation<A>>>,
    /// The threads that can run here.
    pub(crate) ready: Ready<A>,
}

impl<A: Arch> PerCore<A> {
    /// A core whose idle activation, `idle`, runs.
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
