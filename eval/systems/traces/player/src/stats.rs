//! Times of operations.

use core::fmt::Write;

use cofferdam::{Console, now, sys};

/// Ticks that asking for the time takes.
fn asking() -> u32 {
    let before = sys::time_now() as u32;
    (sys::time_now() as u32).wrapping_sub(before)
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
    /// Ticks that asking for the time takes.
    asking: u32,
    /// When the budget was full last.
    full: u32,
    /// Ticks of the budget's period.
    period: u32,
}

/// Ticks that no access to a page that is mapped takes.
const FIRST_TOUCH: u32 = 100;

impl Stats {
    /// None yet; the thread's budget has a period of so many ticks.
    pub fn new(period: u32) -> Self {
        let none = Times::default();
        let mut stats = Stats { alloc: none, free: none, first: none, mapped: none, asking: asking(), full: 0, period };
        stats.refill();
        stats
    }

    /// A result, and the ticks that it took. The budget is not used up meanwhile: of its period a quarter is left at least.
    pub fn ticks<T>(&mut self, act: impl FnOnce() -> T) -> (u32, T) {
        let mut before = sys::time_now() as u32;
        if before.wrapping_sub(self.full) > self.period / 4 * 3 {
            self.refill();
            before = sys::time_now() as u32;
        }
        let done = act();
        ((sys::time_now() as u32).wrapping_sub(before).wrapping_sub(self.asking), done)
    }

    /// Waits, so that the budget is not used for a quarter of each period.
    fn refill(&mut self) {
        let _ = sys::sleep_until(now() + u64::from(self.period) / 4);
        self.full = now() as u32;
    }

    /// An access.
    pub fn touch(&mut self, ticks: u32) {
        if ticks < FIRST_TOUCH { &mut self.mapped } else { &mut self.first }.add(ticks);
    }

    /// Prints them.
    pub fn print(&self, console: &mut Console) {
        let rows = [("alloc", self.alloc), ("free", self.free), ("first touch", self.first), ("mapped", self.mapped)];
        for (name, Times { count, sum, most }) in rows {
            let mean = sum / u64::from(count.max(1));
            let _ = writeln!(console, "{name}: {count} times, {mean} ticks on average, {most} at most");
        }
        // The run ends with this thread, and the console has not printed all of it yet.
        let _ = sys::sleep_until(now() + u64::from(self.period));
    }
}
