//! Contents of the queues, for tests that check them, here and in a simulation.

use std::vec::Vec;

use super::{GROUP, PRIORITIES, Ready, Times, Wake};
use crate::arch::Arch;
use crate::objects::Thread;
use crate::ranks::{MAX_THREADS, bit};
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
    /// Every entry with its priority, the earliest of each priority first.
    pub fn listed(&self) -> Vec<(u8, u64, Wake)> {
        let mut listed = Vec::new();
        for queue in 0..32 {
            let mut next = self.head[queue];
            assert_eq!(next.is_some(), self.occupied & bit(queue) != 0, "times of {queue} and their bit differ");
            while let Some(found) = next {
                let entry = self.entries.at(found);
                listed.push((queue as u8, entry.at, self.wake(found)));
                assert!(listed.len() <= self.entries.len(), "a list of times does not end");
                next = entry.next;
            }
        }
        let earliest = |of: &dyn Fn(u8) -> bool| {
            let times = listed.iter().filter(|(priority, ..)| of(*priority)).map(|(_, at, _)| *at);
            times.min().unwrap_or(u64::MAX)
        };
        assert_eq!(self.soonest, earliest(&|_| true));
        for (group, at) in self.groups.iter().enumerate() {
            assert_eq!(*at, earliest(&|priority| usize::from(priority) / GROUP == group), "group {group}");
        }
        for last in 0..PRIORITIES as u8 {
            assert_eq!(self.earliest(last), earliest(&|priority| priority <= last), "down to {last}");
        }
        listed
    }
}
