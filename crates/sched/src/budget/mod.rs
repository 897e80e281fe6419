//! The deferrable server on its grid (docs/time.md, rules (a) and (f)): at every multiple of its period, counted from its start, a budget
//! gets its capacity again, of which a debt is paid first. What it holds may be used at any time until then, and is lost at the next
//! boundary if it is not.
//!
//! # Supply
//! A caller that asks finds what a refill at every boundary would have left, however late the
//! refill is computed: [`Budget::ran`] splits what its thread has used at each boundary that lies
//! between.
//!
//! # Conservation
//! Time that was granted is consumed, lost, reserved or left, and never more:
//! `granted = consumed - debt + lost + reserved + remaining`. The kernel notices an empty budget
//! only at its enforcement granularity, so that use may exceed what remains; the excess becomes
//! *debt*, which the next boundaries pay first. In any window of `w` ticks no more is consumed than
//! [`Params::most_in`] says, plus the largest debt.

use units::Instant;

/// A legal period and capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    period: u64,
    capacity: u64,
}

/// Why period and capacity are not legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamsError {
    /// The period is zero: the budget would be replenished for ever.
    ZeroPeriod,
    /// The capacity is zero: the thread could never run.
    ZeroCapacity,
    /// The capacity exceeds the period.
    CapacityAbovePeriod {
        /// Capacity asked.
        capacity: u64,
        /// Period, its limit.
        period: u64,
    },
}

impl Params {
    /// Checks `0 < capacity <= period`.
    ///
    /// # Errors
    /// [`ParamsError`].
    pub const fn new(period: u64, capacity: u64) -> Result<Self, ParamsError> {
        if period == 0 {
            return Err(ParamsError::ZeroPeriod);
        }
        if capacity == 0 {
            return Err(ParamsError::ZeroCapacity);
        }
        if capacity > period {
            return Err(ParamsError::CapacityAbovePeriod { capacity, period });
        }
        Ok(Self { period, capacity })
    }

    /// Ticks from one replenishment to the next.
    pub const fn period(self) -> u64 {
        self.period
    }

    /// Ticks granted at each.
    pub const fn capacity(self) -> u64 {
        self.capacity
    }

    /// The most that is consumed in any window of `window` ticks, the double hit included: a full budget at the end of one period,
    /// and another right after. `ceil((window + period - capacity) / period) * capacity`, and never more than the window.
    pub const fn most_in(self, window: u64) -> u64 {
        let hits = hits(window, self.period, self.capacity);
        let most = hits.saturating_mul(self.capacity);
        if most < window { most } else { window }
    }
}

/// Replenishments that a window of this length can draw on: `ceil((window + jitter) / period)`, jitter = period - capacity.
pub(crate) const fn hits(window: u64, period: u64, capacity: u64) -> u64 {
    if window == 0 {
        return 0;
    }
    window.saturating_add(period - capacity).div_ceil(period)
}

/// A budget in force. The kernel runs this code and the analysis bounds it, so that both count
/// alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    next: u64,
    /// Negative if the budget is in debt.
    left: i32,
    /// Up to here no boundary passes: the next boundary, or
    /// [`Budget::FRESH`] after the last look if the boundary is further away than low words can
    /// tell.
    fresh: Instant,
    /// Set aside for calls whose threads are switched away. It is no part of `left`, so that
    /// sharers cannot use it.
    reserved: i32,
    capacity: i32,
    period: u32,
}

impl Budget {
    /// How far ahead low words are trusted. A caller that relies on [`Budget::is_current`] calls
    /// [`Budget::look`] or brings the budget up to date at least this often.
    pub const FRESH: u32 = 1 << 30;

    /// The largest capacity: what is left, and a switch more, has to be told from debt in 32 bits.
    pub const LARGEST: u32 = 1 << 30;

