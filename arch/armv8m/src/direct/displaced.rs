//! The time of handlers as the kernel's accounts see it: the interrupted thread is not charged for
//! it.
//!
//! Handlers can write the counter. So the kernel never takes more off its accounts than the meter
//! has charged to handlers, and the rest of their capacity. What it has taken off, the meter
//! charges, whatever the counter says then ([`Displaced::owed`]). A count that is set ahead gives a
//! thread no more time than that capacity, and if the kernel sees the count go back, it stops the
//! domain.

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use abi::trace::Fault;

use super::judge::blame;
use super::owner::COFFERDAM_OWNER;

/// The count as the kernel knows it.
pub(super) struct Displaced {
    /// Address of the count; of `seen` if nothing counts, so that the switch needs no test for
    /// that.
    count: AtomicU32,
    /// The count when the kernel last asked, and parts of a tick that it has not yet been told.
    seen: AtomicU32,
    rest: AtomicU32,
    /// The seat that occupied Non-secure state then: another domain is not to blame for what it
    /// finds.
    seat: AtomicU32,
    /// Ticks that the kernel has been told of.
    told: AtomicU32,
    /// Ticks that handlers were charged, and the most that the kernel may be told of. Only the
    /// meter writes them.
    charged: AtomicU32,
    most: AtomicU32,
    /// Ticks of the meter's own that the kernel has not yet been told of, and those of one look that meets a handler.
    beside: AtomicU32,
    met: AtomicU32,
}

pub(super) static DISPLACED: Displaced = Displaced {
    count: AtomicU32::new(0),
    seen: AtomicU32::new(0),
    rest: AtomicU32::new(0),
    seat: AtomicU32::new(0),
    told: AtomicU32::new(0),
    charged: AtomicU32::new(0),
    most: AtomicU32::new(0),
    beside: AtomicU32::new(0),
    met: AtomicU32::new(0),
};

impl Displaced {
    /// Notes where the count is, if there is one, and the ticks of a look that meets a handler. To
    /// be called before any thread runs.
    pub(super) fn start(&self, count: Option<u32>, met: u32) {
        self.count.store(count.unwrap_or((&raw const self.seen).addr() as u32), Relaxed);
        self.met.store(met, Relaxed);
    }

    /// Notes that handlers were charged `used` ticks more and have `left`: the kernel may be told
    /// of no more than both together.
    pub(super) fn charged(&self, used: u32, left: i32) {
        let charged = self.charged.load(Relaxed).wrapping_add(used);
        self.charged.store(charged, Relaxed);
        self.most.store(charged.wrapping_add(left.max(0) as u32), Relaxed);
    }

    /// Returns the ticks that the kernel was told of and handlers were not charged. That is more
    /// than parts of a tick only if handlers have set the count back, and then they pay for it.
    pub(super) fn owed(&self) -> u32 {
        (self.told.load(Relaxed).wrapping_sub(self.charged.load(Relaxed)) as i32).max(0) as u32
    }

    /// Notes that the meter has interrupted a handler. The thread below did not cause that either,
    /// so it gets the time back. Admission counts it (`met_cycles` of the board's file).
    pub(super) fn met(&self) {
        self.beside.fetch_add(self.met.load(Relaxed), Relaxed);
    }

    /// Returns the cycles since the kernel last asked. If the count has gone back meanwhile, the
    /// domain is stopped, provided that it occupied Non-secure state then: another one is not to
    /// blame for what it finds. Interrupts are masked, so that no handler, meter or change comes in
    /// between.
    fn passed(&self) -> u32 {
        // SAFETY: the kernel runs with interrupts on, which has them on again a few instructions later.
        unsafe { asm!("cpsid i", options(nostack, preserves_flags)) };
        let now = self.now();
        let goes_back = self.is_behind(now);
        let passed = now.wrapping_sub(self.seen.swap(now, Relaxed));
        let seat = COFFERDAM_OWNER.seat.load(Relaxed);
        if self.seat.swap(seat, Relaxed) == seat && goes_back {
            blame(Fault::Data, 0);
        }
        // SAFETY: see above.
        unsafe { asm!("cpsie i", options(nostack, preserves_flags)) };
        if goes_back { 0 } else { passed }
    }

    /// Returns true if the count has gone back since the kernel last asked: the meter asks before the domain leaves, which is to blame for it.
    pub(super) fn goes_back(&self) -> bool {
        self.is_behind(self.now())
    }

    /// Returns true if a count is behind the one that the kernel saw last. The sign of the
    /// difference tells, because fewer than 2^31 cycles of handlers pass between two questions.
    fn is_behind(&self, now: u32) -> bool {
        (now.wrapping_sub(self.seen.load(Relaxed)) as i32) < 0
    }

    fn now(&self) -> u32 {
        // SAFETY: a register, or a word of this.
        unsafe { (self.count.load(Relaxed) as *const u32).read_volatile() }
    }
}

/// Returns true if handlers have run since the kernel last asked. One load and one comparison,
/// because each switch asks.
#[inline(always)]
pub(crate) fn is_displaced() -> bool {
    DISPLACED.now() != DISPLACED.seen.load(Relaxed)
}

/// Returns the ticks for which they have.
///
/// # Bound
/// O(1).
pub(crate) fn displaced() -> u32 {
    let known = &DISPLACED;
    let passed = known.passed();
    let (cycles, ticks) = COFFERDAM_OWNER.counter.rate();
    let parts = u64::from(passed) * u64::from(ticks) + u64::from(known.rest.load(Relaxed));
    known.rest.store((parts % u64::from(cycles)) as u32, Relaxed);
    let told = known.told.load(Relaxed);
    let room = (known.most.load(Relaxed).wrapping_sub(told) as i32).max(0) as u32;
    let given = (parts / u64::from(cycles)).min(room.into()) as u32;
    known.told.store(told.wrapping_add(given), Relaxed);
    given + known.beside.swap(0, Relaxed)
}
