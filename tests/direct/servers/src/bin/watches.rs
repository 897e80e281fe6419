//! Reads, as often as it can, the servers of two domains with handlers: one uses its server up in each period, the other never does. Nothing that it reads may
//! be of two moments. The second occupies Non-secure state while nobody reads.
//!
//! Names: `spends`, to read and to grant, `rests`, to read, and `blind`, to write, are the time of handlers, `first` and `other` their domains, and `own` is its own
//! budget. Mark 1 has the ticks that handlers have used in all. Exit codes: 0; 1 for what the manifest lacks; 2 for a capability that does what it must not, or
//! does not what it must; 3 to 8 for the rule of [`Watch`] that a reading breaks, which mark 2 has; 9 for a server that is not full again; 10 if a change
//! of the occupant charges somebody else.
#![no_std]
#![no_main]

use cofferdam::abi::{Error, rights};
use cofferdam::{Budget, Domain, Start, now, sys};

/// Periods and capacities, in ticks, as the manifest has them.
const SPENDS: (u32, u32) = (40_000, 10_000);
const RESTS: (u32, u32) = (60_000, 2_000);
/// Times that its own budget pays for, and the periods of `spends` that it reads in each.
const ROUNDS: u32 = 4;
const PERIODS: u32 = 36;
/// Ticks from one interrupt of `spends` to the next, and those that its handler takes, at least and at most.
const INTERVAL: u32 = 1013;
const HANDLER: (u32, u32) = (300, 500);
/// Ticks from one look of the meter to the next, at most, and of the look: the time to the next boundary is as of the last.
const STALE: u32 = 4400;

cofferdam::entry!(main);

/// The last reading: ticks that are left, and those to the next boundary.
struct Watch {
    last: (u32, u32),
    boundaries: u32,
    used: u64,
}

impl Watch {
    /// Another reading of `spends`, and the rule that it breaks.
    fn read(&mut self, (left, next): (u32, u32)) -> Result<(), u32> {
        let (period, capacity) = SPENDS;
        if left > capacity || next > period || next == 0 {
            return Err(3);
        }
        let (last_left, last_next) = self.last;
        if next > last_next {
            // A boundary has passed, and nothing was left in front of it.
            if last_left > 0 || last_next > STALE {
                return Err(4);
            }
            self.boundaries += 1;
            self.used += u64::from(capacity - left);
        } else if left > last_left {
            return Err(5);
        } else {
            self.used += u64::from(last_left - left);
        }
        // Handlers come at even intervals until nothing is left.
        let (used, elapsed) = (capacity - left, period - next);
        if used > ((elapsed + STALE) / INTERVAL + 2) * HANDLER.1 {
            return Err(6);
        }
        if left > 0 && used < (elapsed / INTERVAL).saturating_sub(STALE / INTERVAL + 2) * HANDLER.0 {
            return Err(7);
        }
        self.last = (left, next);
        Ok(())
    }
}

/// The other server is full, whatever the first does.
fn is_full((left, next): (u32, u32), (period, capacity): (u32, u32)) -> bool {
    left == capacity && (1..=period).contains(&next)
}

/// Whether each right permits what it must, and a copy ends with its revocation.
fn rights_hold(spends: Budget, blind: Budget, other: Domain) -> Result<bool, Error> {
    const COPY: u32 = 10;
    sys::cap_copy(spends.slot(), COPY, u32::from(rights::READ))?;
    let is_copied = sys::budget_query(COPY).is_ok();
    let has_no_right = sys::revoke(COPY) == Err(Error::NoRight) && blind.left() == Err(Error::NoRight);
    sys::revoke(spends.slot())?;
    let is_revoked = sys::budget_query(COPY) == Err(Error::BadHandle) && blind.left() == Err(Error::BadHandle);
    let is_other = Budget::in_slot(other.slot()).left() == Err(Error::WrongKind)
        && sys::occupy(spends.slot()) == Err(Error::WrongKind);
    spends.left()?;
    Ok(is_copied && has_no_right && is_revoked && is_other)
}

/// Reads both for some periods of the first, to a moment in which nothing is left of it. The ticks that were used.
fn watch(spends: Budget, rests: Budget) -> Result<u64, u32> {
    let mut watch = Watch { last: (SPENDS.1, SPENDS.0), boundaries: 0, used: 0 };
    loop {
        let found = spends.left().map_err(|_| 2_u32)?;
        watch.read(found).inspect_err(|_| {
            let _ = sys::mark(2, found.0 << 16 | found.1);
        })?;
        if !rests.left().is_ok_and(|found| is_full(found, RESTS)) {
            return Err(8);
        }
        if watch.boundaries == PERIODS && found.0 == 0 {
            return Ok(watch.used);
        }
    }
}

/// Lets the other domain occupy when `spends` has used a part of its time, which the meter has not charged yet: the part.
fn part(spends: Budget, rests: Budget, other: Domain) -> Result<Option<u64>, Error> {
    let (period, capacity) = SPENDS;
    let mut before = spends.left()?;
    while before.0 == 0 || before.0 > capacity / 2 || before.1 < period / 4 {
        before = spends.left()?;
    }
    other.occupy()?;
    let (left, _) = spends.left()?;
    let is_charged = left <= before.0 && before.0 - left <= HANDLER.1 && is_full(rests.left()?, RESTS);
    Ok(is_charged.then_some(u64::from(capacity - left)))
}

/// Lets the other domain occupy until its own budget is full again, and a period of `spends` begins. Nothing brings the server of `spends` up to date meanwhile.
fn pause(own: Budget, spends: Budget, first: Domain, other: Domain) -> Result<bool, Error> {
    other.occupy()?;
    let (_, next) = own.left()?;
    sys::sleep_until(now() + u64::from(next))?;
    let mut last = 0;
    loop {
        let (left, next) = spends.left()?;
        if !is_full((left, next), SPENDS) {
            return Ok(false);
        }
        if last != 0 && next > last {
            first.occupy()?;
            return Ok(true);
        }
        last = next;
    }
}

fn main(start: Start) -> u32 {
    let named = |name| Budget::named(start.info, name);
    let domain = |name| Domain::named(start.info, name);
    let (Some(spends), Some(rests), Some(blind), Some(own), Some(first), Some(other)) =
        (named("spends"), named("rests"), named("blind"), named("own"), domain("first"), domain("other"))
    else {
        return 1;
    };
    if rights_hold(spends, blind, other) != Ok(true) {
        return 2;
    }
    let Ok(Some(mut used)) = part(spends, rests, other) else { return 10 };
    for _ in 0..ROUNDS {
        if pause(own, spends, first, other) != Ok(true) {
            return 9;
        }
        match watch(spends, rests) {
            Ok(ticks) => used += ticks,
            Err(rule) => return rule,
        }
    }
    if other.occupy().is_err() {
        return 9;
    }
    let _ = sys::mark(1, used as u32);
    0
}
