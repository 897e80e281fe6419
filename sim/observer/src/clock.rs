//! Modelled time. One thread lets it pass while processors run; another may while all of them sleep.

use std::sync::atomic::{AtomicU64, Ordering};

/// Modelled cycles since reset, and how many of them were slept.
#[derive(Debug, Default)]
pub struct Clock {
    cycles: AtomicU64,
    slept: AtomicU64,
    sleeps: AtomicU64,
    streak: AtomicU64,
}

impl Clock {
    /// At reset.
    pub const fn new() -> Self {
        Self {
            cycles: AtomicU64::new(0),
            slept: AtomicU64::new(0),
            sleeps: AtomicU64::new(0),
            streak: AtomicU64::new(0),
        }
    }

    /// Cycles since reset.
    #[inline]
    pub fn now(&self) -> u64 {
        self.cycles.load(Ordering::Relaxed)
    }

    /// Lets `cycles` pass.
    #[inline]
    pub fn pass(&self, cycles: u64) {
        self.cycles.store(self.now() + cycles, Ordering::Relaxed);
    }

    /// Takes back what was charged for something that did not happen.
    pub fn refund(&self, cycles: u64) {
        self.cycles.store(self.now() - cycles, Ordering::Relaxed);
    }

    /// Lets `cycles` pass in which every processor sleeps.
    pub fn sleep(&self, cycles: u64) {
        let add = |count: &AtomicU64, more| count.store(count.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        add(&self.slept, cycles);
        add(&self.streak, cycles);
        self.pass(cycles);
        add(&self.sleeps, 1);
    }

    /// Cycles slept since reset.
    pub fn slept(&self) -> u64 {
        self.slept.load(Ordering::Relaxed)
    }

    /// Times that [`Clock::sleep`] was called. A sleep may be as short as no cycle.
    #[inline]
    pub fn sleeps(&self) -> u64 {
        self.sleeps.load(Ordering::Relaxed)
    }

    /// Cycles slept since a processor last ran.
    pub fn streak(&self) -> u64 {
        self.streak.load(Ordering::Relaxed)
    }

    /// A processor runs.
    pub fn woken(&self) {
        self.streak.store(0, Ordering::Relaxed);
    }
}
