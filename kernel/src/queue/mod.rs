//! The ready queues and the times, by priority.

use crate::arch::Arch;
use crate::objects::Thread;
use crate::ranks::{bit, upto};
use crate::table::{Ref, Table};

/// Priorities, 0 the most important.
const PRIORITIES: usize = 32;
/// Priorities of a group.
const GROUP: usize = 8;
const GROUPS: usize = PRIORITIES / GROUP;

/// First-in first-out queues of ready threads, one per priority, as rings: every operation is O(1).
pub struct Ready<A: Arch> {
    /// Bit 31 - p is set when the queue of priority p is not empty, so that leading zeros find the most important.
    occupied: u32,
    /// The first thread of each queue. The last entry is that of no priority, because the leading
    /// zeros of 0 are 32: so the first thread is found without a branch.
    head: [Option<Ref<Thread<A>>>; PRIORITIES + 1],
}

impl<A: Arch> Ready<A> {
    pub(crate) const fn new() -> Self {
        Ready { occupied: 0, head: [None; PRIORITIES + 1] }
    }

    /// The first thread of the most important non-empty queue.
    #[inline(always)]
    pub(crate) fn first(&self) -> Option<Ref<Thread<A>>> {
        self.head[self.occupied.leading_zeros() as usize]
    }

    /// Adds a thread behind its equals. It must be in no queue.
    #[inline(always)]
    pub(crate) fn push_back(&mut self, threads: &mut Table<Thread<A>>, thread: Ref<Thread<A>>, priority: u8) {
        let queue = usize::from(priority & 31);
        let record = threads.at_mut(thread);
        record.queue = priority & 31;
        let Some(head) = self.head[queue] else {
            record.next = thread;
            record.prev = thread;
            self.head[queue] = Some(thread);
            self.occupied |= bit(queue);
            return;
        };
        record.next = head;
        let first = threads.at_mut(head);
        let last = first.prev;
        first.prev = thread;
        threads.at_mut(last).next = thread;
        threads.at_mut(thread).prev = last;
    }

    /// Adds a thread before its equals. It must be in no queue.
    #[inline]
    pub(crate) fn push_front(&mut self, threads: &mut Table<Thread<A>>, thread: Ref<Thread<A>>, priority: u8) {
        self.push_back(threads, thread, priority);
        self.head[usize::from(priority & 31)] = Some(thread);
    }

    /// Moves the first thread of a queue behind its equals. In a ring that is one store.
    #[inline(always)]
    pub(crate) fn rotate(&mut self, threads: &Table<Thread<A>>, thread: Ref<Thread<A>>) {
        let record = threads.at(thread);
        self.head[usize::from(record.queue & 31)] = Some(record.next);
    }

    /// Takes a thread out of its queue. It must be in one.
    #[inline(always)]
    pub(crate) fn remove(&mut self, threads: &mut Table<Thread<A>>, thread: Ref<Thread<A>>) {
        let Thread { next, prev, queue, .. } = *threads.at(thread);
        let queue = usize::from(queue & 31);
        if next == thread {
            self.head[queue] = None;
            self.occupied &= !bit(queue);
            return;
        }
        threads.at_mut(prev).next = next;
        threads.at_mut(next).prev = prev;
        if self.head[queue] == Some(thread) {
            self.head[queue] = Some(next);
        }
    }
}

/// Event that happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// A thread's sleep or period ends.
    Thread(u8),
    /// A budget is replenished and threads wait for it.
    Budget(u8),
}

/// A time in the list of its priority.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    at: u64,
    next: Option<Ref<Entry>>,
}

impl Entry {
    pub(crate) const NONE: Entry = Entry { at: 0, next: None };
}

/// Times, by priority: a time of a less important thread waits until no more important thread is
/// ready (docs/time.md, rule (e)), so each priority has a list of its own.
pub struct Times {
    /// The earliest time of all, or `u64::MAX`: most timers that come need not look further.
    soonest: u64,
    /// The earliest time of each group of priorities. They are kept because a look at every list,
    /// with a thread on each priority, was a third of the longest masked path.
    groups: [u64; GROUPS],
    /// Bit 31 - p is set when there is a time of priority p, so that leading zeros find the most
    /// important.
    occupied: u32,
    /// The earliest entry of each priority, so that a timer looks at one entry for each.
    head: [Option<Ref<Entry>>; PRIORITIES],
    /// The time of each thread, then of each budget, linked to the next of its priority that is not
    /// earlier. Each has one at most, so inserting needs no memory.
    entries: Table<Entry>,
    threads: u8,
}

/// The bits of a group of priorities; none of a group that is not there.
const fn members(group: usize) -> u32 {
    let first = u32::MAX << (PRIORITIES - GROUP);
    if group < GROUPS { first >> (group * GROUP) } else { 0 }
}

