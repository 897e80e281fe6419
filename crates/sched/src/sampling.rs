//! Intervals between looks at whether handlers run that interrupts reach without the kernel. Each look that meets one charges [`MEAN_TICKS`].
//!
//! Intervals are drawn from a geometric approximation of the exponential distribution: how long ago the last look was says nothing of the next, but for
//! [`SHORTEST_TICKS`]. With fixed intervals a handler that runs from just behind each look to just before the next would be charged nothing.

/// Mean of the intervals, at most: that of the draws is up to 5 % less.
pub const MEAN_TICKS: u32 = 1000;
/// The longest: so long does a handler run, at most, before the first look.
pub const LONGEST_TICKS: u32 = 4 * MEAN_TICKS;
/// The shortest: timers are not armed for less.
pub const SHORTEST_TICKS: u32 = 200;

/// -ln(1 - (i + 1/2) / 64), in 256ths.
const EXPONENTIAL: [u16; 64] = [
    2, 6, 10, 14, 19, 23, 27, 32, 36, 41, 46, 51, 56, 61, 66, 71, 76, 82, 87, 93, 99, 105, 111, 117, 124, 130, 137,
    144, 151, 159, 166, 174, 182, 190, 199, 208, 217, 226, 236, 246, 257, 268, 279, 291, 304, 317, 330, 345, 360, 376,
    393, 412, 431, 452, 475, 500, 528, 560, 595, 637, 688, 754, 850, 1242,
];

/// Any `n` intervals in a row are at least `n * PACE_TICKS - LENT_TICKS` together: one that would make them less is longer. That is rare enough to tell
/// nothing (see the tests).
pub const PACE_TICKS: u32 = 700;
/// See [`PACE_TICKS`].
pub const LENT_TICKS: u32 = 4 * MEAN_TICKS;

/// Beside a counter: of each look, what was counted since the last weighs so often as much as the mean interval that a look charges which meets a handler.
pub const COUNTED_WEIGHS: u32 = 4;
/// Mean intervals by which looks may have charged more: then the counter is not believed. A handler that is counted comes to that once in 10^12 looks
/// (see the tests).
pub const DOUBTS: u32 = 12;

/// The generator: xorshift (Marsaglia 2003), and by how much the last intervals fell short of the pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// Its state, not 0.
    pub seed: u32,
    /// Ticks.
    pub lent: u32,
}

impl Intervals {
    /// The next interval, in ticks.
    ///
    /// # Time complexity
    /// O(1).
    #[inline]
    pub fn draw(&mut self) -> u32 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 17;
        self.seed ^= self.seed << 5;
        let unit = u32::from(EXPONENTIAL[(self.seed >> 26) as usize]);
        let ticks = (unit * MEAN_TICKS / 256).clamp(SHORTEST_TICKS, LONGEST_TICKS);
        let ticks = ticks.max((self.lent + PACE_TICKS).saturating_sub(LENT_TICKS));
        self.lent = (self.lent + PACE_TICKS).saturating_sub(ticks);
        ticks
    }
}

/// The most looks in a window of so many ticks, one at each end included.
pub const fn looks_in(window: u64) -> u64 {
    window.saturating_add(LENT_TICKS as u64).div_ceil(PACE_TICKS as u64).saturating_add(1)
}

#[cfg(test)]
mod tests;
