//! Possible behaviour of budgets, by trying everything: written from docs/time.md, rules (a) to
//! (c), without the formula that it judges. A tick is the unit. A budget is a machine whose next
//! states are all that its programs, and paths that take any time up to their bounds, can do.

use std::collections::{BTreeMap, BTreeSet};
use std::vec;
use std::vec::Vec;

/// One budget with its figures. `half` is E + X + Y, half of an activation.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub period: i64,
    pub capacity: i64,
    pub half: i64,
    /// How long a thread can go on after its budget is empty.
    pub overrun: i64,
    /// How many activations of others a call arranges; 0 if none does.
    pub arranges: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    /// It can be switched to; that is paid.
    Asleep,
    /// Its budget is empty; the next period pays for what comes at the boundary.
    Waiting,
    /// A boundary has passed since it began to wait: it is switched to when another of the budget blocks, with the switch away from that.
    Next,
    /// It is woken, and finds its budget empty: so many ticks are left.
    Woken(i64),
    /// It is being switched to: so many ticks are left.
    In(i64),
    /// It runs, and has run so long on an empty budget.
    Running(i64),
    /// Those that it has arranged happen: so many ticks are left.
    Arranged(i64),
    /// It is being switched away from, to wait or to sleep.
    Out(i64, bool),
}

/// A budget and its threads at an instant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    to_boundary: i64,
    left: i64,
    threads: Vec<Mode>,
}

impl State {
    fn full(rules: &Rules, threads: usize) -> State {
        State { to_boundary: rules.period, left: rules.capacity, threads: vec![Mode::Asleep; threads] }
    }

    /// Rule (a): at a boundary it becomes min(C, left + C); rule (e): if that is something, one of those who wait is switched to.
    fn at_boundary(mut self, rules: &Rules) -> State {
        if self.to_boundary == 0 {
            self.to_boundary = rules.period;
            self.left = rules.capacity.min(self.left + rules.capacity);
            if self.left > 0 {
                let waiting = self.threads.iter_mut().filter(|thread| **thread == Mode::Waiting);
                waiting.enumerate().for_each(|(at, thread)| *thread = if at == 0 { Mode::Asleep } else { Mode::Next });
            }
        }
        self
    }

    /// A thread waits for a boundary: who is the first pays for it.
    fn waits(&self, at: usize, rules: &Rules) -> State {
        let mut state = self.with(at, Mode::Waiting);
        state.left -= if self.threads.contains(&Mode::Waiting) { 0 } else { rules.half };
        state.threads.iter_mut().filter(|thread| **thread == Mode::Next).for_each(|thread| *thread = Mode::Waiting);
        state
    }

    /// A thread sleeps: the next has its turn, if it finds something.
    fn sleeps(&self, at: usize, rules: &Rules) -> State {
        let state = self.with(at, Mode::Asleep);
        match state.threads.iter().position(|thread| *thread == Mode::Next) {
            Some(next) if self.left > 0 => state.with(next, Mode::Running(0)),
            Some(next) => state.waits(next, rules),
            None => state,
        }
    }

    /// Everything that can happen in the next tick: whether this budget occupies the processor, and what follows.
    fn next(&self, rules: &Rules) -> Vec<(i64, State)> {
        let mut all = Vec::new();
        let then = |change: &dyn Fn(&mut State)| {
            let mut state = self.clone();
            change(&mut state);
            state.to_boundary -= 1;
            state.at_boundary(rules)
        };
        let Some(at) =
            self.threads.iter().position(|thread| !matches!(thread, Mode::Asleep | Mode::Waiting | Mode::Next))
        else {
            all.push((0, then(&|_| ())));
            for at in 0..self.threads.len() {
                if self.threads[at] == Mode::Asleep && self.left > 0 {
                    all.extend(self.with(at, Mode::In(rules.half)).next(rules));
                }
                if self.threads[at] == Mode::Asleep && self.left <= 0 && rules.half > 0 {
                    all.extend(self.with(at, Mode::Woken(rules.half)).next(rules));
                }
            }
            return all;
        };
        match self.threads[at] {
            Mode::In(0) => all.extend(self.with(at, Mode::Running(0)).next(rules)),
            Mode::Arranged(0) if self.left > 0 => all.extend(self.with(at, Mode::Running(0)).next(rules)),
            Mode::Arranged(0) => all.extend(self.exhausted(at, rules).next(rules)),
            Mode::Arranged(left) => all.push((1, then(&|s| s.threads[at] = Mode::Arranged(left - 1)))),
            Mode::In(left) => all.push((1, then(&|s| s.threads[at] = Mode::In(left - 1)))),
            Mode::Woken(0) => all.extend(self.waits(at, rules).next(rules)),
            Mode::Woken(left) => all.push((1, then(&|s| s.threads[at] = Mode::Woken(left - 1)))),
            Mode::Out(0, true) => all.extend(self.sleeps(at, rules).next(rules)),
            Mode::Out(0, false) => all.extend(self.waits(at, rules).next(rules)),
            Mode::Out(left, sleeps) => all.push((1, then(&|s| s.threads[at] = Mode::Out(left - 1, sleeps)))),
            Mode::Running(over) => {
                if rules.half * rules.arranges > 0 {
                    let price = 2 * rules.half * rules.arranges;
                    let mut arranged = self.with(at, Mode::Arranged(price));
                    arranged.left -= price;
                    all.extend(arranged.next(rules));
                }
                if self.left <= 0 {
                    all.extend(self.exhausted(at, rules).next(rules));
                } else if rules.half > 0 {
                    let mut sleeps = self.with(at, Mode::Out(rules.half, true));
                    sleeps.left -= 2 * rules.half;
                    all.extend(sleeps.next(rules));
                } else {
                    all.extend(self.sleeps(at, rules).idle(rules));
                }
                if self.left > 0 || over < rules.overrun {
                    let over = if self.left > 0 { 0 } else { over + 1 };
                    all.push((1, then(&|s| (s.left, s.threads[at]) = (s.left - 1, Mode::Running(over)))));
                }
            }
            Mode::Asleep | Mode::Waiting | Mode::Next => unreachable!(),
        }
        all
    }

