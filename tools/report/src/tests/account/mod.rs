//! The account of use against one that is kept another way: drawn runs of a kernel that keeps the books which docs/time.md describes, forward in time
//! and from inside, and of kernels that keep them wrong. The report sees only what a simulator would record.

mod books;

use abi::Call;
use abi::trace::Event;
use record::{RunEvent, Summary, Waits, Window};
use testing::Rng;

use super::time::{SV_CALL, SYS_TICK, build, handled, ran};
use super::{at, idle, summary, switch, system};
use crate::Report;
use crate::describe::{Budget, Costs, Domain, SystemDescription, Thread};
use books::{Books, Wrong};

/// Cycles, which are ticks here. The proportions are a board's.
pub(super) const COSTS: Costs = Costs { entry_cycles: 550, exit_cycles: 2650, early_cycles: 800 };
/// E + X.
pub(super) const SWITCH: u64 = COSTS.entry_cycles + COSTS.exit_cycles;
/// M and G.
const MASKED: u64 = 3100;
const LATE: u64 = 500;
const CYCLES_PER_RUN: u64 = 3_000_000;

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    /// Until then.
    Sleeps(u64),
    /// For a signal.
    Waits,
    /// For a boundary at which its budget has something left.
    Empty,
}

/// A run: threads of one budget each, thread 0 the most important; each draws what it does by habits of its own.
struct Run {
    rng: Rng,
    now: u64,
    books: Books,
    states: Vec<State>,
    priorities: Vec<u8>,
    /// Of each thread: cycles of code at a time, and of a sleep; and how often in a hundred it calls, sleeps, signals, yields.
    habits: Vec<([u64; 2], [u64; 4])>,
    running: Option<usize>,
    /// A timer that was set for somebody more important may still come in vain.
    vain: bool,
    events: Vec<RunEvent>,
    /// Code and calls of each thread, and its stays.
    spent: Vec<(u64, u64)>,
}

impl Run {
    fn new(seed: u64, wrong: Option<Wrong>) -> (Run, SystemDescription) {
        let mut rng = Rng::new(seed);
        let count = 2 + rng.below(3) as usize;
        let priorities: Vec<u8> = (0..count).map(|n| if n > 1 && rng.chance(3) { 2 } else { n as u8 + 1 }).collect();
        let budget = |index: usize, rng: &mut Rng| {
            let period = 100_000 + rng.below(300_000);
            let capacity = period / (2 + rng.below(6));
            Budget { index: index as u16, name: format!("b{index}"), period_ticks: period, capacity_ticks: capacity }
        };
        let budgets: Vec<Budget> = (0..count).map(|index| budget(index, &mut rng)).collect();
        let habit = |rng: &mut Rng| {
            let lengths = [1 << rng.below(13), 1000 << rng.below(5)].map(|most| 1 + most);
            (lengths, [rng.below(90), rng.below(40), rng.below(20), rng.below(20)])
        };
        let habits = (0..count).map(|_| habit(&mut rng)).collect();
        let described = described(&priorities, &budgets);
        let books = Books::new(&budgets, wrong);
        let states = vec![State::Ready; count];
        let spent = vec![(0, 0); count];
        let (running, events) = (None, Vec::new());
        (Run { rng, now: 0, books, states, priorities, habits, running, vain: false, events, spent }, described)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.rng.below(most + 1)
    }

    fn spend(&mut self, cycles: u64) {
        self.now += cycles;
        if let Some(thread) = self.running {
            self.books.use_up(thread, self.now, cycles);
        }
    }

    /// Code of the running thread, until its budget ends at the latest: then the timer comes, and is late.
    fn code(&mut self, thread: usize, cycles: u64) {
        let late = self.below(LATE);
        let most = self.books.left(thread, self.now).saturating_add(late);
        let cycles = cycles.min(most.max(1));
        self.spend(cycles);
        self.spent[thread].0 += cycles;
        self.events.push(ran(self.now, thread as u8, cycles as u32));
    }

    /// A call after which the same thread goes on.
    fn call(&mut self, thread: usize) {
        let most = if self.rng.chance(20) { MASKED - 60 } else { 500 };
        let took = 60 + self.below(most);
        self.spend(took);
        self.spent[thread].0 += took;
        self.books.called(thread, took);
        self.events.push(handled(self.now, SV_CALL, Some(Call::TimeNow), took as u32));
    }

