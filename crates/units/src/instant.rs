/// A time, as the low word of a count of ticks.
///
/// Two of them are compared by the sign of their distance, so they have to be less than half a wrap apart; the kernel looks at each that it
/// keeps at least every 2^30 ticks. A plain comparison of the words would be wrong at each wrap, so there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Instant(u32);

impl Instant {
    /// The low word of a whole time.
    #[inline(always)]
    pub const fn of(ticks: u64) -> Self {
        Self(ticks as u32)
    }

    /// As a counter of 32 bits shows it.
    #[inline(always)]
    pub const fn shown(low: u32) -> Self {
        Self(low)
    }

    /// The low word, for a record or a register.
    #[inline(always)]
    pub const fn low(self) -> u32 {
        self.0
    }

    /// So many ticks later.
    #[inline(always)]
    pub const fn plus(self, ticks: u32) -> Self {
        Self(self.0.wrapping_add(ticks))
    }

    /// So many ticks earlier.
    #[inline(always)]
    pub const fn minus(self, ticks: u32) -> Self {
        Self(self.0.wrapping_sub(ticks))
    }

    /// Returns the ticks that have passed since `earlier`, if that is less than a wrap ago: further ones are not seen.
    #[inline(always)]
    pub const fn since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    /// Ticks until `later`; negative if that has passed.
    #[inline(always)]
    pub const fn until(self, later: Self) -> i32 {
        later.0.wrapping_sub(self.0) as i32
    }

    /// Returns true if this time comes before the other one.
    #[inline(always)]
    pub const fn is_before(self, other: Self) -> bool {
        other.until(self) < 0
    }

    /// The earlier of two times.
    #[inline(always)]
    pub const fn earlier(self, other: Self) -> Self {
        if self.until(other) < 0 { other } else { self }
    }
}
