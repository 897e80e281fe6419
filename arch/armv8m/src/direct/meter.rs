//! Time of handlers: a deferrable server, whose use one of two instruments tells, and the exceptions of these.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use abi::trace::Fault;
use sched::budget::{Budget, Params};
use sched::reading::Reading;
use system::direct::MAX_OWNERS;

use super::displaced::DISPLACED;
use super::instrument::Meter;
use super::judge::{self, GO_ON};
use super::looks::Sampler;
use super::occupy::{change, put_back};
use super::owner::{COFFERDAM_OWNER, Request, is_masked};

/// The server of each domain with handlers, and the time since they began, in ticks of ended intervals.
struct Servers(UnsafeCell<([Option<Budget>; MAX_OWNERS], u64)>);

// SAFETY: after boot only the meter's exceptions use it, which have one priority.
unsafe impl Sync for Servers {}

static SERVERS: Servers = Servers(UnsafeCell::new(([const { None }; MAX_OWNERS], 0)));

impl Servers {
    /// `used` ticks of the last `passed` were handlers' of the domain that occupies. The ticks that are left to them, and those to the next boundary, at which
    /// an overdraft is paid back.
    fn charge(&self, used: u32, passed: u32) -> (i32, u32) {
        // SAFETY: see above.
        let (all, now) = unsafe { &mut *self.0.get() };
        *now += u64::from(passed);
        let seat = COFFERDAM_OWNER.seat.load(Relaxed) as usize;
        let Some(budget) = all.get_mut(seat).and_then(Option::as_mut) else { return (0, u32::MAX) };
        budget.pay(used);
        budget.replenish(*now);
        (budget.left(), budget.next_replenishment().wrapping_sub(*now) as u32)
    }
}

/// What is known of a server: as it was charged last, the time when the last look was, and ticks that handlers have used since it was charged.
struct Known {
    budget: Option<Budget>,
    now: u64,
    used: u32,
}

impl Known {
    /// Reads it. Parts of two states, if the meter comes meanwhile.
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

/// Whether the kernel reads a server, and what the meter has kept for it when it came meanwhile.
static READING: Reading = Reading::NEW;
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

/// Keeps for the kernel what it reads.
fn keep(seat: u32) {
    let (left, next) = Known::read(seat as usize).outlook();
    KEPT[0].store(left, Relaxed);
    KEPT[1].store(next, Relaxed);
}

/// The instrument.
fn meter() -> &'static dyn Meter {
    let counter = &COFFERDAM_OWNER.counter;
    if counter.is_there() { counter } else { &Sampler }
}

/// Begins with full capacities: a period and a capacity for each domain with handlers.
pub(super) fn start(servers: impl Iterator<Item = (u32, u32)>, seed: u32) -> Option<()> {
    // SAFETY: at boot, before any exception.
    let (all, _) = unsafe { &mut *SERVERS.0.get() };
    for (server, (period, capacity)) in all.iter_mut().zip(servers) {
        *server = Some(Budget::new(Params::new(period.into(), capacity.into()).ok()?, 0));
    }
    let owner = &COFFERDAM_OWNER;
    measure(None);
    owner.looks.start(seed);
    Some(())
}

/// An interval has ended, or handlers have come to what was left. Whether their capacity is used up now.
fn measure(met: Option<bool>) -> bool {
    let owner = &COFFERDAM_OWNER;
    let meter = meter();
    let used = meter.used(met);
    let (left, boundary) = SERVERS.charge(used, owner.looks.take_passed());
    owner.looks.expect(boundary);
    meter.grant(left);
    DISPLACED.charged(used, left);
    READING.keep(keep);
    left <= 0
}

/// Does what the kernel has asked for, once.
fn serve(request: u32) {
    let owner = &COFFERDAM_OWNER;
    owner.request.store(0, Relaxed);
    if request == Request::Change as u32 {
        measure(None);
        change();
        let is_empty = measure(None);
        owner.exhausted.store(u32::from(is_empty), Relaxed);
        owner.reopen();
    } else if request == Request::Stop as u32 {
        owner.occupant().stopped.store(1, Relaxed);
        owner.close();
        put_back();
    } else {
        owner.occupant().stopped.store(0, Relaxed);
        owner.reopen();
    }
}

/// The meter's interrupts, with EXC_RETURN and both stack pointers as they were; returns a verdict as `judge` does.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cofferdam_owner_meter(exc_return: u32, psp: u32, msp: u32) -> u64 {
    let owner = &COFFERDAM_OWNER;
    let request = owner.request.load(Relaxed);
    if request != 0 {
        serve(request);
    }
    let (ended, matched) = (owner.looks.take_end(), owner.counter.take_match());
    if !ended && !matched {
        return GO_ON;
    }
    let outside = exc_return & judge::SECURE == 0;
    let strays = outside && judge::is_stray(exc_return);
    // Also on its way into the kernel, which is left before it can be ended.
    let meets = outside && !strays || judge::is_active();
    let (is_counted, is_at_boundary) = (owner.counter.is_there(), owner.looks.is_at_boundary());
    let cheats = is_counted && ended && (owner.counter.finds(meets) || outside && !strays && judge::is_asleep());
    // A counter charges nothing in between: it comes by itself, but for the way in.
    let is_used_up = is_counted && ended && owner.counter.is_used_up();
    if matched || is_at_boundary || cheats || is_used_up || meets && !is_counted {
        settle(ended.then_some(meets));
    }
    if is_used_up && !outside && owner.exhausted.load(Relaxed) != 0 {
        // A handler in the way in cannot be ended there.
        owner.counter.match_next();
    }
    if ended {
        owner.looks.arm(is_counted);
    }
    if cheats {
        judge::blame(Fault::Data, 0);
    } else if !meets && is_masked() {
        judge::blame(Fault::Return, 0);
    }
    if outside {
        if !strays {
            DISPLACED.met();
        }
        return judge::met(exc_return, psp, msp, cheats || owner.exhausted.load(Relaxed) != 0);
    }
    GO_ON
}

/// There is something to charge: a look has met handlers or not, or handlers have come to what was left. Their lines are closed while there is nothing left.
fn settle(met: Option<bool>) {
    let owner = &COFFERDAM_OWNER;
    let is_empty = measure(met);
    let was_empty = owner.exhausted.swap(u32::from(is_empty), Relaxed) != 0;
    if is_empty && !was_empty {
        owner.close();
    } else if was_empty {
        owner.reopen();
    }
}
