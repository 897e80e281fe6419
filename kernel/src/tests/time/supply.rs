//! Supply of a budget, measured from outside: the processor has seen who ran when, and what was
//! arranged. It knows nothing of the kernel's books, and nothing of the analysis but that a budget
//! holds at most its capacity and is filled at the boundaries of its grid.

use std::collections::VecDeque;
use std::string::String;

use super::COSTS;
use super::systems::System;

/// A stretch of use within one period of the grid, or a price, for which `from` is `to`.
#[derive(Clone, Copy, Debug)]
struct Use {
    from: u64,
    to: u64,
    ticks: u64,
}

pub struct Supply {
    period: u64,
    capacity: u64,
    /// By how much use and prices together can exceed what the budget held: an activation for each thread, half of one for the boundary, a late timer, a
    /// masked path, and the failure of a callee.
    over: u64,
    /// True if prices count. The kernel leaves the rest of a bound to the thread that is switched
    /// to when a path is shorter, and part of a price comes back.
    priced: bool,
    uses: VecDeque<Use>,
}

const DEPTH: usize = 48;

impl Supply {
    pub fn of(system: &System, priced: bool) -> impl Iterator<Item = Supply> + '_ {
        system.budgets.iter().enumerate().map(move |(index, &(period, capacity))| {
            let victims = system.victims.iter().filter(|thread| thread.budget == index).count();
            let threads = victims + system.hostile.iter().filter(|thread| thread.budget == index).count();
            let turn = u64::from(COSTS.switching.yielding());
            let over = threads as u64 * COSTS.activation() + turn + COSTS.slack();
            Supply { period: period.into(), capacity: capacity.into(), over, priced, uses: VecDeque::new() }
        })
    }

    /// The budget's thread ran. The complaint, if that is more than the budget can give.
    pub fn ran(&mut self, from: u64, to: u64) -> Option<String> {
        let mut at = from;
        while at < to {
            let end = to.min(self.boundary_after(at));
            self.add(Use { from: at, to: end, ticks: end - at });
            at = end;
        }
        self.complaint()
    }

    /// Some of the last use was not the thread's to pay.
    pub fn takes_back(&mut self, mut ticks: u64) {
        for one in self.uses.iter_mut().rev().filter(|one| one.from < one.to) {
            let less = ticks.min(one.ticks);
            one.ticks -= less;
            ticks -= less;
        }
    }

    pub fn pays(&mut self, at: u64, price: u64) -> Option<String> {
        self.add(Use { from: at, to: at, ticks: price });
        self.complaint()
    }

    fn boundary_after(&self, at: u64) -> u64 {
        super::START + ((at - super::START) / self.period + 1) * self.period
    }

    fn add(&mut self, new: Use) {
        if self.uses.len() == DEPTH {
            self.uses.pop_front();
        }
        match self.uses.back_mut() {
            Some(last) if new.from == new.to && last.from == new.from => last.ticks += new.ticks,
            _ => self.uses.push_back(new),
        }
    }

    /// Looks at each window that ends now and begins with a use. Use is no more than a deferrable server gives in a window of that
    /// length, whose boundaries may be anywhere. Prices need no time: with them, it is no more than a capacity for each boundary in the window, and what was left before.
    fn complaint(&self) -> Option<String> {
        let end = self.uses.iter().rev().take(2).map(|one| one.to).max()?;
        let periods = |at: u64| (at - super::START) / self.period;
        let (mut used, mut paid) = (0, 0);
        for one in self.uses.iter().rev() {
            if one.from == one.to {
                paid += one.ticks;
            } else {
                used += one.ticks;
            }
            let window = end.saturating_sub(one.from);
            let most = (window + self.period - self.capacity).div_ceil(self.period) * self.capacity;
            let granted = (periods(end.max(one.from)) - periods(one.from) + 1) * self.capacity;
            if used > most + self.over || (self.priced && used + paid > granted + self.over) {
                let (from, over, capacity, period) = (one.from, self.over, self.capacity, self.period);
                return Some(format!(
                    "{used} ticks and prices of {paid} between {from} and {end}, but {capacity} every {period}: {most}, {granted}, and {over} over"
                ));
            }
        }
        None
    }
}