    /// A full budget that starts at `start`. It counts in words of 32 bits: a longer period or a capacity above [`Budget::LARGEST`] counts as
    /// the longest or the largest that fits. `check` refuses them.
    pub const fn new(params: Params, start: u64) -> Self {
        let period = if params.period < u32::MAX as u64 { params.period as u32 } else { u32::MAX };
        let capacity =
            if params.capacity < Self::LARGEST as u64 { params.capacity as i32 } else { Self::LARGEST as i32 };
        let next = start.saturating_add(period as u64);
        let mut new = Self { next, left: capacity, reserved: 0, capacity, period, fresh: Instant::of(start) };
        new.trust(start);
        new
    }

    /// Keeps low words from being trusted again after they have wrapped. It is cheaper than bringing the budget up to date.
    #[inline(always)]
    pub const fn look(&mut self, now: Instant) {
        if !self.is_current(now) {
            self.fresh = now;
        }
    }

    /// Lets low words be trusted from `now` on. A boundary that has passed stays to be computed.
    const fn trust(&mut self, now: u64) {
        let ahead = self.next.saturating_sub(now);
        let ahead = if ahead < Self::FRESH as u64 { ahead as u32 } else { Self::FRESH };
        self.fresh = Instant::of(now).plus(ahead);
    }

    /// Returns true if no boundary has passed. `now` is at most [`Budget::FRESH`] after the last look. A false says nothing; then [`Budget::replenish`] or
    /// [`Budget::ran`] tell. This is one subtraction, because each switch asks.
    #[inline(always)]
    pub const fn is_current(&self, now: Instant) -> bool {
        self.since_fresh(now) < 0
    }

    /// Returns the time that is left, if that is more than `least` and the budget is current.
    #[inline(always)]
    pub const fn covered(&self, now: Instant, least: i32) -> Option<u32> {
        // One test of two signs, because this is on the way of every switch.
        if least.wrapping_sub(self.left) & self.since_fresh(now) < 0 { Some(self.left as u32) } else { None }
    }

    /// Returns the ticks since low words stopped being trusted; negative as long as they are.
    #[inline(always)]
    const fn since_fresh(&self, now: Instant) -> i32 {
        self.fresh.until(now)
    }

    /// Period and capacity.
    pub const fn params(&self) -> Params {
        Params { period: self.period as u64, capacity: self.capacity as u64 }
    }

    /// Ticks left at the last boundary or charge; negative is debt. Current only after
    /// [`Budget::replenish`] or [`Budget::ran`], which this does not call because each switch reads
    /// it.
    #[inline(always)]
    pub const fn left(&self) -> i32 {
        self.left
    }

    /// Sets what is left after its thread has run; the short form of [`Budget::ran`] when the next
    /// boundary is still ahead.
    ///
    /// The rest never grows. A thread can run for less time than its switch is granted. Others have
    /// paid for that switch, and what is left of many such prices must not add up to a supply.
    #[inline(always)]
    pub const fn set_left(&mut self, left: i32) {
        if left < self.left {
            self.left = left;
        }
    }

    /// Ticks left, none if it is in debt.
    #[inline]
    pub const fn remaining(&self) -> u64 {
        if self.left > 0 { self.left as u64 } else { 0 }
    }

    /// The next boundary of its grid.
    #[inline(always)]
    pub const fn next_replenishment(&self) -> u64 {
        self.next
    }

    /// Ticks consumed beyond what was granted, not yet paid.
    pub const fn debt(&self) -> u64 {
        if self.left < 0 { self.left.unsigned_abs() as u64 } else { 0 }
    }

    /// Takes a price, which no thread consumes as time. If it exceeds what is left, the excess is
    /// debt (rule (c)).
    #[inline]
    pub const fn pay(&mut self, price: u32) {
        let price = if price < i32::MAX as u32 { price as i32 } else { i32::MAX };
        self.left = self.left.saturating_sub(price);
    }

    /// Sets ticks aside for a call whose thread is switched away (rule (f)).
    pub const fn reserve(&mut self, ticks: i32) {
        self.left = self.left.saturating_sub(ticks);
        self.reserved = self.reserved.saturating_add(ticks);
    }

