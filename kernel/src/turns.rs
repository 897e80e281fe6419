//! Threads that wait for their budget: docs/time.md, rules (c) and (e). A boundary makes the most important of them ready, and each thread of the
//! budget that blocks afterwards hands on to the next. So a boundary takes one entry of the timer, however many wait, and no path grows with their number.

use abi::trace::{Event, header};

use crate::arch::Arch;
use crate::kernel::Kernel;
use crate::objects::{Budget, State, Thread};
use crate::queue::Wake;
use crate::ranks::Turn;
use crate::table::Ref;

impl<A: Arch> Kernel<A> {
    /// Takes a thread out of the ready queue that does not wait for its budget. If others wait for
    /// a turn on that budget, the next becomes ready now: a boundary wakes only one, so each that
    /// blocks must hand on.
    #[inline(always)]
    pub(crate) fn leave_queue(&mut self, thread: Ref<Thread<A>>) {
        self.ready.remove(&mut self.threads, thread);
        let budget = self.threads.at(thread).budget;
        if self.budgets.at(budget).turn == Turn::Next {
            self.hand_on(budget);
        }
    }

    /// The first of the threads that wait for a budget becomes ready. A boundary has passed since it began to wait.
    #[cold]
    #[inline(never)]
    fn hand_on(&mut self, index: Ref<Budget>) {
        let budget = self.budgets.at_mut(index);
        let first = budget.waiters.first(&self.ranks);
        first.into_iter().for_each(|rank| budget.waiters.remove(rank));
        budget.turn = if budget.waiters.is_empty() { Turn::Nobody } else { Turn::Next };
        if let Some(rank) = first {
            self.make_ready(self.ranks.thread(rank));
        }
    }

    /// A thread yields. An equal that waits for its turn on the budget becomes ready first, because
    /// the yield finds only threads that are ready.
    #[cold]
    #[inline(never)]
    pub(crate) fn invite(&mut self, thread: Ref<Thread<A>>) {
        let Thread { rank, budget, .. } = *self.threads.at(thread);
        let first = self.budgets.at_mut(budget).waiters.first(&self.ranks);
        if first.is_some_and(|first| !self.ranks.differ(first.min(rank), first.max(rank))) {
            self.hand_on(budget);
        }
    }

    /// Returns true if a ready thread's budget has something left, after the boundaries that have
    /// passed. Otherwise the thread leaves the ready queue and waits for the next boundary.
    #[cold]
    pub(crate) fn can_pay(&mut self, thread: Ref<Thread<A>>, budget: Ref<Budget>, now: u64) -> bool {
        self.replenish(budget, now);
        if self.budgets.at(budget).time.left() > 0 {
            return true;
        }
        let activation = self.threads.at(thread).base;
        let domain = self.activations.at(activation).domain_number();
        let number = self.budgets.index_of(budget) as u16;
        self.arch.trace(header(Event::BudgetOut, domain, number), 0);
        // The thread that ran will be switched away from once more, so it pays for half an
        // activation. At the others the kernel has only looked.
        let own = if self.running() == Some(thread) { self.yielding } else { self.early };
        let price = own + self.price_of_turn(budget);
        self.ready.remove(&mut self.threads, thread);
        self.budgets.at_mut(budget).time.pay(price);
        self.line_up(thread);
        false
    }

    /// Lets the running thread wait for the next boundary of its budget, whatever is left. It pays
    /// for that now: the budget still has something, so the next period need not.
    #[cold]
    pub(crate) fn wait_for_boundary(&mut self, thread: Ref<Thread<A>>, now: u64) {
        self.pay(self.activation);
        self.charge_through(now);
        self.ready.remove(&mut self.threads, thread);
        self.line_up(thread);
    }

    /// Lets a thread wait whose sleep has ended on an empty budget. It has paid for being woken, so
    /// only the boundary is to be paid, by the budget.
    #[cold]
    pub(crate) fn await_refill(&mut self, thread: Ref<Thread<A>>) {
        let budget = self.threads.at(thread).budget;
        let price = self.price_of_turn(budget);
        self.budgets.at_mut(budget).time.pay(price);
        self.line_up(thread);
    }

    /// Returns the price of the timer for a budget's boundary, and of the switch that follows: 0 if
    /// the timer is set already, because the first thread that waits has paid for all.
    fn price_of_turn(&self, budget: Ref<Budget>) -> u32 {
        if self.budgets.at(budget).turn == Turn::Boundary { 0 } else { self.yielding }
    }

    /// Lets a thread that is in no queue wait for a boundary of its budget. Only the first that
    /// waits sets the timer, because a boundary is one entry however many threads wait.
    fn line_up(&mut self, thread: Ref<Thread<A>>) {
        let record = self.threads.at_mut(thread);
        record.state = State::Throttled;
        let (rank, index) = (record.rank, record.budget);
        let budget = self.budgets.at_mut(index);
        budget.waiters.add(rank);
        if budget.turn != Turn::Boundary {
            budget.turn = Turn::Boundary;
            self.set_turn(index);
        }
    }

    /// Sets the timer for the first boundary at which the budget will have something, as far as is
    /// known now. Earlier boundaries only pay debt, and a timer for each would come in vain.
    fn set_turn(&mut self, index: Ref<Budget>) {
        let budget = self.budgets.at(index);
        let (at, priority) = (budget.time.next_supply(), budget.priority);
        self.times.insert(at, priority, Wake::Budget(self.budgets.index_of(index) as u8));
        self.arm_before(at);
    }

    /// A boundary for which threads wait: the first of them becomes ready. If the budget has nothing yet, because of what was arranged or set
    /// aside since the timer was set, it pays for the next one, too.
    #[inline(never)]
    pub(crate) fn wake_throttled(&mut self, number: u8, now: u64) {
        let Some(index) = self.budgets.find(usize::from(number)) else { return };
        self.replenish(index, now);
        let budget = self.budgets.at_mut(index);
        if budget.time.left() > 0 {
            return self.hand_on(index);
        }
        budget.time.pay(self.yielding);
        self.set_turn(index);
    }

    /// Notes that a thread does not wait for its budget any more. If it was the last, the timer for
    /// the boundary goes, too: it would come in vain.
    pub(crate) fn forget_throttled(&mut self, thread: Ref<Thread<A>>) {
        let Thread { rank, budget, .. } = *self.threads.at(thread);
        let index = self.budgets.index_of(budget) as u8;
        let budget = self.budgets.at_mut(budget);
        budget.waiters.remove(rank);
        if budget.waiters.is_empty() {
            let (turn, priority) = (core::mem::replace(&mut budget.turn, Turn::Nobody), budget.priority);
            if turn == Turn::Boundary {
                self.times.remove(priority, Wake::Budget(index));
            }
        }
    }
}
