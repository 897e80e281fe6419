//! The price of switches: docs/time.md, quantities and rules (b) and (c).

/// Time that the kernel's paths around a switch take at most, in ticks. All nothing where time is
/// not the subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switching {
    /// E: from an exception to where the kernel reads the clock.
    pub entry: u32,
    /// X: from reading the clock to the next thread's first instruction, and what that thread loses to caches, TLBs and predictors.
    pub exit: u32,
    /// Y: a timer interrupt after which the same thread goes on.
    pub early: u32,
}

impl Switching {
    /// The largest of each that is accepted, so that no sum of them wraps: some 10 ms of 40 ns.
    pub const LONGEST: u32 = 1 << 18;

    /// E + X: one path that ends in a switch.
    #[inline(always)]
    pub const fn path(self) -> u32 {
        self.entry + self.exit
    }

    /// A: what it takes to wake a thread, to switch to it and away from it, and to resume twice what it preempts.
    #[inline(always)]
    pub const fn activation(self) -> u32 {
        2 * self.yielding()
    }

    /// Half of that: to switch to another thread that is ready, and back at some time.
    #[inline(always)]
    pub const fn yielding(self) -> u32 {
        self.path() + self.early
    }
}
