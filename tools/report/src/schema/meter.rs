//! Readings of the meters.

use record::Handled;
use serde::{Deserialize, Serialize};

/// How often something happened that must not, and when first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cases {
    /// How often.
    pub count: u64,
    /// Cycle of the first.
    pub first_at: Option<u64>,
}

impl Cases {
    /// One more.
    pub fn add(&mut self, at: u64) {
        self.count += 1;
        self.first_at.get_or_insert(at);
    }
}

/// Cycles that a thread used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadUse {
    /// Its code in its own domain.
    pub user_cycles: u64,
    /// Code of gates that it called.
    pub gate_cycles: u64,
    /// The kernel, for its calls and faults after which it went on.
    pub call_cycles: u64,
    /// Switches that it arranged: the kernel's work, and code of whoever went on behind it in time that is paid with them.
    pub activation_cycles: u64,
    /// Its code in time that switches have paid for (docs/time.md, rule b); it is not in the figures above.
    pub given_cycles: u64,
}

/// Cycles that a domain used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainUse {
    /// Its code, whichever thread ran it.
    pub user_cycles: u64,
    /// The kernel, for calls and faults of that code.
    pub call_cycles: u64,
    /// The kernel, for switches that its threads arranged.
    pub activation_cycles: u64,
    /// Its handlers that interrupts reach without the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handlers: Option<HandlersUse>,
    /// Their time, as it was given and used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handlers_budget: Option<HandlersBudget>,
}

/// Use of a domain's handlers that interrupts reach without the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandlersUse {
    /// Times that one ran, those that it was interrupted by included in it.
    pub count: u64,
    /// Cycles, with the entry and without the return, and without looks above it.
    pub cycles: u64,
    /// Longest time.
    pub max_cycles: u64,
}

/// Time that a domain's handlers were given and used. Periods are those of the grid that begins with the kernel's clock; what a handler uses counts in the
/// period in which it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandlersBudget {
    /// Cycles from one point at which the capacity is full again to the next.
    pub period_cycles: u64,
    /// Cycles that may be used in a period.
    pub capacity_cycles: u64,
    /// Cycles by which it can be exceeded before they are ended.
    #[serde(default)]
    pub tolerance_cycles: u64,
    /// Most cycles used in one.
    pub max_used_cycles: u64,
    /// Cycle at which that one began.
    pub max_used_at: u64,
    /// Periods in which more was used than given and tolerated.
    pub overdrawn: Cases,
    /// Most cycles by which it was.
    pub max_overdrawn_cycles: u64,
    /// Times that the kernel ended them because they had used up their time.
    #[serde(default)]
    pub cut_off: Cases,
}

/// Cycles of jobs in their thread's own domain: its code and the kernel's work for its calls, without gates and misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobUse {
    /// Most cycles that a completed job took.
    pub max_cycles: u64,
    /// Part of them that may be reloading after others had run.
    pub reload_cycles: u64,
    /// Cycle of its completion.
    pub max_at: u64,
    /// Jobs that took longer than declared.
    pub exceeded: Cases,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<LongJob>,
    /// The one that took longest beyond what was declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<LongJob>,
}

/// A job that took longer than declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongJob {
    /// Cycle of its release.
    pub released_at: u64,
    /// Cycles that it took.
    pub cycles: u64,
    /// Part of them that may be reloading after others had run, and is tolerated.
    pub reload_cycles: u64,
    /// Times that it went on after others had run.
    #[serde(default)]
    pub resumed: u64,
}

/// A window of time against what a budget supplies in one of its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupplyWindow {
    /// First cycle.
    pub from: u64,
    /// First cycle behind it.
    pub to: u64,
    /// Cycles that were used in it.
    pub used_cycles: u64,
    /// `ceil((to - from + period - capacity) / period) * capacity`.
    pub bound_cycles: u64,
}

impl SupplyWindow {
    /// By how much the use exceeds the bound; negative when it does not.
    pub fn excess(&self) -> i128 {
        i128::from(self.used_cycles) - i128::from(self.bound_cycles)
    }
}

/// By how much the use of a budget may exceed its supply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tolerance {
    /// The sum of the parts.
    pub cycles: u64,
    /// The largest sum that a run may have; absent when the board's file bounds no path.
    pub limit_cycles: Option<u64>,
    /// G: by how much the timer can be late.
    pub timer_cycles: u64,
    /// The longest stretch of the run until a thread went on.
    pub path_cycles: u64,
    /// By how much the emulator's clock can be late.
    pub quantum_cycles: u64,
    /// One tick: the part of a tick at a boundary.
    pub clock_cycles: u64,
    /// A for each thread: what was paid before and happens now, and debt.
    pub activation_cycles: u64,
}

/// Work of the kernel in one exception, or in one system call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelUse {
    /// Number of the exception; 0: start and idling.
    pub exception: u16,
    /// Number of the system call.
    pub call: Option<u8>,
    /// How often the same thread went on.
    pub stayed: u64,
    /// Cycles of these.
    pub stayed_cycles: u64,
    /// How often it ended in a switch.
    pub switched: u64,
    /// Cycles of these.
    pub switched_cycles: u64,
    /// The longest.
    pub max_cycles: u64,
}

impl KernelUse {
    /// None yet.
    pub fn of(handled: Handled) -> KernelUse {
        KernelUse { exception: handled.exception, call: handled.call, ..KernelUse::default() }
    }

    /// One more.
    pub fn add(&mut self, cycles: u64, switched: bool) {
        let (count, sum) = match switched {
            true => (&mut self.switched, &mut self.switched_cycles),
            false => (&mut self.stayed, &mut self.stayed_cycles),
        };
        *count += 1;
        *sum += cycles;
        self.max_cycles = self.max_cycles.max(cycles);
    }
}

/// A stretch that ran elsewhere than the kernel said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mismatch {
    /// When it began.
    pub at: u64,
    /// The thread that ran, as the kernel's records say; absent: nobody.
    pub thread: Option<u16>,
    /// The domain that it was in.
    pub domain: Option<u8>,
    /// The domain whose code or address space it was.
    pub seen_domain: Option<u8>,
    /// The thread on whose stack it ran.
    pub seen_stack_of: Option<u16>,
}

/// Entries of the kernel for one exception, or one system call, that no account pays for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unpaid {
    /// Number of the exception; 0: start and idling.
    pub exception: u16,
    /// Number of the system call.
    pub call: Option<u8>,
    /// Its name.
    pub name: String,
    /// How many.
    pub count: u64,
    /// Cycles of all together.
    pub cycles: u64,
    /// The longest.
    pub max_cycles: u64,
}
