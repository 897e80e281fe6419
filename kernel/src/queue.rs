//! Queues over thread numbers: the ready queues by priority, and the queue of times.

/// Most threads a kernel can have; sizes the links below and bounds every loop over threads.
pub const MAX_THREADS: usize = 32;
/// Most entries of the time queue: every thread and every budget at most once.
pub const MAX_TIMES: usize = 2 * MAX_THREADS;
/// "No thread" in links.
pub const NONE: u8 = 0xff;

/// Priorities, 0 the most important.
const PRIORITIES: usize = 32;

/// First-in first-out queues of ready threads, one per priority, as doubly linked lists: every operation is O(1).
pub struct Ready {
    /// Bit 31 - p is set when the queue of priority p is not empty, so that leading zeros find the most important.
    occupied: u32,
    /// The last entry is that of no priority: leading zeros of 0.
    head: [u8; PRIORITIES + 1],
    tail: [u8; PRIORITIES],
    next: [u8; MAX_THREADS],
    prev: [u8; MAX_THREADS],
    /// The queue in which a thread is; of one that is in none, the last.
    queue: [u8; MAX_THREADS],
}

impl Ready {
    /// Empty queues.
    pub const fn new() -> Ready {
        Ready {
            occupied: 0,
            head: [NONE; PRIORITIES + 1],
            tail: [NONE; PRIORITIES],
            next: [NONE; MAX_THREADS],
            prev: [NONE; MAX_THREADS],
            queue: [0; MAX_THREADS],
        }
    }

    /// The first thread of the most important non-empty queue, or [`NONE`].
    #[inline]
    pub fn first(&self) -> u8 {
        self.head[self.occupied.leading_zeros() as usize]
    }

    /// The queue of a thread that is in one.
    #[inline]
    pub fn queue_of(&self, thread: u8) -> u8 {
        self.queue[slot(thread)]
    }

    /// Adds a thread behind its equals. It must be in no queue.
    #[inline(always)]
    pub fn push_back(&mut self, thread: u8, priority: u8) {
        let queue = usize::from(priority & 31);
        self.queue[slot(thread)] = priority & 31;
        let tail = self.tail[queue];
        self.prev[slot(thread)] = tail;
        self.next[slot(thread)] = NONE;
        if tail == NONE {
            self.head[queue] = thread;
            self.occupied |= bit(queue);
        } else {
            self.next[slot(tail)] = thread;
        }
        self.tail[queue] = thread;
    }

    /// Adds a thread before its equals. It must be in no queue.
    #[inline]
    pub fn push_front(&mut self, thread: u8, priority: u8) {
        let queue = usize::from(priority & 31);
        self.queue[slot(thread)] = priority & 31;
        let head = self.head[queue];
        self.next[slot(thread)] = head;
        self.prev[slot(thread)] = NONE;
        if head == NONE {
            self.tail[queue] = thread;
            self.occupied |= bit(queue);
        } else {
            self.prev[slot(head)] = thread;
        }
        self.head[queue] = thread;
    }

    /// Moves the first thread of a queue behind its equals.
    #[inline]
    pub fn rotate(&mut self, thread: u8) {
        let next = self.next[slot(thread)];
        if next == NONE {
            return;
        }
        let queue = usize::from(self.queue[slot(thread)] & 31);
        let tail = self.tail[queue];
        self.head[queue] = next;
        self.prev[slot(next)] = NONE;
        self.next[slot(tail)] = thread;
        self.prev[slot(thread)] = tail;
        self.next[slot(thread)] = NONE;
        self.tail[queue] = thread;
    }

    /// Takes a thread out of its queue. It must be in one.
    #[inline]
    pub fn remove(&mut self, thread: u8) {
        let queue = usize::from(self.queue[slot(thread)] & 31);
        let (prev, next) = (self.prev[slot(thread)], self.next[slot(thread)]);
        if next == NONE {
            self.tail[queue] = prev;
        } else {
            self.prev[slot(next)] = prev;
        }
        if prev != NONE {
            self.next[slot(prev)] = next;
            return;
        }
        self.head[queue] = next;
        if next == NONE {
            self.occupied &= !bit(queue);
        }
    }
}

impl Default for Ready {
    fn default() -> Self {
        Ready::new()
    }
}

#[inline]
fn bit(queue: usize) -> u32 {
    0x8000_0000 >> queue
}

/// Thread numbers are below [`MAX_THREADS`]; the mask lets the compiler see it.
#[inline]
fn slot(thread: u8) -> usize {
    usize::from(thread) & (MAX_THREADS - 1)
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
#[cfg(test)]
mod inspect {
    use std::vec::Vec;

    use super::{MAX_THREADS, NONE, Ready, Times, Wake, bit, slot};

    impl Ready {
        /// Every queued thread with the priority of its queue, in the order in which they would run.
        pub fn listed(&self) -> Vec<(u8, u8)> {
            let mut listed = Vec::new();
            for queue in 0..32 {
                let mut thread = self.head[queue];
                assert_eq!(thread != NONE, self.occupied & bit(queue) != 0, "queue {queue} and its bit differ");
                let mut before = NONE;
                while thread != NONE {
                    assert_eq!(self.prev[slot(thread)], before, "links of thread {thread}");
                    listed.push((thread, queue as u8));
                    assert!(listed.len() <= MAX_THREADS, "a queue is circular");
                    before = thread;
                    thread = self.next[slot(thread)];
                }
                assert!(before == NONE || self.tail[queue] == before, "tail of queue {queue}");
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
