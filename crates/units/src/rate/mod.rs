//! Rates of clocks, and conversions between nanoseconds and counts whose rounding has a name.

/// Nanoseconds in a second.
pub const NS_PER_SECOND: u64 = 1_000_000_000;

/// Counts of a clock in a second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate(u64);

/// Counts or nanoseconds before they are rounded. A result above 64 bits is held at [`u64::MAX`].
#[derive(Clone, Copy, Debug)]
pub struct Unrounded {
    dividend: u128,
    divisor: u128,
}

impl Rate {
    /// A clock of so many hertz. 0 Hz counts as 1 Hz, so that a broken description cannot divide by zero.
    pub const fn hz(hz: u64) -> Self {
        Self(if hz == 0 { 1 } else { hz })
    }

    /// Counts in so many nanoseconds.
    pub const fn counts_in(self, ns: u64) -> Unrounded {
        Unrounded { dividend: ns as u128 * self.0 as u128, divisor: NS_PER_SECOND as u128 }
    }

    /// Nanoseconds in so many counts.
    pub const fn ns_in(self, counts: u64) -> Unrounded {
        Unrounded { dividend: counts as u128 * NS_PER_SECOND as u128, divisor: self.0 as u128 }
    }

    /// Counts in the time of so many counts of another clock.
    pub const fn counts_of(self, counts: u64, other: Self) -> Unrounded {
        Unrounded { dividend: counts as u128 * self.0 as u128, divisor: other.0 as u128 }
    }

    /// Microseconds in so many counts, for people to read.
    pub const fn us(self, counts: u64) -> f64 {
        counts as f64 * 1e6 / self.0 as f64
    }
}

impl Unrounded {
    /// The largest whole number that is not above.
    pub const fn floor(self) -> u64 {
        held(self.dividend / self.divisor)
    }

    /// The smallest whole number that is not below.
    pub const fn ceil(self) -> u64 {
        held(self.dividend.div_ceil(self.divisor))
    }

    /// The number, if it is whole and fits.
    pub const fn exact(self) -> Option<u64> {
        let is_whole = self.dividend.is_multiple_of(self.divisor);
        if is_whole && self.dividend / self.divisor <= u64::MAX as u128 { Some(self.floor()) } else { None }
    }
}

const fn held(value: u128) -> u64 {
    if value > u64::MAX as u128 { u64::MAX } else { value as u64 }
}

#[cfg(test)]
mod tests;