    /// A path that ends in a switch: E at most until the clock is read for whom it interrupts; X at most from where it is read last; and
    /// between them, while somebody is woken, no more than a timer's path takes.
    fn switch(&mut self, exception: u16, call: Option<Call>, next: Option<usize>) {
        let begin = self.now;
        let (entry, mid, exit) = match self.rng.below(3) {
            0 => (20, 0, 30),
            1 => (COSTS.entry_cycles, COSTS.early_cycles, COSTS.exit_cycles - COSTS.early_cycles),
            _ => (self.below(COSTS.entry_cycles), self.below(COSTS.early_cycles), self.below(1000)),
        };
        self.spend(entry);
        self.running = None;
        self.now += mid;
        self.events.push(match next {
            Some(next) => switch(self.now, next as u8, next as u16),
            None => idle(self.now),
        });
        self.running = next;
        if let Some(next) = next {
            self.books.switched_to(next);
            self.spent[next].1 += 1;
        }
        self.spend(exit);
        self.events.push(handled(self.now, exception, call, (self.now - begin) as u32));
    }

    /// The most important thread that is ready and has budget. Those without wait for their next boundary.
    fn choose(&mut self) -> Option<usize> {
        let mut order: Vec<usize> = (0..self.states.len()).collect();
        order.sort_by_key(|thread| (self.priorities[*thread], Some(*thread) != self.running));
        for thread in order {
            if self.states[thread] == State::Ready {
                if self.books.left(thread, self.now) > 0 {
                    return Some(thread);
                }
                self.states[thread] = State::Empty;
                let price = if self.running == Some(thread) { COSTS.activation() } else { COSTS.early_cycles };
                self.books.pays_late(thread, price);
            }
        }
        None
    }

    /// Wakes whoever is due and as important as the running thread; whether there was one.
    fn wake(&mut self) -> bool {
        let limit = self.running.map_or(u8::MAX, |thread| self.priorities[thread]);
        let now = self.now;
        let due = |run: &Run, thread: usize| match run.states[thread] {
            State::Sleeps(until) => until <= now,
            State::Empty => run.books.left(thread, now) > 0,
            _ => false,
        };
        let woken = (0..self.states.len()).find(|&thread| self.priorities[thread] <= limit && due(self, thread));
        woken.into_iter().for_each(|thread| self.states[thread] = State::Ready);
        woken.is_some()
    }

    /// The timer comes: for somebody who is due, for the end of the budget, or in vain.
    fn timer(&mut self, thread: usize) -> bool {
        let woken = self.wake();
        let next = self.choose();
        if next != Some(thread) {
            self.vain = next.is_some_and(|next| self.priorities[next] < self.priorities[thread]);
            self.switch(SYS_TICK, None, next);
            return true;
        }
        let vain = std::mem::take(&mut self.vain);
        if woken || vain {
            let took = 40 + self.below(COSTS.early_cycles - 40);
            if woken {
                self.books.switched_to(thread);
                self.now += took;
            } else {
                self.books.gives_back(thread, COSTS.early_cycles);
                self.spend(took);
            }
            self.events.push(handled(self.now, SYS_TICK, None, took as u32));
        }
        false
    }

    /// What the running thread does next.
    fn step(&mut self, thread: usize) {
        let ([most, sleep], [calls, sleeps, signals, yields]) = self.habits[thread];
        let cycles = 1 + self.below(most);
        self.code(thread, cycles);
        if self.timer(thread) {
            return;
        }
        let drawn = |run: &mut Run, percent| run.rng.below(100) < percent;
        if drawn(self, calls) {
            self.call(thread);
        } else if drawn(self, sleeps) {
            self.books.pays(thread, COSTS.activation());
            self.states[thread] = match self.rng.chance(4) {
                true => State::Waits,
                false => State::Sleeps(self.now + self.rng.below(sleep)),
            };
            let waits = self.states[thread] == State::Waits;
            let next = self.choose();
            self.switch(SV_CALL, Some(if waits { Call::Wait } else { Call::SleepUntil }), next);
        } else if drawn(self, signals) {
            self.signal(thread);
        } else if drawn(self, yields) {
            let equal = |other: &usize| {
                *other != thread
                    && self.priorities[*other] == self.priorities[thread]
                    && self.states[*other] == State::Ready
                    && self.books.left(*other, self.now) > 0
            };
            if let Some(other) = (0..self.states.len()).find(equal) {
                self.books.pays(thread, COSTS.activation() / 2);
                self.switch(SV_CALL, Some(Call::Yield), Some(other));
            }
        }
    }