    /// Takes back what was set aside. Call [`Budget::replenish`] before, because a boundary refills
    /// only what is not set aside.
    pub const fn unreserve(&mut self, ticks: i32) {
        self.left = self.left.saturating_add(ticks);
        self.reserved = self.reserved.saturating_sub(ticks);
    }

    /// Charges a thread that has run without interruption until `now`. `left` is what it would have
    /// if no boundary had passed meanwhile. Use before a boundary is taken from the period before
    /// it, the rest from the periods that follow. Returns true if a boundary has passed.
    ///
    /// # Time complexity
    /// Constant; divides only if more than one period has passed.
    #[inline(never)]
    pub const fn ran(&mut self, left: i32, now: u64) -> bool {
        let passed = now >= self.next;
        if !passed {
            self.set_left(left);
        } else {
            // Time that was used since the boundary does not belong to the period before it.
            let since = (now - self.next) as i64;
            self.set_left((left as i64 + since) as i32);
            self.refill_at(1);
            // It ran throughout each further period, which is no shorter than the capacity, so
            // nothing is lost at those boundaries.
            let further = if now < self.next { 0 } else { self.periods_until(now) };
            self.next += further * self.period as u64;
            self.left = (self.left as i64 - since + further as i64 * self.capacity as i64) as i32;
        }
        self.trust(now);
        passed
    }

    /// Brings a budget that no thread is using up to `now`. Debt is paid first, by as many periods
    /// as it takes. Returns true if a boundary has passed.
    ///
    /// # Time complexity
    /// Constant; divides only if more than one period has passed.
    #[inline(never)]
    pub const fn replenish(&mut self, now: u64) -> bool {
        let passed = now >= self.next;
        if passed {
            let one = now - self.next < self.period as u64;
            self.refill_at(if one { 1 } else { self.periods_until(now) });
        }
        self.trust(now);
        passed
    }

    /// Lets so many boundaries pass. No product overflows, because all these periods have passed
    /// since boot and no capacity exceeds its period.
    const fn refill_at(&mut self, periods: u64) {
        self.next += periods * self.period as u64;
        let held = periods as i64 * self.capacity as i64 + self.left as i64;
        let most = self.capacity - self.reserved;
        self.left = if held < most as i64 { held as i32 } else { most };
    }

    #[cold]
    const fn periods_until(&self, now: u64) -> u64 {
        (now - self.next) / self.period as u64 + 1
    }

    /// Returns the ticks that would be left at `now` if `used` ticks more were charged and nothing
    /// else, and the ticks from then to the next boundary. Debt is told as 0. Works on a copy: the
    /// budget itself stays as it is.
    pub const fn outlook(mut self, used: u32, now: u64) -> (u32, u32) {
        self.pay(used);
        self.replenish(now);
        (self.remaining() as u32, (self.next - now) as u32)
    }

    /// Returns the first boundary at which a thread can be released with a full budget (rule (h)):
    /// the next one, or so many later as the debt takes, as far as is known now. The budget has
    /// been brought up to date.
    pub const fn first_release(&self) -> u64 {
        self.next_but(self.left.saturating_neg(), self.capacity - 1)
    }

    /// Returns the first boundary at which something is left, if nothing is charged or set aside
    /// until then. The budget has been brought up to date.
    pub const fn next_supply(&self) -> u64 {
        self.next_but(self.left.saturating_neg(), 0)
    }

    /// Returns the first boundary, from the next one on, at which more than `rest` is left if the
    /// debt is `debt` now.
    ///
    /// # Time complexity
    /// Constant; divides only if one period does not pay the debt.
    const fn next_but(&self, debt: i32, rest: i32) -> u64 {
        let all = debt as i64 + rest as i64;
        if all < self.capacity as i64 {
            return self.next;
        }
        self.next.saturating_add(all as u64 / self.capacity as u64 * self.period as u64)
    }
}

#[cfg(test)]
mod tests;
