//! The books of a kernel, as docs/time.md describes them: what is left of each budget, and what its thread may still run for without paying.

use super::{COSTS, SWITCH};
use crate::describe::Budget;

/// A mistake in the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Calls cost nothing.
    FreeCalls,
    /// Nobody pays for activations.
    FreeActivations,
    /// Whoever is switched to may run for three times E + X.
    FreeStays,
    /// A thread that goes on behind its own call has E + X again.
    FreeReturns,
    /// Budgets are filled twice in a period.
    FilledTwice,
    /// A budget may be used a third beyond its end.
    LateEnds,
}

impl Wrong {
    pub const ALL: [Wrong; 6] = [
        Wrong::FreeCalls,
        Wrong::FreeActivations,
        Wrong::FreeStays,
        Wrong::FreeReturns,
        Wrong::FilledTwice,
        Wrong::LateEnds,
    ];
}

/// One budget.
#[derive(Clone, Copy, Debug)]
struct Book {
    period: u64,
    capacity: i64,
    /// Left at the last boundary that was seen, less what was used since; negative: debt.
    left: i64,
    boundary: u64,
    /// Cycles that its thread may run for without paying.
    free: u64,
    /// All that it has paid, and all that it was given.
    charged: u64,
    freed: u64,
}

/// All of them.
pub struct Books {
    all: Vec<Book>,
    wrong: Option<Wrong>,
}

impl Books {
    pub fn new(budgets: &[Budget], wrong: Option<Wrong>) -> Books {
        let book = |budget: &Budget| {
            let twice = if wrong == Some(Wrong::FilledTwice) { 2 } else { 1 };
            let late = if wrong == Some(Wrong::LateEnds) { budget.capacity_ticks / 3 } else { 0 };
            let capacity = (budget.capacity_ticks + late) as i64;
            let period = budget.period_ticks / twice;
            Book { period, capacity, left: capacity, boundary: 0, free: 0, charged: 0, freed: 0 }
        };
        Books { all: budgets.iter().map(book).collect(), wrong }
    }

    /// What each boundary until now has left.
    fn filled(&self, thread: usize, now: u64) -> (i64, u64) {
        let book = &self.all[thread];
        let passed = (now / book.period).saturating_sub(book.boundary);
        let left = (0..passed).fold(book.left, |left, _| book.capacity.min(left + book.capacity));
        (left, book.boundary + passed)
    }

    fn fill(&mut self, thread: usize, now: u64) {
        let (left, boundary) = self.filled(thread, now);
        (self.all[thread].left, self.all[thread].boundary) = (left, boundary);
    }

    /// For how long its thread may run from now on, if it runs.
    pub fn left(&self, thread: usize, now: u64) -> u64 {
        let (left, _) = self.filled(thread, now);
        if left <= 0 { 0 } else { left as u64 + self.all[thread].free }
    }

    fn pay(&mut self, thread: usize, cycles: u64) {
        let book = &mut self.all[thread];
        let paid = cycles - cycles.min(book.free);
        book.free -= cycles - paid;
        book.left -= paid as i64;
        book.charged += paid;
    }

    /// Its thread ran for so many cycles until now: split at boundaries.
    pub fn use_up(&mut self, thread: usize, now: u64, cycles: u64) {
        let mut from = now - cycles;
        while from < now {
            self.fill(thread, from);
            let end = ((from / self.all[thread].period + 1) * self.all[thread].period).min(now);
            self.pay(thread, end - from);
            from = end;
        }
    }

    /// A call of its thread took so many cycles, which it has used.
    pub fn called(&mut self, thread: usize, took: u64) {
        let book = &mut self.all[thread];
        match self.wrong {
            Some(Wrong::FreeCalls) => book.left += took as i64,
            Some(Wrong::FreeReturns) => book.free = SWITCH,
            _ => {}
        }
    }

    /// Its thread arranges something.
    pub fn pays(&mut self, thread: usize, price: u64) {
        if self.wrong != Some(Wrong::FreeActivations) {
            self.pay(thread, price);
        }
    }

    /// It is found without anything left.
    pub fn pays_late(&mut self, thread: usize, price: u64) {
        if self.wrong != Some(Wrong::FreeActivations) {
            self.all[thread].left -= price as i64;
            self.all[thread].charged += price;
        }
    }

    /// Its thread is switched to, or goes on behind an entry that an activation has paid.
    pub fn switched_to(&mut self, thread: usize) {
        let free = if self.wrong == Some(Wrong::FreeStays) { 3 * SWITCH } else { SWITCH };
        self.all[thread].free = free;
        self.all[thread].freed += free;
    }

    /// An interrupt that others have paid for was no matter of its thread's.
    pub fn gives_back(&mut self, thread: usize, cycles: u64) {
        debug_assert!(cycles <= COSTS.activation());
        self.all[thread].free += cycles;
        self.all[thread].freed += cycles;
    }

    /// All that it was charged for.
    pub fn charged(&self, thread: usize) -> u64 {
        self.all[thread].charged
    }

    /// All that it may have run for without paying.
    pub fn freed(&self, thread: usize) -> u64 {
        self.all[thread].freed
    }
}
