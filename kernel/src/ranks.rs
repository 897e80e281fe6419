//! Threads by rank, and those that wait for one budget: sets of at most 32, a bit for each, the most important in bit 31.

/// Most threads a kernel can have, and most budgets; bounds every loop over threads.
pub const MAX_THREADS: usize = 32;

/// The bit of a queue, or of a rank: the most important is the highest bit, which one instruction
/// finds.
#[inline]
pub(crate) const fn bit(queue: usize) -> u32 {
    0x8000_0000 >> queue
}

/// The bits of a priority and of all that are more important. Two shifts, because one by 32 would
/// be none.
#[inline]
pub(crate) const fn upto(priority: u8) -> u32 {
    !(u32::MAX >> 1 >> (priority & 31))
}

/// What the threads that wait for a budget wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// None waits.
    Nobody,
    /// A boundary, for which the timer is set.
    Boundary,
    /// That a thread of the budget blocks. A boundary has passed, and one of them goes on; the
    /// others follow one at a time, so that a boundary is one entry.
    Next,
}

/// All threads by rank, the most important first, those of one priority in the order of their numbers.
#[derive(Clone, Copy, Debug)]
pub struct Ranks {
    threads: [u8; MAX_THREADS],
    /// Bit 31 - r is set when the priority of rank r is not that of the rank before.
    levels: u32,
}

impl Ranks {
    /// Ranks of so many threads.
    ///
    /// # Time complexity
    /// O(threads squared); once, at boot.
    pub(crate) fn new(count: usize, priority: impl Fn(usize) -> u8) -> Ranks {
        let mut ranks = Ranks { threads: [0; MAX_THREADS], levels: 0 };
        for thread in 0..count {
            let own = priority(thread);
            let rank = (0..count).filter(|other| (priority(*other), *other) < (own, thread)).count();
            ranks.threads[rank] = thread as u8;
            if (0..thread).all(|earlier| priority(earlier) != own) {
                ranks.levels |= bit(rank);
            }
        }
        ranks
    }

    /// The thread of a rank. The remainder keeps the index in range without a check that could
    /// panic.
    #[inline]
    pub(crate) const fn thread(&self, rank: u8) -> u8 {
        self.threads[rank as usize % MAX_THREADS]
    }

    /// The ranks of a priority from one on, and all before.
    #[inline]
    const fn level_of(&self, rank: u8) -> u32 {
        let next = (self.levels & !upto(rank)).leading_zeros() as u8;
        upto(next - 1)
    }

    /// Returns true if two ranks have different priorities; `later` is not before `rank`.
    #[inline]
    pub(crate) const fn differ(&self, rank: u8, later: u8) -> bool {
        self.levels & upto(later) & !upto(rank) != 0
    }
}

/// Threads that wait for one budget, by rank.
#[derive(Clone, Copy, Debug)]
pub struct Waiters {
    /// Those who go before equals in the other set: bit 31 - r for rank r. They have waited for
    /// longer.
    older: u32,
    /// Those who have come since `older` last had no rank of their priority.
    newer: u32,
}

impl Waiters {
    pub(crate) const NONE: Waiters = Waiters { older: 0, newer: 0 };

    pub(crate) const fn add(&mut self, rank: u8) {
        self.newer |= bit(rank as usize);
    }

    pub(crate) const fn remove(&mut self, rank: u8) {
        self.older &= !bit(rank as usize);
        self.newer &= !bit(rank as usize);
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.older | self.newer == 0
    }

    /// Rank of the most important. Of equals, those who have had a turn wait until each of the
    /// others has had one. By rank alone, one that uses up the budget in each period would be first
    /// at each boundary, and its equals would never run.
    pub(crate) const fn first(&mut self, ranks: &Ranks) -> Option<u8> {
        let (older, newer) = (self.older.leading_zeros() as u8, self.newer.leading_zeros() as u8);
        if newer < older && (self.older == 0 || ranks.differ(newer, older)) {
            // None of its equals has waited for longer, so all of them form the older set now: each
            // has a turn before any has another.
            let equals = self.newer & ranks.level_of(newer);
            self.older |= equals;
            self.newer &= !equals;
            return Some(newer);
        }
        if self.older == 0 { None } else { Some(older) }
    }

    /// Returns true if a rank is among them, for tests.
    #[cfg(any(test, feature = "simulation"))]
    pub(crate) const fn has(&self, rank: u8) -> bool {
        (self.older | self.newer) & bit(rank as usize) != 0
    }
}
