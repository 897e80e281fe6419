//! Invariants after every kernel entry, whatever the domains did.

use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

use abi::Kind;
use abi::trace::Event;
use memory::frames::{FrameType, Purpose};

use units::{Instant, PhysAddr};

use super::sim::{Guard, Machine};
use crate::objects::{Cap, Domain, State, Thread};
use crate::queue::Wake;
use crate::ranks::Turn;
use crate::{Kernel, NOBODY};

/// Most trace records that one kernel entry of the tested system may write: it stands for the bound on its loops.
const MOST_RECORDS: usize = 200;

/// Watches a kernel from entry to entry.
pub struct Watch {
    /// Ticks that each budget paid for.
    used: Vec<i64>,
    granted: Vec<i64>,
    caps: Vec<Vec<Cap>>,
    initial: Vec<Vec<Cap>>,
    bound: i64,
    started: u64,
    turn: u32,
}

impl Watch {
    pub fn new<K: Guard>(kernel: &Kernel<Machine<K>>) -> Watch {
        let caps: Vec<Vec<Cap>> = kernel.domains.iter().map(|domain| domain.caps.to_vec()).collect();
        Watch {
            used: vec![0; kernel.budgets.len()],
            granted: vec![0; kernel.budgets.len()],
            initial: caps.clone(),
            caps,
            bound: kernel.activations.iter().map(|activation| i64::from(activation.bound)).max().unwrap_or(0),
            started: kernel.arch.now,
            turn: 0,
        }
    }

    /// Time passes while whoever is current runs.
    pub fn passes<K: Guard>(&mut self, kernel: &mut Kernel<Machine<K>>, ticks: u64) {
        let end = kernel.arch.now + ticks;
        while let Some(at) = kernel.arch.fires(end) {
            self.spend(kernel, at.saturating_sub(kernel.arch.now));
            kernel.on_timer();
            self.check(kernel, NOBODY);
        }
        self.spend(kernel, end - kernel.arch.now);
    }

    fn spend<K: Guard>(&mut self, kernel: &mut Kernel<Machine<K>>, ticks: u64) {
        kernel.arch.now += ticks;
        if let Some(thread) = kernel.threads.get(usize::from(kernel.current())) {
            self.used[kernel.budgets.index_of(thread.budget)] += ticks as i64;
        }
    }

    /// Checks everything. `caller` is the domain that ran before, whose capabilities may have spread, or [`NOBODY`].
    pub fn check<K: Guard>(&mut self, kernel: &mut Kernel<Machine<K>>, caller: u8) {
        let records = kernel.arch.trace.len();
        assert!(records <= MOST_RECORDS, "{records} records in one entry");
        self.queues(kernel);
        waiting(kernel);
        running(kernel);
        K::check(kernel);
        gates(kernel);
        timer(kernel);
        self.money(kernel);
        self.authority(kernel, caller);
        self.turn += 1;
        if self.turn.is_multiple_of(8) {
            memory(kernel);
        }
        kernel.arch.trace.clear();
    }

    fn queues<K: Guard>(&self, kernel: &Kernel<Machine<K>>) {
        let mut expected: BTreeSet<(u8, u8)> = BTreeSet::new();
        for (index, thread) in kernel.threads.iter().enumerate() {
            if thread.state == State::Ready {
                // The running thread stays in its queue while it is in a gate, and moves to that of
                // the ceiling only when another one is to run.
                let activation = kernel.activation(index as u8);
                let late = index == usize::from(kernel.current()) && activation.outer.is_some();
                let queue = if late { thread.queue } else { activation.priority };
                assert!(queue >= activation.priority, "thread {index} is queued above its priority");
                expected.insert((index as u8, queue));
            }
        }
        let listed = kernel.ready.listed(&kernel.threads);
        let found: BTreeSet<(u8, u8)> = listed.iter().copied().collect();
        assert_eq!(found.len(), listed.len(), "a thread is queued twice: {listed:?}");
        assert_eq!(found, expected, "ready queues");

        let times = kernel.times.listed();
        let ordered = |one: &(u8, u64, Wake), other: &(u8, u64, Wake)| (one.0, one.1) <= (other.0, other.1);
        assert!(times.is_sorted_by(ordered), "times are not sorted: {times:?}");
        let entries: Vec<Wake> = times.iter().map(|entry| entry.2).collect();
        for (index, thread) in kernel.threads.iter().enumerate() {
            let count = entries.iter().filter(|wake| **wake == Wake::Thread(index as u8)).count();
            assert_eq!(count, usize::from(thread.state == State::Sleeping), "thread {index} in the time queue");
        }
        for (index, budget) in kernel.budgets.iter().enumerate() {
            let count = entries.iter().filter(|wake| **wake == Wake::Budget(index as u8)).count();
            assert_eq!(count, usize::from(budget.turn == Turn::Boundary), "budget {index} in the time queue");
            assert_eq!(budget.turn == Turn::Nobody, budget.waiters.is_empty(), "who waits for budget {index}");
            let ready =
                |thread: &&Thread<_>| thread.state == State::Ready && kernel.budgets.index_of(thread.budget) == index;
            let goes_on = kernel.threads.iter().find(ready);
            assert!(budget.turn != Turn::Next || goes_on.is_some(), "nobody hands budget {index} on");
        }
    }

