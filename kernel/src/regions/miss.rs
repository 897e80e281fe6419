//! Misses: an access that no register permits, and a paged region of the domain does.

use abi::trace::{Event, header};
use protect::regions::Registers;
use protect::regions::slots::Miss;
use units::VirtAddr;

use super::{RegionArch, Regs};
use crate::kernel::Kernel;
use crate::objects::Thread;
use crate::regions::Regions;
use crate::table::Ref;

/// Resolution of a memory-protection fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// A paged region was loaded: perform the access again.
    Retry,
    /// The same, after [`Kernel::on_counted`].
    Counted,
    /// The access is not allowed.
    Denied,
}

impl<A: RegionArch> Regions<A> {
    /// Answers a miss: the register to load. See [`protect::regions::slots::Slots::fill`].
    #[inline(always)]
    fn fill(&mut self, address: u32) -> Result<Regs<A>, Miss> {
        self.slots.fill(&mut self.trie, address)
    }

    /// Begins to count anew. Without a budget of misses the countdown is as long as it can be, so
    /// that the miss path needs one test for both cases.
    fn count_again(&mut self) {
        self.countdown = if self.counts_misses { 1 } else { u32::MAX };
    }
}

impl<A: RegionArch<Protection = Regions<A>>> Kernel<A> {
    /// A data access at `address` was denied by the region registers: loads the paged region that holds it, if there is one
    /// that the domain may access.
    ///
    /// # Bound
    /// One look-up of bounded depth, one replacement, two register writes: O(1).
    #[inline(always)]
    pub fn on_miss(&mut self, VirtAddr(address): VirtAddr<u32>) -> Resolution {
        let running = self.top().domain;
        let regions = &mut self.domains.at_mut(running).protection;
        let Ok(region) = regions.fill(address) else { return Resolution::Denied };
        self.arch.load_slot(region);
        self.arch.trace(regions.header | region.slot() << 16, address);
        regions.countdown -= 1;
        if regions.countdown == 0 { Resolution::Counted } else { Resolution::Retry }
    }

    /// A miss that somebody counts: in a domain some of whose threads have a budget of misses, every one; in others once in
    /// 2^32. A thread that has used its budget up waits for the replenishment, and then performs the access again. Misses inside
    /// of gates are not counted: the gate's bound covers them.
    ///
    /// # Bound
    /// O(1) and one [`Kernel::dispatch`].
    pub fn on_counted(&mut self) {
        let running = self.top().domain;
        self.domains.at_mut(running).protection.count_again();
        let activation = self.top();
        if let (Some(thread), None) = (activation.thread, activation.outer) {
            self.pay_miss(thread);
        }
        self.dispatch();
    }

    /// Takes a miss from the budget of the running thread. If none is left, the budget is brought
    /// up to date before the thread waits: a boundary that has passed has granted misses anew.
    fn pay_miss(&mut self, thread: Ref<Thread<A>>) {
        let index = self.threads.at(thread).budget;
        let budget = self.budgets.at_mut(index);
        if budget.misses == 0 {
            return;
        }
        budget.misses_left = budget.misses_left.saturating_sub(1);
        if budget.misses_left > 0 {
            return;
        }
        let now = self.now();
        self.replenish_any(index, now);
        if self.budgets.at(index).misses_left == 0 {
            let number = self.budgets.index_of(index) as u16;
            self.arch.trace(header(Event::BudgetOut, self.top().domain_number(), number), 0);
            self.wait_for_boundary(thread, now);
        }
    }
}
