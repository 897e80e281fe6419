//! Servers of handlers' time, as the meter keeps them and the kernel reads them.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use sched::budget::{Budget, Params};
use sched::reading::Reading;
use system::direct::MAX_OWNERS;

use super::instrument::Meter;
use super::looks::Sampler;
use super::owner::COFFERDAM_OWNER;

/// The server of each domain with handlers, and the time since they began, in ticks of ended intervals.
pub(super) struct Servers(UnsafeCell<([Option<Budget>; MAX_OWNERS], u64)>);

// SAFETY: after boot only the meter's exceptions use it, which have one priority.
unsafe impl Sync for Servers {}

pub(super) static SERVERS: Servers = Servers(UnsafeCell::new(([const { None }; MAX_OWNERS], 0)));

impl Servers {
    /// Begins with full capacities, at boot: a period and a capacity for each domain with handlers.
    pub(super) fn begin(&self, servers: impl Iterator<Item = (u32, u32)>) -> Option<()> {
        // SAFETY: before any exception.
        let (all, _) = unsafe { &mut *self.0.get() };
        for (server, (period, capacity)) in all.iter_mut().zip(servers) {
            *server = Some(Budget::new(Params::new(period.into(), capacity.into()).ok()?, 0));
        }
        Some(())
    }

    /// Charges the occupant's handlers for `used` of the last `passed` ticks. Returns the ticks
    /// that are left to them, and those to the next boundary, at which an overdraft is paid back.
    pub(super) fn charge(&self, used: u32, passed: u32) -> (i32, u32) {
        // SAFETY: see above.
        let (all, now) = unsafe { &mut *self.0.get() };
        *now += u64::from(passed);
        let seat = COFFERDAM_OWNER.seat.load(Relaxed) as usize;
        let Some(budget) = all.get_mut(seat).and_then(Option::as_mut) else { return (0, u32::MAX) };
        // Waking a supervisor is paid once, by the server of the domain that has caused it.
        budget.pay(used.saturating_add(COFFERDAM_OWNER.occupant().price.swap(0, Relaxed)));
        budget.replenish(*now);
        (budget.left(), budget.next_replenishment().wrapping_sub(*now) as u32)
    }
}

/// A server as it was charged last, the time of the last look, and ticks that handlers have used since it was charged.
struct Known {
    budget: Option<Budget>,
    now: u64,
    used: u32,
}

impl Known {
    /// Reads a server. If the meter comes meanwhile, what was read are parts of two states, and
    /// [`READING`] has the caller discard it.
    fn read(seat: usize) -> Known {
        let owner = &COFFERDAM_OWNER;
        let state = SERVERS.0.get();
        // SAFETY: they are there, and any bits are a time or, behind the word that boot wrote, a budget.
        let (budget, now) = unsafe {
            ((&raw const (*state).0[seat % MAX_OWNERS]).read_volatile(), (&raw const (*state).1).read_volatile())
        };
        let is_occupant = owner.seat.load(Relaxed) as usize == seat;
        Known {
            budget,
            now: now + u64::from(owner.looks.passed()),
            used: if is_occupant { meter().pending() } else { 0 },
        }
    }

    /// Ticks that are left, and those to the next boundary.
    fn outlook(&self) -> (u32, u32) {
        self.budget.map_or((0, 0), |budget| budget.outlook(self.used, self.now))
    }
}

/// Notes that the kernel reads a server, so that the meter keeps for it what it has written if it
/// comes meanwhile.
pub(super) static READING: Reading = Reading::new();
static KEPT: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

/// Ticks that are left in the server of a domain with handlers, and those to its next boundary, as of the last look.
///
/// # Bound
/// O(1), however often the meter comes.
pub(crate) fn server_left(seat: usize) -> (u32, u32) {
    match READING.read(seat as u32, || Known::read(seat)) {
        Some(known) => known.outlook(),
        None => (KEPT[0].load(Relaxed), KEPT[1].load(Relaxed)),
    }
}

pub(super) fn keep(seat: u32) {
    let (left, next) = Known::read(seat as usize).outlook();
    KEPT[0].store(left, Relaxed);
    KEPT[1].store(next, Relaxed);
}

pub(super) fn meter() -> &'static dyn Meter {
    let counter = &COFFERDAM_OWNER.counter;
    if counter.is_there() { counter } else { &Sampler }
}