    fn money<K: Guard>(&mut self, kernel: &Kernel<Machine<K>>) {
        for (head, payload) in &kernel.arch.trace {
            if *head as u8 == Event::Replenish as u8 {
                assert_eq!(*payload, kernel.budgets[(*head >> 16) as usize].capacity());
            }
        }
        for (index, budget) in kernel.budgets.iter().enumerate() {
            // One replenishment can stand for several periods in which the kernel did not look; a
            // debt is paid by each of them.
            let (period, next) = (budget.time.params().period(), budget.time.next_replenishment());
            assert_eq!((next - self.started) % period, 0, "budget {index} has left its periods");
            self.granted[index] = ((next - self.started) / period) as i64 - 1;
        }
        let slack = self.bound + kernel.arch.shortest as i64;
        for (index, budget) in kernel.budgets.iter().enumerate() {
            let capacity = i64::from(budget.capacity());
            let left = i64::from(match kernel.running().map(|thread| kernel.threads.at(thread).budget) {
                Some(pays) if kernel.budgets.index_of(pays) == index => kernel.slice.left(Instant::of(kernel.arch.now)),
                _ => budget.time.left(),
            });
            assert!(left >= -slack && left <= capacity, "budget {index} has {left} of {capacity}");
            let most = (self.granted[index] + 1) * capacity - left;
            assert!(self.used[index] <= most, "budget {index} paid {} of {most}", self.used[index]);
            let periods = (kernel.arch.now - self.started) / budget.time.params().period();
            assert!(self.granted[index] <= periods as i64, "budget {index} was replenished too often");
        }
    }

    fn authority<K: Guard>(&mut self, kernel: &Kernel<Machine<K>>, caller: u8) {
        for (index, domain) in kernel.domains.iter().enumerate() {
            for (slot, cap) in domain.caps.iter().enumerate() {
                let before = self.caps[index][slot];
                let rights = cap.rights & !Cap::INITIAL;
                let same = |other: &Cap| other.is_to_same(cap);
                let current = |other: &Cap| other.generation == cap.generation;
                let revoker = usize::from(caller) == index && before.rights & abi::rights::GRANT != 0;
                let kept = same(&before) && rights == before.rights & !Cap::INITIAL;
                if cap.kind == Kind::Empty || (kept && (current(&before) || revoker)) {
                    continue;
                }
                let covers = |other: &Cap| same(other) && other.word == cap.word && rights & !other.rights == 0;
                let from = self.caps.get(usize::from(caller)).into_iter().flatten();
                let granted = from
                    .filter(|other| usize::from(caller) == index || other.rights & abi::rights::GRANT != 0)
                    .any(|other| covers(other) && current(other));
                let initial = &self.initial[index][slot];
                // A restart brings back what the domain began with, unless it was revoked.
                assert!(granted || (covers(initial) && current(initial)), "domain {index} slot {slot}: {cap:?}");
            }
            self.caps[index].copy_from_slice(domain.caps);
        }
    }
}

/// Every thread that waits for a notification or a budget is where it will be found.
fn waiting<K: Guard>(kernel: &Kernel<Machine<K>>) {
    for (index, thread) in kernel.threads.iter().enumerate() {
        let activation = kernel.activation(index as u8);
        let alive = kernel.domains.at(activation.domain).epoch == activation.epoch;
        match thread.state {
            State::Waiting(word) if alive => {
                let word = &kernel.notifications[usize::from(word)];
                assert!(word.waiter == kernel.threads.find(index), "thread {index} waits where nobody looks");
                assert_eq!(word.bits & thread.mask, 0, "thread {index} sleeps on a set bit");
            }
            State::Throttled => {
                let waits = kernel.budgets.at(thread.budget).waiters.has(thread.rank);
                assert!(waits, "thread {index} waits where its budget does not look");
            }
            _ => {}
        }
        assert!(activation.outer.is_none() || thread.state == State::Ready, "thread {index} blocks inside a gate");
    }
}

