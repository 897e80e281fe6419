//! The deferrable server: at every multiple of its period, counted from its start, a budget is full again; what it holds may be
//! used at any time until then, and is lost at the next replenishment if it is not.
//!
//! # Conservation
//! What was granted is consumed, lost or left, and never more: `granted = consumed - debt + lost + remaining`. The kernel notices
//! an empty budget only at its enforcement granularity, so a charge may exceed what remains; the excess becomes *debt*, which
//! the next replenishments pay first. `remaining` is never negative, and in any window of `w` ticks no more is consumed than
//! [`Params::most_in`] says, plus the largest single excess.

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

/// A budget in force. The kernel and the analysis use this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    next: u64,
    /// Negative: debt.
    left: i32,
    capacity: i32,
    period: u32,
}

/// What a charge did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charged {
    /// Ticks left afterwards.
    pub remaining: u64,
    /// Ticks by which this charge exceeded what was left; now debt.
    pub excess: u64,
}

/// What a replenishment did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replenished {
    /// Periods that began since the last one; 0 if it was not yet time.
    pub periods: u64,
    /// Ticks not used in time, of all those periods.
    pub lost: u64,
}

impl Budget {
    /// A full budget that starts at `start`. It counts in words of 32 bits: a longer period or a larger capacity counts as the
    /// longest or the largest that fits.
    pub const fn new(params: Params, start: u64) -> Self {
        let period = if params.period < u32::MAX as u64 { params.period as u32 } else { u32::MAX };
        let capacity = if params.capacity < i32::MAX as u64 { params.capacity as i32 } else { i32::MAX };
        Self { next: start.saturating_add(period as u64), left: capacity, capacity, period }
    }

    /// Period and capacity.
    pub const fn params(&self) -> Params {
        Params { period: self.period as u64, capacity: self.capacity as u64 }
    }

    /// Ticks left now; negative is debt.
    #[inline(always)]
    pub const fn left(&self) -> i32 {
        self.left
    }

    /// Says what is left now, for a kernel that knows when the budget ends; see [`Budget::charge`].
    #[inline(always)]
    pub const fn set_left(&mut self, left: i32) {
        self.left = left;
    }

    /// Ticks left now.
    #[inline]
    pub const fn remaining(&self) -> u64 {
        if self.left > 0 { self.left as u64 } else { 0 }
    }

    /// When it is full again.
    #[inline(always)]
    pub const fn next_replenishment(&self) -> u64 {
        self.next
    }

    /// Ticks consumed beyond what was granted, not yet paid.
    pub const fn debt(&self) -> u64 {
        if self.left < 0 { self.left.unsigned_abs() as u64 } else { 0 }
    }

    /// Whether its thread must not run.
    #[inline]
    pub const fn is_exhausted(&self) -> bool {
        self.left <= 0
    }

    /// Takes `ticks` that were consumed. Replenish first if the time has come: what was consumed before the boundary belongs to
    /// the period before.
    ///
    /// # Time complexity
    /// Constant, without division.
    #[inline]
    pub const fn charge(&mut self, ticks: u64) -> Charged {
        let excess = ticks.saturating_sub(self.remaining());
        let ticks = if ticks < i32::MAX as u64 { ticks as i32 } else { i32::MAX };
        self.left = self.left.saturating_sub(ticks);
        Charged { remaining: self.remaining(), excess }
    }

    /// Brings the budget up to `now`. Debt is paid first, by as many periods as it takes.
    ///
    /// # Time complexity
    /// Constant; divides only if more than one period has passed.
    #[inline]
    pub const fn replenish(&mut self, now: u64) -> Replenished {
        if now < self.next {
            return Replenished { periods: 0, lost: 0 };
        }
        let period = self.period as u64;
        let periods = if now - self.next < period { 1 } else { self.periods_until(now) };
        self.next = self.next.saturating_add(periods.saturating_mul(period));
        let granted = (periods as i64).saturating_mul(self.capacity as i64);
        let held = granted.saturating_add(self.left as i64);
        let lost = if held > self.capacity as i64 { held - self.capacity as i64 } else { 0 };
        self.left = (held - lost) as i32;
        Replenished { periods, lost: lost as u64 }
    }

    #[cold]
    const fn periods_until(&self, now: u64) -> u64 {
        (now - self.next) / self.period as u64 + 1
    }

    /// How long a thread of this budget may run from `now` before the kernel must look again: until it is empty. (A later
    /// replenishment only adds.)
    #[inline]
    pub const fn deadline_from(&self, now: u64) -> u64 {
        now.saturating_add(self.remaining())
    }

    /// Whether a gate that declares `bound` ticks may be entered now.
    #[inline]
    pub const fn covers(&self, bound: u64) -> bool {
        self.remaining() >= bound
    }

    /// The earliest time at which [`Budget::covers`] can hold if nothing is consumed until then; `None` if the bound exceeds
    /// the capacity, so that waiting is in vain.
    pub const fn covers_from(&self, bound: u64, now: u64) -> Option<u64> {
        if self.remaining() >= bound {
            return Some(now);
        }
        let (period, capacity) = (self.period as u64, self.capacity as u64);
        if bound > capacity {
            return None;
        }
        // Full periods that the debt swallows before one leaves enough.
        let spare = capacity - bound;
        let waits = self.debt().saturating_sub(spare).div_ceil(capacity);
        Some(self.next.saturating_add(waits.saturating_mul(period)))
    }
}

#[cfg(test)]
mod tests;
