//! Times of operations.

use core::fmt::Write;

use cofferdam::{Console, now, sys};

/// A result, and the ticks that it took, less those of asking for the time.
pub fn ticks<T>(act: impl FnOnce() -> T) -> (u32, T) {
    let before = sys::time_now() as u32;
    let asked = (sys::time_now() as u32).wrapping_sub(before);
    let before = sys::time_now() as u32;
    let done = act();
    ((sys::time_now() as u32).wrapping_sub(before).wrapping_sub(asked), done)
}

/// Times of one kind of operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    count: u32,
    sum: u64,
    most: u32,
}

impl Times {
    /// One more.
    pub fn add(&mut self, ticks: u32) {
        self.count += 1;
        self.sum += u64::from(ticks);
        self.most = self.most.max(ticks);
    }
}

/// Times of all operations.
#[derive(Debug)]
pub struct Stats {
    /// Allocations.
    pub alloc: Times,
    /// Releases.
    pub free: Times,
    /// Accesses that were first touches of their pages.
    first: Times,
    /// The others.
    mapped: Times,
    /// Begin of the budget's period.
    period: u64,
    /// Ticks of a second, which the period is.
    second: u64,
}

/// Ticks that no access to a page that is mapped takes.
const FIRST_TOUCH: u32 = 100;

impl Stats {
    /// None yet.
    pub fn new(second: u64) -> Self {
        let none = Times::default();
        Stats { alloc: none, free: none, first: none, mapped: none, period: now(), second }
    }

    /// An access.
    pub fn touch(&mut self, ticks: u32) {
        if ticks < FIRST_TOUCH { &mut self.mapped } else { &mut self.first }.add(ticks);
    }

    /// Waits for the next period of the budget before the budget is used up, so that it never ends within an operation.
    pub fn pause(&mut self) {
        if now() - self.period > self.second * 3 / 4 {
            let _ = sys::sleep_until(self.period + self.second);
            self.period = now();
        }
    }

    /// Prints them.
    pub fn print(&self, console: &mut Console) {
        let rows = [("alloc", self.alloc), ("free", self.free), ("first touch", self.first), ("mapped", self.mapped)];
        for (name, Times { count, sum, most }) in rows {
            let mean = sum / u64::from(count.max(1));
            let _ = writeln!(console, "{name}: {count} times, {mean} ticks on average, {most} at most");
        }
        // The run ends with this thread, and the console has not printed all of it yet.
        let _ = sys::sleep_until(now() + self.second / 20);
    }
}