fn running<K: Guard>(kernel: &Kernel<Machine<K>>) {
    let rests = kernel.running().is_none() && kernel.recheck && kernel.arch.again;
    assert!(rests || kernel.running() == kernel.ready.first(), "the most important thread runs");
    if kernel.current() != NOBODY {
        let thread = kernel.thread(kernel.current());
        let activation = kernel.activation(kernel.current());
        assert_eq!(thread.top, thread.base, "of a running thread nothing else is stored");
        assert!(kernel.top().domain == activation.domain, "the running activation");
        assert_eq!(kernel.domains.at(activation.domain).epoch, activation.epoch, "a dead activation runs");
        assert!(thread.pending.is_none(), "a result is kept back");
    }
    let protection = &kernel.domains.at(kernel.top().domain).protection;
    assert!(
        kernel.arch.kind.is_loaded(protection),
        "what is in force is not what the running thread's domain may access"
    );
}

fn gates<K: Guard>(kernel: &Kernel<Machine<K>>) {
    let mut found = BTreeMap::new();
    for number in 0..kernel.threads.len() as u8 {
        let mut activation = kernel.activation(number);
        // A gate is entered once; a thread that were in one twice would go round for ever.
        for _ in 0..=abi::MAX_NESTING {
            let Some(outer) = activation.outer else { break };
            assert!(found.insert(activation.number, number).is_none(), "gate {} holds two", activation.number);
            assert_eq!((activation.who >> 16) as u8, number, "the record of gate {}", activation.number);
            activation = kernel.activations.at(outer);
        }
        assert!(activation.outer.is_none(), "thread {number} is nested too deeply");
        assert!(activation.thread == kernel.threads.find(usize::from(number)));
    }
    for gate in 0..kernel.activations.len() - kernel.threads.len() - 1 {
        let expected = found.get(&(gate as u32)).copied().unwrap_or(NOBODY);
        assert_eq!(kernel.inside(gate), expected, "gate {gate}");
    }
}

/// The frame table counts what domains may access, and nothing of it is the kernel's.
pub fn memory<K: Guard>(kernel: &Kernel<Machine<K>>) {
    for entry in kernel.frames.entries() {
        for address in [entry.range.base().0 as u32, (entry.range.end().0 - 1) as u32] {
            let uses = |domain: &Domain<Machine<K>>| K::uses(&domain.protection, address);
            let users: usize = kernel.domains.iter().map(uses).sum();
            let edit = kernel.edit.as_ref().is_some_and(|edit| edit.counts(PhysAddr(u64::from(address))));
            let expected = if entry.kind == FrameType::Typed(Purpose::Kernel) { 0 } else { usize::from(entry.uses) };
            let least = users + usize::from(edit && !K::PARTLY);
            assert!(least <= expected, "{address:#x} has {least} users: {entry:?}");
            // A frame of a demand area is its domain's, whether a page has it now or not.
            let on_demand = |area: &system::Area| {
                area.flags & system::area::DEMAND != 0 && address.wrapping_sub(area.physical) < area.bytes
            };
            let waits = kernel.tables.all::<system::Area>().any(|area| on_demand(&area));
            assert!(waits || users + usize::from(edit) >= expected, "{address:#x} has {users} users: {entry:?}");
        }
    }
    for range in kernel.ranges.iter().filter(|range| range.marks.most > 0) {
        let inside = |address: u64| range.base.wide().0 < address && address < range.base.plus(range.bytes).wide().0;
        if kernel.tables.all::<system::Area>().any(|area| inside(u64::from(area.physical) + 1)) {
            continue;
        }
        let marks = kernel.frames.entries().filter(|entry| inside(entry.range.base().0)).count() as i32;
        assert_eq!(range.marks.used, marks, "of {range:?}");
        assert!(marks <= range.marks.most + 2 * i32::from(kernel.edit.is_some()), "too many in {range:?}");
    }
    K::check_memory(kernel);
}

/// The timer comes in time for whatever must happen next.
fn timer<K: Guard>(kernel: &Kernel<Machine<K>>) {
    let at = kernel.arch.timer.expect("the timer is armed");
    let soonest = kernel.arch.now + kernel.arch.shortest;
    let sleeper = kernel.times.earliest(kernel.top().priority);
    assert!(at <= sleeper.max(soonest) || kernel.arch.again, "a sleeper is forgotten");
    let anybody = kernel.times.earliest(u8::MAX);
    assert!(
        at <= anybody.max(soonest) || kernel.alarm.deferred || kernel.arch.again,
        "a less important sleeper is forgotten"
    );
    assert!(at <= (kernel.arch.now + u64::from(kernel.ticks_per_second)).max(soonest), "the clock may wrap unseen");
    if let Some(thread) = kernel.threads.get(usize::from(kernel.current())) {
        let activation = kernel.activation(thread.number);
        let end = if activation.outer.is_some() { activation.until } else { kernel.slice.end() };
        let end = kernel.arch.now as i64 + i64::from(Instant::of(kernel.arch.now).until(end));
        assert!(at as i64 <= end.max(soonest as i64), "the running thread's end is {end}, the timer comes at {at}");
    }
}
