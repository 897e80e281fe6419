//! Threads that wait for their budget: docs/time.md, rules (c) and (e). A boundary makes the most important of them ready, and each thread of the
//! budget that blocks afterwards hands on to the next. So a boundary takes one entry of the timer, however many wait, and no path grows with their number.

use abi::trace::{Event, header};

use crate::arch::Arch;
use crate::kernel::Kernel;
use crate::objects::{Budget, State, Thread};
use crate::queue::{MAX_THREADS, Wake, bit, upto};
use crate::table::Ref;

/// What the threads that wait for a budget wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// None waits.
    Nobody,
    /// A boundary, for which the timer is set.
    Boundary,
    /// That a thread of the budget blocks: a boundary has passed, and one of them goes on.
    Next,
}

/// All threads by rank, the most important first, those of one priority in the order of their numbers.
#[derive(Clone, Copy, Debug)]
pub struct Ranks {
    threads: [u8; MAX_THREADS],
    /// Bit 31 - r is set when the priority of rank r is not that of the rank before.
    levels: u32,
}

impl Ranks {
    /// Ranks of so many threads.
    ///
    /// # Time complexity
    /// O(threads squared); once, at boot.
    pub(crate) fn new(count: usize, priority: impl Fn(usize) -> u8) -> Ranks {
        let mut ranks = Ranks { threads: [0; MAX_THREADS], levels: 0 };
        for thread in 0..count {
            let own = priority(thread);
            let rank = (0..count).filter(|other| (priority(*other), *other) < (own, thread)).count();
            ranks.threads[rank] = thread as u8;
            if (0..thread).all(|earlier| priority(earlier) != own) {
                ranks.levels |= bit(rank);
            }
        }
        ranks
    }

    /// The thread of a rank.
    #[inline]
    pub(crate) const fn thread(&self, rank: u8) -> u8 {
        self.threads[rank as usize % MAX_THREADS]
    }

    /// The ranks of a priority from one on, and those before.
    #[inline]
    const fn level_of(&self, rank: u8) -> u32 {
        let next = (self.levels & !upto(rank)).leading_zeros() as u8;
        upto(next - 1)
    }

    /// Whether two ranks, of which the first is no later, have different priorities.
    #[inline]
    const fn differ(&self, rank: u8, later: u8) -> bool {
        self.levels & upto(later) & !upto(rank) != 0
    }
}

/// Threads that wait for one budget, by rank.
#[derive(Clone, Copy, Debug)]
pub struct Waiters {
    /// Those who are before equals in the other set: bit 31 - r for rank r.
    older: u32,
    /// Those who have come since the other set last had nobody of their priority.
    newer: u32,
}

impl Waiters {
    /// Nobody.
    pub(crate) const NONE: Waiters = Waiters { older: 0, newer: 0 };

    const fn add(&mut self, rank: u8) {
        self.newer |= bit(rank as usize);
    }

    const fn remove(&mut self, rank: u8) {
        self.older &= !bit(rank as usize);
        self.newer &= !bit(rank as usize);
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.older | self.newer == 0
    }

    /// Rank of the most important. Of equals, those who have had a turn wait until each of the others has had one.
    const fn first(&mut self, ranks: &Ranks) -> Option<u8> {
        let (older, newer) = (self.older.leading_zeros() as u8, self.newer.leading_zeros() as u8);
        if newer < older && (self.older == 0 || ranks.differ(newer, older)) {
            // None of its equals has waited for longer: it is their turn again.
            let equals = self.newer & ranks.level_of(newer);
            self.older |= equals;
            self.newer &= !equals;
            return Some(newer);
        }
        if self.older == 0 { None } else { Some(older) }
    }

    /// Whether a rank is among them, for tests.
    #[cfg(any(test, feature = "simulation"))]
    pub(crate) const fn has(&self, rank: u8) -> bool {
        (self.older | self.newer) & bit(rank as usize) != 0
    }
}

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
