//! Times of operations.

use core::fmt::Write;

use cofferdam::{Budget, Console, now, sys};

/// Ticks that asking for the time takes.
fn asking() -> u32 {
    let before = sys::time_now() as u32;
    (sys::time_now() as u32).wrapping_sub(before)
}

/// Times of one kind of operation that are kept for their median, at most.
const KEPT: usize = 12_000;

/// Times of one kind of operation.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    count: usize,
    most: u32,
    /// The first of them; a longer one counts as the longest that there can be here.
    first: [u16; KEPT],
}

impl Times {
    /// None yet.
    pub const NONE: Times = Times { count: 0, most: 0, first: [0; KEPT] };

    /// One more.
    pub fn add(&mut self, ticks: u32) {
        if let Some(place) = self.first.get_mut(self.count) {
            *place = ticks.min(u16::MAX.into()) as u16;
        }
        self.count += 1;
        self.most = self.most.max(ticks);
    }

    /// The middle one of those that are kept.
    fn median(&mut self) -> u16 {
        let kept = &mut self.first[..self.count.min(KEPT)];
        kept.sort_unstable();
        kept.get(kept.len() / 2).copied().unwrap_or(0)
    }
}

/// Times of all operations.
#[derive(Debug)]
pub struct Stats {
    /// Allocations, releases, accesses that were first touches of their pages, the other accesses.
    pub alloc: &'static mut Times,
    pub free: &'static mut Times,
    first: &'static mut Times,
    mapped: &'static mut Times,
    /// Ticks that asking for the time takes.
    asking: u32,
    /// Of the only thread.
    budget: Budget,
    /// When operations were measured first in this period of it.
    begun: u32,
    /// Ticks of its period.
    period: u32,
}

/// Ticks that no access to a page that is mapped takes.
const FIRST_TOUCH: u32 = 100;

impl Stats {
    /// None yet; the thread's budget has a period of so many ticks.
    pub fn new([alloc, free, first, mapped]: &'static mut [Times; 4], budget: Budget, period: u32) -> Self {
        let mut stats = Stats { alloc, free, first, mapped, asking: asking(), budget, begun: 0, period };
        stats.begin();
        stats
    }

    /// A result, and the ticks that it took. The kernel's timer does not come meanwhile: the budget is neither used up nor replenished.
    pub fn ticks<T>(&mut self, act: impl FnOnce() -> T) -> (u32, T) {
        let mut before = sys::time_now() as u32;
        if before.wrapping_sub(self.begun) > self.period / 4 * 3 {
            self.begin();
            before = sys::time_now() as u32;
        }
        let done = act();
        ((sys::time_now() as u32).wrapping_sub(before).wrapping_sub(self.asking), done)
    }

    /// Waits until the budget has been replenished, and a twentieth of its period more.
    fn begin(&mut self) {
        if let Ok((_, next)) = self.budget.left() {
            let _ = sys::sleep_until(now() + u64::from(next) + u64::from(self.period) / 20);
        }
        self.begun = now() as u32;
    }

    /// An access.
    pub fn touch(&mut self, ticks: u32) {
        if ticks < FIRST_TOUCH { &mut *self.mapped } else { &mut *self.first }.add(ticks);
    }

    /// Prints them.
    pub fn print(self, console: &mut Console) {
        let rows = [("alloc", self.alloc), ("free", self.free), ("first touch", self.first), ("mapped", self.mapped)];
        for (name, times) in rows {
            let (median, Times { count, most, .. }) = (times.median(), times);
            let _ = writeln!(console, "{name}: {count} times, median {median}, most {most}");
        }
        // The run ends with this thread, and the console has not printed all of it yet.
        let _ = sys::sleep_until(now() + u64::from(self.period));
    }
}
