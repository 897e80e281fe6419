//! What must hold after every kernel entry, whatever the domains did.

use std::collections::BTreeSet;
use std::vec::Vec;

use abi::Kind;
use abi::trace::{Event, IDLE};

use super::sim::Sim;
use crate::objects::{Cap, State};
use crate::queue::{NONE, Wake};
use crate::{Kernel, NOBODY};

/// Most trace records that one kernel entry of the tested system may write: it stands for the bound on its loops.
const MOST_RECORDS: usize = 200;

/// Watches a kernel from entry to entry.
pub struct Watch {
    /// Ticks that each budget paid for.
    used: Vec<i64>,
    /// Replenishments of each budget.
    granted: Vec<i64>,
    caps: Vec<Vec<Cap>>,
    initial: Vec<Vec<Cap>>,
    /// The longest gate bound.
    bound: i64,
    started: u64,
}

impl Watch {
    /// Starts watching a kernel that has just started.
    pub fn new(kernel: &Kernel<Sim>) -> Watch {
        let caps: Vec<Vec<Cap>> = kernel.domains.iter().map(|domain| domain.caps.to_vec()).collect();
        Watch {
            used: vec![0; kernel.budgets.len()],
            granted: vec![0; kernel.budgets.len()],
            initial: caps.clone(),
            caps,
            bound: kernel.gates.iter().map(|gate| i64::from(gate.bound)).max().unwrap_or(0),
            started: kernel.arch.now,
        }
    }

    /// Time passes while whoever is current runs.
    pub fn passes(&mut self, kernel: &mut Kernel<Sim>, ticks: u64) {
        let end = kernel.arch.now + ticks;
        while let Some(at) = kernel.arch.timer.filter(|at| *at <= end) {
            self.spend(kernel, at.saturating_sub(kernel.arch.now));
            kernel.arch.timer = None;
            kernel.on_timer();
            self.check(kernel, NOBODY);
        }
        self.spend(kernel, end - kernel.arch.now);
    }

    fn spend(&mut self, kernel: &mut Kernel<Sim>, ticks: u64) {
        kernel.arch.now += ticks;
        if let Some(thread) = kernel.threads.get(usize::from(kernel.current)) {
            self.used[usize::from(thread.budget)] += ticks as i64;
        }
    }

    /// Checks everything. `caller` is the domain that ran before, whose capabilities may have spread, or [`NOBODY`].
    pub fn check(&mut self, kernel: &mut Kernel<Sim>, caller: u8) {
        let records = kernel.arch.trace.len();
        assert!(records <= MOST_RECORDS, "{records} records in one entry");
        self.queues(kernel);
        waiting(kernel);
        running(kernel);
        gates(kernel);
        timer(kernel);
        self.money(kernel);
        self.authority(kernel, caller);
        kernel.arch.trace.clear();
    }

    fn queues(&self, kernel: &Kernel<Sim>) {
        let mut expected: BTreeSet<(u8, u8)> = BTreeSet::new();
        for (index, thread) in kernel.threads.iter().enumerate() {
            if thread.state == State::Ready {
                // The running thread moves to the queue of its gate's ceiling only when somebody else is to run.
                let late = index == usize::from(kernel.current) && thread.depth > 0;
                let queue = if late { kernel.ready.queue_of(index as u8) } else { thread.level().priority };
                assert!(queue >= thread.level().priority, "thread {index} is queued above its priority");
                expected.insert((index as u8, queue));
            }
        }
        let listed = kernel.ready.listed();
        let found: BTreeSet<(u8, u8)> = listed.iter().copied().collect();
        assert_eq!(found.len(), listed.len(), "a thread is queued twice: {listed:?}");
        assert_eq!(found, expected, "ready queues");

        let times = kernel.times.listed();
        assert!(times.is_sorted_by(|one, other| one.0 >= other.0), "times are not sorted: {times:?}");
        let entries: Vec<Wake> = times.iter().map(|entry| entry.1).collect();
        for (index, thread) in kernel.threads.iter().enumerate() {
            let count = entries.iter().filter(|wake| **wake == Wake::Thread(index as u8)).count();
            assert_eq!(count, usize::from(thread.state == State::Sleeping), "thread {index} in the time queue");
        }
        for (index, budget) in kernel.budgets.iter().enumerate() {
            let count = entries.iter().filter(|wake| **wake == Wake::Budget(index as u8)).count();
            assert_eq!(count, usize::from(budget.waiting != NONE), "budget {index} in the time queue");
        }
    }

    fn money(&mut self, kernel: &Kernel<Sim>) {
        for (head, payload) in &kernel.arch.trace {
            if *head as u8 == Event::Replenish as u8 {
                let budget = (*head >> 16) as usize;
                assert_eq!(*payload, kernel.budgets[budget].capacity as u32);
                self.granted[budget] += 1;
            }
        }
        let slack = self.bound + kernel.arch.shortest as i64;
        for (index, budget) in kernel.budgets.iter().enumerate() {
            let capacity = i64::from(budget.capacity);
            let pending = match kernel.threads.get(usize::from(kernel.current)) {
                Some(thread) if usize::from(thread.budget) == index => elapsed(kernel),
                _ => 0,
            };
            let left = i64::from(budget.left) - pending;
            assert!(left >= -slack && left <= capacity, "budget {index} has {left} of {capacity}");
            let most = (self.granted[index] + 1) * capacity - left;
            assert!(self.used[index] <= most, "budget {index} paid {} of {most}", self.used[index]);
            let periods = (kernel.arch.now - self.started) / u64::from(budget.period);
            assert!(self.granted[index] <= periods as i64, "budget {index} was replenished too often");
        }
    }

