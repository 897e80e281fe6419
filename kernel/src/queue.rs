//! The ready queues by priority, and the queue of times.

use crate::arch::Arch;
use crate::objects::Thread;
use crate::table::{Ref, Table};

/// Most threads a kernel can have; sizes the links below and bounds every loop over threads.
pub const MAX_THREADS: usize = 32;
/// Most entries of the time queue: every thread and every budget at most once.
pub const MAX_TIMES: usize = 2 * MAX_THREADS;
/// "No thread" in links.
pub const NONE: u8 = 0xff;

/// Priorities, 0 the most important.
const PRIORITIES: usize = 32;

/// First-in first-out queues of ready threads, one per priority, as rings: every operation is O(1).
pub struct Ready<A: Arch> {
    /// Bit 31 - p is set when the queue of priority p is not empty, so that leading zeros find the most important.
    occupied: u32,
    /// The first thread of each queue. The last entry is that of no priority: leading zeros of 0.
    head: [Option<Ref<Thread<A>>>; PRIORITIES + 1],
}

impl<A: Arch> Ready<A> {
    /// Empty queues.
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

    /// Moves the first thread of a queue behind its equals.
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

#[inline]
fn bit(queue: usize) -> u32 {
    0x8000_0000 >> queue
}

/// What happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// A thread's sleep or period ends.
    Thread(u8),
    /// A budget is replenished and threads wait for it.
    Budget(u8),
}

/// Times in ascending order. Insertion and removal are O(entries), taking the earliest is O(1).
pub struct Times {
    /// Latest first, so that the earliest is at the end.
    entries: [(u64, Wake); MAX_TIMES],
    len: usize,
}

impl Times {
    /// An empty queue.
    pub const fn new() -> Times {
        Times { entries: [(0, Wake::Thread(0)); MAX_TIMES], len: 0 }
    }

    /// The earliest time, or `u64::MAX`.
    #[inline]
    pub fn earliest(&self) -> u64 {
        match self.len.checked_sub(1).and_then(|last| self.entries.get(last)) {
            Some((at, _)) => *at,
            None => u64::MAX,
        }
    }

    /// Adds an entry behind those of the same time. An entry may be in the queue only once, so that it never overflows.
    pub fn insert(&mut self, at: u64, wake: Wake) {
        debug_assert!(self.len < MAX_TIMES);
        let mut place = self.len.min(MAX_TIMES - 1);
        while place > 0 && self.entries[place - 1].0 <= at {
            self.entries[place] = self.entries[place - 1];
            place -= 1;
        }
        self.entries[place] = (at, wake);
        self.len = (self.len + 1).min(MAX_TIMES);
    }

    /// Takes the earliest entry if its time has come.
    #[inline]
    pub fn pop_due(&mut self, now: u64) -> Option<Wake> {
        let last = self.len.checked_sub(1)?;
        let (at, wake) = *self.entries.get(last)?;
        if at > now {
            return None;
        }
        self.len = last;
        Some(wake)
    }

    /// Removes an entry if it is there.
    pub fn remove(&mut self, wake: Wake) {
        let len = self.len.min(MAX_TIMES);
        if let Some(found) = self.entries[..len].iter().position(|entry| entry.1 == wake) {
            self.entries.copy_within(found + 1..len, found);
            self.len = len - 1;
        }
    }
}

impl Default for Times {
    fn default() -> Self {
        Times::new()
    }
}

/// What is in the queues, for tests that check it.
#[cfg(any(test, feature = "simulation"))]
mod inspect {
    use std::vec::Vec;

    use super::{MAX_THREADS, Ready, Times, Wake, bit};
    use crate::arch::Arch;
    use crate::objects::Thread;
    use crate::table::Table;

    impl<A: Arch> Ready<A> {
        /// Every queued thread with the priority of its queue, in the order in which they would run.
        pub fn listed(&self, threads: &Table<Thread<A>>) -> Vec<(u8, u8)> {
            let mut listed = Vec::new();
            for queue in 0..32 {
                let head = self.head[queue];
                assert_eq!(head.is_some(), self.occupied & bit(queue) != 0, "queue {queue} and its bit differ");
                let mut next = head;
                while let Some(thread) = next {
                    let record = threads.at(thread);
                    assert!(threads.at(record.next).prev == thread, "links of thread {}", record.number);
                    assert_eq!(usize::from(record.queue), queue, "thread {}", record.number);
                    listed.push((record.number, queue as u8));
                    assert!(listed.len() <= MAX_THREADS, "a queue does not close");
                    next = (Some(record.next) != head).then_some(record.next);
                }
            }
            listed
        }
    }

    impl Times {
        /// Every entry, the latest first.
        pub fn listed(&self) -> Vec<(u64, Wake)> {
            self.entries[..self.len].to_vec()
        }
    }
}