    /// Wakes whoever waits; who is more important runs at once.
    fn signal(&mut self, thread: usize) {
        let waits = (0..self.states.len()).find(|other| self.states[*other] == State::Waits);
        let Some(waiter) = waits else { return };
        self.books.pays(thread, COSTS.activation());
        self.states[waiter] = State::Ready;
        match self.choose() {
            Some(next) if next == thread => {
                let took = 100 + self.below(900);
                self.spend(took);
                self.spent[thread].0 += took;
                self.events.push(handled(self.now, SV_CALL, Some(Call::Signal), took as u32));
            }
            next => self.switch(SV_CALL, Some(Call::Signal), next),
        }
    }

    /// Nobody runs until somebody is due.
    fn sleep(&mut self) {
        self.now += 50;
        if self.wake() {
            let next = self.choose();
            if next.is_some() {
                self.switch(SYS_TICK, None, next);
            }
        } else if self.states.iter().all(|state| *state == State::Waits) {
            // A line would wake it.
            self.states[0] = State::Sleeps(self.now);
        }
    }

    fn play(&mut self) {
        let first = self.choose();
        self.switch(0, None, first);
        while self.now < CYCLES_PER_RUN {
            match self.running {
                Some(thread) => self.step(thread),
                None => self.sleep(),
            }
        }
        self.events.push(at(self.now, Event::End, record::IDLE, 0, 0));
    }
}

fn described(priorities: &[u8], budgets: &[Budget]) -> SystemDescription {
    let thread = |(index, priority): (usize, &u8)| Thread {
        index: index as u16,
        name: format!("t{index}"),
        domain: index as u8,
        priority: *priority,
        budget: index as u16,
        ..system().threads[1].clone()
    };
    let domain = |index: u8| Domain { index, name: format!("d{index}"), color: index, ..Domain::default() };
    SystemDescription {
        ticks_per_second: 100_000_000,
        cpu_hz: 100_000_000,
        enforcement_ticks: LATE,
        masked_bound_cycles: Some(MASKED),
        costs: COSTS,
        domains: (0..budgets.len() as u8).map(domain).collect(),
        threads: priorities.iter().enumerate().map(thread).collect(),
        budgets: budgets.to_vec(),
        gates: Vec::new(),
        interrupts: Vec::new(),
        ..system()
    }
}

fn observed(cycles: u64) -> Summary {
    let mut seen = summary(cycles);
    let core = record::CoreId::FIRST;
    let waits = Waits::default();
    seen.masked.longest =
        Some(Window { core, pc: 0, exception: 15, start_cycle: 0, cycles: MASKED, instructions: 1, waits });
    seen
}

/// A drawn run, its report, and whether it overdraws a budget.
fn judged(seed: u64, wrong: Option<Wrong>) -> (Run, Report, bool) {
    let (mut run, described) = Run::new(seed, wrong);
    run.play();
    let report = build(&described, &observed(run.now), &run.events);
    let codes: Vec<&str> = report.verdict.failures.iter().map(|failure| failure.code.as_str()).collect();
    assert!(codes.iter().all(|code| *code == "budget-overdrawn"), "seed {seed}: {:?}", report.verdict);
    let overdrawn = !codes.is_empty();
    (run, report, overdrawn)
}

#[test]
fn a_right_kernel_overdraws_no_budget_whatever_programs_do() {
    for seed in 0..200 {
        let (run, report, overdrawn) = judged(seed, None);
        assert!(!overdrawn, "seed {seed}: {:#?}", report.verdict.failures);
        for (thread, budget) in report.budgets.iter().enumerate() {
            let (charged, (spent, stays)) = (run.books.charged(thread), run.spent[thread]);
            let used = budget.used_cycles;
            assert!(used <= charged + COSTS.activation(), "seed {seed}: {used} of {thread}, charged {charged}");
            // What it does not pay for is E + X for each stay, and what interrupts give back.
            let free = run.books.freed(thread) + SWITCH;
            assert!(used + free >= spent, "seed {seed}: {used} of {thread} in {stays} stays, {spent} less {free}");
        }
    }
}

#[test]
fn a_kernel_that_keeps_its_books_wrong_is_found_out() {
    for wrong in Wrong::ALL {
        let found = (0..60).filter(|seed| judged(*seed, Some(wrong)).2).count();
        assert!(found > 0, "{wrong:?} is found in no run");
        println!("{wrong:?}: found in {found} of 60 runs");
    }
}
