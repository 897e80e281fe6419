//! Costs of kernel and board.

use crate::switching::Switching;

/// Costs that kernel and board add, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// E, X, Y and A.
    pub switching: Switching,
    /// M: the longest path with interrupts masked.
    pub masked: u64,
    /// G: by how much a timer can be late.
    pub late: u64,
    /// One paged-region miss.
    pub miss: u64,
    /// Half a second, at which the kernel looks at its clock; 0 if it never does.
    pub look: u64,
}

impl Costs {
    /// A: one activation.
    pub const fn activation(&self) -> u64 {
        self.switching.activation() as u64
    }

    /// Path that is under way when a thread is released, and runs to its end first: a masked path,
    /// or a switch to somebody as urgent with what that thread must reload.
    pub const fn under_way(&self) -> u64 {
        let path = self.switching.path() as u64;
        if self.masked > path { self.masked } else { path }
    }

    /// G + M: by how much a thread's use can exceed what its budget or its reservation had left. The timer that ends it is late, or fires
    /// within a call of the thread, whose path runs to its end first.
    pub const fn overrun(&self) -> u64 {
        self.late.saturating_add(self.masked)
    }

    /// Returns how often the kernel looks at its clock within a window: each look interrupts the
    /// thread.
    pub(super) const fn looks(&self, window: u64) -> u64 {
        if self.look == 0 { 0 } else { window.div_ceil(self.look) }
    }

    /// G + M, and the price of the last call or fault, which arranges activations of others: by how much a budget can be overdrawn.
    pub const fn overdraft(&self, arranges: u64) -> u64 {
        self.overrun().saturating_add(self.activation().saturating_mul(arranges))
    }

    /// G + M + A: what a callee that exceeds its bound costs its caller, until a supervisor knows (rule (f)).
    pub const fn slack(&self) -> u64 {
        self.overrun().saturating_add(self.activation())
    }
}