    fn authority(&mut self, kernel: &Kernel<Sim>, caller: u8) {
        for (index, domain) in kernel.domains.iter().enumerate() {
            for (slot, cap) in domain.caps.iter().enumerate() {
                let before = self.caps[index][slot];
                let same = |other: &Cap| (other.kind, other.object) == (cap.kind, cap.object);
                if cap.kind == Kind::Empty || (same(&before) && cap.rights == before.rights) {
                    continue;
                }
                let covers = |other: &Cap| same(other) && other.badge == cap.badge && cap.rights & !other.rights == 0;
                let from = self.caps.get(usize::from(caller)).into_iter().flatten();
                let granted = from
                    .filter(|other| usize::from(caller) == index || other.rights & abi::rights::GRANT != 0)
                    .any(covers);
                assert!(granted || covers(&self.initial[index][slot]), "domain {index} slot {slot}: {cap:?}");
            }
            self.caps[index].copy_from_slice(domain.caps);
        }
    }
}

fn elapsed(kernel: &Kernel<Sim>) -> i64 {
    i64::from((kernel.arch.now as u32).wrapping_sub(kernel.since as u32))
}

/// Every thread that waits for a notification or a budget is where it will be found.
fn waiting(kernel: &Kernel<Sim>) {
    for (index, thread) in kernel.threads.iter().enumerate() {
        let alive = kernel.domain(thread.level().domain).epoch == thread.level().epoch;
        match thread.state {
            State::Waiting(word) if alive => {
                let word = kernel.notifications[usize::from(word)];
                assert_eq!(word.waiter, index as u8, "thread {index} waits where nobody looks");
                assert_eq!(word.bits & thread.mask, 0, "thread {index} sleeps on a set bit");
            }
            State::Throttled => {
                let mut link = kernel.budgets[usize::from(thread.budget)].waiting;
                let mut found = 0;
                for _ in 0..kernel.threads.len() {
                    found += u32::from(link == index as u8);
                    link = if link == NONE { NONE } else { kernel.thread(link).next_throttled };
                }
                assert_eq!((found, link), (1, NONE), "thread {index} in its budget's list");
            }
            _ => {}
        }
        assert!(thread.depth == 0 || thread.state == State::Ready, "thread {index} blocks inside a gate");
    }
}

fn running(kernel: &Kernel<Sim>) {
    assert_eq!(kernel.current, kernel.ready.first(), "the most important thread runs");
    let image = if kernel.current == NOBODY {
        assert_eq!(kernel.loaded, IDLE);
        &kernel.idle_image
    } else {
        let thread = kernel.thread(kernel.current);
        let level = thread.level();
        assert_eq!(kernel.loaded, level.domain, "the loaded domain");
        assert_eq!(kernel.domain(level.domain).epoch, level.epoch, "a dead activation runs");
        assert!(thread.pending.is_none(), "a result is kept back");
        kernel.domain(level.domain).slots.image()
    };
    assert!(image.words().eq(kernel.arch.loaded), "region registers");
}

fn gates(kernel: &Kernel<Sim>) {
    for (index, gate) in kernel.gates.iter().enumerate() {
        let mut inside = Vec::new();
        for (number, thread) in kernel.threads.iter().enumerate() {
            let outer = &thread.levels[1..usize::from(thread.depth).max(1)];
            let inner = (thread.depth > 0).then_some(thread.level());
            for level in outer.iter().chain(inner) {
                if usize::from(level.gate) == index {
                    assert_eq!((level.domain, level.priority), (gate.domain, gate.ceiling));
                    inside.push(number as u8);
                }
            }
        }
        assert!(inside.len() <= 1, "gate {index} holds {inside:?}");
        assert_eq!(gate.inside, inside.first().copied().unwrap_or(NONE), "gate {index}");
    }
}

/// The timer comes in time for whatever must happen next.
fn timer(kernel: &Kernel<Sim>) {
    let at = kernel.arch.timer.expect("the timer is armed");
    let soonest = kernel.arch.now + kernel.arch.shortest;
    assert!(at <= kernel.times.earliest().max(soonest), "a sleeper is forgotten");
    assert!(at <= (kernel.arch.now + u64::from(kernel.ticks_per_second)).max(soonest), "the clock may wrap unseen");
    if let Some(thread) = kernel.threads.get(usize::from(kernel.current)) {
        let left = if thread.depth > 0 { thread.level().left } else { kernel.budgets[usize::from(thread.budget)].left };
        let end = kernel.arch.now as i64 + i64::from(left) - elapsed(kernel);
        assert!(at as i64 <= end.max(soonest as i64), "the running thread's end is {end}, the timer comes at {at}");
    }
}
