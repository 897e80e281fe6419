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
    /// A thread that does not wait for its budget leaves the ready queue: another that does has its turn.
    #[inline(always)]
    pub(crate) fn leave_queue(&mut self, thread: Ref<Thread<A>>) {
        self.core.ready.remove(&mut self.threads, thread);
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

    /// A thread yields: an equal that waits for its turn is among those who may go on before it does.
    #[cold]
    #[inline(never)]
    pub(crate) fn invite(&mut self, thread: Ref<Thread<A>>) {
        let Thread { rank, budget, .. } = *self.threads.at(thread);
        let first = self.budgets.at_mut(budget).waiters.first(&self.ranks);
        if first.is_some_and(|first| !self.ranks.differ(first.min(rank), first.max(rank))) {
            self.hand_on(budget);
        }
    }

    /// Whether a ready thread's budget has something left, after the boundaries that have passed. If not, the thread waits for the
    /// next one.
    #[cold]
    pub(crate) fn can_pay(&mut self, thread: Ref<Thread<A>>, budget: Ref<Budget>, now: u64) -> bool {
        self.refill(budget, now);
        if self.budgets.at(budget).time.left() > 0 {
            return true;
        }
        let activation = self.threads.at(thread).base;
        let domain = self.activations.at(activation).domain_number();
        let number = self.budgets.index_of(budget) as u16;
        self.core.arch.trace(header(Event::BudgetOut, domain, number), 0);
        // The thread that ran will be switched away from once more. For the others the kernel has only looked.
        let own = if self.running() == Some(thread) { self.yielding } else { self.early };
        let price = own + self.price_of_turn(budget);
        self.core.ready.remove(&mut self.threads, thread);
        self.budgets.at_mut(budget).time.pay(price);
        self.line_up(thread);
        false
    }

    /// The running thread waits for the next boundary of its budget, whatever is left, and pays for that out of it.
    #[cold]
    pub(crate) fn wait_for_boundary(&mut self, thread: Ref<Thread<A>>, now: u64) {
        self.pay(self.activation);
        self.bring_up(now);
        self.core.ready.remove(&mut self.threads, thread);
        self.line_up(thread);
    }

    /// A thread whose sleep has ended finds its budget empty. It has paid for being woken, the budget pays for the boundary.
    #[cold]
    pub(crate) fn await_refill(&mut self, thread: Ref<Thread<A>>) {
        let budget = self.threads.at(thread).budget;
        let price = self.price_of_turn(budget);
        self.budgets.at_mut(budget).time.pay(price);
        self.line_up(thread);
    }

    /// Price of the timer for the boundary of a budget, if it is yet to be set: of the switch to who goes on then.
    fn price_of_turn(&self, budget: Ref<Budget>) -> u32 {
        if self.budgets.at(budget).turn == Turn::Boundary { 0 } else { self.yielding }
    }

    /// A thread that is in no queue waits for a boundary of its budget.
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

    /// Sets the timer for the boundary at which a budget has something again, as far as is known now.
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
        self.refill(index, now);
        let budget = self.budgets.at_mut(index);
        if budget.time.left() > 0 {
            return self.hand_on(index);
        }
        budget.time.pay(self.yielding);
        self.set_turn(index);
    }

    /// A thread does not wait for its budget any more.
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