impl Times {
    /// No times of so many threads, and of as many budgets as there are entries left.
    pub(crate) const fn new(entries: Table<Entry>, threads: u8) -> Times {
        Times { soonest: u64::MAX, groups: [u64::MAX; GROUPS], occupied: 0, head: [None; PRIORITIES], entries, threads }
    }

    #[inline]
    fn entry(&self, wake: Wake) -> Option<Ref<Entry>> {
        self.entries.find(match wake {
            Wake::Thread(thread) => usize::from(thread),
            Wake::Budget(budget) => usize::from(self.threads) + usize::from(budget),
        })
    }

    #[inline]
    fn wake(&self, entry: Ref<Entry>) -> Wake {
        let index = self.entries.index_of(entry) as u8;
        if index < self.threads { Wake::Thread(index) } else { Wake::Budget(index - self.threads) }
    }

    /// The earliest time of any priority, or `u64::MAX`.
    #[inline(always)]
    pub const fn soonest(&self) -> u64 {
        self.soonest
    }

    /// The earliest time of a priority or a more important one, or `u64::MAX`.
    ///
    /// # Time complexity
    /// O(groups, and priorities of one group).
    #[inline(never)]
    pub fn earliest(&self, priority: u8) -> u64 {
        let whole = usize::from((priority & 31) + 1) / GROUP;
        let rest = self.earliest_of(self.occupied & upto(priority) & members(whole));
        self.groups.iter().take(whole).fold(rest, |earliest, group| earliest.min(*group))
    }

    #[inline(never)]
    fn earliest_of(&self, mut open: u32) -> u64 {
        let mut earliest = u64::MAX;
        while open != 0 {
            let queue = open.leading_zeros() as usize & 31;
            open &= !bit(queue);
            if let Some(first) = self.head[queue] {
                earliest = earliest.min(self.entries.at(first).at);
            }
        }
        earliest
    }

    /// Adds an entry behind those of the same time. One that is there already must be removed before.
    ///
    /// # Time complexity
    /// O(earlier entries of the priority).
    #[inline(never)]
    pub fn insert(&mut self, at: u64, priority: u8, wake: Wake) {
        let Some(new) = self.entry(wake) else { return };
        let queue = usize::from(priority & 31);
        self.soonest = self.soonest.min(at);
        let group = &mut self.groups[(queue / GROUP) & (GROUPS - 1)];
        *group = (*group).min(at);
        let (mut before, mut next) = (None, self.head[queue]);
        while let Some(entry) = next
            && self.entries.at(entry).at <= at
        {
            before = next;
            next = self.entries.at(entry).next;
        }
        *self.entries.at_mut(new) = Entry { at, next };
        self.occupied |= bit(queue);
        self.link(queue, before, Some(new));
    }

    /// Takes the earliest of the most important entries that are due, down to a priority. It looks
    /// at each list and skips no group, because the code for that does not fit into the fast memory
    /// of the Cortex-M33.
    ///
    /// # Time complexity
    /// O(priorities that have times).
    #[inline(never)]
    pub fn take_due(&mut self, now: u64, priority: u8) -> Option<Wake> {
        let mut open = self.occupied & upto(priority);
        while open != 0 {
            let queue = open.leading_zeros() as usize & 31;
            open &= !bit(queue);
            let Some(first) = self.head[queue] else { continue };
            let Entry { at, next } = *self.entries.at(first);
            if at <= now {
                self.link(queue, None, next);
                self.renew(queue);
                return Some(self.wake(first));
            }
        }
        None
    }

    /// Looks for the earliest time of a list's group anew: the list has lost an entry.
    #[inline(never)]
    fn renew(&mut self, queue: usize) {
        let group = queue / GROUP;
        self.groups[group & (GROUPS - 1)] = self.earliest_of(self.occupied & members(group));
        self.soonest = self.earliest(u8::MAX);
    }

    /// Removes an entry of a priority if it is there.
    ///
    /// # Time complexity
    /// O(earlier entries of the priority).
    #[inline(never)]
    pub fn remove(&mut self, priority: u8, wake: Wake) {
        let queue = usize::from(priority & 31);
        let own = self.entry(wake);
        let (mut before, mut found) = (None, self.head[queue]);
        while let Some(entry) = found {
            let next = self.entries.at(entry).next;
            if found == own {
                self.link(queue, before, next);
                self.renew(queue);
                return;
            }
            before = found;
            found = next;
        }
    }

    /// Makes `next` follow an entry, or the list's head.
    #[inline(never)]
    fn link(&mut self, queue: usize, before: Option<Ref<Entry>>, next: Option<Ref<Entry>>) {
        if let Some(before) = before {
            self.entries.at_mut(before).next = next;
            return;
        }
        self.head[queue] = next;
        if next.is_none() {
            self.occupied &= !bit(queue);
        }
    }
}

#[cfg(any(test, feature = "simulation"))]
mod tests;