    /// A running thread has nothing left: its budget pays for the switch away from it once more.
    fn exhausted(&self, at: usize, rules: &Rules) -> State {
        let mut out = self.with(at, Mode::Out(rules.half, false));
        out.left -= rules.half;
        out
    }

    fn idle(&self, rules: &Rules) -> Vec<(i64, State)> {
        let state = State { to_boundary: self.to_boundary - 1, ..self.clone() };
        vec![(0, state.at_boundary(rules))]
    }

    fn with(&self, at: usize, mode: Mode) -> State {
        let mut state = self.clone();
        state.threads[at] = mode;
        state
    }
}

/// States that can be reached, and what follows each: positions.
pub struct Machine {
    pub follows: Vec<Vec<(i64, usize)>>,
    /// How far each state is from its next boundary.
    to_boundary: Vec<i64>,
    /// True for a state in which a thread is just being switched away from, to sleep: a thread that
    /// is released then has that path in its masked term. True, too, while something happens that
    /// was arranged for others: their own terms carry that.
    is_masked: Vec<bool>,
    left: Vec<i64>,
}

impl Machine {
    pub fn new(rules: &Rules, threads: usize) -> Machine {
        let mut numbers = BTreeMap::from([(State::full(rules, threads), 0)]);
        let mut states = vec![State::full(rules, threads)];
        let mut follows = Vec::new();
        while follows.len() < states.len() {
            let next: BTreeSet<_> = states[follows.len()].next(rules).into_iter().collect();
            let mut numbered = Vec::new();
            for (used, state) in next {
                let number = *numbers.entry(state.clone()).or_insert_with(|| {
                    states.push(state);
                    states.len() - 1
                });
                numbered.push((used, number));
            }
            follows.push(numbered);
        }
        let leaves = |thread: &Mode| matches!(thread, Mode::Out(1.., true) | Mode::Arranged(1..));
        Machine {
            follows,
            to_boundary: states.iter().map(|state| state.to_boundary).collect(),
            left: states.iter().map(|state| state.left).collect(),
            is_masked: states.iter().map(|state| state.threads.iter().any(leaves)).collect(),
        }
    }

    pub fn idle() -> Machine {
        Machine { follows: vec![vec![(0, 0)]], to_boundary: vec![0], is_masked: vec![false], left: vec![0] }
    }

    /// Returns true if a window can open in a state, when its boundaries are multiples of `step`
    /// away.
    fn opens(&self, state: usize, step: i64) -> bool {
        self.to_boundary[state] % step == 0 && !self.is_masked[state]
    }

    /// The least that is left at a boundary, after it was refilled.
    pub fn least_at_boundary(&self, rules: &Rules) -> i64 {
        let at = (0..self.left.len()).filter(|&state| self.to_boundary[state] == rules.period);
        at.map(|state| self.left[state]).min().unwrap()
    }

    /// The most that is used within windows of 0, 1, ... ticks that open a multiple of `step` before a boundary.
    pub fn most(&self, windows: usize, step: i64) -> Vec<i64> {
        let mut best = vec![0; self.follows.len()];
        let mut most = vec![0];
        for _ in 0..windows {
            let over = |next: &Vec<(i64, usize)>| next.iter().map(|&(used, to)| used + best[to]).max().unwrap();
            best = self.follows.iter().map(over).collect();
            let open = (0..best.len()).filter(|&state| self.opens(state, step));
            most.push(open.map(|state| best[state]).max().unwrap());
        }
        most
    }
}

/// The longest that a demand below two budgets can take, whatever their programs and their phases on the lattices of these steps;
/// `None` beyond `limit`.
pub fn worst(budgets: [(&Machine, i64); 2], demand: usize, limit: usize) -> Option<usize> {
    let [(high, high_step), (low, low_step)] = budgets;
    let width = low.follows.len();
    let mut open: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); demand + 1];
    let opens = |state: &usize| high.opens(state / width, high_step) && low.opens(state % width, low_step);
    open[demand] = (0..high.follows.len() * width).filter(opens).collect();
    for elapsed in 0..=limit {
        if open[1..].iter().all(BTreeSet::is_empty) {
            return Some(elapsed);
        }
        let mut next: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); demand + 1];
        for (owed, states) in open.iter().enumerate().skip(1) {
            for &state in states {
                step(high, low, state, owed, &mut next);
            }
        }
        open = next;
    }
    None
}

/// A tick of both budgets: while the first occupies the processor the second only waits.
fn step(high: &Machine, low: &Machine, state: usize, owed: usize, next: &mut [BTreeSet<usize>]) {
    let width = low.follows.len();
    for &(first, to_high) in &high.follows[state / width] {
        for &(second, to_low) in &low.follows[state % width] {
            if first == 0 || second == 0 {
                let owed = if first + second == 0 { owed - 1 } else { owed };
                next[owed].insert(to_high * width + to_low);
            }
        }
    }
}
